"""Random options, random and expert actions, every array index checked: what no setting may break.

    python benchmarks/fuzz.py checked [ID ...]   every id x level x 20 sets of options x random, extreme and expert
                                                 actions, 200 steps each, compiled with bounds checks
    python benchmarks/fuzz.py compared [ID ...]  the same sets of options, 12 steps compiled and in plain Python, which
                                                 have to give the same
    python benchmarks/fuzz.py corners [ID ...]   every parameter, and every two, at the ends of their ranges, 60 steps
                                                 each of random, extreme and expert actions
    python benchmarks/fuzz.py long [ID ...]      1e8 world-steps over all ids as users run them; watches memory too

Each id runs in a process of its own. What is done is kept in a file of JSON lines (`--out`); run again, the script goes
on where it was stopped. A case that ended its process (a crash) is reported and not run again.

In checked code an index below zero is an error too, though NumPy and numba would count from the end: kernels mean it
nowhere.
"""

import argparse
import contextlib
import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.compiler.plain import WideArray

POLICIES = ("random", "extreme", "expert")
REFUSED = "refused"  # by the world, with a reason: no finding
CORNERS = 0.5  # share of drawn parameters that stand at an end of their range
MOST_AGENTS, MOST_BYTES, MOST_PIXELS, MOST_SUBSTEPS = (
    24,
    400_000,
    4000,
    1000,
)  # what a case may be large in, to be over soon
SLOW = 0.1  # part of the steps of a long run that a world with an engine gets
WORLDS = 256  # side by side in a long run
# what the options of any type may be, where they are not left alone
SAMPLES: dict[str, tuple[Any, ...]] = {
    "scenario": (
        "2s3z",
        "MMM2",
        "27m_vs_30m",
        "1c3s5z",
        "3 marine, 1 medivac vs 2 baneling, 1 zealot",
        "zerg_10_vs_11",
    ),
    "board": ("A...\n.#2.\n..x.\n...B", "A....x\n.##...\n..C..D\nB....."),
    "rotors": (
        [[1, 0, 1], [0, 1, -1], [-1, 0, 1], [0, -1, -1]],
        [[1, 1, 1], [-1, 1, -1], [-1, -1, 1], [1, -1, -1]],
    ),
    "hull": ([0.01, 0.01], [0.2, 0.4]),
    "gates": ([[0, 0, 1.5]], [[2, 0, 1.5, 1.57], [0, 2, 1.5], [-2, 0, 1.5], [0, -2, 1.5]]),
    "arena": ([3, 3, 3], [20, 5, 4]),
    "incidents": (
        [{"road": "road_0_1_0", "lane": 1, "at": 90}],
        [{"road": "road_0_1_0", "startTime": 30}, {"road": "road_1_1_0", "at": 20, "endTime": 100}],
    ),
    "waypoints": ([[0, 0, 1], [0.5, 0.5, 1]], [[0, 0, 1], [0.5, 0, 1.2], [0, 0.5, 1], [0, 0, 1]]),
}
COMMONS = (  # maps
    "AP",
    "PAW\nRSP",
    "RRRRR\nWWWWW\n" + "\n".join(["APAPA", "PAPAP"] * 6),
    "\n".join(["#" * 30, *["#" + "PA" * 14 + "#"] * 3, "#" * 30]),
)
KITCHENS = (  # layouts
    "cramped_room",
    "WPW/OAX/WBW",
    "WWWPWWWW/0AWAWAXW/BAW1WA L/WWWRWWWW",
    "W0W1W2W3W/4A     A5/W       W/6 A P A 7/R   L   X/W A   A B/8A     A9/WWWWWWWWW",
    "/".join(
        ["W" * 16, *["P" + " A"[n == 3] + " " * 13 + "X" for n in range(13)], "0" + "A" * 6 + " " * 8 + "9", "B" * 16]
    ),
)
RECIPES = (None, [[0, 0, 0]], [[0, 1, 2], [1, 1, 9], [9, 9, 9]])
NAMED_SAMPLES: dict[tuple[str, str], tuple[Any, ...]] = {
    ("DeepSeaTreasure-v0", "map"): ("concave", [[0, 1], [-10, 5]], [[0, 0, 2.5], [1, 0, -10], [-10, 3, -10]]),
    ("PathFinding-v0", "map"): ("....\n.#..\n...#\n....", "." * 20, [[0] * 7] * 9),
    ("Storm-v0", "payoffs"): (
        [[3, 0], [5, 1]],
        [[-1000, 1000], [1000, -1000]],
        [[[1000, -1000], [0, 0]], [[0, 0], [-1000, 1000]]],
    ),
    **{(name, "map"): COMMONS for name in ("Harvest-v0", "Cleanup-v0")},
    **{(name, "layout"): KITCHENS for name in ("Overcooked-v0", "OvercookedV2-v0")},
    **{(name, "recipes"): RECIPES for name in ("Overcooked-v0", "OvercookedV2-v0")},
}


class RefusedError(Exception):
    """No set of options that the world takes was found."""


# --- settings ---------------------------------------------------------------------------------------------------------


def draw_number(declared: Any, rng: np.random.Generator) -> float:
    """A value of a parameter: an end of its range, or between them, by orders of magnitude where it spans some."""
    if rng.random() < CORNERS:
        return declared.low if rng.random() < 0.5 else declared.high
    if declared.low > 0.0 and declared.high / declared.low > 100.0:
        return float(math.exp(rng.uniform(math.log(declared.low), math.log(declared.high))))
    return float(rng.uniform(declared.low, declared.high))


def draw_option(world: Any, name: str, rng: np.random.Generator) -> Any:
    """A value of an option."""
    from rlenvs.core.declare.options import Choice, Flag, Integer

    option = world.options[name]
    if isinstance(option, Choice):
        values = [value for value in option.values if value != "pybullet_window"]
        return values[rng.integers(len(values))]
    if isinstance(option, Flag):
        return bool(rng.integers(2))
    if isinstance(option, Integer):
        span = option.high - option.low
        kind = rng.integers(4)
        if kind == 0:
            return int(option.low)
        if kind == 1:
            return int(option.low + rng.integers(min(span, 3) + 1))
        if kind == 2:
            return int(option.low + rng.integers(span + 1))
        return int(min(option.high, option.low + round(math.exp(rng.uniform(0.0, math.log(span + 1.0)))) - 1))
    samples = NAMED_SAMPLES.get((world.name, name), SAMPLES.get(name, ()))
    return samples[rng.integers(len(samples))] if samples else option.default


def small(setup: Any) -> bool:
    """Whether a setting is over soon."""
    v = setup.values
    bytes_of = setup.dtypes["state"].itemsize + 4 * setup.agents * setup.scaling.shape[1]
    pixels = setup.agents * sum(shape[0] * shape[1] for shape in setup.image_shapes.values())
    rates = (("physics_hz", "control_hz"), ("simulation_hz", "policy_hz"))
    substeps = max(getattr(v, fast, 1) // max(getattr(v, slow, 1), 1) for fast, slow in rates) * setup.agents
    return (
        setup.agents <= MOST_AGENTS and bytes_of <= MOST_BYTES and pixels <= MOST_PIXELS and substeps <= MOST_SUBSTEPS
    )


def draw_setting(world: Any, level: str | None, rng: np.random.Generator) -> dict[str, Any]:
    """Keywords of `make` that the world takes: some options and some parameters, drawn.

    Raises:
        RefusedError: none was found.
    """
    from rlenvs.core.declare.errors import RlenvsError
    from rlenvs.core.declare.setup import Setup

    for _ in range(200):
        share = rng.random()
        setting = {name: draw_option(world, name, rng) for name in world.options if rng.random() < share}
        if rng.random() < 0.7:
            many = rng.random() ** 2
            setting |= {name: draw_number(p, rng) for name, p in world.params.items() if rng.random() < many}
        if "control_hz" in setting or "physics_hz" in setting:  # mostly wrong when drawn apart
            setting["physics_hz"] = int(rng.choice([30, 60, 240, 480, 1000, 4000]))
            rates = [n for n in (1, 2, 5, 10, 15, 30, 48, 60, 100, 240, 500, 1000) if not setting["physics_hz"] % n]
            setting["control_hz"] = int(rng.choice(rates))
        for _ in range(6):
            try:
                if small(Setup(world, level=level, **setting)):
                    return setting
                break
            except RlenvsError:
                setting.pop(list(setting)[rng.integers(len(setting))], None) if setting else None
    raise RefusedError(f"{world.name} level {level}: no setting was accepted in 200 attempts")


def draw_encoding(world: Any, level: str | None, setting: dict[str, Any], rng: np.random.Generator) -> str:
    """A kind of numbers for observations that the world takes with these settings."""
    from rlenvs.core.declare.encoding import ENCODINGS
    from rlenvs.core.declare.errors import RlenvsError
    from rlenvs.core.declare.setup import Setup

    for kind in rng.permutation(ENCODINGS):
        with contextlib.suppress(RlenvsError):
            return str(Setup(world, level=level, encoding=str(kind), **setting).encoding)
    raise RefusedError(f"{world.name} level {level}: no encoding was accepted")


# --- a case -----------------------------------------------------------------------------------------------------------


class Looker:
    """Plays a batch and notes what must not be: numbers that are not finite, or outside what is declared."""

    def __init__(self, batch: Any, policy: str, rng: np.random.Generator, draws: int = 2) -> None:
        self.batch, self.policy, self.rng, self.draws = batch, policy, rng, draws
        self.found: Counter[str] = Counter()
        self.worlds: set[int] = set()  # that showed something
        world, setup = batch.world, batch.setup
        self.bounds = [(f"reward_{name}", term.low, term.high) for name, term in world.terms.items()]
        self.bounds += [(f"cost_{name}", 0.0, cost.high) for name, cost in world.costs.items()]
        self.held: Any = None
        self.canvas: Any = None
        # raw blocks are not to need the clipping that they get beside scaled ones
        raw = [part.raw for part in world.observation.values()]
        self.raw = np.zeros(setup.scaling.shape[1], bool)
        space = setup.state_space  # of published forms too, which may have no bounds where scaled ones do
        self.raw_bounds = np.stack([space.low, space.high]).reshape(2, -1).astype(np.float64)
        if any(raw) and not all(raw) and setup.encode is None:  # an encoding goes by the same bounds
            start = 0
            for part in world.observation.values():
                count = int(np.prod([setup.sizes[d] if isinstance(d, str) else d for d in part.shape], dtype=int))
                self.raw[start : start + count] = part.raw
                start += count
            setup.scaling[2, self.raw], setup.scaling[3, self.raw] = -np.inf, np.inf

    def note(self, what: str, where: Any = ()) -> None:
        """Count a finding, and the worlds where a boolean array (worlds, ...) says so."""
        self.found[what] += 1
        if len(where):
            self.worlds |= set(np.flatnonzero(np.asarray(where).reshape(len(where), -1).any(axis=1)).tolist())

    def actions(self, step: int) -> None:
        """Fill batch.actions."""
        batch, rng = self.batch, self.rng
        shape = batch.actions.shape
        if self.policy == "expert":
            if batch.world.players and step % 50 >= 25:
                slots = [str(name) for name in rng.choice(batch.world.players, batch.agents)]
                batch.player_actions(slots)
            elif batch.world.has_expert:
                advice = batch.expert_actions()
                if not np.isfinite(advice).all():
                    self.note("the expert's action is not finite", ~np.isfinite(advice))
                    batch.actions[:] = np.nan_to_num(batch.actions)
            if batch.world.has_expert:
                return
        if batch.setup.continuous:
            if self.policy == "extreme":
                if step % 20 == 0:
                    self.held = batch.setup.spread_action(rng.choice([-1.0, 1.0], shape))
                batch.actions[:] = self.held
            else:
                batch.actions[:] = batch.setup.spread_action(rng.uniform(-1.0, 1.0, shape))
            return
        choices = batch.setup.own_choices
        if self.policy == "extreme":
            if step % 20 == 0:
                self.held = (rng.random(shape) * choices).astype(np.int64)
            batch.actions[:] = self.held
        elif step % 100 < 50:  # what is allowed
            odds = (rng.random(batch.masks.shape) * batch.masks).reshape(*shape[:2], -1)
            for number, part in enumerate(batch.setup.parts_of_mask(odds)):
                batch.actions[..., number] = part.argmax(-1)
        else:
            batch.actions[:] = (rng.random(shape) * choices).astype(np.int64)

    def step(self, step: int) -> None:
        batch = self.batch
        self.actions(step)
        batch.step_inplace()
        self.look()
        if batch.world.central:
            central = batch.central()
            if not np.isfinite(central).all():
                self.note("the central state is not finite")
        if batch.world.barriers:
            proposals = self.rng.uniform(-1.0, 1.0, batch.proposal_shape)
            with contextlib.suppress(NotImplementedError):  # there are none with these options
                batch.barriers(proposals)
        if batch.world.goal and not batch.setup.beside_goals:
            size = batch.setup.goal_size
            goals = batch.observations[..., -2 * size :]
            rewards, _ = batch.compute_reward(goals[..., :size], goals[..., size:])
            if not np.isfinite(rewards).all():
                self.note("compute_reward is not finite")

    def look_at_numbers(self) -> None:
        """Note what is wrong with the numbers of observations."""
        batch = self.batch
        seen = batch.observations.reshape(-1, self.raw.size)
        if not np.isfinite(seen).all():
            self.note("an observation is not finite", ~np.isfinite(batch.observations))
        clipped = np.clip(seen, self.raw_bounds[0], self.raw_bounds[1])
        if (abs(clipped - seen) > 1e-5 * (1.0 + abs(clipped))).any():
            where = np.flatnonzero((abs(clipped - seen) > 1e-5 * (1.0 + abs(clipped))).any(axis=0))[0]
            self.note(f"number {where} of an observation is outside its bounds")

    def look(self) -> None:
        """Note what is wrong with what the last step gave."""
        batch = self.batch
        if self.raw.size and not batch.setup.alone:  # images are of bytes, which are always in their bounds
            self.look_at_numbers()
        if batch.setup.encode is not None:
            self.look_at_encoded()
        for j, (name, low, high) in enumerate(self.bounds):
            values = batch.terms[:, j]
            if not np.isfinite(values).all():
                self.note(f"{name} is not finite", ~np.isfinite(values))
            slack = 1e-9 * (1.0 + max(abs(low), abs(high)))
            outside = (values < low - slack) | (values > high + slack)
            outside[batch.states["elapsed"] == 0] = False  # reset, not stepped: paid nothing
            if outside.any():
                self.note(f"{name} is outside [{low:g}, {high:g}]", outside)
        if not (np.isfinite(batch.rewards).all() and np.isfinite(batch.costs).all()):
            self.note("a reward or cost is not finite")
        if not batch.setup.continuous:
            awake = ~batch.over
            if (batch.masks[awake].sum(-1) < 1).any():
                self.note("a mask forbids everything")
        if getattr(batch, "errors", None) is not None:
            for error in set(batch.errors) - {""}:
                self.note(f"simulation error: {str(error)[:60]}")

    def look_at_encoded(self) -> None:
        """Note observations, of the first agents, that are not in the space that users see."""
        batch = self.batch
        for k in range(min(batch.agents, 3)):
            space, _ = batch.setup.agent_spaces(k)
            if not all(space.contains(batch.get_observations((i, k))) for i in range(batch.num_envs)):
                self.note(f"an observation is outside its space with encoding={batch.setup.encoding!r}")

    def states(self) -> None:
        """Note what is not finite in the states of all worlds."""
        fields = [name for name, kind in self.batch.world.state.items() if kind.code.startswith("f")]
        for i in range(self.batch.num_envs):
            _, s = self.batch.records(i)
            for name in fields:
                if not np.isfinite(np.asarray(getattr(s, name))).all():
                    self.note(f"the state's {name} is not finite", np.arange(self.batch.num_envs) == i)

    def draw(self) -> None:
        """Images and words of the first world."""
        world = self.batch.world
        p, s = self.batch.records(0)
        if "draw" in world.functions:
            from rlenvs.core.declare.canvas import Canvas

            self.canvas = self.canvas or Canvas(64, 64)
            self.canvas.clear()
            world.functions["draw"](self.canvas, p, s)
        if "text" in world.functions:
            world.functions["text"](p, s)
        if "describe" in world.functions:
            for k in range(min(self.batch.agents, 3)):
                world.functions["describe"](p, s, k)

    def run(self, steps: int) -> Counter[str]:
        batch = self.batch
        batch.seed(self.rng.integers(2**31, size=batch.num_envs).tolist())
        batch.reset()
        self.look()
        between = max(steps // max(self.draws, 1), 1)
        for step in range(steps):
            self.step(step)
            if step % 20 == 0:
                self.states()
            if self.draws and step % between == between - 1:
                self.draw()
        return self.found


def play(id: str, case: dict[str, Any], steps: int, backend: str = "numba", worlds: int = 2) -> Counter[str]:
    """What a case shows: descriptions of findings and how many steps showed each."""
    from gymnasium.vector import AutoresetMode

    import rlenvs

    rng = np.random.default_rng(case["seed"])
    mode = (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)[rng.integers(2)]
    keywords = dict(case["setting"], level=case["level"], autoreset=mode, threads=1, backend=backend)
    with np.errstate(all="ignore"):
        try:
            batch = rlenvs.make_batch(id, worlds, **keywords)
        except rlenvs.core.declare.errors.RlenvsError as error:
            return Counter({f"{REFUSED} by the batch: {error}": 1})
        try:
            return Looker(batch, case["policy"], rng).run(steps)
        except Exception as error:
            return Counter({f"{type(error).__name__}: {' '.join(str(error).split())[:200]}": 1})
        finally:
            batch.close()


def play_both(id: str, case: dict[str, Any], steps: int, worlds: int = 2) -> Counter[str]:
    """What plain Python gives that compiled code does not, of a case: the first difference."""
    import rlenvs
    from rlenvs.core.check.kernels import same_outcome
    from rlenvs.core.check.verdicts import Failed

    rng = np.random.default_rng(case["seed"])
    keywords = dict(case["setting"], level=case["level"], threads=1)
    seeds = rng.integers(2**31, size=worlds).tolist()
    with np.errstate(all="ignore"):
        try:
            compiled, plain = (rlenvs.make_batch(id, worlds, backend=name, **keywords) for name in ("numba", "python"))
        except rlenvs.core.declare.errors.RlenvsError as error:
            return Counter({f"{REFUSED} by the batch: {error}": 1})
        looker = Looker(compiled, case["policy"], rng)
        try:
            for batch in (compiled, plain):
                batch.seed(seeds)
                batch.reset()
            for step in range(steps):
                same_outcome(compiled, plain, f"after {step} steps:")
                looker.actions(step)
                plain.actions[:] = compiled.actions
                compiled.step_inplace()
                plain.step_inplace()
            same_outcome(compiled, plain, f"after {steps} steps:")
        except Failed as error:
            return Counter({f"plain Python differs {' '.join(str(error).split())[:200]}": 1})
        except Exception as error:
            return Counter({f"{type(error).__name__}: {' '.join(str(error).split())[:200]}": 1})
        finally:
            compiled.close()
            plain.close()
    return Counter()


def cases(id: str, sets: int, seed: int) -> Iterator[dict[str, Any]]:
    """Every level x set of options x policy of a world; the first set of each level is the level as it is."""
    from rlenvs.core.catalogue.registry import world_of

    world = world_of(id)
    for level in (None, *world.levels):
        for number in range(sets):
            rng = np.random.default_rng([seed, number, *str(level).encode()])
            try:
                setting = draw_setting(world, level, rng) if number else {}
                if number:  # drawn apart, so that all else is as it was without it
                    setting["encoding"] = draw_encoding(world, level, setting, np.random.default_rng([seed, number]))
            except RefusedError as error:
                print(error, flush=True)
                continue
            for n, policy in enumerate(POLICIES):
                yield {
                    "level": level,
                    "policy": policy,
                    "seed": int(rng.integers(2**31)) + n,
                    "setting": setting,
                    "key": f"{id} {level} {number} {policy} {seed}",
                }


# --- checks of indices ------------------------------------------------------------------------------------------------


def check_indices_in_compiled_code() -> None:
    """From now on, compiled code raises IndexError for every index outside its array, below zero too. Call it before
    anything is compiled, with a cache of its own."""
    os.environ["NUMBA_BOUNDSCHECK"] = "1"
    import numba.core.config
    from numba.np import arrayobj

    numba.core.config.BOUNDSCHECK = 1

    def as_it_is(context: Any, builder: Any, kind: Any, index: Any, size: Any) -> Any:
        from numba.core import types

        return context.cast(builder, index, kind, types.intp)

    arrayobj.fix_integer_index = as_it_is


class StrictArray(WideArray):
    """An array that refuses indices below zero."""

    def __getitem__(self, key: Any) -> Any:
        _refuse_negative(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _refuse_negative(key)
        super().__setitem__(key, value)


def _refuse_negative(key: Any) -> None:
    for index in key if isinstance(key, tuple) else (key,):
        if isinstance(index, (int, np.integer)) and index < 0:
            raise IndexError(f"index {key} counts from the end")


class StrictRecord:
    """A record whose arrays are strict."""

    def __init__(self, record: Any) -> None:
        object.__setattr__(self, "_record", record)

    def __getattr__(self, name: str) -> Any:
        value = getattr(object.__getattribute__(self, "_record"), name)
        return value.view(StrictArray) if isinstance(value, np.ndarray) else value

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_record"), name, value)


def strict_accessor(accessor: Any) -> Any:
    """`rlenvs.core.compiler.plain._python_accessor` with strict records, for backend="python"."""

    def make(dtype: np.dtype) -> Any:
        record_at = accessor(dtype)
        return lambda address, meta: StrictRecord(record_at(address, meta))

    return make


# --- processes --------------------------------------------------------------------------------------------------------


class Log:
    """What is done, one JSON object a line."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [json.loads(line) for line in lines if line.endswith("}")]
        self.done = {row["key"]: row for row in rows if "found" in row}
        self.begun = {row["key"] for row in rows}

    def write(self, **row: Any) -> None:
        with open(self.path, "a") as file:
            file.write(json.dumps(row, default=str) + "\n")


def memory() -> float:
    """Resident memory of this process in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def run_cases(id: str, given: argparse.Namespace) -> None:
    """All cases of an id, with bounds checks or in both backends."""
    checked = given.mode == "checked"
    if checked:
        check_indices_in_compiled_code()
    log = Log(Path(given.out))
    for case in cases(id, given.sets, given.seed):
        key = case["key"]
        if key in log.done:
            continue
        if key in log.begun:
            log.write(key=key, id=id, found={"the process ended (a crash)": 1}, case=case)
            print(f"CRASH {key} {case['setting']}", flush=True)
            continue
        log.write(key=key, begun=True)
        began = time.perf_counter()
        found = play(id, case, given.steps) if checked else play_both(id, case, given.steps)
        seconds = round(time.perf_counter() - began, 2)
        log.write(key=key, id=id, steps=given.steps, seconds=seconds, found=found, case=case if found else None)
        if found:
            print(f"{key}: {dict(found)} {case['setting']}", flush=True)


def corners(world: Any) -> list[dict[str, float]]:
    """Every parameter at an end of its range, alone and with every other one, where they go together."""
    from rlenvs.core.declare.errors import ParameterError
    from rlenvs.core.declare.setup import Setup

    ends = [(name, end) for name, p in world.params.items() for end in sorted({p.low, p.high} - {p.default})]
    single = [{name: end} for name, end in ends]
    pairs = [{a: x, b: y} for (a, x), (b, y) in itertools.combinations(ends, 2) if a != b]
    allowed, setup = [], Setup(world)
    usual = {**vars(setup.values), **{name: p.default for name, p in world.params.items()}}
    for corner in [*single, *pairs]:
        with contextlib.suppress(ParameterError):
            setup.check_together({**usual, **corner})
            allowed.append(corner)
    return allowed


def run_corners(id: str, given: argparse.Namespace) -> None:
    """Worlds with parameters of their own, in batches, with the options as they are and with every switch on."""
    import rlenvs
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.errors import RlenvsError
    from rlenvs.core.declare.options import Flag

    log, world = Log(Path(given.out)), world_of(id)
    every = corners(world)
    together = {name: True for name, option in world.options.items() if isinstance(option, Flag)}
    for setting in ({}, together) if together else ({},):
        for first in range(0, len(every), given.sets):
            key = f"{id} corners {first} {given.sets} {'switches' if setting else ''}"
            if key in log.done:
                continue
            some = every[first : first + given.sets]
            names = {name for corner in some for name in corner}
            values = {n: np.array([corner.get(n, world.params[n].default) for corner in some]) for n in names}
            try:
                batch = rlenvs.make_batch(id, len(some), threads=1, **setting, **values)
            except RlenvsError as error:
                print(f"{key}: {error}", flush=True)
                if not setting:  # the world's own rules allow these; switches may contradict each other
                    log.write(key=key, id=id, steps=0, found={f"{REFUSED} by the batch: {error}": 1})
                continue
            found: Counter[str] = Counter()
            guilty: set[int] = set()
            for policy in POLICIES:
                looker = Looker(batch, policy, np.random.default_rng([given.seed, first]), draws=0)
                with np.errstate(all="ignore"):
                    found += looker.run(given.steps)
                looker.states()
                guilty |= looker.worlds
            batch.close()
            steps = len(POLICIES) * given.steps * len(some)
            log.write(key=key, id=id, steps=steps, found=found, where=[some[i] for i in sorted(guilty)])
            if found:
                print(f"{key}: {dict(found)} {[some[i] for i in sorted(guilty)[:8]]}", flush=True)


def run_long(id: str, given: argparse.Namespace, steps: int) -> None:
    """World-steps of one id, on all its levels, in chunks with changing policies; notes findings and memory."""
    import rlenvs
    from rlenvs.core.catalogue.registry import world_of

    log = Log(Path(given.out))
    levels = (None, *world_of(id).levels)
    for number, level in enumerate(levels):
        key = f"{id} {level} long {given.steps:g}"
        if key in log.done:
            continue
        rng = np.random.default_rng([given.seed, number])
        batch = rlenvs.make_batch(id, WORLDS, level=level)
        looker = Looker(batch, "random", rng, draws=0)
        looker.run(50)
        wanted, gone, first, began, told = steps / len(levels), 0, memory(), time.perf_counter(), time.perf_counter()
        while gone < wanted and time.perf_counter() - began < given.seconds:
            looker.policy = POLICIES[gone // (WORLDS * 200) % 3]
            looker.step(gone // WORLDS)
            gone += WORLDS
            if gone % (WORLDS * 200) == 0:
                looker.states()
            if time.perf_counter() - told > 30:
                told = time.perf_counter()
                print(f"{id} {level}: {gone:.3g} of {wanted:.3g} steps, {memory() - first:+.0f} MB", flush=True)
        batch.close()
        rate, grown = gone / (time.perf_counter() - began), memory() - first
        if grown > 100.0:
            looker.note(f"memory grew by {grown:.0f} MB")
        log.write(key=key, id=id, steps=gone, rate=round(rate), grown=round(grown, 1), found=looker.found)
        print(f"{key}: {gone:.3g} steps, {rate:.3g} a second, {grown:+.0f} MB, {dict(looker.found)}", flush=True)


def summary(log: Log) -> str:
    """What was run, and what was found."""
    steps = sum(row.get("steps", 0) for row in log.done.values())
    lines = [f"{len(log.done)} cases, {steps:.4g} steps"]
    kinds: Counter[tuple[str, str]] = Counter()
    for row in log.done.values():
        for what in row["found"]:
            kinds[row["id"], what] += 1
    lines += [f"{id}: {what}: {count} cases" for (id, what), count in sorted(kinds.items())]
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("mode", choices=("checked", "compared", "corners", "long", "summary"))
    options.add_argument("ids", nargs="*", help="environments; all by default")
    options.add_argument("--sets", type=int, default=20, help="sets of options per level; corners: per batch")
    options.add_argument("--steps", type=float, help="checked 200, compared 12, corners 60; long: over all ids, 1e8")
    options.add_argument("--seconds", type=float, default=math.inf, help="long: at most so many per level")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", default="fuzz.jsonl", help="what is done; the script goes on from it")
    options.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.mode == "summary":
        print(summary(Log(Path(given.out))))
        return
    import rlenvs
    from rlenvs.core.catalogue.registry import world_of

    given.steps = given.steps or {"checked": 200, "compared": 12, "corners": 60, "long": 1e8}[given.mode]
    all_ids = [id.removeprefix("rlenvs/") for id in rlenvs.list_envs() if "/mo-" not in id]
    if given.child:
        if given.mode != "long":
            given.steps = int(given.steps)
            (run_corners if given.mode == "corners" else run_cases)(given.ids[0], given)
        else:
            shares = {id: SLOW if world_of(id).engine else 1.0 for id in all_ids}
            run_long(given.ids[0], given, int(given.steps * shares[given.ids[0]] / sum(shares.values())))
        return
    environment = dict(os.environ)
    if given.mode == "checked":
        cache = Path(tempfile.gettempdir()) / f"rlenvs-fuzz-{os.getuid()}"
        folder = os.environ.get("FUZZ_CACHE_DIR", str(cache))  # nothing is taken from code without checks
        environment |= {"NUMBA_BOUNDSCHECK": "1", "RLENVS_CACHE_DIR": folder, "XDG_CACHE_HOME": folder}
    ids = given.ids or all_ids
    for number, id in enumerate(ids):
        print(f"--- {id} ({number + 1} of {len(ids)})", flush=True)
        command = [sys.executable, __file__, given.mode, id, "--child", "--sets", str(given.sets)]
        command += ["--steps", str(given.steps), "--seed", str(given.seed), "--out", given.out]
        command += ["--seconds", str(given.seconds)]
        for _ in range(20):  # a crash ends the child; the next one goes on after it
            if subprocess.run(command, env=environment, check=False).returncode >= 0:
                break
    print(summary(Log(Path(given.out))))


if __name__ == "__main__":
    main()
