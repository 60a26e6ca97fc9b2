"""LunarLander: land between two flags by firing three engines, using little fuel.

## Description
A lander falls towards rough ground after a random push; the main engine lifts it, two small ones turn it and push it
sideways. Gymnasium's LunarLander-v3 (1.4, by Oleg Klimov): its constants, spaces, rewards, terminations and keywords,
simulated by this package's rigid bodies (`rlenvs/kits/planar`) instead of Box2D. With the same start and the same
random numbers the flight matches the original to 1e-5 per step; contacts agree in distribution
(benchmarks/planar_episodes.md). `LunarLanderContinuous-v0` has throttles. `rlenvs/mo-LunarLander-v0` returns the reward
terms as a vector, with `level="mo-gymnasium"` exactly those of MO-Gymnasium's mo-lunar-lander-v3. Different: bodies do
not sleep; an episode ends when all bodies have been as slow for as long as Box2D requires; solver iterations stop early
when they change nothing. Two quirks of the original are kept: the side engines push at a point that depends on the
angle, and a leg that touches two pieces of ground counts as in the air as soon as it leaves one of them.

## Action Space
0 nothing, 1 left engine, 2 main engine, 3 right engine. LunarLanderContinuous-v0: main engine, off below 0, from half
to full power above; side engines, off within [-0.5, 0.5], left below.

## Observation Space
Position of the lander relative to the pad, in half viewports; velocities in those units, scaled as in the original;
angle [rad]; angular velocity times 0.4 s; whether each leg touches the ground.

## Rewards
`shaping` is the change of -100 (distance + speed + |angle|) + 10 for each leg on the ground, in units of the
observation. `main_engine` and `side_engine` are minus the powers, weighted 0.3 and 0.03. `landing` is 100 at rest and
-100 after a crash; in this step the other terms are 0, unless `last_step_counts` is set, as in MO-Gymnasium.

## Costs
None. LunarLanderContinuous-v0 has three barriers for `BarrierFilter`, which keeps the lander from falling (m/s) and
turning (rad/s) faster than its engines can stop: it touches down at about 1 m/s, and leans by about 0.6 rad.

## Starting State
At the top of the viewport, pushed by a force of up to `initial_random` newtons in each direction during the first step,
in which no engine fires. The ground has 11 points, 5 of which form the flat pad.

## Episode End
Termination: the hull touches the ground, or the lander leaves the viewport sideways (a crash); it has been at rest for
half a second (a success). Truncation: 1000 steps (20 s).

## Parameters
The contexts of CARL (Benjamins et al., TMLR 2023) under its names, in the original's pixels, `scale` per meter;
gravity, wind and turbulence are Gymnasium's keywords.

## Reference Scores
Mean return over seeds 0 to 99. The expert is a controller with the gains of Gymnasium's own.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    block,
    continuous,
    discrete,
    drop_in,
    flag,
    instead,
    integer,
    kernel,
    only,
    param,
    published,
    term,
    uniform,
    world,
)
from rlenvs.kits import planar
from rlenvs.robotics.landing.barrier import keep_landable
from rlenvs.robotics.landing.lander import HULL, LARGEST_WIND_INDEX, STATE, build, draw_terrain, fly, seen, shaping_of
from rlenvs.robotics.landing.render import draw_landing

NOTHING, LEFT_ENGINE, MAIN_ENGINE, RIGHT_ENGINE = range(4)
BOUNDS = (2.5, 2.5, 10.0, 10.0, 2.0 * math.pi, 10.0, 1.0, 1.0)

BODIES = instead("bodies are in `env.unwrapped.batch.states`: center, angle, velocity, spin of each")
DROP_IN = drop_in(
    {"continuous": only(False, "rlenvs/LunarLanderContinuous-v0 has throttles")},
    dict.fromkeys(("lander", "legs", "moon", "world", "particles"), BODIES),
)

SPEC = world(
    "LunarLander-v0",
    doc=__doc__,
    source="Gymnasium LunarLander-v3 (Towers et al., arXiv 2407.17032); MO-Gymnasium mo-lunar-lander-v3",
    params={
        "gravity": param(-10.0, -20.0, 0.0, "m/s^2", "gravity, upwards"),
        "gravity_x": param(0.0, -20.0, 20.0, "m/s^2", "gravity, to the right"),
        "main_engine_power": param(13.0, 0.0, 50.0, "", "impulse of the main engine, per meter of its arm"),
        "side_engine_power": param(0.6, 0.0, 50.0, "", "impulse of the side engines, per meter of their arm"),
        "initial_random": param(1000.0, 0.0, 2000.0, "N", "largest force of the first step, in each direction"),
        "leg_away": param(20.0, 10.0, 40.0, "px", "horizontal distance of the legs"),
        "leg_down": param(18.0, 10.0, 40.0, "px", "vertical distance of the legs"),
        "leg_w": param(2.0, 1.0, 10.0, "px", "half the width of a leg"),
        "leg_h": param(8.0, 1.0, 20.0, "px", "half the length of a leg"),
        "leg_spring_torque": param(40.0, 0.0, 100.0, "N m", "torque that presses the legs down"),
        "side_engine_height": param(14.0, 1.0, 20.0, "px", "height of the side engines"),
        "side_engine_away": param(12.0, 1.0, 20.0, "px", "horizontal distance of the side engines"),
        "fps": param(50.0, 20.0, 200.0, "1/s", "steps per second"),
        "scale": param(30.0, 10.0, 100.0, "px/m", "pixels per meter"),
        "viewport_w": param(600.0, 400.0, 1000.0, "px", "width of the viewport; leaving it ends the episode"),
        "viewport_h": param(
            400.0, 200.0, 800.0, "px", "height of the viewport, where episodes start; the pad is at a quarter of it"
        ),
        "wind_power": param(15.0, 0.0, 20.0, "N", "strongest wind, with `enable_wind`"),
        "turbulence_power": param(1.5, 0.0, 2.0, "N m", "strongest torque of the wind"),
    },
    options={
        "enable_wind": flag(False, "whether there is wind and turbulence while no leg touches the ground"),
        "velocity_iterations": integer(180, 1, 1000, "largest number of velocity iterations per step"),
        "position_iterations": integer(60, 1, 1000, "largest number of position iterations per step"),
        "last_step_counts": flag(False, "whether the last step has all terms, not only `landing`"),
    },
    state=STATE,
    observation={
        "x": block(low=-2.5, high=2.5, doc="from the pad, in half viewports"),
        "y": block(low=-2.5, high=2.5, doc="above the pad with legs down"),
        "vx": block(low=-10.0, high=10.0, doc="velocity"),
        "vy": block(low=-10.0, high=10.0, doc="velocity"),
        "angle": block(low=-2.0 * math.pi, high=2.0 * math.pi, unit="rad", doc="positive to the left"),
        "spin": block(low=-10.0, high=10.0, unit="2.5 rad/s", doc="angular velocity"),
        "left_leg": block(low=0.0, high=1.0, doc="touches the ground"),
        "right_leg": block(low=0.0, high=1.0, doc="touches the ground"),
    },
    action=discrete("nothing", "left engine", "main engine", "right engine"),
    terms={
        "landing": term(-100.0, 100.0, 1.0, "100 at rest, -100 after a crash"),
        "shaping": term(-5000.0, 5000.0, 1.0, "change of the original's shaping function"),
        "main_engine": term(-1.0, 0.0, 0.3, "minus the power of the main engine"),
        "side_engine": term(-1.0, 0.0, 0.03, "minus the power of the side engines"),
    },
    published=published(
        "Gymnasium LunarLander-v3",
        low=lambda values: [-b for b in BOUNDS[:6]] + [0.0, 0.0],
        high=lambda values: BOUNDS,
        clipped=True,
    ),
    probe={"wind_power": {"enable_wind": True}, "turbulence_power": {"enable_wind": True}},
    horizon=1000,
    fps=lambda values: values.fps,
    drop_in=DROP_IN,
    reward_threshold=200.0,
    levels={
        "wind": {"enable_wind": True},
        "fast": {"velocity_iterations": 12, "position_iterations": 6},
        "mo-gymnasium": {"last_step_counts": True},
    },
)

CONTINUOUS = SPEC.member(
    "LunarLanderContinuous-v0",
    "LunarLander with continuous throttles: land between two flags, using little fuel.",
    action=continuous("main engine", "side engines"),
    barriers=3,
    drop_in=DROP_IN.but(keywords={"continuous": only(True, "rlenvs/LunarLander-v0 has four choices")}),
    reward_threshold=200.0,
)
CONTINUOUS.barrier(keep_landable)


SPEC.state_fault(planar.state_fault)


@SPEC.reset
def reset(p, s, rng):
    draw_terrain(p, s, rng)
    build(p, s)
    s.force[HULL, 0] = uniform(rng, -p.initial_random, p.initial_random)
    s.force[HULL, 1] = uniform(rng, -p.initial_random, p.initial_random)
    s.wind_index = math.floor(uniform(rng, -1.0, 1.0) * LARGEST_WIND_INDEX)
    s.torque_index = math.floor(uniform(rng, -1.0, 1.0) * LARGEST_WIND_INDEX)
    fly(p, s, 0.0, 0.0, 0.0, 0.0)
    s.shaping = shaping_of(p, s)


@kernel
def play(p, s, main, side, rng, r):
    """A step with these powers of the engines, and what it is worth."""
    fly(p, s, main, side, uniform(rng, -1.0, 1.0), uniform(rng, -1.0, 1.0))
    shaping = shaping_of(p, s)
    crashed = s.hull_touched == 1 or abs(seen(p, s)[0]) >= 1.0
    r.success = s.at_rest == 1
    r.terminated = crashed or s.at_rest == 1
    if s.at_rest:
        r.landing = 100.0
    elif crashed:
        r.landing = -100.0
    if p.last_step_counts or not (crashed or s.at_rest == 1):
        r.shaping = shaping - s.shaping
        r.main_engine = -main
        r.side_engine = -abs(side)
    s.shaping = shaping


@SPEC.step
def step(p, s, a, rng, r):
    main = 1.0 if a == MAIN_ENGINE else 0.0
    side = a - 2.0 if a in (LEFT_ENGINE, RIGHT_ENGINE) else 0.0
    play(p, s, main, side, rng, r)


@CONTINUOUS.step
def step_with_throttles(p, s, a, rng, r):
    main = 0.5 * (min(a[0], 1.0) + 1.0) if a[0] > 0.0 else 0.0
    side = a[1] if abs(a[1]) > 0.5 else 0.0
    play(p, s, main, side, rng, r)


@SPEC.observe
def observe(p, s, o):
    o.x, o.y, o.vx, o.vy, o.angle, o.spin, o.left_leg, o.right_leg = seen(p, s)


@kernel
def wishes(p, s):
    """How much the controller wants to turn to the left, and to rise: it leans towards the pad, the more the farther
    and the faster it goes away, and keeps above a funnel; on the ground it only brakes its fall."""
    x, y, vx, vy, angle, spin, left, right = seen(p, s)
    lean = min(max(0.5 * x + vx, -0.4), 0.4)
    turn = 0.5 * (lean - angle) - spin
    rise = 0.5 * (0.55 * abs(x) - y) - 0.5 * vy
    if left + right > 0.0:
        return 0.0, -0.5 * vy
    return turn, rise


@SPEC.expert
def expert(p, s, a):
    turn, rise = wishes(p, s)
    a[0] = NOTHING
    if rise > abs(turn) and rise > 0.05:
        a[0] = MAIN_ENGINE
    elif turn < -0.05:
        a[0] = RIGHT_ENGINE
    elif turn > 0.05:
        a[0] = LEFT_ENGINE


@CONTINUOUS.expert
def expert_with_throttles(p, s, a):
    turn, rise = wishes(p, s)
    a[0] = min(max(20.0 * rise - 1.0, -1.0), 1.0)
    a[1] = min(max(-20.0 * turn, -1.0), 1.0)


@SPEC.draw
def draw(canvas, p, s):
    draw_landing(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    if pressed.intersection(("up", "w")):
        return MAIN_ENGINE
    if pressed.intersection(("left", "a")):
        return LEFT_ENGINE
    return RIGHT_ENGINE if pressed.intersection(("right", "d")) else NOTHING


@CONTINUOUS.keys
def keys_of_throttles(pressed, values):
    left, right = pressed.intersection(("left", "a")), pressed.intersection(("right", "d"))
    return [1.0 if pressed.intersection(("up", "w")) else -1.0, float(bool(right)) - float(bool(left))]
