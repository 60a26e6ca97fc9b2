"""Protocols on Battle and its mini-games: the tasks of LLM-PySC2 and of lifelong learning, as rows of data."""

from __future__ import annotations

from typing import Any, NamedTuple

PROTOCOL_NAMES = ("llm-pysc2", "llm-smac", "l2rlcf-condensed", "l2rlcf-dispersed")
TICKS, STEP = 22.4, 8  # of a second of the game's speed "faster", and of a step
BATTLE = "Battle-v0"
# LLM-PySC2's maps of SMAC (docs/experiments.md of NKAI-Decision-Team/LLM-PySC2 at 551c863)
SMAC_MAPS = ("2s3z", "3s5z", "1c3s5z", "3s_vs_3z", "3s_vs_4z", "3s_vs_5z", "2c_vs_64zg", "2s_vs_1sc", "3s5z_vs_3s6z")


class MacroTask(NamedTuple):
    """A task of LLM-PySC2 as its documents describe it.

    Attributes:
        ours: the units of the Protoss side. theirs: of the Zerg side, by level.
        seconds: of the game, until the task is over.
        apart: what Battle does not have.
    """

    ours: tuple[str, str, str]
    theirs: tuple[str, str, str]
    seconds: int
    apart: str


def _same(units: str) -> tuple[str, str, str]:
    return units, units, units


_TASK5, _TASK7 = "24 roach, 9 ravager, 2 queen", "7 corruptor, 4 brood_lord"
_TASK8 = "15 roach, 3 ravager, 4 queen"
MACRO_TASKS = {
    "task1": MacroTask(
        _same("2 adept"),
        ("2 queen", "2 queen, 4 zergling", "2 queen, 4 zergling"),
        90,
        "workers, of which fewer than 6 are to be left; faster attacks at levels 1 and 2",
    ),
    "task2": MacroTask(
        _same("3 phoenix"),
        ("2 queen", "2 queen, 1 spore_crawler", "2 queen, 1 spore_crawler"),
        90,
        "workers, of which fewer than 6 are to be left; flight; a longer range at levels 1 and 2",
    ),
    "task3": MacroTask(
        ("6 stalker, 1 photon_cannon", "6 stalker, 1 photon_cannon", "6 stalker"),
        _same("24 baneling"),
        60,
        "the base that is to last 60 s; transports, which bring 8 banelings at 0, 15 and 30 s, faster from level 2",
    ),
    "task4": MacroTask(
        _same("12 stalker"),
        ("15 roach, 1 ravager", "15 roach, 2 ravager, 1 queen", "15 roach, 3 ravager, 2 queen, 1 overseer"),
        90,
        "blinking",
    ),
    "task5": MacroTask(
        _same("2 colossus, 3 disruptor, 4 sentry, 12 stalker"),
        (_TASK5, f"{_TASK5}, 1 ultralisk", f"{_TASK5}, 1 ultralisk, 2 swarm_host"),
        90,
        "spells",
    ),
    "task6": MacroTask(
        _same("1 archon, 6 high_templar, 4 sentry, 12 stalker"),
        (
            "64 zergling, 32 baneling, 1 ultralisk",
            "64 zergling, 32 baneling, 3 ultralisk",
            "64 zergling, 32 baneling, 3 ultralisk, 4 queen",
        ),
        90,
        "spells",
    ),
    "task7": MacroTask(
        _same("1 mothership, 3 carrier, 3 tempest, 6 void_ray, 12 stalker"),
        (
            f"18 hydralisk, {_TASK7}, 3 viper",
            f"18 hydralisk, {_TASK7}, 4 queen, 3 viper, 2 infestor",
            "21 hydralisk, 9 corruptor, 6 brood_lord, 4 queen, 3 viper, 2 infestor",
        ),
        90,
        "flight, spells, the commander",
    ),
    "task8": MacroTask(
        ("2 warp_prism, 12 stalker", "2 warp_prism, 12 stalker", "1 warp_prism, 12 stalker"),
        (_TASK8, f"{_TASK8}, 3 spore_crawler", f"{_TASK8}, 3 spore_crawler"),
        120,
        "eight gates and 1600 minerals for new units; transports, the enemy's base, the commander",
    ),
}
# one for one: the unit of Battle nearest in role; "" for units without a weapon, which are left out
STAND_INS = {
    **dict.fromkeys(("adept", "phoenix", "sentry", "high_templar", "void_ray"), "stalker"),
    **dict.fromkeys(("disruptor", "archon", "mothership", "carrier", "tempest"), "colossus"),
    **dict.fromkeys(("ravager", "ultralisk", "swarm_host", "corruptor", "brood_lord"), "roach"),
    "queen": "hydralisk",
    **dict.fromkeys(("photon_cannon", "spore_crawler"), "spine_crawler"),
    **dict.fromkeys(("overseer", "viper", "infestor", "warp_prism"), ""),
}
# L2RLCF (arXiv 2212.04603): its lists of variants were not at hand, so its tasks are the five mini-games as they are
LIFELONG_TASKS = (
    *("MoveToBeacon", "CollectMineralShards", "FindAndDefeatZerglings", "DefeatRoaches"),
    "DefeatZerglingsAndBanelings",
)
CONDENSED = LIFELONG_TASKS  # each task once, in a long block
DISPERSED = LIFELONG_TASKS * 3  # three rounds of short blocks


def playable(units: str) -> str:
    """A side's units as Battle has them."""
    count: dict[str, int] = {}
    for part in units.split(", "):
        number, unit = part.split(" ")
        name = STAND_INS.get(unit, unit)
        if name:
            count[name] = count.get(name, 0) + int(number)
    return ", ".join(f"{number} {name}" for name, number in count.items())


def macro_rows() -> dict[str, tuple[str, dict[str, Any]]]:
    """Of the 24 tasks and levels, by name, the id and the keywords."""
    rows: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, task in MACRO_TASKS.items():
        horizon = round(task.seconds * TICKS) // STEP
        for level in range(3):
            scenario = f"{playable(task.ours[level])} vs {playable(task.theirs[level])}"
            rows[f"{name}-level{level + 1}"] = (BATTLE, {"scenario": scenario, "rules": "smac", "horizon": horizon})
    return rows


def smac_rows() -> dict[str, tuple[str, dict[str, Any]]]:
    """Of LLM-PySC2's nine maps of SMAC, by name, the id and the keywords."""
    return {name: (BATTLE, {"scenario": name, "rules": "smac"}) for name in SMAC_MAPS}


def lifelong_rows() -> dict[str, tuple[str, dict[str, Any]]]:
    """Of the mini-games, by name, the id and no keywords."""
    return {name: (f"{name}-v0", {}) for name in LIFELONG_TASKS}
