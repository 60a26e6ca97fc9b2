"""Named and custom scenarios, random teams, and starting positions.

Names are those of SMAX and SMAC ("3m", "2s3z", "MMM2", ...) and of SMACv2 ("terran_5_vs_5", "zerg_10_vs_11", ...).
Others are written as "5 marine, 1 medivac vs 7 zergling".
"""

import functools
import math
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core import below, f8, i4, i8, kernel, u1, uniform
from rlenvs.core.declare.errors import ParameterError, nearest
from rlenvs.multi.battle.combat import place_unit
from rlenvs.multi.battle.units import KINDS, PROTOSS, SMAC, SMAX, unit_named

LARGEST_SIDE = 512
SMAX_LIMIT, SMACV2_LIMIT, CUSTOM_LIMIT = 100, 200, 150  # steps

# allies, enemies, SMAC's step limit (0 where the scenario is SMAX's alone)
NAMED = {
    "3m": ("3 marine", "3 marine", 60),
    "8m": ("8 marine", "8 marine", 120),
    "25m": ("25 marine", "25 marine", 150),
    "5m_vs_6m": ("5 marine", "6 marine", 70),
    "8m_vs_9m": ("8 marine", "9 marine", 120),
    "10m_vs_11m": ("10 marine", "11 marine", 150),
    "27m_vs_30m": ("27 marine", "30 marine", 180),
    "MMM": ("2 marauder, 7 marine, 1 medivac", "2 marauder, 7 marine, 1 medivac", 150),
    "MMM2": ("2 marauder, 7 marine, 1 medivac", "3 marauder, 8 marine, 1 medivac", 180),
    "2s3z": ("2 stalker, 3 zealot", "2 stalker, 3 zealot", 120),
    "3s5z": ("3 stalker, 5 zealot", "3 stalker, 5 zealot", 150),
    "3s5z_vs_3s6z": ("3 stalker, 5 zealot", "3 stalker, 6 zealot", 170),
    "3s_vs_3z": ("3 stalker", "3 zealot", 150),
    "3s_vs_4z": ("3 stalker", "4 zealot", 200),
    "3s_vs_5z": ("3 stalker", "5 zealot", 250),
    "1c3s5z": ("1 colossus, 3 stalker, 5 zealot", "1 colossus, 3 stalker, 5 zealot", 180),
    "2m_vs_1z": ("2 marine", "1 zealot", 150),
    "corridor": ("6 zealot", "24 zergling", 400),
    "6h_vs_8z": ("6 hydralisk", "8 zealot", 150),
    "2s_vs_1sc": ("2 stalker", "1 spine_crawler", 300),
    "so_many_baneling": ("7 zealot", "32 baneling", 100),
    "bane_vs_bane": ("4 baneling, 20 zergling", "4 baneling, 20 zergling", 200),
    "2c_vs_64zg": ("2 colossus", "64 zergling", 400),
}

# SMACv2's pools and odds; a team of nothing but the last, the rare one, is drawn again where the configuration says so
POOLS = {
    "protoss": (("stalker", "zealot", "colossus"), False),
    "terran": (("marine", "marauder", "medivac"), True),
    "zerg": (("zergling", "hydralisk", "baneling"), True),
}
ODDS = (0.45, 0.45, 0.10)
SMACV2_SIDES = ((5, 5), (10, 10), (20, 20), (10, 11), (20, 23))
SMAX_SIDES = (5, 10, 20)  # "smacv2_5_units", ...: any of SMAX's units
FACING, PLACES_SMACV2, PLACES_SMAX = 0, 1, 2

SCENARIO_DATA = {
    "allies": i8,
    "enemies": i8,
    "roster": i4("units"),  # kinds, where teams are not drawn
    "random_teams": u1,
    "pool": i4(6),
    "pool_size": i8,
    "odds": f8(6),
    "rare": i8,  # the kind of which no team is made alone; -1 for none
    "places": i8,  # FACING, or SMACv2's (reflected or surrounded) as in SMACv2 or as in SMAX
}


class Scenario(NamedTuple):
    """Who fights whom."""

    allies: tuple[str, ...]  # names of units; of random teams fillers
    enemies: tuple[str, ...]
    limit: int
    pool: tuple[str, ...] = ()  # of random teams
    odds: tuple[float, ...] = ()
    rare: str = ""

    @property
    def units(self) -> tuple[str, ...]:
        """The names of all units that may appear, each once, in the order of their first appearance."""
        return tuple(dict.fromkeys(self.pool or (*self.allies, *self.enemies)))

    def side(self, index: int) -> tuple[str, ...]:
        """The units that may appear on a side."""
        return self.pool or tuple(dict.fromkeys((self.allies, self.enemies)[index]))


def _names() -> dict[str, Scenario]:
    scenarios = {
        name: Scenario(_team(allies), _team(enemies), limit) for name, (allies, enemies, limit) in NAMED.items()
    }
    for race, (pool, redraws) in POOLS.items():
        for ours, theirs in SMACV2_SIDES:
            scenarios[f"{race}_{ours}_vs_{theirs}"] = Scenario(
                pool[:1] * ours, pool[:1] * theirs, SMACV2_LIMIT, pool, ODDS, pool[-1] if redraws else ""
            )
    for count in SMAX_SIDES:
        anybody = tuple(SMAX)
        scenarios[f"smacv2_{count}_units"] = Scenario(
            anybody[:1] * count, anybody[:1] * count, SMACV2_LIMIT, anybody, (1 / 6,) * 6
        )
    return scenarios


def _team(text: str) -> tuple[str, ...]:
    """The names of the units of a team such as "5 marine, 1 medivac"."""
    team: list[str] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s+([A-Za-z_]+)\s*", part)
        if not found:
            raise ValueError(f"{part.strip()!r} is not a number and a unit, such as '5 marine'")
        team += [KINDS[unit_named(found[2], SMAC)]] * _checked_count(int(found[1]), found[2])
    if not 1 <= len(team) <= LARGEST_SIDE:
        raise ValueError(f"a side has 1 to {LARGEST_SIDE} units, not {len(team)}")
    return tuple(team)


def _checked_count(count: Any, unit: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count <= LARGEST_SIDE:
        raise ValueError(f"{count!r} {unit}: the number of units must be an integer in [1, {LARGEST_SIDE}]")
    return count


SCENARIOS = _names()


def parse_scenario(value: Any) -> str:
    """A scenario's name, or "5 marine, 1 medivac vs 7 zergling", or {"allies": {"marine": 5, "medivac": 1}, "enemies":
    {"zergling": 7}}, as a name or a text of this form.

    Raises:
        ValueError: no such scenario, no such unit, or a side that is empty or too large.
    """
    if isinstance(value, Mapping):
        if set(value) != {"allies", "enemies"} or not all(isinstance(team, Mapping) for team in value.values()):
            raise ValueError(f"{value!r} must be {{'allies': {{unit: number}}, 'enemies': {{unit: number}}}}")
        for team in value.values():
            for unit, count in team.items():
                _checked_count(count, str(unit))
        texts = [", ".join(f"{n} {unit}" for unit, n in value[side].items()) for side in ("allies", "enemies")]
        value = " vs ".join(texts)
    if not isinstance(value, str):
        raise ValueError(f"{value!r} is neither a name, a text such as '5 marine vs 7 zergling', nor a dictionary")
    if value in SCENARIOS:
        return value
    sides = value.split(" vs ")
    if len(sides) != 2:
        raise ValueError(
            f"there is no scenario {value!r}. {nearest(value, SCENARIOS)} "
            "Others are written as '5 marine vs 7 zergling'"
        )
    return " vs ".join(_counted(_team(side)) for side in sides)


def _counted(team: tuple[str, ...]) -> str:
    runs: list[list[Any]] = []
    for unit in team:
        if runs and runs[-1][1] == unit:
            runs[-1][0] += 1
        else:
            runs.append([1, unit])
    return ", ".join(f"{count} {unit}" for count, unit in runs)


@functools.cache
def scenario_of(text: str) -> Scenario:
    """The scenario with a name or text that `parse_scenario` gave."""
    if text in SCENARIOS:
        return SCENARIOS[text]
    allies, enemies = text.split(" vs ")
    return Scenario(_team(allies), _team(enemies), CUSTOM_LIMIT)


def scenario_data(text: str, rules: str) -> dict[str, Any]:
    """The fields of SCENARIO_DATA.

    Raises:
        ParameterError: the scenario has units that the rules do not know.
    """
    scenario = scenario_of(text)
    strange = [unit for unit in scenario.units if rules == "smax" and unit not in SMAX]
    if strange:
        raise ParameterError(
            f"scenario={text!r} has the units {', '.join(strange)}, which do not exist under the rules of SMAX; these "
            f"have {', '.join(SMAX)}. Use rules='smac'"
        )
    pool, odds = np.zeros(6, np.int32), np.zeros(6)
    pool[: len(scenario.pool)] = [KINDS.index(unit) for unit in scenario.pool]
    odds[: len(scenario.odds)] = scenario.odds
    return {
        "allies": len(scenario.allies),
        "enemies": len(scenario.enemies),
        "roster": np.array([KINDS.index(unit) for unit in (*scenario.allies, *scenario.enemies)], np.int32),
        "random_teams": bool(scenario.pool),
        "pool": pool,
        "pool_size": len(scenario.pool),
        "odds": odds,
        "rare": KINDS.index(scenario.rare) if scenario.rare else -1,
        "places": PLACES_SMAX if text.startswith("smacv2") else PLACES_SMACV2 if scenario.pool else FACING,
    }


def has_shields(scenario: Scenario, side: int) -> bool:
    """Whether SMAC's observation shows the shields of a side: whether it is Protoss."""
    return any(SMAC[unit].race == PROTOSS for unit in scenario.side(side))


def type_bits(scenario: Scenario) -> dict[str, int]:
    """The place of each type of unit in the one-hot code of SMAC's observation; empty where each side has but one."""
    if all(len(scenario.side(side)) == 1 for side in (0, 1)):
        return {}
    return {unit: place for place, unit in enumerate(scenario.units)}


# fields of the state that drawing places needs
SCENARIO_STATE = {"corner": i4(4), "group_x": f8(4), "group_y": f8(4)}


# --- random teams and places ------------------------------------------------------------------------------------------


@kernel
def draw_kind(p, rng):
    """A kind of the pool."""
    left = uniform(rng, 0.0, 1.0)
    for place in range(p.pool_size - 1):
        left -= p.odds[place]
        if left < 0.0:
            return p.pool[place]
    return p.pool[p.pool_size - 1]


@kernel
def draw_team(p, s, first, last, rng):
    """Kinds for the units first ... last - 1, not all of them the rare one."""
    for _ in range(100):
        common = False
        for i in range(first, last):
            s.kind[i] = draw_kind(p, rng)
            common = common or s.kind[i] != p.rare
        if common:
            break


@kernel
def draw_teams(p, s, rng):
    """The kinds of all units. A random team of enemies is a copy of ours; those in excess are drawn."""
    if not p.random_teams:
        for i in range(s.kind.size):
            s.kind[i] = p.roster[i]
        return
    draw_team(p, s, 0, p.allies, rng)
    shared = min(p.allies, p.enemies)
    for i in range(shared):
        s.kind[p.allies + i] = s.kind[i]
    if p.enemies > shared:
        draw_team(p, s, p.allies + shared, p.allies + p.enemies, rng)


@kernel
def place_around(p, s, i, x, y, spread, rng):
    """A unit somewhere in the square around a point, on the map."""
    x += uniform(rng, -spread, spread)
    y += uniform(rng, -spread, spread)
    place_unit(p, s, i, s.kind[i], 0 if i < p.allies else 1, x, y)
    keep_on_map(p, s, i)


@kernel
def keep_on_map(p, s, i):
    """Unit i does not touch the border: SMAX lets units start outside, where they die."""
    radius = p.unit_radius[s.kind[i]]
    s.x[i] = min(max(s.x[i], radius), p.width - radius)
    s.y[i] = min(max(s.y[i], radius), p.height - radius)


@kernel
def face_each_other(p, s, rng):
    """Each side in a square, `p.distance` apart. The squares grow with sides of more than 32 units."""
    for i in range(s.kind.size):
        count = p.allies if i < p.allies else p.enemies
        spread = p.spread * max(1.0, math.sqrt(count / 32.0))
        shift = -0.5 * p.distance if i < p.allies else 0.5 * p.distance
        place_around(p, s, i, 0.5 * p.width + shift, 0.5 * p.height, spread, rng)


@kernel
def reflect(p, s, rng):
    """Allies anywhere in the left half, each enemy mirrored; those in excess anywhere in the right half."""
    gap = 1.0 if p.places == PLACES_SMACV2 else 0.0
    for i in range(p.allies):
        place_around(p, s, i, uniform(rng, 0.0, 0.5 * p.width - gap), uniform(rng, 0.0, p.height), 0.0, rng)
    for k in range(p.enemies):
        i = p.allies + k
        if k < p.allies:
            place_around(p, s, i, p.width - s.x[k], s.y[k], 0.0, rng)
        else:
            place_around(p, s, i, uniform(rng, 0.5 * p.width, p.width), uniform(rng, 0.0, p.height), 0.0, rng)


@kernel
def draw_groups(p, s, rng):
    """Places for up to four groups, each somewhere between the centre and another corner. Returns how many."""
    groups = 1 + below(rng, 4) if p.places == PLACES_SMACV2 else 4
    gap = 2.0 if p.places == PLACES_SMACV2 else 0.0
    for g in range(4):
        s.corner[g] = g
    for g in range(groups):
        other = g + below(rng, 4 - g)
        corner = s.corner[other]
        s.corner[other] = s.corner[g]
        s.corner[g] = corner
        right = 1.0 if corner % 2 == 1 else -1.0
        up = 1.0 if corner // 2 == 1 else -1.0
        t = uniform(rng, 0.0, 1.0)
        s.group_x[g] = 0.5 * p.width + right * (t * gap + (1.0 - t) * 0.5 * p.width)
        s.group_y[g] = 0.5 * p.height + up * (t * gap + (1.0 - t) * 0.5 * p.height)
    return groups


@kernel
def surround(p, s, rng):
    """One side (SMACv2: the allies) in the centre, the other in groups around it."""
    inside = 0 if p.places == PLACES_SMACV2 else below(rng, 2)
    groups = draw_groups(p, s, rng)
    for i in range(s.kind.size):
        if (i >= p.allies) == (inside == 1):
            place_around(p, s, i, 0.5 * p.width, 0.5 * p.height, p.spread, rng)
        else:
            g = below(rng, groups)
            place_around(p, s, i, s.group_x[g], s.group_y[g], p.spread, rng)


@kernel
def place_sides(p, s, rng):
    """All units at the start of an episode."""
    draw_teams(p, s, rng)
    if p.places == FACING:
        face_each_other(p, s, rng)
    elif uniform(rng, 0.0, 1.0) < 0.5:
        reflect(p, s, rng)
    else:
        surround(p, s, rng)
