"""What is played to find out whether a library does what numba's loops do: every entry point, on seeded worlds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.libraries.tape import Tape
from rlenvs.core.compiler.driver import ACT, BEGIN, CHECK, OBSERVE, ROLL, STEP
from rlenvs.core.compiler.entry_points import entry_names
from rlenvs.core.declare.spec import World

WORLDS, STEPS = 16, 100
PLANNED = 5  # steps of the plans that are played now and then
PAIRS = 8  # of goals that are graded
SELDOM = 10  # steps from one call of the other entry points to the next


def tapes_of(world: World, lanes: bool, steps: int = STEPS) -> list[Tape]:
    """What numba's loops do in so many steps: with parameters that all worlds share, and, where the world has lanes,
    with a row of them for each.

    Args:
        world: that no engine moves.
        lanes: whether several worlds are stepped at once, where the world has lanes. Scratch fields of states show it.
        steps: of each tape.
    """
    return [_played(world, own, lanes, steps) for own in ((False, True) if world.lanes else (False,))]


def _played(world: World, own: bool, lanes: bool, steps: int) -> Tape:
    """A tape of a new batch: episodes begin, and steps follow, by lanes every second one. The final observations of an
    episode are set aside where worlds have parameters of their own."""
    batch = KernelBatch(world, WORLDS, autoreset=AutoresetMode.SAME_STEP if own else AutoresetMode.NEXT_STEP, threads=1)
    names = entry_names(world, False, bool(batch.setup.image_shapes))
    blocks = "run_blocks_own" if own else "run_blocks_shared"
    rng = np.random.default_rng(1)
    if own:
        batch.own_params()
    batch.seed(0)
    table = batch.loops.table
    table.rows["_begin"][:] = True
    of_calls = _arrays_of_calls(batch, names, rng)
    if lanes and blocks in names:
        batch.loops.make_rooms(1)  # the last: blocks hold a copy of the addresses
    tape = Tape(batch, {**table.rows, **of_calls})
    tape.call("run_worlds", 0, WORLDS, BEGIN)
    tape.look("reset")
    for step in range(steps):
        batch.actions[...] = random_actions(batch, rng)
        tape.write(batch.actions)
        if lanes and blocks in names and step % 2:
            tape.call("run_worlds", 0, 0, CHECK)
            tape.call(blocks, 0, WORLDS, STEP)
        else:
            tape.call("run_worlds", 0, WORLDS, ACT)
        tape.look(f"step {step}")
        if step % SELDOM == SELDOM - 1:
            _call_others(tape, names, of_calls, rng)
    return tape


def random_actions(batch: KernelBatch, rng: np.random.Generator) -> np.ndarray:
    """Actions for all agents, of the shape of `batch.actions`, masked ones among them."""
    if batch.setup.continuous:
        low, high = batch.setup.action_scaling[2:]
        return rng.uniform(low, high, batch.actions.shape)
    return rng.integers(0, batch.setup.own_choices.reshape(batch.actions.shape[1:]), batch.actions.shape)


def _arrays_of_calls(batch: KernelBatch, names: list[str], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Memory for the arrays of the other entry points, by their names in the record, which knows of them."""
    setup, (worlds, agents) = batch.setup, batch.actions.shape[:2]
    plans = [random_actions(batch, rng) for _ in range(PLANNED)]
    made: dict[str, np.ndarray] = {
        "plan_action": np.ascontiguousarray(np.stack(plans, axis=1)),
        "plan_reward": np.zeros((worlds, PLANNED, agents)),
        "plan_cost": np.zeros((worlds, PLANNED, agents)),
    }
    table = batch.loops.table
    table.record["plan_steps"] = PLANNED
    if "central_worlds" in names:
        made["central"] = np.zeros((worlds, *setup.central_space.shape), np.float32)
    if "grade_goals" in names:
        made["goals"] = rng.normal(size=(PAIRS, 2, setup.goal_size)).astype(np.float32)
        made["grades"] = table.empty("grades", PAIRS)
    if "bar_worlds" in names and batch.barrier_count:
        made["barrier"] = table.empty("barrier", worlds)
        made["proposal"] = np.zeros((worlds, setup.action_size))
    for name, rows in made.items():
        table.point(name, rows)
    return made


def _call_others(tape: Tape, names: list[str], arrays: dict[str, np.ndarray], rng: np.random.Generator) -> None:
    """Every entry point but those that step, and the jobs of `run_worlds` that are for users."""
    batch = tape.batch

    def write(array: np.ndarray, values: np.ndarray) -> None:
        array[...] = values
        tape.write(array)

    def play() -> None:
        slots = batch.loops.table.rows["_slots"]
        write(slots, rng.integers(-1, len(batch.world.players), slots.shape))
        tape.call("play_worlds", 0, WORLDS)

    def bar() -> None:
        write(arrays["proposal"], rng.uniform(-1, 1, arrays["proposal"].shape))
        tape.call("bar_worlds", 0, WORLDS)

    calls: dict[str, Callable[[], object]] = {
        "observing": lambda: tape.call("run_worlds", 0, WORLDS, OBSERVE),
        "rolling": lambda: tape.call("run_worlds", 0, WORLDS, ROLL),
        "advise_worlds": lambda: tape.call("advise_worlds", 0, WORLDS),
        "play_worlds": play,
        "central_worlds": lambda: tape.call("central_worlds", 0, WORLDS),
        "grade_goals": lambda: tape.call("grade_goals", PAIRS),
    }
    if "barrier" in arrays:
        calls["bar_worlds"] = bar
    for name, call in calls.items():
        if name in names or not name.endswith(("_worlds", "_goals")):
            call()
            tape.look(f"{tape.labels[-1].partition(',')[0]}, {name}")
