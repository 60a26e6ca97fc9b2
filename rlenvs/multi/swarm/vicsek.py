"""Vicsek: a flock of agents that fly at one speed is to fly in one direction.

## Description
Each agent flies with the same speed over a square whose opposite sides are the same, and turns by its action: p' = p +
`speed` (cos h, sin h), h' = h + u + z, with |u| <= `max_turn` and z uniform in [-`noise` / 2, `noise` / 2]. In the
model of Vicsek et al. ("Novel type of phase transition in a system of self-driven particles", Physical Review Letters
1995) everybody takes the mean direction of its neighbors; here that is a scripted player, and agents learn what to do
(Cui, Hauck, Fabian and Koeppl, "Learning Decentralized Partially Observable Mean Field Control for Artificial
Collective Behavior", ICLR 2024). Order falls as noise grows. The noise has the form of Vicsek et al.; the numbers of
the second paper could not be checked, so all of them are parameters, options and weights.

`task="target"` asks for a direction, which agents see, `"rotating"` for one that turns by `rotation` in each step, and
`"opposite"` has the opposite one for every other agent.

Scripted players: "mean" turns to the target, or where there is none to the mean direction of all agents; "vicsek" to
that of the agents within `radius`. `rlenvs.multi.swarm.mean_field` computes the limit of many agents.

## Action Space
The turn to the left, in units of `max_turn`.

## Observation Space
The own place, in sides; cosine and sine of the own heading, and of the target direction (0 where there is none); and
how the headings are distributed over `bins` parts of the circle from -pi on, oneself included: those of all agents
(`observation="global"`), or of those within `radius` ("radius"; then also the share of all agents that they are), or
none ("own"). `own_noise` makes the own heading noisy, `histogram_noise` the shares.

## Rewards
`alignment` is the order parameter |1/N sum_j exp(i h_j)|, the same for all, in `info` of every step. `agreement` (no
weight) is the cosine of the angle between the agent's heading and the mean one; the alignment is its mean over agents,
and to learn from it is easier. `target` is the cosine of the angle between the agent's heading and its target
direction; with a target it has weight 1 and alignment none. `effort` (weight 0.05) is minus the size of the agent's own
turn.

## Costs
None.

## Starting State
Headings are uniform in an arc of length `arc`, places in the square, the target direction in the circle.

## Episode End
Truncation: 100 steps. Success is not defined.

## Parameters
A step is the unit of time. For a flock of the same density with more agents, `side` grows with the root of their
number.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "mean".

## Version History
v0: first version.
"""

import math

from rlenvs.core import at_most, block, choice, continuous, f8, kernel, maths, param, term, uniform, world
from rlenvs.multi.swarm import angles, cells, sight
from rlenvs.multi.swarm.render import draw_vicsek
from rlenvs.multi.swarm.sight import CLOSED, OWN

BY_TARGET = {"alignment": 0.0, "target": 1.0}
TASK = choice(
    *("align", "target", "rotating", "opposite"),
    doc="any common direction, a given one, one that turns, or two that are opposite",
    sets={"target": BY_TARGET, "rotating": BY_TARGET, "opposite": BY_TARGET},
)
ALIGN, ROTATING, OPPOSITE = TASK.codes("align", "rotating", "opposite")

SPEC = world(
    "SwarmVicsek-v0",
    doc=__doc__,
    source="Vicsek et al., Physical Review Letters 1995; Cui, Hauck, Fabian and Koeppl, ICLR 2024 (Dec-POMFC)",
    agents=True,
    params={
        "speed": param(0.075, 0.0, 1.0, "m", "distance flown in a step"),
        "max_turn": param(0.5, 0.01, math.pi, "rad", "largest turn of a step by the action"),
        "noise": param(0.5, 0.0, angles.TURN, "rad", "width of the interval of the noise on a heading in a step"),
        "rotation": param(0.05, -1.0, 1.0, "rad", 'turn of the target direction in a step, for task="rotating"'),
        "arc": angles.ARC,
        **sight.PLACES,
        "own_noise": angles.OWN_NOISE,
        "histogram_noise": sight.HISTOGRAM_NOISE,
    },
    constraints=[at_most("radius", "side", 0.5, "radius must not exceed half the side")],
    options={**sight.OPTIONS, "task": TASK, "bins": sight.BINS},
    sizes=lambda values: sight.sizes(values, values.bins),
    state={
        **angles.STATE,
        "position": f8("agents", 2),
        "target": f8,  # rad, direction of even agents
        **sight.NOISE,
        **angles.SCRATCH_STATE,
        **sight.STATE,
    },
    scratch=(*angles.SCRATCH_STATE, *sight.SCRATCH),
    observation={
        "place": block(2, low=0.0, high=1.0, raw=True, doc="own place, in sides"),
        "heading": block(2, low=-1.0, high=1.0, raw=True, doc="cosine and sine of the own heading"),
        "target": block(
            2, low=-1.0, high=1.0, raw=True, constant=True, doc="cosine and sine of the target direction, or zeros"
        ),
        "histogram": sight.HISTOGRAM,
        "crowd": sight.CROWD,
    },
    action=continuous("turn", doc="to the left, in units of `max_turn`"),
    terms={
        "alignment": term(0.0, 1.0, 1.0, "the order parameter"),
        "agreement": term(-1.0, 1.0, 0.0, "cosine of the angle between the own and the mean heading"),
        "target": term(-1.0, 1.0, 0.0, "cosine of the angle to the target direction; 0 without one"),
        "effort": term(-math.pi, 0.0, 0.05, "minus the size of the own turn"),
    },
    horizon=100,
    fps=10,
    expert_sees="state",
    players=("mean", "vicsek"),
    quick=sight.QUICK,
    probe={"radius": {"observation": "radius"}, "rotation": {"task": "rotating"}},
    levels={
        "local": {"observation": "radius"},
        "noisy": {"own_noise": 0.3, "histogram_noise": 0.05},
        "target": {"task": "target"},
        "rotating": {"task": "rotating"},
        "opposite": {"task": "opposite"},
        "large": {"agents": 1000, "side": 4.5},
    },
)


@SPEC.reset
def reset(p, s, rng):
    angles.scatter_angles(p, s, rng)
    cells.scatter(p, s, rng)
    s.target = uniform(rng, -math.pi, math.pi)
    sight.draw_noise(s, rng)


@kernel
def target_of(p, s, k):
    """The target direction of agent k [rad]."""
    return s.target + math.pi if p.task == OPPOSITE and k % 2 == 1 else s.target


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.angle.size):
        sine, cosine = maths.sin_cos(s.angle[k])
        s.position[k, 0] = cells.inside(p, s.position[k, 0] + p.speed * cosine)
        s.position[k, 1] = cells.inside(p, s.position[k, 1] + p.speed * sine)
        turn = p.max_turn * a[k, 0]
        s.angle[k] = maths.wrapped(s.angle[k] + turn + p.noise * uniform(rng, -0.5, 0.5))
        r.effort[k] = -abs(turn)
    if p.task == ROTATING:
        s.target = maths.wrapped(s.target + p.rotation)
    order = angles.take_mean(s)
    for k in range(s.angle.size):
        r.alignment[k] = order
        r.agreement[k] = angles.agreement(s, k)
        r.target[k] = 0.0 if p.task == ALIGN else maths.cos(s.angle[k] - target_of(p, s, k))
    sight.draw_noise(s, rng)


@SPEC.observe
def observe(p, s, k, o):
    if k == 0:
        angles.take_mean(s)
        if p.observation != OWN:
            angles.take_bins(s)
        sight.look_at_all(p, s)
    sight.take_dice(s, k)
    angles.show_angle(p, s, k, o.heading)
    sine, cosine = maths.sin_cos(target_of(p, s, k))
    o.target[0] = 0.0 if p.task == ALIGN else cosine
    o.target[1] = 0.0 if p.task == ALIGN else sine
    for axis in range(2):
        o.place[axis] = cells.inside(p, s.position[k, axis]) / p.side
    sight.show(p, s, sight.look_around(p, s, k, CLOSED), o)


@kernel
def turn_to(p, s, k, x, y):
    """Agent k's turn to the direction of a vector."""
    return min(max(angles.ahead(s, k, x, y) / p.max_turn, -1.0), 1.0)


@SPEC.player("mean")
def to_mean(p, s, k, a, rng):
    """To the target direction, or the mean direction of all agents."""
    y, x = maths.sin_cos(target_of(p, s, k))
    if p.task == ALIGN:
        x, y = s.center[0], s.center[1]
    a[k, 0] = turn_to(p, s, k, x, y)


@SPEC.player("vicsek")
def to_neighbors(p, s, k, a, rng):
    """To the mean direction of the agents within the radius."""
    x, y = angles.mean_near(p, s, k)
    a[k, 0] = turn_to(p, s, k, x, y)


@SPEC.draw
def draw(canvas, p, s):
    draw_vicsek(canvas, p, s)


@SPEC.text
def text(p, s):
    rows = [f"{x:.2f} {y:.2f} {h:.2f}" for (x, y), h in zip(s.position.tolist(), s.angle.tolist(), strict=True)]
    return "places [m], headings [rad]\n" + "\n".join(rows)


@SPEC.keys
def keys(pressed, values):
    return [bool(pressed & {"left", "a"}) - bool(pressed & {"right", "d"})]
