"""Search the Pareto front of the deterministic minecart: `python benchmarks/minecart_front.py [--seconds 30]`.

An episode visits at most two mines to a purpose: one digging action fills more than half of the cart, a second one the
rest. So the trips are 26 sequences of at most two digging actions, and for each of them this finds, for every number of
steps, the least fuel. It is a branch and bound over sequences of actions in the world's own kernels. What bounds it
from below: legs are at least as long as the distance between the edges of discs, walked straight with all
accelerations first; braking and digging take a step each; digging, and the first acceleration of a leg, come so early
that the fastest way home is still possible, and further accelerations are discounted as if they came last.
Two states of one step that agree in position, speed and heading to 1e-9 are one. Mines that mirror each other have
mirrored routes.

A pass asks for routes that burn so much less than the best one known, and, of numbers of steps without one, for routes
within so much of the root's bound; what it does not find does not exist. Passes ask for more and more, until nothing
is open or the time of the trip is over. Writes minecart_routes.json beside the
world: the routes found, and for each trip and number of steps the fuel below which no route is.
"""

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.maths import sin_cos
from rlenvs.single.objectives import minecart_front
from rlenvs.single.objectives.minecart import ACCELERATE, BRAKE, DIG, LEFT, MINES, NONE, RIGHT, roll, steer

GAMMAS = (1.0, 0.99, 0.98)
TRIPS = ([], [0], [1], [2], [0, 0], [1, 1], [0, 1], [0, 2], [0, 3], [0, 4], [1, 0], [1, 2], [1, 3], [1, 4])
MIRRORED = {0: 4, 1: 3, 2: 2, 3: 1, 4: 0}
IDLE, EXTRA, DIGGING = 0.02, 0.1, 0.2  # fuel of a step of four frames
PLACE = np.array([row[:2] for row in MINES])
REACH, HOME = 0.14, 0.15
NEAR = 1e-7  # by how much distances are taken shorter, against rounding
FAR, MOST, LONGEST, LATEST = 10**6, 14, 70, 60  # accelerations, actions of a route, steps that are told apart
# how much less than the best one known is asked for; how far from the root's bound where none is known
PASSES = ((0.08, 0.03), (0.06, 0.1), (0.04, 0.2), (0.03, 0.5), (0.02, 99.0), (0.01, 99.0), (0.005, 99.0), (0.0, 99.0))
SINES, COSINES = (np.array([sin_cos(math.radians(5.0 * n))[k] for n in range(72)]) for k in (0, 1))
ORDER = np.array([ACCELERATE, NONE, LEFT, RIGHT, BRAKE, DIG])
SLOTS = 2**24


@compiled()
def steps_of_leg(distance, speed, steps):
    """Fills the least steps in which a distance is covered with so many accelerations; the last entry: with any."""
    covered, least, k = 0.0, 1_000_000, 0
    while k < 60:
        now = speed + 0.03 * k
        left = distance - covered
        n = least
        if left <= 0.0:
            n = min(least, k)
        elif now > 0.0:
            n = min(least, k + math.ceil(left / (4.0 * now) - 1e-9))
        least = n
        steps[min(k, steps.size - 1)] = n
        covered += 4.0 * now + 0.075
        k += 1


@compiled()
def may_improve(t, fuel, steps, owed, rest, certain, best, last, sums, powers, single):
    """Whether some number of steps may still be reached with less fuel than is known."""
    k = steps.size - 1
    fastest = steps[k]
    while k > 0 and steps[k - 1] <= steps[k]:
        k -= 1
    total = t + steps[k]
    while total < best.size:
        while k > 0 and t + steps[k - 1] <= total:
            k -= 1
        bound = fuel + sums[total] - sums[t] + owed[total] + EXTRA * powers[total - 1] * max(k - certain, 0)
        if rest:
            bound += EXTRA * powers[total - fastest]
        if bound < best[0 if single else total] - 1e-9:
            return True
        if total >= last and (k == 0 or steps[k - 1] >= FAR):
            return False  # from here on the bound only grows
        total += 1
    return False


@compiled()
def search(
    mines, best, found, routes, later, owed, starts, last, sums, powers, single, most, table, worth, stamps, stamp
):
    """One pass. Returns how many states it came to, negative where it gave up."""
    x, y, speed, angle = np.zeros(LONGEST), np.zeros(LONGEST), np.zeros(LONGEST), np.zeros(LONGEST)
    fuel = np.zeros(LONGEST)
    left, dug, tried = np.zeros(LONGEST, np.int64), np.zeros(LONGEST, np.int64), np.zeros(LONGEST, np.int64)
    own, steps = np.zeros(MOST, np.int64), np.zeros(MOST, np.int64)
    tired, came = np.zeros(LONGEST, np.bool_), np.zeros(LONGEST, np.int64)
    forever = 1e9 if single else IDLE / (1.0 - powers[1])
    angle[0] = 45.0
    t, states, trips = 0, 0, mines.size - 1
    while t >= 0:
        if tried[t] == 6:
            t -= 1
            continue
        a = ORDER[tried[t]]
        tried[t] += 1
        px, py, v, heading, burnt, away, k = x[t], y[t], speed[t], angle[t], fuel[t], left[t], dug[t]
        if v < 0.001 and (a == BRAKE or (a == NONE and single)):
            continue
        if (
            v < 0.001
            and t > 0
            and tired[t]
            and (a == NONE or (a == LEFT and came[t] == RIGHT) or (a == RIGHT and came[t] == LEFT))
        ):
            continue
        if a == DIG:
            if v >= 0.001 or k >= trips:
                continue
            far = math.sqrt((px - PLACE[mines[k], 0]) ** 2 + (py - PLACE[mines[k], 1]) ** 2)
            other = False
            for j in range(5):
                other |= math.sqrt((px - PLACE[j, 0]) ** 2 + (py - PLACE[j, 1]) ** 2) < far - 1e-9
            if far > REACH + 1e-9 or other:
                continue
            burnt += (IDLE + DIGGING) * powers[t]
            k += 1
        else:
            burnt += (IDLE + (EXTRA if a == ACCELERATE else 0.0)) * powers[t]
            home = False
            for _ in range(4):
                v, heading = steer(a, v, heading, 1, 0.0075, 1.0, 1.0, 10.0)
                n = round(heading / 5.0) % 72
                px, py, v, heading = roll(px, py, v, heading, SINES[n], COSINES[n], 10.0)
                if math.sqrt(px * px + py * py) >= HOME:
                    away = 1
                elif away == 1:
                    home = True
                    break
            states += 1
            if home:
                total = 0 if single else t + 1
                if k == trips and burnt < found[total] - 1e-9:
                    for n in range(total, best.size):
                        best[n] = min(best[n], burnt)
                        found[n] = min(found[n], burnt)
                    routes[total, :] = -1
                    for n in range(t + 1):
                        routes[total, n] = ORDER[tried[n] - 1]
                continue
        if states >= most:
            return -states
        if t + 1 >= LONGEST - 1:
            continue
        distance = 0.0
        if k < trips:
            distance = math.sqrt((px - PLACE[mines[k], 0]) ** 2 + (py - PLACE[mines[k], 1]) ** 2) - REACH - NEAR
            steps_of_leg(distance, v, own)
            stop = 1 if v >= 0.001 or distance > 0.0 else 0
            for many in range(MOST):
                least = FAR
                for now in range(many + 1):
                    least = min(least, own[now] + stop + later[k, many - now])
                steps[many] = least
        else:
            distance = math.sqrt(px * px + py * py) - HOME - NEAR if away == 1 else 0.0
            steps_of_leg(distance, v, steps)
            for many in range(MOST):
                steps[many] = max(steps[many], 1)
        rest = v < 0.001 and distance > 0.0
        certain = starts[k] + (1 if rest else 0)
        if not may_improve(t + 1, burnt, steps, owed[k], rest, certain, best, last, sums, powers, single):
            continue
        # states that were met before with no more fuel
        i, j = np.uint64(round(px * 1e9)), np.uint64(round(py * 1e9))
        rest = np.uint64(round(heading * 1e3) + 4000000 + away * 7919 + k * 104729 + (0 if single else t * 1299709))
        swift = np.uint64(round(v * 1e9) + 7)
        one = i * np.uint64(0x9E3779B97F4A7C15) ^ j * np.uint64(0xC2B2AE3D27D4EB4F)
        one ^= swift * np.uint64(0x165667B19E3779F9) ^ rest * np.uint64(0xD6E8FEB86659FD93)
        one = (one ^ (one >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
        one ^= one >> np.uint64(29)
        two = i * np.uint64(0xA0761D6478BD642F) + j * np.uint64(0xE7037ED1A0B428DB)
        two += swift * np.uint64(0x8EBC6AF09C88C6E3) + rest * np.uint64(0x589965CC75374CC3)
        two ^= two >> np.uint64(31)
        slot, known = np.int64(one & np.uint64(SLOTS - 1)), False
        for _ in range(100):
            if stamps[slot] != stamp:
                stamps[slot], table[slot, 0], table[slot, 1], worth[slot] = stamp, one, two, burnt
                break
            if table[slot, 0] == one and table[slot, 1] == two:
                known = worth[slot] <= burnt + 1e-12
                worth[slot] = min(worth[slot], burnt)
                break
            slot = (slot + 1) % SLOTS
        if known:
            continue
        # Whoever comes to a state again has lost time. That pays only where what follows burns more than idling for
        # ever, and then the route is none that is asked for.
        first = min(t + 1 + int(steps[steps.size - 1]), best.size - 1)
        weary = burnt + powers[t + 1] * forever >= best[0 if single else first]
        stayed = speed[t] < 0.001 and v < 0.001
        t += 1
        tired[t], came[t] = weary, a if stayed else NONE
        x[t], y[t], speed[t], angle[t], fuel[t], left[t], dug[t], tried[t] = px, py, v, heading, burnt, away, k, 0
    return states


class Search:
    """The tables that all passes share."""

    def __init__(self, seconds: float) -> None:
        self.seconds, self.stamp = seconds, 0
        self.table, self.worth = np.zeros((SLOTS, 2), np.uint64), np.zeros(SLOTS)
        self.stamps = np.zeros(SLOTS, np.int32)

    def later(self, trip: list[int]) -> np.ndarray:
        """Least steps from the arrival at each mine on, by accelerations: digging and all legs that follow."""
        rows, own = np.zeros((len(trip) + 1, MOST), np.int64), np.zeros(MOST, np.int64)
        for i in reversed(range(len(trip))):
            here = PLACE[trip[i]]
            if i == len(trip) - 1:
                steps_of_leg(float(np.hypot(*here)) - REACH - HOME - NEAR, 0.0, own)
                rows[i] = 1 + own
                continue
            distance = float(np.hypot(*(here - PLACE[trip[i + 1]]))) - 2.0 * REACH - NEAR
            steps_of_leg(distance, 0.0, own)
            for many in range(MOST):
                ways = [own[now] + rows[i + 1, many - now] for now in range(many + 1)]
                rows[i, many] = 1 + int(distance > 0.0) + min(ways)
        return rows

    def run(
        self, trip: list[int], gamma: float, known: dict[int, list[int]]
    ) -> tuple[dict[int, Any], dict[int, float], bool]:
        """Starts from some known routes by their steps. Returns routes by their steps, by steps the fuel below which
        there is none, and whether nothing is open."""
        single, later = gamma == 1.0, self.later(trip)
        powers = gamma ** np.arange(1101.0)
        sums = IDLE * np.concatenate([[0.0], np.cumsum(powers)])
        starts, owed = self.owed(trip, later, powers)
        root = self.root(trip, later, starts, owed, sums, powers)
        found = np.full(LATEST + 1, np.inf)
        routes = np.full((LATEST + 1, LONGEST), -1)
        for total, actions in known.items():
            found[total] = -sum(gamma**n * minecart_front.step_fuel(action) for n, action in enumerate(actions))
            routes[total, : len(actions)] = actions
        proved, start = np.full(LATEST + 1, 0.0), time.perf_counter()
        for less, allowed in PASSES:
            least = np.minimum.accumulate(found)
            hoped = np.where(np.isfinite(least), least - less, np.minimum(root[: LATEST + 1] + allowed, 99.0))
            best = np.minimum.accumulate(np.full_like(hoped, hoped.min()) if single else hoped)
            hoped = best.copy()
            last = int(np.flatnonzero(np.append(True, best[1:] < best[:-1]))[-1])
            budget = int(1.2e6 * (self.seconds - (time.perf_counter() - start)))
            if budget < 10_000:
                break
            self.stamp += 1
            states = search(
                np.array([*trip, 0]), best, found, routes, later, owed, starts, last, sums, powers, single, budget,
                self.table, self.worth, self.stamps, self.stamp,
            )  # fmt: skip
            if states < 0:
                break
            proved = np.minimum(hoped, np.minimum.accumulate(found))
            assert root[LATEST + 1 :].min() >= proved[LATEST], "more steps matter"
        else:
            return self.answer(found, routes), self.steps_down(proved), True
        return self.answer(found, routes), self.steps_down(proved), False

    @staticmethod
    def owed(trip: list[int], later: np.ndarray, powers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """After so many digging actions: how many legs follow that begin at rest; and, by steps, the least extra fuel
        of the digging actions that follow and of the first acceleration of these legs. Neither can come later than
        the fastest way home allows."""
        moves = [i + 1 == len(trip) or trip[i + 1] != trip[i] for i in range(len(trip))]
        rows, starts = np.zeros((len(later), 1001)), np.array([sum(moves[i:]) for i in range(len(later))])
        for total in range(1, 1001):
            for i in reversed(range(len(later) - 1)):
                left = int(later[i, -1]) - 1
                extra = DIGGING * powers[max(total - 1 - left, 0)]
                extra += EXTRA * powers[max(total - left, 0)] if moves[i] else 0.0
                rows[i, total] = rows[i + 1, total] + extra
        return starts, rows

    def root(
        self, trip: list[int], later: Any, starts: Any, owed: Any, sums: np.ndarray, powers: np.ndarray
    ) -> np.ndarray:
        """The least fuel by steps, before anything is known."""
        steps, own = np.full(MOST, 4), np.zeros(MOST, np.int64)
        if trip:
            steps_of_leg(float(np.hypot(*PLACE[trip[0]])) - REACH - NEAR, 0.0, own)
            steps = np.array([1 + min(own[n] + later[0, k - n] for n in range(k + 1)) for k in range(MOST)])
        bound = np.full(1001, np.inf)
        for total in range(1, 1001):
            few = np.flatnonzero(steps <= total)
            if few.size:
                more = EXTRA * powers[total - 1] * max(int(few[0]) - int(starts[0]) - bool(trip), 0)
                first = EXTRA * powers[total - int(steps[-1])] if trip else 0.0
                bound[total] = sums[total] + owed[0, total] + first + more
        return bound

    @staticmethod
    def answer(found: Any, routes: Any) -> dict[int, Any]:
        """The routes that need less fuel than all with fewer steps."""
        kept, least = {}, np.inf
        for total in range(len(found)):
            if routes[total, 0] >= 0 and found[total] < least - 1e-9:
                least = found[total]
                kept[total] = float(found[total]), [int(action) for action in routes[total] if action >= 0]
        return kept

    @staticmethod
    def steps_down(proved: np.ndarray) -> dict[int, float]:
        """By steps, where it falls."""
        best = np.minimum.accumulate(proved)
        falls = np.append(True, best[1:] < best[:-1] - 1e-12)
        return {int(n): float(best[n]) for n in np.flatnonzero(falls) if best[n] < 90.0}


def main() -> None:
    """Search all trips and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30.0, help="for one trip at one discount")
    parser.add_argument("--out", type=Path, default=minecart_front.ROUTES)
    options = parser.parse_args()
    finder = Search(options.seconds)
    routes: dict[str, list[list[Any]]] = {}
    bounds: dict[str, list[list[Any]]] = {}
    ways: dict[tuple[int, ...], list[list[int]]] = {}
    for gamma in GAMMAS:
        routes[f"{gamma:g}"], bounds[f"{gamma:g}"] = [], []
        for trip in TRIPS:
            start = time.perf_counter()
            known = {len(way): way for way in ways.get(tuple(trip), [])} if gamma < 1.0 else {}
            found, proved, closed = finder.run(list(trip), gamma, known)
            ways.setdefault(tuple(trip), []).extend(way for _, way in found.values())
            for total, (_, actions) in found.items():
                assert gamma == 1.0 or len(actions) == total
                routes[f"{gamma:g}"].append([trip, "".join(map(str, actions))])
            bounds[f"{gamma:g}"] += [[trip, total, fuel] for total, fuel in proved.items()]
            best = {total: round(fuel, 4) for total, (fuel, _) in found.items()}
            took = time.perf_counter() - start
            print(f"gamma {gamma:g} trip {trip} {'closed' if closed else 'open'} {took:.0f} s", best, flush=True)
            print("   no less than", {total: round(fuel, 4) for total, fuel in proved.items()}, flush=True)
    options.out.write_text(json.dumps({"routes": routes, "bounds": bounds}) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
