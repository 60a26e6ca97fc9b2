"""Places of vehicles in the arrays, the lists of drivables, and random numbers."""

from typing import Any

from rlenvs.core import below, kernel
from rlenvs.multi.traffic.fields import NOWHERE

WORD = 2**32


@kernel
def draw(p: Any, s: Any, rng: Any) -> int:
    """A random number in [0, 2^32)."""
    if s.drawn < p.draws.size:
        s.drawn += 1
        return p.draws[s.drawn - 1]
    return below(rng, WORD)


@kernel
def draw_priority(p: Any, s: Any, rng: Any) -> int:
    """The priority of a new vehicle: a random number of 32 bits with a sign."""
    number = draw(p, s, rng)
    return number - WORD if number >= WORD // 2 else number


@kernel
def take_place(s: Any) -> int:
    """A free place; -1 where all are taken."""
    v = s.free
    if v >= 0:
        s.free = s.behind[v]
    elif s.used < s.drivable.size:
        v = s.used
        s.used += 1
    return v


@kernel
def give_place(s: Any, v: int) -> None:
    """The place of a vehicle that is gone becomes free."""
    s.drivable[v] = -1
    s.shadow[v] = False
    s.new_drivable[v] = NOWHERE
    s.behind[v] = s.free
    s.free = v


@kernel
def take_out(s: Any, v: int) -> None:
    """Remove a vehicle from the list of its drivable."""
    d, ahead, behind = s.drivable[v], s.ahead[v], s.behind[v]
    if ahead >= 0:
        s.behind[ahead] = behind
    else:
        s.first[d] = behind
    if behind >= 0:
        s.ahead[behind] = ahead
    else:
        s.last[d] = ahead
    s.count[d] -= 1


@kernel
def put_between(s: Any, v: int, d: int, ahead: int, behind: int) -> None:
    """Add a vehicle to a drivable's list between two others, each -1 where there is none."""
    s.ahead[v] = ahead
    s.behind[v] = behind
    if ahead >= 0:
        s.behind[ahead] = v
    else:
        s.first[d] = v
    if behind >= 0:
        s.ahead[behind] = v
    else:
        s.last[d] = v
    s.count[d] += 1


@kernel
def append(s: Any, v: int, d: int) -> None:
    """Add a vehicle at the end of a drivable's list; those that come in the same step by their new place."""
    ahead, behind = s.last[d], -1
    while ahead >= 0 and s.new_drivable[ahead] == d and s.new_position[ahead] < s.new_position[v]:
        behind = ahead
        ahead = s.ahead[ahead]
    put_between(s, v, d, ahead, behind)
