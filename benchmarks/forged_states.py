"""Forged snapshots: numbers of a state are set to what no kernel writes, and the world goes on in plain Python.

Each must be refused, or the world runs on without reaching out of an array and without a step that never ends.

    python benchmarks/forged_states.py              all kinds of worlds; a line for each field that fails
    python benchmarks/forged_states.py Chain-v0 PandaPush-v0 --seconds 60
    python benchmarks/forged_states.py Battle-v0 --compiled     with bounds checks, 33 worlds: in lanes, where there are

All kinds are those that move their own bodies; worlds of an engine are named. Compiled code that does not end is ended
by an alarm, and the process with it.
"""

from __future__ import annotations

import argparse
import signal
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numba
import numpy as np

import rlenvs  # noqa: F401  (registers the ids)
from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.catalogue.registry import catalogue, world_of
from rlenvs.core.declare.errors import SnapshotError
from rlenvs.core.declare.spec import World, load_world

STUCK = 10  # seconds for what takes far less
COMPILED = {"backend": "numba", "worlds": 33}


class StuckError(Exception):
    """A call that does not end."""


def kinds() -> dict[str, World]:
    """A world of each kind that moves its own bodies, by name."""
    found: dict[int, World] = {}
    for entry in catalogue.values():
        world = load_world(entry.address)
        if not world.engine:
            found.setdefault(id(world if world.has_own_kernels else world.kind), world)
    return {world.name: world for world in found.values()}


def values_of(kind: np.dtype, rng: np.random.Generator) -> list[Any]:
    """Numbers of a type that a kernel hardly writes."""
    if kind.kind == "f":
        return [np.nan, np.inf, -1e300, 1e300, 1e9, -1e9, 1e4, -1e4, 0.0]
    if kind.kind == "b":
        return [rng.integers(2, 256)]
    ends = np.iinfo(kind)
    near = [x for x in (-2, -1, 0, 1, 2, 3, 5, 9, 17, 40, 100, 127, 1000) if ends.min <= x <= ends.max]
    return [ends.min, ends.max, *near, int(rng.integers(ends.min, ends.max, dtype=kind))]


def forgeries(states: np.ndarray, rng: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Endless (field, bytes of a state with forged numbers in this field)."""
    names = [name for name in states.dtype.names or () if states[name].size and not name.startswith("_gap")]
    while True:
        for name in rng.permutation(names):
            forged = states.copy()
            field = forged[name]
            raw = field.view(np.uint8) if field.dtype == bool else field
            value = rng.choice(np.array(values_of(field.dtype, rng), raw.dtype))
            flat = raw.reshape(-1)
            if rng.random() < 0.5:
                flat[rng.integers(flat.size)] = value
            elif rng.random() < 0.5:
                flat[:] = value
            else:
                flat[:] = rng.choice(np.array(values_of(field.dtype, rng), raw.dtype), flat.size)
            yield str(name), forged.tobytes()


def attack(
    world: World, seconds: float, seed: int, most: int = 10**9, backend: str = "python", worlds: int = 1
) -> tuple[Counter[str], dict[str, str]]:
    """How many forgeries, at most, came out how, and the fields that got through with what then happened."""
    signal.signal(signal.SIGALRM, ring if backend == "python" else signal.SIG_DFL)
    rng = np.random.default_rng(seed)
    batch = new_batch(world, worlds, backend=backend, **world.quick)
    batch.seed(range(worlds))
    batch.reset()
    go_on(batch, rng)  # which takes long for once
    outcome: Counter[str] = Counter()
    broken: dict[str, str] = {}
    begin = time.monotonic()
    while time.monotonic() - begin < seconds and outcome.total() < most:
        batch.seed(rng.integers(1000, size=worlds))
        batch.reset()
        for _ in range(int(rng.integers(0, 12))):
            go_on(batch, rng)
        whole = batch.get_state(0)
        for count, (field, state) in enumerate(forgeries(batch.states[:1].copy(), rng)):
            ended = time.monotonic() - begin > seconds or outcome.total() >= most
            if ended or count > 4 * len(batch.states.dtype.names or ()):
                break
            signal.alarm(STUCK)
            try:
                batch.set_state(Snapshot.of(whole.world, state, whole.params), slice(None))
                for _ in range(3):
                    go_on(batch, rng)
                outcome["went on"] += 1
            except SnapshotError:
                outcome["refused"] += 1
            except (IndexError, StuckError) as error:
                outcome[type(error).__name__] += 1
                broken.setdefault(field, f"{type(error).__name__}: {error}")
            except (ValueError, OverflowError, ZeroDivisionError) as error:  # of plain Python alone
                outcome["Python's arithmetic"] += 1
                if "index" in str(error) or "slice" in str(error):
                    broken.setdefault(field, f"{type(error).__name__}: {error}")
            finally:
                signal.alarm(0)
            batch.set_state(whole, slice(None))
    return outcome, broken


def go_on(batch: KernelBatch, rng: np.random.Generator) -> None:
    """Ask all kernels of a world, and make a step."""
    if batch.over.any():
        batch.reset()
    if batch.world.has_expert and rng.random() < 0.5:
        batch.expert_actions()
    else:
        batch.actions[...] = batch.setup.idle
        if batch.setup.continuous:
            batch.actions[...] = rng.uniform(*batch.setup.action_scaling[2:], batch.actions.shape)
        elif "mask" not in batch.world.kernels:
            batch.actions[...] = rng.integers(0, np.maximum(batch.setup.own_choices[None], 1), batch.actions.shape)
        else:
            allowed = batch.masks[0, :, : batch.setup.action_size]
            batch.actions[:, :, 0] = [rng.choice(np.flatnonzero(row) if row.any() else [0]) for row in allowed]
    for player in batch.world.players:
        batch.player_actions(player)
    batch.central()
    batch.step_inplace()


def ring(*_: Any) -> None:
    raise StuckError(f"no end within {STUCK} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", help="ids without 'rlenvs/'; all kinds by default")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--compiled", action="store_true", help="compiled, with bounds checks")
    given = parser.parse_args()
    if given.compiled:
        numba.config.BOUNDSCHECK = 1
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    wanted = {name: world_of(name) for name in given.names} or kinds()
    total, worlds = Counter(), 0
    for name, world in wanted.items():
        try:
            outcome, broken = attack(world, given.seconds, given.seed, **(COMPILED if given.compiled else {}))
        except Exception as error:
            print(f"{name}: not tried, {type(error).__name__}: {error}", flush=True)
            continue
        total, worlds = total + outcome, worlds + 1
        print(f"{name}: {dict(outcome)}", flush=True)
        for field, what in broken.items():
            print(f"    {field}: {what}", flush=True)
    print(f"{worlds} kinds, {sum(total.values())} forgeries: {dict(total)}")


if __name__ == "__main__":
    main()
