"""Battle: a team of units fights another on a plane; each unit is an agent that moves or attacks an enemy.

## Description
StarCraft micromanagement without the game. With `rules="smax"` this is SMAX (Rutherford et al., "JaxMARL: Multi-Agent
RL Environments and Algorithms in JAX", NeurIPS 2024): its units, ticks, walls, collisions, observations and scripted
enemy. With `rules="smac"` units have the numbers of StarCraft II, with shields, armor, healing, splash and
regeneration, and SMAC's moves, masks, step limits and reward (Samvelyan et al., "The StarCraft Multi-Agent Challenge",
2019; Ellis et al., "SMACv2", NeurIPS 2023, for random teams and positions). `scenario` is the name of any map of SMAX,
SMAC or SMACv2, or a text such as "5 marine, 1 medivac vs 7 zergling".

Different from SMAX: units never start outside the map, where they would die immediately; the conic observation shows
every unit (in the original the first unit never appears) and computes angles with `atan2`; dead agents can be removed.
Different from SMAC: all maps are flat squares without obstacles; all units of a tick act together, not in a random
order; attacking a target that the weapon cannot hit is illegal; enemies are played by `opponent`, not by the game's AI;
the bits of unit types mean the same on both sides; regenerating enemy shields reduce the reward instead of increasing
it; with a sparse reward (weights of 0 for `damage` and `kills`) the win is scaled only by its weight.

## Action Space
SMAX: north, east, south, west, stop, then one choice per enemy: attack it. SMAC: no-op (only for dead units), stop,
north, south, east, west (2 map units each, as far as a step allows), then attack, or for a medivac heal the ally of
that number. The mask gives the legal choices: in SMAX targets within the range of the weapon, in SMAC within 6 map
units (SMACv2: the range, at least 2), where a unit with a shorter range walks up to its target. An illegal choice has
the cost `illegal`; with SMAX's rules the attack is still attempted in every tick, with SMAC's the unit stops.

## Observation Space
`observation="units"`: for each other unit, own side first, health, dx, dy (in units of the own sight range), last move
x and y, last target over the largest action, cooldown, (SMAC: shield,) kind one-hot; zeros when it is dead or out of
sight. Then own health, x, y, cooldown, (shield,) kind. `"conic"`: the same for two units in each of 32 sectors.
`"smac"`: SMAC's layout: four legal moves; per enemy attackable, distance, dx, dy, health, (shield,) (type); per ally
visible and the same; own health, (shield,) (type), in SMACv2 x and y. Dead units observe zeros. `feature_map` adds an
image of this many cells per side around the unit: health, shield and kind of either side. The central state is SMAX's,
scaled to [0, 1], or with `"smac"` SMAC's.

## Rewards
Every agent gets its team's reward; with `dead="stay"` also dead ones. SMAX: the fraction of the enemies' health that
was lost in the step, and 1 for winning. SMAC: damage to health and shields, 10 per enemy killed and 200 for winning,
scaled so that a flawless win is 20; `losses` (weight 0; SMAC's would be 10) is the same for the own side. With
`opponent="self"`: 1 for winning, -1 for losing, nothing else. When both sides are eliminated in the same tick, nobody
wins.

## Costs
`illegal` is 1 for a choice that the mask forbids.

## Starting State
The sides face each other, `distance` apart, each in a square of half width `spread` (which grows with sides of more
than 32 units). Random teams start reflected or surrounded, half of the time each: reflected, allies are anywhere in the
left half and enemies mirror them; surrounded, one side is in the center and the other in groups on the diagonals.

## Episode End
Termination when a side has no fighting unit left (medivacs do not count); with `dead="leave"` also of each agent when
its unit dies. Truncation after 100 steps (SMAX) or SMAC's limit for the map (200 for SMACv2, 150 for custom scenarios).
Success: the other side is beaten and the own side is not.

## Parameters
The unit tables are in `rlenvs.multi.battle.units`. `distance` and `spread` apply when the sides face each other.

## Reference Scores
Mean return over seeds 0 to 99, all agents together.

## Version History
v0: first version.
"""

import numpy as np

from rlenvs.core import (
    Score,
    block,
    choice,
    cost,
    discrete,
    f4,
    f8,
    flag,
    i4,
    i8,
    image,
    integer,
    json_option,
    kernel,
    param,
    role,
    term,
    world,
)
from rlenvs.multi.battle.combat import COMBAT_DATA, UNIT_STATE, push_apart, tick
from rlenvs.multi.battle.language import describe, parse_action
from rlenvs.multi.battle.observation import (
    CONIC,
    MAP_PLANES,
    OBSERVATION,
    OBSERVATION_DATA,
    PER_SECTOR,
    SECTORS,
    SMAC_LAYOUT,
    central_smac,
    central_units,
    features,
    note_kinds,
    note_looks,
    observation_data,
    observe_cones,
    observe_smac,
    observe_units,
    own_features,
    paint_map,
    smac_sizes,
)
from rlenvs.multi.battle.offline import offline_sets
from rlenvs.multi.battle.opponents import KITING, PLAIN, RANDOM, choose
from rlenvs.multi.battle.orders import ORDER_DATA, fill_mask, give_order, legal, order_data, stop_of
from rlenvs.multi.battle.render import draw_battle, text_battle
from rlenvs.multi.battle.scenarios import (
    SCENARIO_DATA,
    SCENARIO_STATE,
    SMAX_LIMIT,
    keep_on_map,
    parse_scenario,
    place_sides,
    scenario_data,
    scenario_of,
)
from rlenvs.multi.battle.units import SMAC, SMAX, UNIT_DATA, unit_data

SMAC_SIGHT, SMAC_REACH, SMACV2_LEAST_REACH = 9.0, 6.0, 2.0
SMAC_KILL, SMAC_WIN, SMAC_SCALE = 10.0, 200.0, 20.0
OPPONENT = choice(
    *("plain", "kiting", "random", "self"),
    doc="policy of the enemies: a scripted player, or agents (self)",
    sets={"self": {"damage": 0.0, "kills": 0.0, "win": 1.0, "defeat": 1.0}},
)
BY_PLAIN, BY_KITING, SELF = OPPONENT.codes("plain", "kiting", "self")
DEAD = choice("stay", "leave", doc="whether agents whose unit has died stay in the game, idle, with the team's reward")
(LEAVE,) = DEAD.codes("leave")


def plays_both(values):
    return values.opponent == "self"


def choices_of(values):
    """The number of actions of an ally and of an enemy."""
    scenario = scenario_of(values.scenario)
    counts = (len(scenario.allies), len(scenario.enemies))
    first = 6 if values.rules == "smac" else 5
    healers = ["medivac" in scenario.side(side) for side in (0, 1)]
    return tuple(first + max(counts[1 - side], counts[side] * healers[side]) for side in (0, 1))


def choice_names(values):
    moves = ("up", "right", "down", "left", "stop")
    moves = ("nothing", "stop", "up", "down", "right", "left") if values.rules == "smac" else moves
    return [*moves, *(f"target {n + 1}" for n in range(sizes(values)["choices"] - len(moves)))]


def observed_numbers(values, side):
    """The length of the observation of an agent of a side."""
    scenario = scenario_of(values.scenario)
    if values.observation == "smac":
        return smac_sizes(scenario, side, 0)[0]
    others = len(scenario.allies) + len(scenario.enemies) - 1
    shown = SECTORS * PER_SECTOR if values.observation == "conic" else others
    return features(values.rules) * shown + own_features(values.rules)


def sizes(values):
    scenario = scenario_of(values.scenario)
    allies, enemies = len(scenario.allies), len(scenario.enemies)
    played = (0, 1) if plays_both(values) else (0,)
    if values.observation == "smac":
        central = smac_sizes(scenario, 0, choices_of(values)[0])[1]
    else:
        central = (allies + enemies) * (own_features(values.rules) + 2)
    return {
        "agents": allies + enemies * plays_both(values),
        "units": allies + enemies,
        "features": features(values.rules),
        "numbers": max(observed_numbers(values, side) for side in played),
        "choices": max(choices_of(values)[side] for side in played),
        "central_numbers": central,
        "cells": values.feature_map,
        "planes": MAP_PLANES if values.feature_map else 0,
    }


def agent_roles(values):
    """Allies and, in self-play, enemies; they differ where the sides do."""
    scenario = scenario_of(values.scenario)
    teams = (("ally", len(scenario.allies)), ("enemy", len(scenario.enemies) * plays_both(values)))
    return [
        role(f"{name}_{k}", observed_numbers(values, side), choices_of(values)[side])
        for side, (name, count) in enumerate(teams)
        for k in range(count)
    ]


SPEC = world(
    "Battle-v0",
    doc=__doc__,
    source='SMAX (Rutherford et al., "JaxMARL", NeurIPS 2024); SMAC (Samvelyan et al., 2019)',
    agents=True,
    params={
        "tick": param(1 / 16, 0.02, 0.2, "s", "length of a tick; with SMAC's rules 1/22.4"),
        "distance": param(16.0, 4.0, 28.0, "map units", "distance between the centers of sides that face each other"),
        "spread": param(2.0, 0.5, 6.0, "map units", "half width of the square in which a side starts"),
    },
    options={
        "scenario": json_option("3m", parse_scenario, "name of a map, or a text such as '5 marine vs 7 zergling'"),
        "rules": choice(
            "smax",
            "smac",
            doc="unit tables, moves, masks, limits and rewards",
            sets={"smac": {"tick": 1 / 22.4, "damage": SMAC_SCALE, "kills": SMAC_SCALE, "win": SMAC_SCALE}},
        ),
        "opponent": OPPONENT,
        "observation": OBSERVATION,
        "dead": DEAD,
        "ticks": integer(8, 1, 32, "ticks per step"),
        "map_size": integer(32, 16, 256, "side of the square map, in map units"),
        "feature_map": integer(0, 0, 128, "cells per side of the image; 0 for no image"),
        "see_enemy_actions": flag(True, "whether lists of units show the enemies' last actions"),
        "deadly_walls": flag(True, "whether units that touch the border die (SMAX's rules)"),
    },
    sizes=sizes,
    teams=lambda values: [k >= len(scenario_of(values.scenario).allies) for k in range(sizes(values)["agents"])],
    roles=agent_roles,
    players=("kiting", "plain", "random"),
    data={**UNIT_DATA, **COMBAT_DATA, **SCENARIO_DATA, **ORDER_DATA, **OBSERVATION_DATA, "smac_reward": i8},
    state={
        **UNIT_STATE,
        **SCENARIO_STATE,
        "last_choice": i4("units").within(-1, 1000),
        "start_x": f8("units"),
        "start_y": f8("units"),
        "full_score": f8(2),  # of SMAC's reward for beating a side
        "worth": f8(2),  # of a side before the step
        "fallen": i4(2),  # units of a side before the step
        "look": f4("units", "features"),  # scratch of observations
        "in_sector": i4(SECTORS),
        "orders": i8("units"),
    },
    scratch=("look", "in_sector"),
    expert_sees="state",  # the player "plain" knows whom it attacked last
    # constant: kinds in scenarios with one kind, places in the list of units that are never seen
    observation={"seen": block("numbers", low=-1.0, high=1.0, doc="see above", raw=True, constant=True)},
    central={"state": block("central_numbers", low=-1.0, high=1.0, doc="all units, as above", raw=True)},
    images={"map": image("cells", "cells", "planes", doc="health, shield, kind of the own side, then of the other")},
    action=lambda values: discrete(
        *choice_names(values), size="choices", doc="move, stop, or one of the targets", idle=stop_of(values.rules)
    ),
    terms={
        "damage": term(-1.0, 1.0, 1.0, "fraction of the enemies' health lost"),
        "kills": term(0.0, 1.0, 0.0, "fraction of the enemies killed; with SMAC's rules 10 points each"),
        "losses": term(-1.0, 1.0, 0.0, "minus the losses of the own side, including deaths with SMAC's rules"),
        "win": term(0.0, 1.0, 1.0, "the enemies are beaten and the own side is not"),
        "defeat": term(-1.0, 0.0, 0.0, "-1 when the own side is beaten and the enemies are not"),
    },
    costs={"illegal": cost(0.0, doc="1 for a choice that the mask forbids")},
    horizon=lambda values: SMAX_LIMIT if values.rules == "smax" else scenario_of(values.scenario).limit,
    fps=lambda values: 1.0 / (values.ticks * values.tick),
    lanes=True,
    levels={
        "easy": {"opponent": "random"},
        "medium": {"scenario": "8m"},
        "hard": {"scenario": "5m_vs_6m"},
        "smac": {"scenario": "2s3z", "rules": "smac", "observation": "smac"},
        "random_teams": {"scenario": "terran_5_vs_5", "rules": "smac"},
        "self_play": {"scenario": "2s3z", "opponent": "self"},
    },
    scores={"bound": Score(6, 0, "2 per agent")},
)


@SPEC.state_fault
def state_fault(p, s):
    known = np.isin(s.kind, [*p.roster, *p.pool[: int(p.pool_size)]])
    return "" if known.all() else "there is a unit of a type that the scenario does not have"


@SPEC.make_data
def data(values):
    scenario = scenario_of(values.scenario)
    smac = values.rules == "smac"
    units = unit_data(SMAC if smac else SMAX)
    units["unit_full_cooldown"] = unit_data(SMAC)["unit_full_cooldown"]
    reach = units["unit_range"].copy()
    if smac and scenario.pool:
        reach = np.maximum(reach, SMACV2_LEAST_REACH)
    elif smac:
        reach[:], units["unit_sight"][:] = SMAC_REACH, SMAC_SIGHT
    return {
        **units,
        **scenario_data(values.scenario, values.rules),
        **order_data(values.rules, reach),
        **observation_data(scenario, values.rules, choices_of(values)),
        "width": values.map_size,
        "height": values.map_size,
        "edge_to_edge": smac,
        "pursues": smac,
        "walls_kill": values.deadly_walls and not smac,
        "abilities": smac,
        "smac_reward": smac,
    }


@SPEC.reset
def reset(p, s, rng):
    place_sides(p, s, rng)
    push_apart(p, s)
    for side in range(2):
        s.full_score[side] = SMAC_WIN
    note_kinds(p, s)
    for i in range(s.x.size):
        keep_on_map(p, s, i)
        s.start_x[i] = s.x[i]
        s.start_y[i] = s.y[i]
        s.last_choice[i] = p.stop
        s.full_score[s.side[i]] += p.unit_health[s.kind[i]] + p.unit_shield[s.kind[i]] + SMAC_KILL


# --- a step -----------------------------------------------------------------------------------------------------------


@kernel
def worth_of(p, s, side):
    """What is left of a side: the mean share of health, or with SMAC's rules points of its reward."""
    first, last = (0, p.allies) if side == 0 else (p.allies, p.allies + p.enemies)
    worth = 0.0
    for i in range(first, last):
        if p.smac_reward:
            worth += s.health[i] + s.shield[i]
        else:
            worth += s.health[i] / p.unit_health[s.kind[i]]
    return worth / (s.full_score[side] if p.smac_reward else last - first)


@kernel
def count_fallen(p, s, side):
    first, last = (0, p.allies) if side == 0 else (p.allies, p.allies + p.enemies)
    fallen = 0
    for i in range(first, last):
        fallen += not s.standing[i]
    return fallen


@kernel
def can_fight(p, s, side):
    """Whether a side has a standing unit with a weapon."""
    first, last = (0, p.allies) if side == 0 else (p.allies, p.allies + p.enemies)
    able = False
    for i in range(first, last):
        able = able or (s.standing[i] and p.unit_heals[s.kind[i]] == 0.0)
    return able


@kernel
def take_orders(p, s, a, rng, r):
    """What every unit does in this step; all choose before anybody acts."""
    agents = r.illegal.size
    for i in range(s.x.size):
        if i < agents:
            s.orders[i] = a[i]
            if not legal(p, s, i, a[i]):
                r.illegal[i] = 1.0
        else:
            s.orders[i] = choose(p, s, i, opponent_player(p), rng)
    for i in range(s.x.size):
        give_order(p, s, i, s.orders[i])


@kernel
def opponent_player(p):
    """The player that the option `opponent` names."""
    if p.opponent == BY_PLAIN:
        return PLAIN
    return KITING if p.opponent == BY_KITING else RANDOM


@SPEC.step
def step(p, s, a, rng, r):
    for side in range(2):
        s.worth[side] = worth_of(p, s, side)
        s.fallen[side] = count_fallen(p, s, side)
    take_orders(p, s, a, rng, r)
    for _ in range(p.ticks):
        tick(p, s, rng)
    for side in range(2):
        s.worth[side] -= worth_of(p, s, side)
        s.fallen[side] = count_fallen(p, s, side) - s.fallen[side]
    grade_sides(p, s, r)


@kernel
def kill_worth(p, s, side):
    """What a fallen unit of a side is worth."""
    if p.smac_reward:
        return SMAC_KILL / s.full_score[side]
    return 1.0 / (p.allies if side == 0 else p.enemies)


@kernel
def grade_sides(p, s, r):
    """Terms and ends of all agents, by their sides."""
    standing_ally, standing_enemy = can_fight(p, s, 0), can_fight(p, s, 1)
    for i in range(r.illegal.size):
        own = s.side[i]
        foe = 1 - own
        ours, theirs = (standing_ally, standing_enemy) if own == 0 else (standing_enemy, standing_ally)
        r.damage[i] = s.worth[foe]
        r.kills[i] = s.fallen[foe] * kill_worth(p, s, foe)
        r.losses[i] = -s.worth[own]
        if p.smac_reward:
            r.losses[i] -= s.fallen[own] * kill_worth(p, s, own)
        if ours and not theirs:
            r.success[i] = True
            r.win[i] = SMAC_WIN / s.full_score[foe] if p.smac_reward and p.opponent != SELF else 1.0
        elif theirs and not ours:
            r.defeat[i] = -1.0
        r.terminated[i] = not (ours and theirs) or (p.dead == LEAVE and not s.standing[i])


# --- what agents see --------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    if p.observation == SMAC_LAYOUT:
        observe_smac(p, s, k, o.seen)
        return
    if k == 0:
        note_looks(p, s)  # agents are observed one after the other
    if p.observation == CONIC:
        observe_cones(p, s, k, o.seen)
    else:
        observe_units(p, s, k, o.seen)


@SPEC.mask
def mask(p, s, k, m):
    fill_mask(p, s, k, m)


@SPEC.observe_images
def observe_images(p, s, k, i):
    paint_map(p, s, k, i.map)


@SPEC.central_state
def central(p, s, o):
    if p.observation == SMAC_LAYOUT:
        central_smac(p, s, p.first_target + p.enemies, o.state)
    else:
        central_units(p, s, o.state)


# --- players ----------------------------------------------------------------------------------------------------------


@SPEC.player("kiting")
def kiting_player(p, s, k, a, rng):
    a[k] = choose(p, s, k, KITING, rng)


@SPEC.player("plain")
def plain_player(p, s, k, a, rng):
    a[k] = choose(p, s, k, PLAIN, rng)


@SPEC.player("random")
def random_player(p, s, k, a, rng):
    a[k] = choose(p, s, k, RANDOM, rng)


# --- images ---------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    draw_battle(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    """Arrows move; the digits 1 to 9 attack the enemy of that number."""
    smac = values.rules == "smac"
    for place, key in enumerate(("up", "down", "right", "left") if smac else ("up", "right", "down", "left")):
        if key in pressed:
            return place + 2 * smac
    for digit in range(1, 10):
        if str(digit) in pressed and digit <= len(scenario_of(values.scenario).enemies):
            return (6 if smac else 5) + digit - 1
    return 1 if smac else 4


SPEC.text(text_battle)
SPEC.datasets(offline_sets)
SPEC.describe(describe)
SPEC.parse_action(parse_action)
