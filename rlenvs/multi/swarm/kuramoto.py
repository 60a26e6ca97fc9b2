"""Kuramoto: oscillators with different frequencies are to swing in time with each other.

## Description
Each agent has a phase, and a frequency of its own. Coupling pulls phases towards those of the others, and an agent can
push its own: in each step of length dt = `time_step` the phase grows by (w + u + K / n sum_j sin(phase_j - phase)) dt +
`noise` sqrt(dt) z, where w is the agent's frequency, normal with mean 0 and deviation `frequency_spread`, u its push, K
the `coupling`, the sum over the n agents to which it is coupled, itself included, and z standard normal. It is the
model of Kuramoto ("Self-entrainment of a population of coupled non-linear oscillators", 1975) with actions, one of the
tasks of Cui, Hauck, Fabian and Koeppl, "Learning Decentralized Partially Observable Mean Field Control for Artificial
Collective Behavior", ICLR 2024. Of many agents that are all coupled, without noise and pushes, order begins at
K = 2 / (pi g(0)), where g is the density of the frequencies: 1.6 `frequency_spread`. By default the coupling is below.
The numbers of the second paper could not be checked, so all of them are parameters, options and weights.

Agents stand at random places of a square whose opposite sides are the same. They count with `contacts="radius"` (who is
coupled to whom) and `observation="radius"` only.

Scripted players: "mean" pushes towards the mean phase of all agents, against its own frequency; "neighbors" towards
that of the agents within `radius`. `rlenvs.multi.swarm.mean_field` computes the limit of many agents.

## Action Space
The push, in units of `max_push`.

## Observation Space
Cosine and sine of the own phase, the own frequency in rad/s (at most 20), and how the phases are distributed over
`bins` parts of the circle from -pi on, oneself included: those of all agents (`observation="global"`), or of those
within `radius` ("radius"; then also the share of all agents that they are), or none ("own"). `own_noise` makes the own
phase noisy, `histogram_noise` the shares.

## Rewards
`order` is the order parameter |1/N sum_j exp(i phase_j)|, the same for all, in `info` of every step. `agreement` (no
weight) is the cosine of the angle between the agent's phase and the mean one; the order is its mean over agents, and to
learn from it is easier. `effort` (weight 0.1) is minus the square of the agent's own push.

## Costs
None.

## Starting State
Phases are uniform in an arc of length `arc`, places in the square.

## Episode End
Truncation: 100 steps. Success is not defined.

## Parameters
`side` and `radius` matter with `contacts="radius"` or `observation="radius"`.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "mean".

## Version History
v0: first version.
"""

import math

from rlenvs.core import at_most, block, continuous, f8, kernel, maths, normal, param, term, world
from rlenvs.multi.swarm import angles, cells, sight
from rlenvs.multi.swarm.render import draw_kuramoto
from rlenvs.multi.swarm.sight import CLOSED, OWN, WITHIN

FASTEST = 20.0  # rad/s that is observed
MOST_PUSH = 10.0  # rad/s
EAGERNESS = 2.0  # 1/s, of players

SPEC = world(
    "SwarmKuramoto-v0",
    doc=__doc__,
    source="Kuramoto, 1975; Cui, Hauck, Fabian and Koeppl, ICLR 2024 (Dec-POMFC)",
    agents=True,
    params={
        "coupling": param(1.0, 0.0, 20.0, "rad/s", "strength of the coupling"),
        "frequency_spread": param(1.0, 0.0, 5.0, "rad/s", "standard deviation of the agents' frequencies"),
        "max_push": param(1.0, 0.01, MOST_PUSH, "rad/s", "largest push"),
        "noise": param(0.1, 0.0, 2.0, "rad/s^0.5", "intensity of the noise on a phase"),
        "time_step": param(0.1, 0.01, 0.5, "s", "length of a step"),
        "arc": angles.ARC,
        **sight.PLACES,
        "own_noise": angles.OWN_NOISE,
        "histogram_noise": sight.HISTOGRAM_NOISE,
    },
    constraints=[at_most("radius", "side", 0.5, "radius must not exceed half the side")],
    options={**sight.OPTIONS, "contacts": sight.CONTACTS, "bins": sight.BINS},
    sizes=lambda values: sight.sizes(values, values.bins),
    state={
        **angles.STATE,
        "frequency": f8("agents"),
        "position": f8("agents", 2),
        **sight.NOISE,
        **angles.SCRATCH_STATE,
        **sight.STATE,
    },
    scratch=(*angles.SCRATCH_STATE, *sight.SCRATCH),
    observation={
        "phase": block(2, low=-1.0, high=1.0, raw=True, doc="cosine and sine of the own phase"),
        "frequency": block(low=-FASTEST, high=FASTEST, unit="rad/s", raw=True, doc="own frequency"),
        "histogram": sight.HISTOGRAM,
        "crowd": sight.CROWD,
    },
    action=continuous("push", doc="in units of `max_push`"),
    terms={
        "order": term(0.0, 1.0, 1.0, "the order parameter"),
        "agreement": term(-1.0, 1.0, 0.0, "cosine of the angle between the own and the mean phase"),
        "effort": term(-(MOST_PUSH**2), 0.0, 0.1, "minus the square of the own push"),
    },
    horizon=100,
    fps=10,
    expert_sees="state",
    players=("mean", "neighbors"),
    quick=sight.QUICK,
    probe=sight.PROBE,
    levels={
        "local": {"observation": "radius", "contacts": "radius"},
        "noisy": {"own_noise": 0.3, "histogram_noise": 0.05},
        "synchronous": {"coupling": 3.0},
        "large": {"agents": 1000},
    },
)


@SPEC.reset
def reset(p, s, rng):
    angles.scatter_angles(p, s, rng)
    cells.scatter(p, s, rng)
    for k in range(s.frequency.size):
        s.frequency[k] = p.frequency_spread * normal(rng)
    sight.draw_noise(s, rng)


@kernel
def pull_on(p, s, k):
    """The mean of sin(phase_j - phase_k) over the agents j to which agent k is coupled."""
    x, y = s.center[0], s.center[1]
    if p.contacts == WITHIN:
        x, y = angles.mean_near(p, s, k)
    return y * s.unit[k, 0] - x * s.unit[k, 1]


@SPEC.step
def step(p, s, a, rng, r):
    angles.take_mean(s)
    if p.contacts == WITHIN:
        cells.sort_into_cells(p, s)
    shake = p.noise * math.sqrt(p.time_step)
    for k in range(s.angle.size):
        push = p.max_push * a[k, 0]
        rate = s.frequency[k] + push + p.coupling * pull_on(p, s, k)
        s.angle[k] = maths.wrapped(s.angle[k] + p.time_step * rate + shake * normal(rng))
        r.effort[k] = -push * push
    order = angles.take_mean(s)
    for k in range(s.angle.size):
        r.order[k] = order
        r.agreement[k] = angles.agreement(s, k)
    sight.draw_noise(s, rng)


@SPEC.observe
def observe(p, s, k, o):
    if k == 0:
        angles.take_mean(s)
        if p.observation != OWN:
            angles.take_bins(s)
        sight.look_at_all(p, s)
    sight.take_dice(s, k)
    angles.show_angle(p, s, k, o.phase)
    o.frequency = min(max(s.frequency[k], -FASTEST), FASTEST)
    sight.show(p, s, sight.look_around(p, s, k, CLOSED), o)


@kernel
def push_to(p, s, k, x, y):
    """Agent k's push, against its own frequency and to the phase of a vector."""
    wanted = EAGERNESS * angles.ahead(s, k, x, y) - s.frequency[k]
    return min(max(wanted / p.max_push, -1.0), 1.0)


@SPEC.player("mean")
def to_mean(p, s, k, a, rng):
    """To the mean phase of all agents."""
    a[k, 0] = push_to(p, s, k, s.center[0], s.center[1])


@SPEC.player("neighbors")
def to_neighbors(p, s, k, a, rng):
    """To the mean phase of the agents within the radius."""
    x, y = angles.mean_near(p, s, k)
    a[k, 0] = push_to(p, s, k, x, y)


@SPEC.draw
def draw(canvas, p, s):
    draw_kuramoto(canvas, p, s)


@SPEC.text
def text(p, s):
    rows = [f"{phase:.2f} {rate:.2f}" for phase, rate in zip(s.angle.tolist(), s.frequency.tolist(), strict=True)]
    return "phases [rad], frequencies [rad/s]\n" + "\n".join(rows)


@SPEC.keys
def keys(pressed, values):
    return [bool(pressed & {"left", "a"}) - bool(pressed & {"right", "d"})]
