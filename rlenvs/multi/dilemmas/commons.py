"""Harvest: apples grow only where others are left, and whoever picks the last ones of a place ends its harvest.

## Description
Agents walk over a map and pick up apples. An apple grows in an empty place for one with a probability that depends on
the apples in the eight cells around it: 0 with none, 0.005 with one, 0.02 with two, 0.05 with three or more. So a place
that is picked empty stays empty, and what is best for each agent soon leaves nothing for all: the tragedy of the
commons (Perolat et al., "A multi-agent reinforcement learning model of common-pool resource appropriation", NeurIPS
2017). Agents can fire at others. Cleanup-v0 has a river instead, in which waste appears, one cell per step with a
probability of 0.5 for each clean cell that is tried; apples grow with a probability of 0.05 (1 - d / 0.4), where d is
the share of waste, so with none from d = 0.4 on, where waste stops too; a beam turns waste into clean river (Hughes et
al., "Inequity aversion improves cooperation in intertemporal social dilemmas", NeurIPS 2018).

Rules, numbers, actions, views and colors are those of eugenevinitsky/sequential_social_dilemma_games (Vinitsky et al.,
2019); its text says that apples count within a distance of 2, its code compares the squared distance with 2. Maps are
made by rule, with the numbers of cells of the original's maps, or come from a text (`map`). Different: two agents are
never in one cell (there, an agent that gets a contested cell is not sent back if its owner cannot leave); the view of
an agent that faces left or right is not upside down; what others have less costs `guilt`, while there it pays, and
gains are smoothed over time, as in the paper (`smoothing=0`: not); with `time_out` agents that were hit are away for so
many steps, as in the papers.

Scripted players: "cooperator" leaves apples without which too few others would grow, and in Cleanup a third of the
agents clean; "harvester" goes to the nearest apple; "cleaner" cleans, and does nothing in Harvest; "aggressive" fires
at who is ahead, and else harvests.

## Action Space
Move left, right, forward or back, stay, turn right or left, fire; in Cleanup also clean. A beam is three cells wide and
five long, and ends at walls and agents, a cleaning one at the first waste.

## Observation Space
15 x 15 cells with the agent in the middle, the cells ahead above: planes of walls, apples, other agents, clean water
and waste, 255 where they are, or with `observation="pixels"` colors. Beams are not shown. All is 0 for agents that are
away.

## Rewards
`apple` is 1 for an apple, `shot` -1 for firing, `hit` (weight 50) -1 for each beam that hits the agent. `social` as in
MatrixGame-v0. The last four have no weight, are the same for all agents, and 0 before the last step of an episode; they
are Perolat's measures, with apples as the gains: `efficiency` is the mean number of apples of an agent, `equality` 1
minus the Gini coefficient of these numbers, `sustainability` the mean over agents of the mean step in which they got
their apples, `peace` the mean number of agents per step that are neither hit nor away.

## Costs
None.

## Starting State
Agents are on random places to start, in random directions. In Harvest all apples are there, in Cleanup none.

## Episode End
Truncation: 1000 steps. Success is not defined.

## Parameters
The three numbers of Harvest are `by_one`, `by_two` and `by_three`; `by_river`, `pollution`, `depletion` and
`restoration` are those of Cleanup. The others matter with `reward="inequity"` only, see MatrixGame-v0.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "cooperator".

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import (
    at_most,
    below,
    choice,
    discrete,
    f8,
    i1,
    i4,
    image,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.kits.raster.draw import clear as blank
from rlenvs.multi.dilemmas import preferences
from rlenvs.multi.dilemmas.commons_maps import (
    APPLE,
    BEYOND,
    EMPTY,
    MOST_AGENTS,
    PAD,
    VIEW,
    WASTE,
    cleanup_map,
    harvest_map,
    map_data,
    map_sizes,
    parse_map,
)
from rlenvs.multi.dilemmas.commons_players import GREEDY, attack, clean, cooperate, gather
from rlenvs.multi.dilemmas.commons_rules import ACTIONS, CLEAN, FIRE, GROWTH, STAY, beam, grow, move_agents, shuffle
from rlenvs.multi.dilemmas.commons_view import PLANES, show_pixels, show_planes
from rlenvs.multi.dilemmas.preferences import add_social
from rlenvs.multi.dilemmas.render import draw_commons

SHOWN = choice("planes", "pixels", doc="what agents see: planes, 255 or 0, or colors")
(SHOWN_PLANES,) = SHOWN.codes("planes")
LONGEST = 1e6
TERMS = {
    "apple": term(0.0, 1.0, 1.0, "1 for an apple"),
    "shot": term(-1.0, 0.0, 1.0, "-1 for firing"),
    "hit": term(-MOST_AGENTS, 0.0, 50.0, "-1 for each beam that hits the agent"),
    **preferences.TERMS,
    "efficiency": term(0.0, LONGEST, 0.0, "in the last step, the mean number of apples of an agent"),
    "equality": term(0.0, 1.0, 0.0, "in the last step, 1 minus the Gini coefficient of apples"),
    "sustainability": term(0.0, LONGEST, 0.0, "in the last step, the mean time of apples"),
    "peace": term(0.0, MOST_AGENTS, 0.0, "in the last step, the mean number of agents not hit or away"),
}
PEACEFUL = {name: term(TERMS[name].low, 0.0, 0.0, TERMS[name].doc) for name in ("shot", "hit")}
SMALL_HARVEST = "###########\n#P..A...P.#\n#..AAA....#\n#...A..A..#\n#.....AAA.#\n#P.....A.P#\n###########"
SMALL_CLEANUP = "##########\n#RW.P.AAA#\n#WR..PAAA#\n#RWSS.AAA#\n#WR.P.AAA#\n#RW..PAAA#\n##########"

RIVER_SIDE: dict[str, Any] = {"growth": "river", "map": cleanup_map()}
BY_RIVER: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("by_river", "depletion", "restoration"), RIVER_SIDE),
    "pollution": {**RIVER_SIDE, "depletion": 1.0},  # at the usual one waste stops before it begins
}
NO_RIVER: dict[str, Any] = {"growth": "neighbors", "map": harvest_map()}
BY_NEIGHBORS = dict.fromkeys(("by_one", "by_two", "by_three"), NO_RIVER)


def actions(values: Any) -> Any:
    return discrete(*ACTIONS[: CLEAN if values.growth == "neighbors" else CLEAN + 1], idle=STAY)


def levels_of(small: str) -> dict[str, Any]:
    """The levels of a world, one of them with a small map for two agents."""
    return {
        "pixels": {"observation": "pixels"},
        "collective": {"reward": "collective"},
        "inequity": {"reward": "inequity"},
        "time_out": {"time_out": 25, "terms": {**TERMS, **PEACEFUL}},
        "small": {"map": small, "agents": 2, "horizon": 200},
    }


SPEC = world(
    "Harvest-v0",
    doc=__doc__,
    source="eugenevinitsky/sequential_social_dilemma_games; Perolat et al., NeurIPS 2017; Hughes et al., NeurIPS 2018",
    agents=True,
    params={
        "by_one": param(0.005, 0.0, 1.0, "", "probability of an apple with one around it"),
        "by_two": param(0.02, 0.0, 1.0, "", "the same with two"),
        "by_three": param(0.05, 0.0, 1.0, "", "the same with three or more"),
        "by_river": param(0.05, 0.0, 1.0, "", "probability of an apple by a clean river"),
        "pollution": param(0.5, 0.0, 1.0, "", "probability that a clean cell of the river that is tried becomes waste"),
        "depletion": param(0.4, 0.0, 1.0, "", "share of waste from which on nothing grows"),
        "restoration": param(0.0, 0.0, 1.0, "", "share of waste up to which apples grow best"),
        **preferences.PARAMS,
    },
    options={
        "map": json_option(harvest_map(), parse_map, "rows of cells (a string with a line per row, or a list)"),
        "growth": GROWTH,
        "agents": integer(5, 1, MOST_AGENTS, "number of agents"),
        "observation": SHOWN,
        "time_out": integer(0, 0, 10_000, "steps for which agents that were hit are away"),
        "reward": preferences.REWARD,
    },
    constraints=[at_most("restoration", "depletion")],
    sizes=lambda values: {
        "agents": values.agents,
        "planes": VIEW if values.observation == "planes" else 0,
        "pixels": VIEW if values.observation == "pixels" else 0,
        **map_sizes(values),
    },
    data={
        "soil": u1("cells"),
        "tree": i4("trees"),
        "crowd": u1("cells"),  # trees in the eight cells around one
        "bank": i4("banks"),
        "start": i4("starts"),
        "stride": i4,
        "river": i4,
    },
    state={
        "position": i4("agents").index_of("cells"),
        "facing": i1("agents").within(0, 3),
        "ground": u1("cells").within(0, BEYOND),
        "occupant": u1("cells").up_to("agents"),  # 1 + index of the agent
        "waste": i4.up_to("banks"),
        "away": i4("agents"),  # steps until the agent is back
        "fired": i1("agents"),  # the beam of this step, for images
        "apples": f8("agents"),
        "times": f8("agents"),  # sum of the steps in which they were picked up
        "troubled": f8("agents"),  # steps in which the agent was hit or away
        "order": i4("agents"),  # scratch of steps
        "wanted": i4("agents"),
        "claim": u1("cells").up_to("agents"),
        "grown": u1("trees"),
        "queue": i4("cells"),  # scratch of players
        "first": i1("cells"),
        **preferences.STATE,
    },
    scratch=("queue", "first"),
    observation={},
    images={
        "planes": image("planes", "planes", len(PLANES), doc=", ".join(PLANES)),
        "pixels": image("pixels", "pixels", 3, doc="colors of cells"),
    },
    action=actions,
    terms=TERMS,
    horizon=1000,
    fps=8,
    expert_sees="state",
    players=("cooperator", "harvester", "cleaner", "aggressive"),
    probe=preferences.PROBE | BY_RIVER,
    levels=levels_of(SMALL_HARVEST),
)

SPEC.member(
    "Cleanup-v0",
    "Cleanup: apples grow only while some agents keep a river clean, which pays nothing.",
    map=cleanup_map(),
    growth="river",
    probe=preferences.PROBE | BY_RIVER | BY_NEIGHBORS,
    levels=levels_of(SMALL_CLEANUP),
)


@SPEC.state_fault
def state_fault(p, s):
    inside = np.asarray(p.soil) != BEYOND
    if not inside[s.position].all() or (np.asarray(s.ground)[~inside] != BEYOND).any():
        return "an agent or something else is off the map"
    if (np.asarray(s.claim) > 0).any():
        return "a cell is claimed between steps"
    return "" if int(s.waste) == int((np.asarray(s.ground) == WASTE).sum()) else "waste is miscounted"


@SPEC.make_data
def data(values):
    return map_data(values)


@SPEC.reset
def reset(p, s, rng):
    for cell in range(s.ground.size):
        s.ground[cell] = p.soil[cell]
    for n in range(p.river):
        s.waste += s.ground[p.bank[n]] == WASTE
    for k in range(s.order.size):
        come_in(p, s, k, rng)
    grow(p, s, rng)


@kernel
def come_in(p, s, k, rng):
    """Put agent k on a free place to start."""
    free = 0
    for n in range(p.start.size):
        free += s.occupant[p.start[n]] == 0
    chosen = below(rng, free)
    for n in range(p.start.size):
        if s.occupant[p.start[n]] == 0:
            if chosen == 0:
                s.position[k] = p.start[n]
            chosen -= 1
    s.occupant[s.position[k]] = k + 1
    s.facing[k] = below(rng, 4)


@SPEC.step
def step(p, s, a, rng, r):
    agents = s.order.size
    shuffle(s, rng)
    move_agents(p, s, a)
    for k in range(agents):
        s.fired[k] = 0
        if not s.away[k] and s.ground[s.position[k]] == APPLE:
            s.ground[s.position[k]] = EMPTY
            s.apples[k] += 1.0
            s.times[k] += s.elapsed + 1
            r.apple[k] = 1.0
    for n in range(agents):
        k = s.order[n]
        if not s.away[k] and a[k] >= FIRE:
            s.fired[k] = a[k] - FIRE + 1
            r.shot[k] = -1.0 if a[k] == FIRE else 0.0
            beam(p, s, k, a[k], r)
    for k in range(agents):
        trouble(p, s, k, rng, r)
    grow(p, s, rng)
    for k in range(agents):
        s.gain[k] = p.weights[0] * r.apple[k] + p.weights[1] * r.shot[k] + p.weights[2] * r.hit[k]
    add_social(p, s, r)
    if s.elapsed + 1 >= p.horizon:
        measure(s, r)


@kernel
def trouble(p, s, k, rng, r):
    """Agents that were hit go away, if there is a time-out, and come back when it is over."""
    if s.away[k]:
        s.troubled[k] += 1.0
        s.away[k] -= 1
        if s.away[k] == 0:
            come_in(p, s, k, rng)
    elif r.hit[k] < 0.0:
        s.troubled[k] += 1.0
        s.away[k] = p.time_out
        if p.time_out > 0:
            s.occupant[s.position[k]] = 0


@kernel
def measure(s, r):
    """Perolat's measures of an episode."""
    agents, steps = s.apples.size, s.elapsed + 1.0
    total, gaps, late, calm = 0.0, 0.0, 0.0, 0.0
    for k in range(agents):
        total += s.apples[k]
        late += s.times[k] / max(s.apples[k], 1.0)
        calm += steps - s.troubled[k]
        for j in range(agents):
            gaps += abs(s.apples[k] - s.apples[j])
    for k in range(agents):
        r.efficiency[k] = total / agents
        r.equality[k] = 1.0 - gaps / (2.0 * agents * max(total, 1.0))
        r.sustainability[k] = late / agents
        r.peace[k] = calm / steps


@SPEC.observe_images
def observe_images(p, s, k, i):
    if p.observation == SHOWN_PLANES:
        if s.away[k]:
            blank(i.planes)
        else:
            show_planes(p, s, k, i.planes)
    elif s.away[k]:
        blank(i.pixels)
    else:
        show_pixels(p, s, k, i.pixels)


@SPEC.player("cooperator")
def cooperator(p, s, k, a, rng):
    """Take apples that grow again; by a river, every third agent cleans."""
    a[k] = cooperate(p, s, k)


@SPEC.player("harvester")
def harvester(p, s, k, a, rng):
    """To the nearest apple."""
    a[k] = gather(p, s, k, GREEDY)


@SPEC.player("cleaner")
def cleaner(p, s, k, a, rng):
    """Clean the river."""
    a[k] = clean(p, s, k)


@SPEC.player("aggressive")
def aggressive(p, s, k, a, rng):
    """Fire at agents ahead, and else take any apple."""
    a[k] = attack(p, s, k)


@SPEC.draw
def draw(canvas, p, s):
    draw_commons(canvas, p, s)


@SPEC.text
def text(p, s):
    letters = np.array(list(".#ARWS "))  # in the order of the codes of cells
    grid = letters[np.asarray(s.ground)].reshape(-1, int(p.stride))
    for k, cell in enumerate(np.asarray(s.position).tolist()):
        if not s.away[k]:
            grid[divmod(cell, int(p.stride))] = "^>v<"[int(s.facing[k])]
    return "\n".join("".join(row) for row in grid[PAD:-PAD, PAD:-PAD])


@SPEC.keys
def keys(pressed, values):
    names = ("left", "right", "up", "down", "", "e", "q", "f", "c")[: len(actions(values).labels)]
    return next((n for n, name in enumerate(names) if name in pressed), STAY)
