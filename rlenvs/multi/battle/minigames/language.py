"""The mini-games in words, for language agents. Orders name the marines and a place in units of the field."""

from typing import Any

import numpy as np

from rlenvs.core.forms.language import expect, one_of, read_order, shortened
from rlenvs.multi.battle.minigames.squads import IDLE, MOVE, choice_of, give, point_at, seen
from rlenvs.multi.battle.units import KINDS

GROUPS = ("all", "nearest", "weakest")
VERBS = ("move", "attack")
DOING = {IDLE: "idle", MOVE: "moving to"}


def unit_text(p: Any, s: Any, i: int) -> str:
    """A line about a unit."""
    kind = int(s.kind[i])
    place = f"{KINDS[kind]} {i if i < len(s.order) else i - len(s.order)} at ({s.x[i]:.1f}, {s.y[i]:.1f})"
    return f"{place}, health {s.health[i]:.0f}/{p.unit_health[kind]:.0f}"


def marine_text(p: Any, s: Any, i: int) -> str:
    doing = DOING.get(int(s.order[i]), "attacking towards")
    goal = "" if s.order[i] == IDLE else f" ({s.goal_x[i]:.1f}, {s.goal_y[i]:.1f})"
    return f"{unit_text(p, s, i)}, {doing}{goal}"


def foe_texts(p: Any, s: Any, fog: bool) -> list[str]:
    """A line about each enemy, under fog about each in sight."""
    there = [i for i in range(len(s.order), len(s.x)) if s.standing[i] and (not fog or seen(p, s, i))]
    return [unit_text(p, s, i) for i in there] or ["no enemy in sight"]


def report(p: Any, s: Any, name: str, things: list[str], task: str, verbs: int, groups: int) -> str:
    """What the player of a mini-game reads: `things` are lines about what is on the field beside marines."""
    marines = [marine_text(p, s, i) for i in range(len(s.order)) if s.standing[i]]
    who = "" if groups == 1 else "who, "
    orders = [f"<{verb}({who}x, y)>" for verb in VERBS[:verbs]]
    known = f" Who is one of: {', '.join(GROUPS[:groups])}." if who else ""
    return "\n".join(
        [
            f"{name}, step {int(s.elapsed)}, score {s.score:g}. The field is {p.width:g} x {p.height:g}.",
            "# Marines",
            *marines,
            "# On the field",
            *things,
            "# Valid actions",
            f"<wait()>, {', '.join(orders)}.{known} Orders last until the next one.",
            "# Task",
            f"{task} Reply with exactly one of the valid actions and nothing else.",
        ]
    )


def number(word: str, most: float) -> float:
    """A coordinate; ValueError when it is none on the field."""
    try:
        value = float(word)
    except ValueError:
        raise ValueError(f"{shortened(word)} is not a number") from None
    if not 0.0 <= value <= most:
        raise ValueError(f"{word} is outside the field, which goes from 0 to {most:g}")
    return value


def read(text: str, p: Any, s: Any, verbs: int, groups: int) -> int | np.ndarray:
    """The action that a reply stands for; ValueError with the reason when it is none."""
    squads = len(s.order) if groups == 2 else 1
    action = np.zeros((1, 2, squads)[int(p.orders)], np.int64)  # one choice, a pair, or headings
    give(p, s, action, _choice(text, p, verbs, groups), verbs)
    return action if p.orders else int(action[0])


def _choice(text: str, p: Any, verbs: int, groups: int) -> int:
    name, arguments = read_order(text)
    if name == "wait":
        expect(name, arguments, 0)
        return 0
    verb = one_of(name, VERBS[:verbs], "order")
    named = groups > 1
    expect(name, arguments, 2 + named)
    group = one_of(arguments[0], GROUPS[:groups], "group of marines") if named else 0
    point = point_at(p, number(arguments[-2], float(p.width)), number(arguments[-1], float(p.height)))
    return int(choice_of(p, verb, verbs, group, point))
