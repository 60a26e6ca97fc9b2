"""Battle in words, for language agents.

The blocks are those of LLM-PySC2 (Li et al., "LLM-PySC2: StarCraft II learning environment for Large Language Models",
2024): game, own unit, units in sight, knowledge about units, valid actions, task. Every agent calls its own side allies
and the other one enemies, whichever side it is on.
"""

import math
from typing import Any

from rlenvs.core.forms.language import expect, one_of, read_order
from rlenvs.multi.battle.combat import squared_distance
from rlenvs.multi.battle.orders import legal, target_of, targets_of
from rlenvs.multi.battle.units import KINDS

DIRECTIONS = {(0, 1): "north", (1, 0): "east", (0, -1): "south", (-1, 0): "west"}


def moves_of(p: Any) -> list[str]:
    """The directions of the four moves, in their order."""
    return [DIRECTIONS[int(p.step_x[move]), int(p.step_y[move])] for move in range(4)]


def name_of(p: Any, s: Any, k: int, i: int) -> str:
    """What unit k calls unit i."""
    word = "ally" if s.side[i] == s.side[k] else "enemy"
    return f"{word}_{i if i < p.allies else i - p.allies}"


def orders_of(p: Any, s: Any, k: int) -> list[str]:
    """What to reply for each choice of unit k, legal or not."""
    verb = "heal" if p.unit_heals[s.kind[k]] > 0.0 else "attack"
    orders = [f"<{verb}({name_of(p, s, k, int(target_of(p, s, k, slot)))})>" for slot in range(targets_of(p, s, k))]
    named = {int(p.idle): "<no_op()>", int(p.stop): "<stop()>"}  # one and the same with SMAX's rules: to stop
    named.update({int(p.first_move) + move: f"<move({word})>" for move, word in enumerate(moves_of(p))})
    named.update({int(p.first_target) + slot: order for slot, order in enumerate(orders)})
    return [named[choice] for choice in range(len(named))]


def unit_text(p: Any, s: Any, k: int, i: int) -> str:
    """A line about unit i, as unit k sees it."""
    kind = int(s.kind[i])
    parts = [f"{name_of(p, s, k, i)}: {KINDS[kind]} at ({s.x[i]:.1f}, {s.y[i]:.1f})"]
    if i != k:
        parts.append(f"distance {math.sqrt(squared_distance(s, k, i)):.1f}")
    parts.append(f"health {s.health[i]:.0f}/{p.unit_health[kind]:.0f}")
    if p.unit_shield[kind] > 0.0:
        parts.append(f"shield {s.shield[i]:.0f}/{p.unit_shield[kind]:.0f}")
    if p.unit_heals[kind] > 0.0:
        parts.append(f"energy {s.energy[i]:.0f}")
    else:
        parts.append("weapon ready" if s.cooldown[i] <= 0.0 else f"weapon ready in {s.cooldown[i]:.2f} s")
    return ", ".join(parts)


def knowledge_text(p: Any, kind: int, others: list[int]) -> str:
    """A line about a kind of unit, with what it does to others."""
    parts = [f"{KINDS[kind]}: speed {p.unit_speed[kind]:.2f}, sight {p.unit_sight[kind]:g}"]
    if p.unit_heals[kind] > 0.0:
        parts.append(f"heals {p.unit_heals[kind]:.1f} per second within {p.unit_reach[kind]:g}")
    else:
        parts.append(f"attacks every {p.unit_cooldown[kind]:.2f} s within {p.unit_reach[kind]:g}")
        times = f"{p.unit_hits[kind]:.0f} x " if p.unit_hits[kind] > 1 else ""
        hit = [other for other in others if p.unit_hits_it[kind, other]]
        parts += [f"damage {times}{p.unit_damage[kind, other]:.0f} to {KINDS[other]}" for other in hit]
    if p.unit_armour[kind] > 0.0:
        parts.append(f"armour {p.unit_armour[kind]:.0f}")
    if p.unit_splash[kind] > 0.0:
        parts.append(f"explodes, radius {p.unit_splash[kind]:.1f}")
    return ", ".join(parts)


def describe(p: Any, s: Any, k: int) -> str:
    """What unit k observes, and what it may reply."""
    step_time = float(p.ticks * p.tick)
    sight = p.unit_sight[s.kind[k]]
    near = [
        i
        for i in range(len(s.x))
        if i != k and s.standing[k] and s.standing[i] and squared_distance(s, k, i) < sight * sight
    ]
    allies = [unit_text(p, s, k, i) for i in near if s.side[i] == s.side[k]]
    enemies = [unit_text(p, s, k, i) for i in near if s.side[i] != s.side[k]]
    kinds = sorted({int(s.kind[i]) for i in (k, *near)})
    orders = orders_of(p, s, k)
    return "\n".join(
        [
            "# Game",
            f"Battle, step {int(s.elapsed)}, {step_time:.2f} s per step. The map is {p.width:g} x {p.height:g}; x grows"
            " to the east, y to the north. A move lasts for one step.",
            "# Your unit",
            unit_text(p, s, k, k) if s.standing[k] else f"{name_of(p, s, k, k)} is dead.",
            "# Allies in sight",
            *(allies or ["none"]),
            "# Enemies in sight",
            *(enemies or ["none"]),
            "# Knowledge",
            *(knowledge_text(p, kind, kinds) for kind in kinds),
            "# Valid actions",
            ", ".join(order for choice, order in enumerate(orders) if legal(p, s, k, choice)),
            "# Task",
            "Defeat all enemies together with your allies. Reply with exactly one valid action and nothing else.",
        ]
    )


def parse_action(text: str, p: Any, s: Any, k: int) -> int:
    """The choice of unit k that a reply stands for; ValueError with the reason when it is none. A unit that is told
    nothing stops."""
    if not text:
        return int(p.stop if s.standing[k] else p.idle)
    name, arguments = read_order(text)
    orders = orders_of(p, s, k)
    known = sorted({order[1 : order.index("(")] for order in orders})
    one_of(name, known, "command")
    expect(name, arguments, 0 if name in ("stop", "no_op") else 1)
    written = f"<{name}({', '.join(word.lower() for word in arguments)})>"
    if written not in orders:
        named = [order[order.index("(") + 1 : -2] for order in orders if order.startswith(f"<{name}(")]
        one_of(arguments[0], named, "target" if name != "move" else "direction")
    return orders.index(written)
