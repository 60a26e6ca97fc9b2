"""Beach: two types of tourists spread over the sections of a beach, avoiding crowding and segregation.

## Description
Each agent is a tourist of one of two types. Each section of the beach has a capacity, and in every step a tourist may
walk to the section on the left or on the right. At the end of the day two things count: how many people enjoy each
section, which drops quickly beyond its capacity, and how mixed each section is (the beach of Devlin, Yliniemi, Kudenko
and Tumer, "Potential-based difference rewards for multiagent reinforcement learning", AAMAS 2014, with the two
objectives of Mannion, Devlin, Duggan and Howley, "Reward shaping for knowledge-based multi-objective multi-agent
reinforcement learning", KER 2018; MOMAland's beach). With more people than capacity, the optimum for the team is that
most of them crowd together in one section that nobody enjoys. `env.unwrapped.pareto_front(gamma)` gives the exact front
of the team's reward, by dynamic programming over the sections; `front_of` and `joint_policy` of this file give the
walks that attain each point. Different from MOMAland: by default every agent receives the team's reward, there that of
its own section (`reward="individual"`); a day has as many steps as it takes to walk along the whole beach, not one
(`steps=1`), and the observation tells how many are left; agents are assigned to types and sections in exact
proportions; moves beyond the ends of the beach are masked. The levels "small" and "large" are the set-ups of the
literature, days of one step from the same places.

## Action Space
Walk to the section on the left, stay, or walk to the one on the right. Moves beyond the ends of the beach are masked,
and count as staying if taken.

## Observation Space
Own type (0 or 1), own section, its capacity, the number of agents in it, the fraction of them with the own type, and
the number of steps left in the day.

## Rewards
Given only in the last step of the day, 0 before. A section with c people has an occupation of c exp(-c / psi), and as
mixture the fraction of its smaller type (0 if it is empty). With `reward="team"` every agent receives the sum of all
occupations and the mean of all mixtures; with "individual" those of its own section; with "difference" how much the
team's two numbers would drop without this agent: the difference reward of Wolpert and Tumer (2002) and of Devlin et al.
(2014), under which an agent's gain is a gain for the team.

## Costs
None.

## Starting State
The first `share` of the agents are of the first type. Agents are assigned to sections in equal shares, or in the shares
of `starts`, at random; with `shuffled=False` in order, the same in every episode.

## Episode End
Truncation: after a day of `steps`, by default one less than the number of sections, so every agent can reach any
section. A longer `horizon` has several days, one after the other. Success is not defined.

## Parameters
`psi` is the number of people at which the occupation of a section is highest.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The bound is the best point of the exact front.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    PublishedFront,
    Score,
    below,
    block,
    choice,
    discrete,
    flag,
    i4,
    i8,
    integer,
    json_option,
    kernel,
    maths,
    param,
    term,
    uniform,
    world,
)
from rlenvs.core.declare.errors import ParameterError
from rlenvs.multi.congestion.allocations import Allocation, exact_front, walks
from rlenvs.multi.congestion.render import draw_beach

MOST_AGENTS, MOST_SECTIONS, MOST_STEPS, MOST_PSI = 1000, 20, 100, 100.0
TEAM, INDIVIDUAL, DIFFERENCE = range(3)
STEEPEST = 0.14  # what one more person takes from an occupation at most: exp(-2), where there are twice the capacity
MOST_IMPROVEMENTS = 1000  # of the scripted plan; some ten are usual


def parse_starts(value: Any) -> list[float] | None:
    """Shares of the sections: none for equal ones."""
    if value is None:
        return None
    shares = [float(number) for number in value]
    if not all(0.0 <= number < 1e9 for number in shares) or not sum(shares) > 0.0:
        raise ValueError("needs a share of 0 or more for each section, and one above 0")
    return [number / sum(shares) for number in shares]


def seats_of(values: Any) -> np.ndarray:
    """The sections in which agents begin, in turn: so that of any first agents each section has its share."""
    shares = values.starts or [1.0 / values.sections] * values.sections
    if len(shares) != values.sections:
        raise ParameterError(f"starts has {len(shares)} shares, but the beach has {values.sections} sections")
    given = [0] * values.sections
    seats = []
    for k in range(values.agents):
        lacking = [share * (k + 1) - count for share, count in zip(shares, given, strict=True)]
        seats.append(lacking.index(max(lacking)))
        given[seats[-1]] += 1
    return np.array(seats, np.int32)


def day_of(values: Any) -> int:
    """The steps of a day."""
    return int(values.steps or values.sections - 1)


SPEC = world(
    "Beach-v0",
    doc=__doc__,
    source="MOMAland mo-beach-v0 (Felten et al., arXiv 2407.16312); Mannion et al., KER 2018",
    agents=True,
    params={
        "psi": param(7.0, 0.5, MOST_PSI, "", "capacity of a section"),
        "share": param(0.3, 0.0, 1.0, "", "fraction of the agents of the first type"),
    },
    options={
        "agents": integer(100, 1, MOST_AGENTS, "number of agents"),
        "sections": integer(6, 2, MOST_SECTIONS, "sections of the beach"),
        "steps": integer(0, 0, MOST_STEPS, "steps of a day; 0 for one less than the number of sections"),
        "reward": choice(
            *("team", "individual", "difference"),
            doc="whether agents receive the team's reward, that of their own section, or their difference reward",
        ),
        "starts": json_option(
            None, parse_starts, "fraction of the agents that starts in each section; None for equal shares"
        ),
        "shuffled": flag(True, "whether agents are assigned to sections at random"),
    },
    sizes=lambda values: {"agents": values.agents, "sections": values.sections},
    data={"seats": i4("agents"), "day": i8},
    state={
        "section": i4("agents").index_of("sections"),
        "kind": i4("agents").within(0, 1),
        "count": i4("sections", 2),  # of each type
        "plan": i4("sections"),  # scratch: how many are to end in a section,
        "few": i4("sections"),  # how many of the type with fewer agents,
        "place": i4("agents"),  # and where each agent is to go
        "next": i4("sections"),
    },
    scratch=("plan", "few", "place", "next"),
    observation={
        "type": block(low=0.0, high=1.0, doc="own type", constant=True, whole=True),
        "section": block(low=0.0, high=lambda values: values.sections - 1.0, doc="own section", whole=True),
        "capacity": block(low=0.0, high=MOST_PSI, doc="of the section", constant=True),
        "crowd": block(low=0.0, high=lambda values: 0.0 + values.agents, doc="agents in the section", whole=True),
        "own_share": block(low=0.0, high=1.0, doc="fraction of them with the own type"),
        "steps_left": block(
            low=0.0, high=lambda values: values.steps or values.sections - 1.0, doc="steps of the day", whole=True
        ),
    },
    action=discrete("left", "stay", "right", idle=1),
    terms={
        "occupation": term(-STEEPEST, MOST_SECTIONS * MOST_PSI / np.e, 1.0, "occupation, at the end of the day"),
        "mixture": term(-0.5, 0.5, 1.0, "mixture: fraction of the smaller type, at the end of the day"),
    },
    horizon=day_of,
    fps=2,
    expert_sees="state",
    players=("planner", "selfish"),
    quick={"agents": 20},
    levels={
        "small": {
            "agents": 50,
            "sections": 5,
            "psi": 3.0,
            "share": 0.7,
            "starts": (0, 1, 0, 1, 0),
            "shuffled": False,
            "steps": 1,
        },
        "large": {
            "agents": 100,
            "sections": 5,
            "psi": 5.0,
            "share": 0.7,
            "starts": (0, 1, 0, 1, 0),
            "shuffled": False,
            "steps": 1,
        },
        "festival": {"agents": 500, "sections": 12, "psi": 20.0},
    },
    scores={"bound": Score(1328, 0, "the best point of the exact front, for 100 agents")},
)


@SPEC.make_data
def data(values):
    return {"seats": seats_of(values), "day": day_of(values)}


@kernel
def first_type(p, agents):
    """How many agents are of the first type."""
    return int(p.share * agents + 0.5)


@SPEC.reset
def reset(p, s, rng):
    agents = s.section.size
    some = first_type(p, agents)
    for k in range(agents):
        s.section[k] = p.seats[k]
        s.kind[k] = 0 if k < some else 1
    if p.shuffled:
        for k in range(agents - 1, 0, -1):
            j = below(rng, k + 1)
            kept = s.section[k]
            s.section[k] = s.section[j]
            s.section[j] = kept
    count_people(s)


@kernel
def count_people(s):
    """How many of each type are in each section."""
    for j in range(s.count.shape[0]):
        s.count[j, 0] = 0
        s.count[j, 1] = 0
    for k in range(s.section.size):
        s.count[s.section[k], s.kind[k]] += 1


@kernel
def occupation_of(people, psi):
    """What a section with so many people is worth."""
    return people * maths.exp(-people / psi)


@kernel
def mixture_of(first, second):
    """The smaller type's share of a section."""
    return min(first, second) / (first + second) if first + second > 0 else 0.0


@SPEC.step
def step(p, s, a, rng, r):
    sections = s.count.shape[0]
    for k in range(s.section.size):
        s.section[k] = min(max(s.section[k] + a[k] - 1, 0), sections - 1)
    count_people(s)
    if (s.elapsed + 1) % p.day > 0:
        return
    occupation, mixture = 0.0, 0.0
    for j in range(sections):
        occupation += occupation_of(s.count[j, 0] + s.count[j, 1], p.psi)
        mixture += mixture_of(s.count[j, 0], s.count[j, 1])
    for k in range(s.section.size):
        first, second = s.count[s.section[k], 0], s.count[s.section[k], 1]
        if p.reward == INDIVIDUAL:
            r.occupation[k] = occupation_of(first + second, p.psi)
            r.mixture[k] = mixture_of(first, second)
        elif p.reward == DIFFERENCE:  # the section with and without this agent; the other sections cancel out
            own = s.kind[k]
            r.occupation[k] = occupation_of(first + second, p.psi) - occupation_of(first + second - 1, p.psi)
            r.mixture[k] = (mixture_of(first, second) - mixture_of(first - (own == 0), second - (own == 1))) / sections
        else:
            r.occupation[k] = occupation
            r.mixture[k] = mixture / sections


@SPEC.observe
def observe(p, s, k, o):
    section, kind = s.section[k], s.kind[k]
    crowd = s.count[section, 0] + s.count[section, 1]
    o.type = kind
    o.section = section
    o.capacity = p.psi
    o.crowd = crowd
    o.own_share = s.count[section, kind] / max(crowd, 1)
    o.steps_left = p.day - s.elapsed % p.day


@SPEC.mask
def mask(p, s, k, m):
    m[0] = s.section[k] > 0
    m[1] = 1
    m[2] = s.section[k] < s.count.shape[0] - 1


@kernel
def mix(s, few):
    """Put the people of the smaller type where they count most, in the smallest sections, up to a half of each; what
    is left of them into odd ones, where it makes no difference. Returns the sum of mixtures."""
    sections, total = s.plan.size, 0.0
    for j in range(sections):
        s.few[j] = -1
    for _ in range(sections):
        smallest = -1
        for j in range(sections):
            if s.few[j] < 0 and (smallest < 0 or s.plan[j] < s.plan[smallest]):
                smallest = j
        s.few[smallest] = min(s.plan[smallest] // 2, few)
        few -= s.few[smallest]
        if s.plan[smallest] > 0:
            total += s.few[smallest] / s.plan[smallest]
    for j in range(sections):
        if few > 0 and 2 * s.few[j] < s.plan[j]:
            s.few[j] += 1
            few -= 1
    return total


@kernel
def worth_of_plan(p, s, few):
    """The team's reward under the weights, for so many people in each section."""
    total = p.weights[1] * mix(s, few) / s.plan.size
    for j in range(s.plan.size):
        total += p.weights[0] * occupation_of(s.plan[j], p.psi)
    return total


@kernel
def make_plan(p, s):
    """How many should end in each section, and how many of the smaller type: about the capacity everywhere but in the
    middle, and from there the best move of one person as long as that pays."""
    sections, agents = s.plan.size, s.section.size
    few = first_type(p, agents)
    few = min(few, agents - few)
    middle = sections // 2
    for j in range(sections):
        s.plan[j] = min(max(int(p.psi + 0.5), 1), agents // sections)
    s.plan[middle] = agents - (sections - 1) * s.plan[0]
    value = worth_of_plan(p, s, few)
    for _ in range(MOST_IMPROVEMENTS):
        best, leaves, enters = value + 1e-12, -1, -1
        for i in range(sections):
            for j in range(sections):
                if i == j or s.plan[i] == 0:
                    continue
                s.plan[i] -= 1
                s.plan[j] += 1
                found = worth_of_plan(p, s, few)
                if found > best:
                    best, leaves, enters = found, i, j
                s.plan[i] += 1
                s.plan[j] -= 1
        if leaves < 0:
            break
        s.plan[leaves] -= 1
        s.plan[enters] += 1
        value = best
    mix(s, few)


@kernel
def send(p, s):
    """Give everybody a section of the plan: people of a type go in the order in which they stand, so that nobody goes
    further than needed."""
    agents, sections = s.section.size, s.plan.size
    first_is_few = 2 * first_type(p, agents) <= agents
    for kind in range(2):
        for j in range(sections):
            s.next[j] = s.few[j] if (kind == 0) == first_is_few else s.plan[j] - s.few[j]
        goal = 0
        for j in range(sections):
            for k in range(agents):
                if s.section[k] == j and s.kind[k] == kind:
                    while goal < sections - 1 and s.next[goal] == 0:
                        goal += 1
                    s.next[goal] -= 1
                    s.place[k] = goal


@kernel
def towards(s, k):
    """The walk that leads an agent to its place."""
    return 1 + (s.place[k] > s.section[k]) - (s.place[k] < s.section[k])


@SPEC.expert
def expert(p, s, a):
    """As the plan for the whole team says."""
    make_plan(p, s)
    send(p, s)
    for k in range(s.section.size):
        a[k] = towards(s, k)


@SPEC.player("planner")
def planner(p, s, k, a, rng):
    """To its place in the plan for the whole team."""
    make_plan(p, s)
    send(p, s)
    a[k] = towards(s, k)


@SPEC.player("selfish")
def selfish(p, s, k, a, rng):
    """To where it would be best to be if all others stayed; every other time it stays itself, so that not all rush."""
    section, kind = s.section[k], s.kind[k]
    a[k] = 1
    if uniform(rng, 0.0, 1.0) < 0.5:
        return
    best = own_worth(p, s, section, kind, 0)
    for walk in range(0, 3, 2):
        j = section + walk - 1
        if 0 <= j < s.count.shape[0]:
            found = own_worth(p, s, j, kind, 1)
            if found > best:
                best = found
                a[k] = walk


@kernel
def own_worth(p, s, section, kind, more):
    """What a section is worth to somebody, under the weights, with so many more of a type."""
    first = s.count[section, 0] + (more if kind == 0 else 0)
    second = s.count[section, 1] + (more if kind == 1 else 0)
    return p.weights[0] * occupation_of(first + second, p.psi) + p.weights[1] * mixture_of(first, second)


def front_of(values: Any) -> list[Allocation]:
    """The exact Pareto front of the team's reward for a day, each point with a distribution that attains it.

    Raises:
        ParameterError: each agent has a reward of its own; starts are random, and not every distribution can be reached
            from all of them; or there are too many agents.
    """
    if values.reward != "team":
        raise ParameterError("the exact front is that of reward='team'; individual rewards differ by agent")
    day = day_of(values)
    if values.shuffled and day < values.sections - 1:
        raise ParameterError("with so few steps the front depends on random starts; use shuffled=False")
    seats, starts = seats_of(values), np.zeros((values.sections, 2), np.int64)
    for k, seat in enumerate(seats):
        starts[seat, int(k >= first_type(values, values.agents))] += 1
    return exact_front(starts, min(day, values.sections), values.psi)


def joint_policy(p: Any, s: Any, allocation: Allocation) -> np.ndarray:
    """The actions (steps, agents) that lead from a state to a distribution; for `rlenvs.pareto.OpenLoopPolicy`."""
    return walks(s.section, s.kind, allocation.counts, int(p.day) - int(s.elapsed)) + 1


@SPEC.pareto_front
def pareto_front(values, horizon, gamma):
    day = day_of(values)
    if not day <= horizon < 2 * day:
        raise ParameterError(f"the exact front is that of one day of {day} steps, not of {horizon}")
    return np.array([point.value for point in front_of(values)]) * gamma ** (day - 1)


@SPEC.published_front
def published_front(values, gamma):
    return PublishedFront(None, (0.0, 0.0), "no front has been published; the reference point is ours")


@SPEC.draw
def draw(canvas, p, s):
    draw_beach(canvas, p, s)


@SPEC.text
def text(p, s):
    rows = ["section  capacity  first  second"]
    for j, (first, second) in enumerate(s.count.tolist()):
        rows.append(f"{j:7d}  {float(p.psi):8g}  {first:5d}  {second:6d}  {'o' * first}{'x' * second}")
    return "\n".join(rows)


@SPEC.keys
def keys(pressed, values):
    if pressed & {"left", "a"}:
        return 0
    return 2 if pressed & {"right", "d"} else 1
