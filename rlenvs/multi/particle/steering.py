"""How scripted players of particle worlds move and speak. All kernels fill the action of agent k."""

from typing import Any

from rlenvs.core import kernel
from rlenvs.multi.particle.physics import SCALED, distance

LEFT, RIGHT, DOWN, UP = 1, 2, 3, 4
EDGE, BRAKING = 0.8, 0.3  # m, s: an agent in flight turns back when it would soon be further out


@kernel
def press(p: Any, a: Any, k: int, x: float, y: float) -> None:
    """Push along (x, y), each in [-1, 1] or beyond; one choice can push along one axis only, and needs half a push."""
    if a.ndim == 1:
        a[k] = 0
        if max(abs(x), abs(y)) >= 0.5:
            if abs(x) >= abs(y):
                a[k] = RIGHT if x > 0.0 else LEFT
            else:
                a[k] = UP if y > 0.0 else DOWN
    elif p.motion == SCALED:
        a[k, 0] = min(max(x, -1.0), 1.0)
        a[k, 1] = min(max(y, -1.0), 1.0)
    else:
        a[k, 0] = 0.0
        a[k, LEFT] = min(max(-x, 0.0), 1.0)
        a[k, RIGHT] = min(max(x, 0.0), 1.0)
        a[k, DOWN] = min(max(-y, 0.0), 1.0)
        a[k, UP] = min(max(y, 0.0), 1.0)


@kernel
def stop_at(p: Any, s: Any, k: int, x: float, y: float, acceleration: float, a: Any) -> None:
    """Push so that the agent comes to rest at (x, y)."""
    slide = p.time_step / max(p.damping, 0.1)  # m that a velocity of 1 m/s still goes
    reach = max(acceleration, 0.01) * p.time_step * slide
    right = x - s.position[k, 0] - slide * s.velocity[k, 0]
    up = y - s.position[k, 1] - slide * s.velocity[k, 1]
    press(p, a, k, right / reach, up / reach)


@kernel
def chase(p: Any, s: Any, k: int, first: int, last: int, a: Any) -> None:
    """Push at full force to where the nearest of the bodies first ... last - 1 will be."""
    position, velocity = s.position, s.velocity
    prey, least = first, 1e18
    for j in range(first, last):
        apart = distance(position, k, position, j)
        if apart < least:
            prey, least = j, apart
    lead = min(least, 0.5)  # s
    x = position[prey, 0] + lead * velocity[prey, 0] - position[k, 0] - 0.3 * velocity[k, 0]
    y = position[prey, 1] + lead * velocity[prey, 1] - position[k, 1] - 0.3 * velocity[k, 1]
    largest = max(abs(x), abs(y), 1e-9)
    press(p, a, k, x / largest, y / largest)


@kernel
def flee(p: Any, s: Any, k: int, first: int, last: int, a: Any) -> None:
    """Push at full force away from the bodies first ... last - 1, the near ones first, and back before the edge."""
    position = s.position
    x, y = 0.0, 0.0
    for j in range(first, last):
        apart = max(distance(position, k, position, j), 0.05)
        x += (position[k, 0] - position[j, 0]) / (apart * apart * apart)
        y += (position[k, 1] - position[j, 1]) / (apart * apart * apart)
    largest = max(abs(x), abs(y), 1e-9)
    x, y = x / largest, y / largest
    soon_x, soon_y = position[k, 0] + BRAKING * s.velocity[k, 0], position[k, 1] + BRAKING * s.velocity[k, 1]
    if abs(soon_x) > EDGE:
        x = -2.0 * soon_x
    if abs(soon_y) > EDGE:
        y = -2.0 * soon_y
    press(p, a, k, x, y)


@kernel
def assign(s: Any, points: Any, target: Any, first: int) -> None:
    """Give each agent from `first` on a point of its own, target[k]: in their order the nearest that is free, then
    exchanged in pairs where that shortens the way. Agents that find none free get the nearest."""
    position = s.position
    agents, count = position.shape[0], points.shape[0]
    for k in range(first, agents):
        target[k] = -1
        least, near = 1e18, 1e18
        spare = 0
        for j in range(count):
            taken = False
            for other in range(first, k):
                if target[other] == j:
                    taken = True
            apart = distance(position, k, points, j)
            if apart < near:
                near, spare = apart, j
            if not taken and apart < least:
                least = apart
                target[k] = j
        if target[k] < 0:
            target[k] = spare
    for k in range(first, agents):
        for other in range(first, k):
            mine, yours = target[k], target[other]
            now = distance(position, k, points, mine) + distance(position, other, points, yours)
            if distance(position, k, points, yours) + distance(position, other, points, mine) < now:
                target[k], target[other] = yours, mine


@kernel
def say(a: Any, k: int, first: int, word: int, words: int) -> None:
    """Add a word to an action whose motion (`first` numbers or choices, p.motion; 0 for none) is filled already."""
    if a.ndim == 1:
        a[k] = a[k] + 5 * word if first > 0 else word
    else:
        for j in range(words):
            a[k, first + j] = 1.0 if j == word else 0.0


@kernel
def loudest(words: Any) -> int:
    """The word that is said loudest, or -1 in silence."""
    best, most = -1, 0.0
    for j in range(words.size):
        if words[j] > most:
            best, most = j, words[j]
    return best
