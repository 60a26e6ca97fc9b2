"""An archive of routes: the Pareto front of a deterministic environment too large for tables, from its steps only.

    python examples/route_archive.py
    python examples/route_archive.py --gamma 0.98 --steps 16000000

An archive keeps, for each cell of rounded observations, the routes to it that no other route dominates in reward and
time; also for the ends of episodes, by the reward of the last step. An episode is one of three:
    - a route to a rarely chosen cell, then random actions (Go-Explore: Ecoffet et al., "First return, then
      explore", Nature 2021);
    - a route of an episode that ended, changed in a few places (Mouret and Clune, "Illuminating search spaces by
      mapping elites", 2015);
    - a route to a cell, then the actions of a finished episode from this cell on.
Every episode starts from a reset: no state is ever restored, and the steps of replayed routes count.
The result is the best of all episodes, a sequence of actions for each point. It is an open-loop policy, so the method
works only in deterministic environments, and the size of a cell is a setting. It does not use weights: three
quarters of the points of Minecart's front are best under no weights.
"""

import argparse
import time

import numpy as np
from gymnasium.vector import AutoresetMode
from numba import njit

import rlenvs
import rlenvs.pareto

# sides of a cell: position, speed, heading, load; and of what the last step pays
MINECART = {"widths": (0.05, 0.05, 0.02, 0.1, 0.1, 0.05, 0.05), "grain": (0.05, 0.05, 10.0)}
parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
parser.add_argument("--gamma", type=float, default=0.99, choices=[1.0, 0.99, 0.98])
parser.add_argument("--steps", type=int, default=4_000_000, help="of all worlds together")
parser.add_argument("--worlds", type=int, default=512)
parser.add_argument("--seed", type=int, default=0)


# --- compiled loops ---------------------------------------------------------------------------------------------------


@njit
def key_of(numbers, widths, salt):
    """A number for a cell."""
    key = np.uint64(salt)
    for j in range(numbers.size):
        part = np.uint64(np.int64(np.floor(numbers[j] / widths[j] + 0.5)) + 1_000_003)
        key = (key ^ part) * np.uint64(0x9E3779B97F4A7C15)
        key ^= key >> np.uint64(29)
    return key


@njit
def covers(one, when, other, then):
    """Whether a route is nowhere worse than another one."""
    worse = when > then
    for j in range(one.size):
        worse = worse or one[j] < other[j] - 1e-9
    return not worse


@njit
def keep(cell, got, when, actions, counts, times, past, routes, chosen):
    """Take a route into a cell, unless one there is nowhere worse. Whether it was new."""
    for n in range(counts[cell]):
        if covers(past[cell, n], times[cell, n], got, when):
            return False
    kept = 0
    for n in range(counts[cell]):
        if not covers(got, when, past[cell, n], times[cell, n]):
            past[cell, kept], times[cell, kept] = past[cell, n], times[cell, n]
            routes[cell, kept], chosen[cell, kept] = routes[cell, n], chosen[cell, n]
            kept += 1
    counts[cell] = min(kept + 1, times.shape[1])
    if kept == times.shape[1]:  # the slowest one makes room
        kept = np.argmax(times[cell])
    past[cell, kept], times[cell, kept], chosen[cell, kept] = got, when, 0
    routes[cell, kept, :when] = actions[:when]
    return True


@njit
def note(
    seen, paid, ended, over, widths, grain, gamma, patience, got, when, planned, stale, actions, path, given_up,
    cells, table, keys, homes, counts, times, past, routes, chosen, tailed, tails, lengths,
):  # fmt: skip
    """Take in a step of each world, and mark in `given_up` whose episodes are over or lead nowhere. `cells` is how many
    there are, in how many episodes ended, and from how many one is known that ended."""
    for i in range(when.size):
        for j in range(got.shape[1]):
            got[i, j] += gamma ** when[i] * paid[i, j]
        when[i] += 1
        given_up[i] = over[i] or when[i] == actions.shape[1]
        if over[i] and not ended[i]:
            continue
        key = key_of(paid[i], grain, 2) if ended[i] else key_of(seen[i], widths, 1)
        place = np.int64(key >> np.uint64(20)) % table.size
        while table[place] >= 0 and keys[table[place]] != key:
            place = (place + 1) % table.size
        if table[place] < 0:
            table[place], keys[cells[0]] = cells[0], key
            cells[0] += 1
            if ended[i]:
                homes[cells[1]] = table[place]
                cells[1] += 1
        path[i, when[i] - 1] = table[place]
        if keep(table[place], got[i], when[i], actions[i], counts, times, past, routes, chosen):
            stale[i] = 0
            if ended[i]:
                for t in range(when[i] - 1):
                    cell = path[i, t]
                    if lengths[cell] == 0:
                        tailed[cells[2]] = cell
                        cells[2] += 1
                    lengths[cell] = when[i] - 1 - t
                    tails[cell, : lengths[cell]] = actions[i, t + 1 : when[i]]
        elif when[i] > planned[i]:
            stale[i] += 1
            given_up[i] = given_up[i] or stale[i] > patience


@njit
def below(rng, number):
    """A whole number from 0 on."""
    return np.int64(rng.random() * number)


@njit
def change(way, size, choices, rng):
    """Change a route in one to three places; its new length."""
    for _ in range(1 + below(rng, 3)):
        if size == 0:
            break
        at, kind = below(rng, size), below(rng, 4)
        if kind == 0:
            way[at] = below(rng, choices)
        elif kind == 1 and size < way.size:
            way[at + 1 : size + 1] = way[at:size].copy()
            way[at] = below(rng, choices)
            size += 1
        elif kind == 2:
            way[at : size - 1] = way[at + 1 : size].copy()
            size -= 1
        elif kind == 3 and at + 1 < size:
            way[at], way[at + 1] = way[at + 1], way[at]
    return size


@njit
def plan(
    begins, shares, tries, choices, rng, got, when, planned, stale, actions, held,
    cells, homes, counts, times, routes, chosen, tailed, tails, lengths,
):  # fmt: skip
    """What the episodes that begin are to play: a route to a cell, one that ended, changed, or one to a cell and on."""
    for i in range(begins.size):
        if not begins[i]:
            continue
        got[i], when[i], stale[i], planned[i], held[i] = 0.0, 0, 0, 0, -1
        if cells[0] == 0:
            continue
        kind = 0 if cells[1] == 0 else np.searchsorted(shares, rng.random(), side="right")
        best, number, least = -1, 0, 1 << 30
        for _ in range(tries):
            cell = below(rng, cells[0])
            if kind == 1:
                cell = homes[below(rng, cells[1])]
            elif kind == 2:
                cell = tailed[below(rng, cells[2])]
            n = below(rng, counts[cell])
            if chosen[cell, n] < least:
                best, number, least = cell, n, chosen[cell, n]
        chosen[best, number] += 1
        planned[i] = times[best, number]
        actions[i] = routes[best, number]
        if kind == 2:
            more = min(lengths[best], actions.shape[1] - planned[i])
            actions[i, planned[i] : planned[i] + more] = tails[best, :more]
            planned[i] += more
        elif kind == 1:
            planned[i] = change(actions[i], planned[i], choices, rng)


@njit
def act(choices, again, rng, when, planned, actions, held, loaded):
    """The actions of a step: those planned, then at random, the last one again with a chance."""
    for i in range(when.size):
        if when[i] >= planned[i]:
            if held[i] < 0 or rng.random() >= again:
                held[i] = below(rng, choices)
            actions[i, when[i]] = held[i]
        loaded[i, 0] = actions[i, when[i]]


PLANNING = ("homes", "counts", "times", "routes", "chosen", "tailed", "tails", "lengths")  # what `plan` takes


# --- the archive ------------------------------------------------------------------------------------------------------


class Archive:
    """Routes by cells, and what plays them.

    Args:
        id, options: of a world without chance, with one agent, single choices and numbers for observations.
        widths: sides of a cell, for each number of an observation. grain: the same of what the last step pays.
        gamma: discount. count: of worlds. seed: of all choices.
        longest: steps of an episode that are tried.
        shares: of episodes that go on at random, that change a route, and that go on as another one did.
        again: chance of the same random action once more. patience: steps without anything new after what was planned,
            before an episode is given up.
        depth: routes in a cell. tries: of so many routes drawn, the one that was chosen least is played.
    """

    def __init__(
        self, id, options, widths, grain, gamma, count=512, seed=0,
        longest=40, shares=(0.2, 0.5, 0.3), again=0.5, patience=1, depth=8, tries=16,
    ):  # fmt: skip
        self.batch = rlenvs.make_batch(id, count, threads=1, autoreset=AutoresetMode.DISABLED, **options)
        self.objectives, self.choices = len(self.batch.world.terms), self.batch.setup.action_size
        self.widths, self.grain, self.gamma = np.array(widths, float), np.array(grain, float), gamma
        self.shares, self.tries, self.again, self.patience = np.cumsum(shares)[:2], tries, again, patience
        self.steps = 0
        self.rng = np.random.default_rng(seed)
        self.batch.seed([seed * 1_000_003 + i for i in range(count)])
        self.batch.reset()
        self.got, self.when = np.zeros((count, self.objectives)), np.zeros(count, np.int64)
        self.planned, self.stale, self.held = np.zeros((3, count), np.int64)
        self.actions, self.loaded = np.zeros((count, longest), np.int8), np.zeros((count, 1), np.int64)
        self.path = np.zeros((count, longest), np.int64)
        self.over = np.ones(count, np.bool_)
        self.cells = np.zeros(3, np.int64)
        self.table = np.full(1, -1, np.int32)
        self.arrays = {
            "keys": np.zeros(0, np.uint64),
            "homes": np.zeros(0, np.int64),
            "counts": np.zeros(0, np.int64),
            "times": np.zeros((0, depth), np.int64),
            "past": np.zeros((0, depth, self.objectives)),
            "routes": np.zeros((0, depth, longest), np.int8),
            "chosen": np.zeros((0, depth), np.int64),
            "tailed": np.zeros(0, np.int64),
            "tails": np.zeros((0, longest), np.int8),
            "lengths": np.zeros(0, np.int64),
        }

    def make_room(self):
        """Arrays for twice as many cells."""
        old = len(self.arrays["keys"])
        size = max(2 * old, 4 * len(self.when))
        for name, array in self.arrays.items():
            self.arrays[name] = np.zeros((size, *array.shape[1:]), array.dtype)
            self.arrays[name][:old] = array
        self.table = np.full(4 * size, -1, np.int32)
        for cell, key in enumerate(self.arrays["keys"][: self.cells[0]].tolist()):
            place = (key >> 20) % len(self.table)
            while self.table[place] >= 0:
                place = (place + 1) % len(self.table)
            self.table[place] = cell

    def learn(self, steps):
        """Make so many steps more, of all worlds together."""
        batch, until, count = self.batch, self.steps + steps, len(self.when)
        while self.steps < until:
            if self.cells[0] + count > len(self.arrays["keys"]):
                self.make_room()
            a = self.arrays
            batch.reset(self.over)
            playing = self.got, self.when, self.planned, self.stale, self.actions
            plan(
                self.over, self.shares, self.tries, self.choices, self.rng, *playing, self.held,
                self.cells, *(a[name] for name in PLANNING),
            )  # fmt: skip
            act(self.choices, self.again, self.rng, self.when, self.planned, self.actions, self.held, self.loaded)
            batch.load_actions(self.loaded)
            batch.step_inplace()
            note(
                batch.get_observations(copy=False)[:, 0], batch.terms[:, : self.objectives, 0], batch.terminated[:, 0],
                batch.over, self.widths, self.grain, self.gamma, self.patience, *playing, self.path, self.over,
                self.cells, self.table, *a.values(),
            )  # fmt: skip
            self.steps += count

    def front(self):
        """What the best episodes got, (points, objectives), and their actions."""
        a, found, ways = self.arrays, [], []
        for cell in a["homes"][: self.cells[1]].tolist():
            for n in range(a["counts"][cell]):
                found.append(a["past"][cell, n])
                ways.append(a["routes"][cell, n, : a["times"][cell, n]].tolist())
        if not found:
            return np.zeros((0, self.objectives)), []
        kept = np.flatnonzero(rlenvs.pareto.nondominated(np.array(found)))
        return np.array(found)[kept], [ways[i] for i in kept]


def main(given=None):
    """Learn, print how much of the front was found; the share of its hypervolume."""
    arguments = parser.parse_args(given)
    print(f"Takes about {arguments.steps / 1e6:.0f} s; the first time half a minute more, to compile.", flush=True)
    env = rlenvs.make("Minecart-v0", level="deterministic")
    known = rlenvs.pareto.pareto_front(env, arguments.gamma).values
    low, scale = known.min(axis=0), np.ptp(known, axis=0)
    archive = Archive(
        "Minecart-v0", {"level": "deterministic"}, **MINECART,
        gamma=arguments.gamma, count=arguments.worlds, seed=arguments.seed,
    )  # fmt: skip
    start, share = time.monotonic(), 0.0
    corner = np.full(3, -0.1)
    whole = rlenvs.pareto.hypervolume((known - low) / scale, corner)
    for part in range(1, 9):
        archive.learn(part * arguments.steps // 8 - archive.steps)
        values, ways = archive.front()
        share = rlenvs.pareto.hypervolume((values - low) / scale, corner) / whole if len(values) else 0.0
        print(
            f"  {archive.steps:10,} steps, {time.monotonic() - start:4.0f} s: {archive.cells[0]:7,} cells, "
            f"{len(values):3} points, {100 * share:5.1f} % of the hypervolume of the {len(known)} known",
            flush=True,
        )
    for _, way in sorted(zip(values.tolist(), ways, strict=True), reverse=True):
        played = rlenvs.pareto.play_policy(
            env, rlenvs.pareto.OpenLoopPolicy(way), arguments.gamma
        ).mean  # in the world itself
        print("  " + ", ".join(f"{number:6.3f}" for number in played) + "  " + "".join(map(str, way)))
    others = env.unwrapped.batch.setup.published_front(arguments.gamma).points
    theirs = rlenvs.pareto.hypervolume((others - low) / scale, corner) / whole
    corners = rlenvs.pareto.hypervolume((known[rlenvs.pareto.supported(known)] - low) / scale, corner) / whole
    print(
        f"of the hypervolume: learnt {100 * share:.1f} %, best by weighted sums {100 * corners:.1f} %, "
        f"published {100 * theirs:.1f} %"
    )
    return share


if __name__ == "__main__":
    main()
