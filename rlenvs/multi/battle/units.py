"""The units of battles: two tables of numbers, and both as arrays for kernels.

`SMAX` is the table of SMAX (Rutherford et al., "JaxMARL: Multi-Agent RL Environments and Algorithms in JAX", NeurIPS
2024): six units whose shields are part of their health, and one hit per attack. `SMAC` holds StarCraft II's own numbers
at the speed "faster", as SMAC (Samvelyan et al., 2019) plays it and SMAClite (Michalski et al., 2023) collected them:
shields, armor, bonus damage, splash, healing, regeneration. Times are in seconds, lengths in map units.
"""

from typing import NamedTuple

import numpy as np

from rlenvs.core import f8, u1

TERRAN, PROTOSS, ZERG = 0, 1, 2
NORMAL_TO_FASTER = 1.4  # StarCraft's "faster" seconds are that much shorter than its "normal" ones


class Unit(NamedTuple):
    """The numbers of one type of unit."""

    race: int
    health: float
    damage: float  # per hit
    range: float
    sight: float
    cooldown: float
    speed: float
    radius: float
    shield: float = 0.0
    armour: float = 0.0
    hits: int = 1  # per attack
    bonus: float = 0.0  # more damage per hit
    against: str = ""  # to units with this attribute
    attributes: tuple[str, ...] = ()
    flies: bool = False
    anti_air: bool = False
    splash: float = 0.0  # radius of the explosion in which it dies
    beam: float = 0.0  # length of a beam across the line of fire
    heals: float = 0.0  # health per second, with no weapon
    regeneration: float = 0.0  # health per second
    full_cooldown: float = 1.0  # of SMAC's central state, in ticks; of the medivac the energy


SMAX = {
    "marine": Unit(TERRAN, 45, 9, 5, 9, 0.61, 3.15, 0.375),
    "marauder": Unit(TERRAN, 125, 10, 6, 10, 1.07, 2.25, 0.5625),
    "stalker": Unit(PROTOSS, 160, 13, 6, 10, 1.87, 4.13, 0.625),
    "zealot": Unit(PROTOSS, 150, 8, 2, 9, 0.86, 3.15, 0.5),
    "zergling": Unit(ZERG, 35, 5, 2, 8, 0.50, 4.13, 0.375),
    "hydralisk": Unit(ZERG, 80, 12, 5, 9, 0.59, 3.15, 0.625),
}

LIGHT, ARMORED = ("light", "biological"), ("armored", "biological")
REGROWTH = 0.2734 * NORMAL_TO_FASTER  # of all Zerg

SMAC = {
    "marine": Unit(*(TERRAN, 45, 6, 5, 9, 0.61, 3.15, 0.375), attributes=LIGHT, anti_air=True, full_cooldown=15),
    "marauder": Unit(
        *(TERRAN, 125, 10, 6, 10, 1.07, 3.15, 0.5625),
        armour=1,
        bonus=10,
        against="armored",
        attributes=ARMORED,
        full_cooldown=25,
    ),
    "stalker": Unit(
        *(PROTOSS, 80, 13, 6, 10, 1.34, 4.13, 0.625),
        shield=80,
        armour=1,
        bonus=5,
        against="armored",
        attributes=("armored",),
        anti_air=True,
        full_cooldown=35,
    ),
    "zealot": Unit(
        *(PROTOSS, 100, 8, 0.1, 9, 0.86, 3.15, 0.5),
        shield=50,
        armour=1,
        hits=2,
        attributes=LIGHT,
        full_cooldown=22,
    ),
    "zergling": Unit(
        *(ZERG, 35, 5, 0.1, 8, 0.497, 4.13, 0.375), attributes=LIGHT, regeneration=REGROWTH, full_cooldown=11
    ),
    "hydralisk": Unit(
        *(ZERG, 90, 12, 5, 9, 0.59, 3.15, 0.625),
        attributes=LIGHT,
        anti_air=True,
        regeneration=REGROWTH,
        full_cooldown=10,
    ),
    "medivac": Unit(
        *(TERRAN, 150, 0, 4, 11, 0, 3.5, 0.75),
        armour=1,
        attributes=("armored",),
        flies=True,
        heals=9 * NORMAL_TO_FASTER,
        full_cooldown=200,
    ),
    "colossus": Unit(
        *(PROTOSS, 200, 10, 7, 10, 1.07, 3.15, 1.0),
        shield=150,
        armour=1,
        hits=2,
        bonus=5,
        against="light",
        attributes=("armored",),
        beam=2.8,
        full_cooldown=24,
    ),
    "baneling": Unit(
        *(ZERG, 30, 20, 0.25, 8, 0.59, 3.5, 0.375),
        bonus=15,
        against="light",
        attributes=("biological",),
        splash=2.2,
        regeneration=REGROWTH,
        full_cooldown=1,
    ),
    "spine_crawler": Unit(
        *(ZERG, 300, 25, 7, 11, 1.32, 0.0, 1.125),
        armour=2,
        bonus=5,
        against="armored",
        attributes=ARMORED,
        regeneration=REGROWTH,
        full_cooldown=15,
    ),
    "roach": Unit(
        *(ZERG, 145, 16, 4, 9, 1.43, 3.15, 0.625),
        armour=1,
        attributes=ARMORED,
        regeneration=REGROWTH,
        full_cooldown=15,
    ),
}

KINDS = tuple(SMAC)  # SMAX's units come first, in its order
MEDIVAC = KINDS.index("medivac")

# fields of `p` that `unit_data` fills: what kernels look up by a unit's kind
UNIT_DATA = {
    **{
        f"unit_{name}": f8(len(KINDS))
        for name in (
            *("health", "shield", "armour", "hits", "range", "sight", "cooldown", "speed", "radius", "splash", "beam"),
            *("heals", "regeneration", "full_cooldown"),
        )
    },
    "unit_damage": f8(
        len(KINDS), len(KINDS)
    ),  # of a hit, by the kinds of attacker and target, armour not yet taken off
    "unit_hits_it": u1(len(KINDS), len(KINDS)),  # whether the weapon of one kind can hit another
    "unit_biological": u1(len(KINDS)),
    "unit_flies": u1(len(KINDS)),
}


def unit_data(table: dict[str, Unit]) -> dict[str, np.ndarray]:
    """The arrays of UNIT_DATA for one of the tables; units that it lacks are zeros."""
    data = {name: np.zeros([int(d) for d in kind.shape], kind.code) for name, kind in UNIT_DATA.items()}
    for i, name in enumerate(KINDS):
        unit = table.get(name)
        if unit is None:
            continue
        for field in unit._fields:
            if f"unit_{field}" in data and field not in ("damage", "flies"):
                data[f"unit_{field}"][i] = getattr(unit, field)
        data["unit_biological"][i] = "biological" in unit.attributes
        data["unit_flies"][i] = unit.flies
        for j, other in enumerate(KINDS):
            if other in table:
                weak = unit.against in table[other].attributes
                data["unit_damage"][i, j] = unit.damage + unit.bonus * weak
                data["unit_hits_it"][i, j] = unit.damage > 0 and (unit.anti_air or not table[other].flies)
    return data


def unit_named(name: str, table: dict[str, Unit]) -> int:
    """The kind of unit with a name, such as "marine" or "marines".

    Raises:
        ValueError: no unit of the table is called so.
    """
    for candidate in (name, name.removesuffix("s")):
        if candidate in table:
            return KINDS.index(candidate)
    raise ValueError(f"there is no unit {name!r}; known: {', '.join(table)}")
