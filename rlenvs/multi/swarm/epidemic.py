"""SIS: an epidemic without immunity, in which agents decide in every step whether to protect themselves.

## Description
Agents are susceptible or infected. In a step of length `time_step` a susceptible agent that does not protect itself is
infected with the probability `infection` * share of infected agents * `time_step` (at most 1), an infected one
recovers with `recovery` * `time_step` and is susceptible again. Protection costs, so it does not pay for a single agent
while few are infected; if all protect themselves the epidemic ends. Without protection the share of infected agents
settles at 1 - `recovery` / `infection` in the limit of many. It is one of the tasks of Cui, Hauck, Fabian and Koeppl,
"Learning Decentralized Partially Observable Mean Field Control for Artificial Collective Behavior", ICLR 2024, on the
model of Kermack and McKendrick (1927) without immunity. The numbers of the paper could not be checked, so all of them
are parameters, options and weights.

Agents stand at random places of a square whose opposite sides are the same. They count with `contacts="radius"` (who
infects whom) and `observation="radius"` only.

Scripted players: "cautious" protects itself while it is susceptible and anybody is infected; "threshold" while the
share of infected agents is above the one from which protection pays for itself, protection / (infection / recovery *
illness) by the prices, which are the weights of the terms; "never" does not. `rlenvs.multi.swarm.mean_field` computes
the limit of many agents.

## Action Space
Do nothing, or protect oneself in this step.

## Observation Space
Whether oneself is infected, wrong with the probability `own_noise`, and the shares of susceptible and infected agents,
oneself included: of all agents (`observation="global"`), or of those within `radius` ("radius"; then also the share of
all agents that they are), or none ("own"). `histogram_noise` makes the shares noisy.

## Rewards
`illness` is -1 while the agent is infected, `protection` (weight 0.5) -1 while it protects itself. `prevalence` (no
weight) is the share of infected agents: the order parameter, in `info` of every step.

## Costs
None.

## Starting State
Each agent is infected with the probability `initial`; places are uniform in the square.

## Episode End
Truncation: 100 steps. Success is not defined.

## Parameters
`side` and `radius` matter with `contacts="radius"` or `observation="radius"`.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "cautious".

## Version History
v0: first version.
"""

from rlenvs.core import at_most, block, discrete, f8, i1, kernel, param, term, uniform, world
from rlenvs.multi.swarm import cells, sight
from rlenvs.multi.swarm.render import draw_epidemic
from rlenvs.multi.swarm.sight import CLOSED, OWN, RADIUS, WITHIN

NOTHING, PROTECT = range(2)
ILLNESS, PROTECTION = range(2)  # terms, and their weights

SPEC = world(
    "SwarmSIS-v0",
    doc=__doc__,
    source="Kermack and McKendrick, 1927; Cui, Hauck, Fabian and Koeppl, ICLR 2024 (Dec-POMFC)",
    agents=True,
    params={
        "infection": param(0.6, 0.0, 10.0, "1/s", "rate of infection, where all others are infected"),
        "recovery": param(0.2, 0.0, 2.0, "1/s", "rate of recovery"),
        "time_step": param(0.5, 0.01, 1.0, "s", "length of a step"),
        "initial": param(0.3, 0.01, 1.0, "", "probability that an agent is infected at the start"),
        **sight.PLACES,
        "own_noise": param(0.0, 0.0, 0.5, "", "probability that the agent's observation of itself is wrong"),
        "histogram_noise": sight.HISTOGRAM_NOISE,
    },
    constraints=[at_most("radius", "side", 0.5, "radius must not exceed half the side")],
    options={**sight.OPTIONS, "contacts": sight.CONTACTS},
    sizes=lambda values: sight.sizes(values, 2),
    state={
        "infected": i1("agents").within(0, 1),
        "protected": i1("agents").within(0, 1),  # in the last step
        "position": f8("agents", 2),
        **sight.NOISE,
        "pressure": f8("agents"),  # share of infected agents among those that are met
        **sight.STATE,
    },
    scratch=("pressure", *sight.SCRATCH),
    observation={
        "infected": block(low=0.0, high=1.0, raw=True, doc="whether oneself is infected"),
        "histogram": sight.HISTOGRAM,
        "crowd": sight.CROWD,
    },
    action=discrete("nothing", "protect"),
    terms={
        "illness": term(-1.0, 0.0, 1.0, "-1 while infected"),
        "protection": term(-1.0, 0.0, 0.5, "-1 while protecting oneself"),
        "prevalence": term(0.0, 1.0, 0.0, "share of infected agents"),
    },
    horizon=100,
    fps=5,
    expert_sees="state",
    players=("cautious", "threshold", "never"),
    quick=sight.QUICK,
    probe=sight.PROBE,
    levels={
        "local": {"observation": "radius", "contacts": "radius"},
        "noisy": {"own_noise": 0.1, "histogram_noise": 0.05},
        "large": {"agents": 1000},
    },
)


@SPEC.reset
def reset(p, s, rng):
    cells.scatter(p, s, rng)
    for k in range(s.infected.size):
        s.infected[k] = 1 if uniform(rng, 0.0, 1.0) < p.initial else 0
    sight.draw_noise(s, rng)


@kernel
def prevalence(s):
    """The share of infected agents."""
    count = 0
    for k in range(s.infected.size):
        count += s.infected[k]
    return count / s.infected.size


@kernel
def share_near(p, s, k):
    """The share of infected agents among those within the radius of agent k, itself included."""
    found, count = cells.find_neighbors(p, s, k, CLOSED), 0
    for n in range(found):
        count += s.infected[s.near[n]]
    return count / found


@SPEC.step
def step(p, s, a, rng, r):
    agents, share = s.infected.size, prevalence(s)
    if p.contacts == WITHIN:
        cells.sort_into_cells(p, s)
    for k in range(agents):
        s.pressure[k] = share_near(p, s, k) if p.contacts == WITHIN else share
    for k in range(agents):
        chance = uniform(rng, 0.0, 1.0)
        s.protected[k] = a[k]
        if s.infected[k] == 1:
            s.infected[k] = 0 if chance < p.recovery * p.time_step else 1
        elif a[k] == NOTHING:
            s.infected[k] = 1 if chance < p.infection * s.pressure[k] * p.time_step else 0
    share = prevalence(s)
    for k in range(agents):
        r.illness[k] = -1.0 if s.infected[k] == 1 else 0.0
        r.protection[k] = -1.0 if a[k] == PROTECT else 0.0
        r.prevalence[k] = share
    sight.draw_noise(s, rng)


@SPEC.observe
def observe(p, s, k, o):
    if k == 0:
        if p.observation != OWN:
            for j in range(s.bin.size):
                s.bin[j] = s.infected[j]
        sight.look_at_all(p, s)
    sight.take_dice(s, k)
    wrong = p.own_noise > 0.0 and uniform(s.dice, 0.0, 1.0) < p.own_noise
    o.infected = 1 - s.infected[k] if wrong else s.infected[k]
    sight.show(p, s, sight.look_around(p, s, k, CLOSED), o)


@kernel
def share_seen(p, s, k):
    """The share of infected agents among those that agent k observes, or of all where it observes nobody."""
    return share_near(p, s, k) if p.observation == RADIUS else prevalence(s)


@SPEC.player("cautious")
def cautious(p, s, k, a, rng):
    """Protected while susceptible and anybody is infected."""
    a[k] = PROTECT if s.infected[k] == 0 and share_seen(p, s, k) > 0.0 else NOTHING


@SPEC.player("threshold")
def threshold(p, s, k, a, rng):
    """Protected while susceptible and the expected illness from one step costs more than protection."""
    a[k] = NOTHING
    if s.infected[k] == 0:
        risk = p.weights[ILLNESS] * p.infection * share_seen(p, s, k)
        a[k] = PROTECT if risk > p.weights[PROTECTION] * p.recovery else NOTHING


@SPEC.player("never")
def never(p, s, k, a, rng):
    a[k] = NOTHING


@SPEC.draw
def draw(canvas, p, s):
    draw_epidemic(canvas, p, s)


@SPEC.text
def text(p, s):
    marks = "".join("I" if ill else "S" for ill in s.infected.tolist())
    return f"susceptible or infected, by agent\n{marks}"


@SPEC.keys
def keys(pressed, values):
    return PROTECT if pressed & {"space", "up", "w"} else NOTHING
