"""AirHockey: control a mallet to guard your goal and shoot the puck into the other one.

## Description
Table, puck, mallets, drag and time steps are those of the Robot Air Hockey Challenge (Liu et al., "A Retrospective on
the Robot Air Hockey Challenge", NeurIPS 2024; AirHockeyChallenge/air_hockey_challenge), and so are the rules of its
tournament: keeping the puck on one's own side for more than 15 s is a fault, and every third fault is a point for the
other side; a puck that stops in the middle is put back. In the challenge, arms with three or seven joints hold the
mallets; here a mallet follows the commanded velocity, with limited acceleration, and cannot cross the middle. Rigid
bodies are simulated by rlenvs/kits/planar; a mallet has mass and yields, so the puck is never squeezed between it and a
rim.

Set by this package: the restitution and friction of the rims (friction is 10000 in the challenge, which means no slip),
mass, speed and acceleration of the mallets, points and length of a game, the players. No other package has mallets
without arms, so there are no returns to compare with. As in the challenge, the puck is put back on the side that
scored. The table looks the same from both sides, rotated by 180 degrees.

Scripted players: "striker" goes around the puck and shoots at the goal, and guards its own goal in between; "keeper"
stays between goal and puck, and pushes slow pucks away; "chaser" goes for the puck. With an `opponent` other than
"self" there is one agent, on the left.

## Action Space
Velocity of the mallet forward, towards the other goal, and to the left, as fractions of `mallet_speed`; longer vectors
are shortened.

## Observation Space
Both sides see themselves on the left. The level "pixels" has images instead of numbers, 84 x 84, with the table at the
last three steps as channels, the newest first: puck white, own mallet light, the other one dark.

## Rewards
`goal` is 1 for a point, `concede` -1 for a point of the other side. `touch` (weight 0) is 1 in a step in which the
mallet starts touching the puck, `shot` (weight 0) the speed of the puck towards the other goal [m/s] in that step.

## Costs
`fault`: 1 when the puck stayed on the agent's own side for too long.

## Starting State
The mallets are at their home positions; the puck is at rest on one side, 0.2 to 0.7 m from the middle, away from the
rims.

## Episode End
Termination: a side has `goals` points. Truncation: 3000 steps (60 s). Success: more points than the other side when
the episode ends.

## Parameters
The puck is never faster than 20 m/s, the bound of the original's observations.

## Reference Scores
Mean return over seeds 0 to 99 of two games together, one from each side, against "striker".

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    Score,
    below,
    block,
    choice,
    continuous,
    cost,
    f8,
    i8,
    image,
    integer,
    kernel,
    param,
    term,
    uniform,
    world,
)
from rlenvs.kits import planar
from rlenvs.kits.raster.draw import clear
from rlenvs.multi.arcade.screen import FRAMES, SIDE, fill_disc
from rlenvs.multi.arcade.sides import agents_of, judge
from rlenvs.multi.arcade.strikers import CHASER, KEEPER, OPPONENT, STRIKER, play
from rlenvs.multi.arcade.table import (
    FIELDS,
    FIRST,
    LENGTH,
    MALLET,
    PUCK,
    PUCK_BODY,
    SHAPES,
    WIDTH,
    build,
    drive,
    limit_speed,
    place_of,
    put,
    velocity_of,
)

OBSERVATION = choice("vector", "pixels", doc="numbers or images")
(PIXELS,) = OBSERVATION.codes("pixels")
STEP = 0.02  # s
HOME = 0.8  # m, from the middle
NEAREST, FARTHEST = 0.2, 0.7  # m, of the puck from the middle at the start
ASIDE = 0.5 * WIDTH - PUCK - 2.0 * MALLET  # m
PATIENCE, FAULTS = 15.0, 3  # s; that are a point
MIDDLE, LYING = 0.15, 0.025  # m, m/s
TOP_SPEED = 20.0  # m/s, of the puck
ITERATIONS, CORRECTIONS = 8, 3


SPEC = world(
    "AirHockey-v0",
    doc=__doc__,
    source="Robot Air Hockey Challenge (Liu et al., NeurIPS 2024), AirHockeyChallenge/air_hockey_challenge",
    agents=True,
    params={
        "puck_mass": param(0.01, 0.002, 0.2, "kg", "of the puck"),
        "mallet_mass": param(0.3, 0.05, 2.0, "kg", "of a mallet"),
        "drag": param(0.5, 0.0, 5.0, "1/s", "of the puck, sliding and turning: 0.005 N s/m over 0.01 kg"),
        "restitution": param(0.9, 0.0, 1.0, "", "of puck and rims"),
        "mallet_restitution": param(0.8, 0.0, 1.0, "", "of puck and mallets"),
        "friction": param(0.2, 0.0, 1.0, "", "of the puck on rims and mallets"),
        "mallet_speed": param(2.0, 0.2, 5.0, "m/s", "largest commanded speed of a mallet"),
        "mallet_acceleration": param(30.0, 2.0, 100.0, "m/s^2", "largest acceleration of a mallet"),
        "goal_width": param(0.25, 0.1, 0.8, "m", "of the goals"),
        "patience": param(PATIENCE, 1.0, 60.0, "s", "time that the puck may stay on a side", limit=True),
    },
    options={
        "opponent": OPPONENT,
        "observation": OBSERVATION,
        "goals": integer(3, 1, 21, "points that win a game"),
        "substeps": integer(10, 5, 40, "steps of the physics in 0.02 s"),
    },
    sizes=lambda values: {
        "agents": agents_of(values),
        "pair": 0 if values.observation == "pixels" else 2,
        "one": 0 if values.observation == "pixels" else 1,
        "side": SIDE if values.observation == "pixels" else 0,
    },
    teams=lambda values: list(range(agents_of(values))),
    players=("striker", "keeper", "chaser"),
    state={
        **FIELDS,
        "wanted": f8(2, 2),  # shares of the mallets' speed, each as its side sees it
        "score": i8(2),
        "faults": i8(2),
        "side": i8,  # where the puck is, 0 or 1
        "stay": f8,  # s that it has been there
        "past": f8(FRAMES - 1, 3, 2),  # puck and mallets at the steps before
    },
    observation={
        "puck": block("pair", low=-1.0, high=1.0, unit="m", doc="position of the puck"),
        "puck_velocity": block("pair", low=-5.0, high=5.0, unit="m/s", doc="velocity of the puck"),
        "puck_spin": block("one", low=-100.0, high=100.0, unit="rad/s", doc="angular velocity of the puck"),
        "mallet": block("pair", low=-1.0, high=1.0, unit="m", doc="position of the own mallet"),
        "mallet_velocity": block("pair", low=-5.0, high=5.0, unit="m/s", doc="its velocity"),
        "rival": block("pair", low=-1.0, high=1.0, unit="m", doc="position of the other mallet"),
        "rival_velocity": block("pair", low=-5.0, high=5.0, unit="m/s", doc="its velocity"),
        "stay": block(
            "one",
            low=-60.0,
            high=60.0,
            unit="s",
            doc="time that the puck has been on the own side; negative for the other side",
        ),
        "score": block("pair", low=0.0, high=lambda values: values.goals, doc="own points, those of the other side"),
        "faults": block(
            *("pair",), low=0.0, high=FAULTS, doc="own faults towards the next point, the other side's", constant=True
        ),
    },
    images={"screen": image("side", "side", FRAMES, doc="the table now and at the two steps before")},
    action=continuous("ahead", "left"),
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 for a point"),
        "concede": term(-1.0, 0.0, 1.0, "-1 for a point of the other side"),
        "touch": term(0.0, 1.0, 0.0, "1 when the mallet starts touching the puck"),
        "shot": term(-TOP_SPEED, TOP_SPEED, 0.0, "speed of the puck towards the other goal in that step"),
    },
    costs={"fault": cost(2.0, doc="1 when the puck stayed on the own side for too long")},
    horizon=3000,
    fps=50,
    scratch=("simplex", "simplex_index"),
    levels={
        "easy": {"opponent": "chaser"},
        "medium": {"opponent": "keeper"},
        "hard": {"opponent": "striker"},
        "wide": {"goal_width": 0.45},
        "pixels": {"observation": "pixels", "opponent": "keeper"},
    },
    scores={"bound": Score(6, 0, "both games won 3 to 0")},
)


# --- the game ---------------------------------------------------------------------------------------------------------


SPEC.state_fault(planar.state_fault)


@SPEC.reset
def reset(p, s, rng):
    build(p, s, HOME)
    serve(s, below(rng, 2), rng)
    for _ in range(s.past.shape[0]):
        remember(s)


@kernel
def serve(s, side, rng):
    """Mallets at home, the puck at rest on a side."""
    sign = -1.0 if side == 0 else 1.0
    far, aside = uniform(rng, NEAREST, FARTHEST), uniform(rng, -ASIDE, ASIDE)
    put(s, PUCK_BODY, sign * far, sign * aside)
    put(s, FIRST, -HOME, 0.0)
    put(s, FIRST + 1, HOME, 0.0)
    planar.prepare(s)
    s.side, s.stay = side, 0.0


@kernel
def remember(s):
    """What the pictures of the next steps show of this one."""
    for j in range(s.past.shape[0] - 1, -1, -1):
        for n in range(3):
            if j > 0:
                s.past[j, n, 0], s.past[j, n, 1] = s.past[j - 1, n, 0], s.past[j - 1, n, 1]
            else:
                s.past[j, n, 0], s.past[j, n, 1] = place_of(s, PUCK_BODY + n)


@SPEC.step
def step(p, s, a, rng, r):
    remember(s)
    for k in range(2):
        if k < s.alive.size:
            s.wanted[k, 0], s.wanted[k, 1] = a[k, 0], a[k, 1]
        else:
            play(p, s, k, p.opponent, s.wanted[k])
    scorer = -1
    for _ in range(p.substeps):
        slide(p, s, STEP / p.substeps)
        note_touches(s, r)
        x, _ = place_of(s, PUCK_BODY)
        if abs(x) > 0.5 * LENGTH:
            scorer = 0 if x > 0.0 else 1
            break
    if scorer >= 0:
        serve(s, scorer, rng)
    else:
        scorer = watch(p, s, rng, r)
    judge(s, r, scorer, p.goals)


@kernel
def slide(p, s, dt):
    """A step of the physics."""
    for k in range(2):
        ahead, left = s.wanted[k, 0], s.wanted[k, 1]
        long = max(math.sqrt(ahead * ahead + left * left), 1.0)
        speed = (p.mallet_speed if k == 0 else -p.mallet_speed) / long
        drive(s, FIRST + k, speed * ahead, speed * left, p.mallet_acceleration, dt)
    planar.advance(s, dt, 0.0, 0.0, ITERATIONS, CORRECTIONS, planar.SETTLED)
    limit_speed(s, PUCK_BODY, TOP_SPEED)


@kernel
def note_touches(s, r):
    """Touches of the puck that began: shapes are numbered as they were made, the puck and the mallets last."""
    puck = SHAPES - 3
    for e in range(s.event_count):
        k = s.events[e, 1] - puck - 1
        if s.events[e, 2] == 1 and s.events[e, 0] == puck and 0 <= k < s.alive.size:
            vx, _ = velocity_of(s, PUCK_BODY)
            r.touch[k] = 1.0
            r.shot[k] = vx if k == 0 else -vx


@kernel
def watch(p, s, rng, r):
    """How long the puck has been on a side. Returns the side to which a third fault of the other gives a point."""
    x, _ = place_of(s, PUCK_BODY)
    vx, _ = velocity_of(s, PUCK_BODY)
    side = 0 if x < 0.0 else 1
    s.stay = s.stay + STEP if side == s.side else 0.0
    s.side = side
    if s.stay > p.patience and abs(x) >= MIDDLE:
        s.faults[side] += 1
        if side < s.alive.size:
            r.fault[side] = 1.0
        serve(s, side, rng)
        return 1 - side if s.faults[side] % FAULTS == 0 else -1
    if abs(x) < MIDDLE and abs(vx) < LYING:
        serve(s, side, rng)
    return -1


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("striker")
def striker(p, s, k, a, rng):
    play(p, s, k, STRIKER, a[k])


@SPEC.player("keeper")
def keeper(p, s, k, a, rng):
    play(p, s, k, KEEPER, a[k])


@SPEC.player("chaser")
def chaser(p, s, k, a, rng):
    play(p, s, k, CHASER, a[k])


# --- what sides see ---------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    if p.observation == PIXELS:
        return
    sign = 1.0 if k == 0 else -1.0
    show(s, PUCK_BODY, sign, o.puck, o.puck_velocity)
    show(s, FIRST + k, sign, o.mallet, o.mallet_velocity)
    show(s, FIRST + 1 - k, sign, o.rival, o.rival_velocity)
    o.puck_spin[0] = s.spin[PUCK_BODY]
    o.stay[0] = s.stay if s.side == k else -s.stay
    o.score[0], o.score[1] = s.score[k], s.score[1 - k]
    o.faults[0], o.faults[1] = s.faults[k] % FAULTS, s.faults[1 - k] % FAULTS


@kernel
def show(s, b, sign, place, velocity):
    """A body as the side sees it for which the table is turned by `sign`."""
    x, y = place_of(s, b)
    vx, vy = velocity_of(s, b)
    place[0], place[1] = sign * x, sign * y
    velocity[0], velocity[1] = sign * vx, sign * vy


@SPEC.observe_images
def observe_images(p, s, k, i):
    if p.observation != PIXELS:
        return
    clear(i.screen)
    for n in range(3):
        x, y = place_of(s, PUCK_BODY + n)
        paint(k, i.screen, 0, n, x, y)
        for j in range(s.past.shape[0]):
            paint(k, i.screen, 1 + j, n, s.past[j, n, 0], s.past[j, n, 1])


@kernel
def paint(k, screen, c, n, x, y):
    """The puck or a mallet, as side k sees it; its goal is on the left."""
    sign, scale = (1.0 if k == 0 else -1.0), SIDE / LENGTH
    radius, grey = (PUCK, 255.0) if n == 0 else (MALLET, 190.0 if n == 1 + k else 110.0)
    fill_disc(screen, c, (sign * x + 0.5 * LENGTH) * scale, 0.5 * SIDE - sign * y * scale, radius * scale, grey)


# --- for people -------------------------------------------------------------------------------------------------------

FLOOR, ICE, EDGE, LINE, SIDES = (206, 196, 180), (238, 244, 250), (52, 60, 74), (196, 210, 226), ("blue", "red")


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"{int(s.score[0])} : {int(s.score[1])}", f"puck {math.hypot(*velocity_of(s, PUCK_BODY)):.1f} m/s")
    canvas.legend((SIDES[0], "first side", "disc"), (SIDES[1], "second side", "disc"), ("black", "puck", "disc"))
    x, y, g = 0.5 * LENGTH, 0.5 * WIDTH, 0.5 * float(p.goal_width)
    wide = x + 0.1
    high = wide * canvas.scene[1] / canvas.scene[0]
    canvas.view(-wide, wide, -high, high)
    canvas.rectangle(-wide, -high, wide, high, FLOOR)
    canvas.rectangle(-x - 0.08, -y - 0.08, x + 0.08, y + 0.08, EDGE, rounded=0.06)
    canvas.rectangle(-x, -y, x, y, ICE)
    canvas.rectangle(-0.008, -y, 0.008, y, LINE)
    canvas.circle((0.0, 0.0), 0.16, LINE, 3.0)
    for k in range(2):
        sign = 2 * k - 1
        canvas.rectangle(min(sign * x, sign * (x + 0.08)), -g, max(sign * x, sign * (x + 0.08)), g, SIDES[k])
        arc = [(sign * (x - 0.2 * math.sin(t * math.pi / 24)), 0.2 * math.cos(t * math.pi / 24)) for t in range(25)]
        canvas.line(arc, LINE, 3.0)
    px, py = (float(v) for v in place_of(s, PUCK_BODY))
    vx, vy = (float(v) for v in velocity_of(s, PUCK_BODY))
    if math.hypot(vx, vy) > 0.2:
        canvas.line([(px - 0.08 * vx, py - 0.08 * vy), (px, py)], (150, 160, 172), 5.0)
    for k in range(2):
        centre = tuple(float(v) for v in place_of(s, FIRST + k))
        canvas.circle(centre, MALLET, SIDES[k])
        canvas.circle(centre, 0.5 * MALLET, "white")
        canvas.circle(centre, 0.38 * MALLET, SIDES[k])
    canvas.circle((px, py), PUCK, "black")
    turn = float(s.angle[PUCK_BODY])
    canvas.circle((px + 0.018 * math.cos(turn), py + 0.018 * math.sin(turn)), 0.007, "white")


@SPEC.keys
def keys(pressed, values):
    ahead, back = pressed.intersection(("right", "d")), pressed.intersection(("left", "a"))
    left, right = pressed.intersection(("up", "w")), pressed.intersection(("down", "s"))
    return [float(bool(ahead)) - float(bool(back)), float(bool(left)) - float(bool(right))]
