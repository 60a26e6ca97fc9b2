"""Print the kinds whose libraries are verified with the present commit: another few of different families with each."""

from itertools import chain, zip_longest

from rlenvs.core.catalogue.docs import families
from rlenvs.core.catalogue.registry import list_envs, world_of
from rlenvs.core.check import one_per_kind
from rlenvs.core.declare.values import engine_of
from support.rotation import commits

AT_ONCE = 5


def in_turn(names: list[str], first: int) -> list[str]:
    """As many names as are verified at once, from the one of this number on; around the end to the beginning."""
    return [names[(first * AT_ONCE + n) % len(names)] for n in range(min(AT_ONCE, len(names)))]


def kinds() -> list[str]:
    """One id of each kind that no engine moves, so that those beside each other are of different families."""
    whole = {id for id in one_per_kind(list_envs()) if not engine_of(world_of(id), {})}
    rows = ([entry.id for entry in family.entries if entry.id in whole] for family in families())
    return [id for id in chain.from_iterable(zip_longest(*rows)) if id]


if __name__ == "__main__":
    print(*in_turn(kinds(), commits() or 0))
