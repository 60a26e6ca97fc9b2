"""Pistonball: a row of pistons moves up and down to roll a ball to the left wall.

## Description
Twenty pistons, side by side, form the floor under a ball. They have to move it from the right wall to the left one by
forming slopes and getting out of its way. PettingZoo's pistonball_v6 (1.27; Terry et al., 2021): its sizes, physics,
rewards and terminations, without pymunk. Its engine resolves overlaps differently from Box2D, so `ball.py` implements
its rules for one ball: the same actions from the same start give the same motion to 1e-6 px until the ball touches two
solids at once. Their order depends on a search tree in Chipmunk; here it is from right to left. `level="pixels"` has
the original's images as observations; the default is a vector. `rlenvs/mo-Pistonball-v0` returns MOMAland's vector.
`n_pistons` of the original is `agents`, `continuous=False` is `actions="discrete"`, and `time_penalty=x` is
`weights={"time": -10 x}`. Different: images are drawn by this package and show the current state (the original's show
the reset state unless it renders); success; a cost; the scores are ours. Left out: `ball_mass`, which cancels out of
the motion. Unchanged: the ball's position is counted in whole pixels; the physics makes a step of 1/20 s for each
piston in turn, so a cycle of twenty lasts a second; `ball_elasticity` has an effect only with `piston_elasticity`,
which is 0 in the original.

## Action Space
How far the piston moves, 1 for `piston_speed` upwards; or down, stay, up. Pistons move one after the other, from the
left, and the ball moves after each.

## Observation Space
For each piston: the heights of itself and its neighbors (a wall counts as fully up), the ball's center relative to the
top of the piston at rest, the ball's velocity and spin, and the piston's position in the row. With pixels: an image of
the piston, its two neighbors and the space above them, 457 x 120 x 3.

## Rewards
The same for all: `distance` is the decrease of the distance to the left wall in this step, in percent of the initial
distance; `time` is -0.1, except in the last step of a success.

## Costs
`effort`: how far the piston moved, as a fraction of `piston_speed`.

## Starting State
Pistons are up by 0, 4, ..., 28 pixels; the ball is near the right wall, displaced by up to `drop_x` and `drop_y` whole
pixels, spinning at up to `largest_spin`.

## Episode End
Termination: the ball is at the left wall, or will be within one physics step (a success). Truncation: 125 steps.

## Parameters
All are those of the game; lengths are in pixels of the original.

## Reference Scores
Mean return of all pistons together over seeds 0 to 99. The bound is a distance term of 100 without any time penalty.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    below,
    block,
    choice,
    continuous,
    cost,
    discrete,
    drop_in,
    f8,
    i8,
    image,
    integer,
    kernel,
    meaning,
    only,
    param,
    same_as,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.inputs import truth
from rlenvs.multi.planar import ball
from rlenvs.multi.planar.ball import WALLS, forget_touches, move_ball
from rlenvs.multi.planar.pistons import HIGHEST, LOOK_HEIGHT, LOOK_WIDTH, WALL, draw_pistons, show_pistons

DT = 1.0 / 20.0  # s, of the physics, for each piston in turn
STARTS, APART = 8, 4.0  # heights at which a piston starts; px between them
REACH = 15  # px, by which the original draws the height of the ball
MOST = 40
FARTHEST = 100.0 * 40.0 * MOST  # percent: a ball that begins a pixel from the wall is thrown across the whole row

OBSERVATION = choice("vector", "pixels", doc="numbers, or the published image")


def sizes(values):
    pixels = values.observation == "pixels"
    return {
        "agents": values.agents,
        "solids": values.agents + WALLS,
        "rows": LOOK_HEIGHT if pixels else 0,
        "columns": LOOK_WIDTH if pixels else 0,
        "three": 0 if pixels else 3,
        "two": 0 if pixels else 2,
        "one": 0 if pixels else 1,
    }


def moving(values):
    if values.actions == "continuous":
        return continuous("up")
    return discrete("down", "stay", "up", idle=1)


def moved_by(value):
    return {"actions": "continuous" if truth("continuous", value) else "discrete"}


def dropped(value):
    return {} if truth("random_drop", value) else {"drop_x": 0.0, "drop_y": 0.0}


def turned(value):
    return {} if truth("random_rotate", value) else {"largest_spin": 0.0}


SPEC = world(
    "Pistonball-v0",
    doc=__doc__,
    source="PettingZoo pistonball_v6 (Terry et al., NeurIPS 2021); MOMAland mo-pistonball-v0",
    agents=True,
    drop_in=drop_in(
        {
            "n_pistons": same_as("agents"),
            "continuous": meaning('`actions`: True is "continuous", False "discrete"', moved_by),
            "time_penalty": meaning("-10 times the weight of `time`", lambda value: {"time": -10.0 * float(value)}),
            "ball_mass": only(0.75, "the mass cancels out of the motion"),
            "random_drop": meaning("True; False: `drop_x` and `drop_y` of 0", dropped),
            "random_rotate": meaning("True; False: `largest_spin` of 0", turned),
        }
    ),
    params={
        "gravity": param(750.0, 0.0, 1000.0, "px/s^2", "gravity, downwards"),
        "gravity_x": param(0.0, -200.0, 200.0, "px/s^2", "gravity, to the right"),
        "ball_radius": param(40.0, 25.0, 60.0, "px", "of the ball"),
        "ball_friction": param(0.3, 0.0, 2.0, "", "of the ball"),
        "piston_friction": param(0.64, 0.0, 2.0, "", "of pistons and walls; frictions are multiplied"),
        "ball_elasticity": param(1.5, 0.0, 2.0, "", "of the ball"),
        "piston_elasticity": param(0.0, 0.0, 0.5, "", "of pistons and walls; elasticities are multiplied"),
        "piston_speed": param(4.0, 0.5, 8.0, "px", "largest motion of a piston per step"),
        "largest_spin": param(6.0 * math.pi, 0.0, 12.0 * math.pi, "rad/s", "of the ball at the start"),
        "drop_x": param(30.0, 0.0, 30.0, "px", "largest displacement of the ball at the start, sideways"),
        "drop_y": param(15.0, 0.0, 15.0, "px", "and up or down"),
    },
    options={
        "observation": OBSERVATION,
        "actions": choice("continuous", "discrete", doc="how far, or down, stay, up"),
        "agents": integer(20, 2, MOST, "pistons"),
    },
    sizes=sizes,
    state={**ball.STATE, "place": i8, "distance": f8},  # px: the left side of the ball; its distance at the start
    observation={
        "heights": block("three", low=0.0, high=HIGHEST, unit="px", doc="of the left, this and the right piston"),
        "ball": block("two", low=-800.0, high=800.0, unit="px", doc="to the right and above"),
        "velocity": block("two", low=-500.0, high=500.0, unit="px/s", doc="of the ball, to the right and up"),
        "spin": block("one", low=-20.0, high=20.0, unit="rad/s", doc="of the ball, clockwise"),
        "row": block("one", low=0.0, high=1.0, doc="position of this piston in the row, from the left", constant=True),
    },
    images={"screen": image("rows", "columns", 3, doc="the piston, its neighbors, the space above them")},
    action=moving,
    terms={
        "distance": term(
            -FARTHEST,
            FARTHEST,
            1.0,
            "decrease of the ball's distance to the left wall, in percent of the initial distance",
        ),
        "time": term(-0.1, 0.0, 1.0, "-0.1"),
    },
    costs={"effort": cost(60.0, doc="how far the piston moved, as a fraction of `piston_speed`")},
    players=("slope",),
    probe={"ball_elasticity": {"piston_elasticity": 0.3}},
    horizon=125,
    quick={"agents": 8},
    fps=20,
    levels={
        "pixels": {"observation": "pixels"},
        "discrete": {"actions": "discrete"},
        "short": {"agents": 8},
        "bouncy": {"piston_elasticity": 0.4},
    },
)


@kernel
def place_of(p, s):
    """The left side of the ball, in whole pixels."""
    return max(int(WALL), int(s.position[0] - p.ball_radius))


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.height.size):
        s.height[k] = APART * below(rng, STARTS)
    wide = 40.0 * s.height.size + 2.0 * WALL
    across, up = int(p.drop_x), int(p.drop_y)
    x = wide - WALL - p.ball_radius - 30.0 + below(rng, 2 * across + 1) - across
    y = 560.0 - WALL - 23.0 - p.ball_radius - 0.5 * HIGHEST - REACH + below(rng, 2 * up + 1) - up
    s.position[0], s.position[1] = max(x, WALL + p.ball_radius + 1.0), y
    s.spin = uniform(rng, -p.largest_spin, p.largest_spin)
    forget_touches(s)
    s.place = place_of(p, s)
    s.distance = max(s.place - WALL, 1.0)


@kernel
def wanted(a, k):
    """How far piston k is to go up, in shares of its speed."""
    if a.ndim == 1:
        return a[k] - 1.0
    return min(max(a[k, 0], -1.0), 1.0)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.height.size):
        before = s.height[k]
        s.height[k] = min(max(before + p.piston_speed * wanted(a, k), 0.0), HIGHEST)
        r.effort[k] = abs(s.height[k] - before) / p.piston_speed
        move_ball(p, s, DT)
    place = place_of(p, s)
    there = place + s.velocity[0] * DT <= WALL + 1.0
    for k in range(s.height.size):
        r.distance[k] = 100.0 * (s.place - place) / s.distance
        r.time[k] = 0.0 if there else -0.1
        r.terminated[k] = there
        r.success[k] = there
    s.place = place


@kernel
def height_seen(s, k):
    return s.height[k] if 0 <= k < s.height.size else HIGHEST


@kernel
def from_ball(s, k):
    """Where the ball's centre is from the middle of the top of piston k at rest, to the right and above."""
    return s.position[0] - WALL - 40.0 * k - 20.0, 486.0 - s.position[1]


@SPEC.observe
def observe(p, s, k, o):
    if o.heights.size > 0:
        for j in range(3):
            o.heights[j] = height_seen(s, k - 1 + j)
        o.ball[0], o.ball[1] = from_ball(s, k)
        o.velocity[0], o.velocity[1] = s.velocity[0], -s.velocity[1]
        o.spin[0] = s.spin
        o.row[0] = k / (s.height.size - 1.0)


@SPEC.observe_images
def observe_images(p, s, k, i):
    show_pistons(i.screen, p, s, k)


@SPEC.player("slope")
def slope(p, s, k, a, rng):
    """Up behind the ball, down under it and before it, so that it rolls to the left."""
    ahead = from_ball(s, k)[0]
    up = 1.0 if ahead < -10.0 else -1.0
    if a.ndim == 1:
        a[k] = 2 if up > 0.0 else 0
    else:
        a[k, 0] = up


@SPEC.draw
def draw(canvas, p, s):
    draw_pistons(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    up = float("up" in pressed or "w" in pressed) - float("down" in pressed or "s" in pressed)
    return [up] if values.actions == "continuous" else int(up) + 1
