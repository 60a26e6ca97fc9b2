"""What a step executes, counted exactly: `python benchmarks/counting.py [WORLD ...]` (two minutes).

The optimised code of the compiled loops gets a counter in each of its basic blocks. It runs in the place of the
original, in a batch in the middle of its episodes, and has to give the same bits. Counted are LLVM's instructions: the
processor's own are more where registers run out, and fewer where it does two in one.

Floating-point operations are additions, subtractions, multiplications, divisions, square roots, comparisons, minima,
maxima and roundings, a vector of eight being eight of them; not negations, absolute values, selections, conversions.
"vectors" are instructions on 64 bytes, loads and stores apart; those on half as much are half an instruction. "waits"
are the sum over all blocks that are executed of the longest chain of dependent instructions in each: the cycles of a
processor that does all at once, but one block after the other.
"""

import argparse
import ctypes
import os
import re
from collections import Counter
from collections.abc import Iterator
from time import thread_time
from typing import Any

import numpy as np
from llvmlite import binding
from numba.core.registry import cpu_target

import rlenvs
from rlenvs.core.compiler import cache

WORLDS: dict[str, tuple[str, dict[str, Any]]] = {
    "QuadHover": ("QuadHover-v0", {}),
    "QuadHover-real": ("QuadHover-v0", {"level": "real"}),
    "ParticleSpread": ("ParticleSpread-v0", {}),
    "SafePointGoal": ("SafePointGoal-v0", {}),
    "MicroRacer": ("MicroRacer-v0", {"track_seed": 0}),
    "Battle": ("Battle-v0", {"scenario": "8m"}),
}
COUNTED, WARM, STEPS = 1024, 50, 50  # worlds, steps before, steps that are counted
UNITS = ("plain", "divisions", "roots")

# --- reading and counting LLVM's code ---------------------------------------------------------------------------------

LINE = re.compile(r"  (?:(%\S+) = )?(?:(?:tail|musttail|notail) )?([a-z]+)\b(.*)")
LABEL = re.compile(r'[\w.$"-]+:')
TYPE = re.compile(r"(?:<(\d+) x )?\b(double|float|ptr|i\d+)\b")
CALLED = re.compile(r'@"?([\w.]+)')
OPERAND = re.compile(r'%(?:"[^"]*"|[\w.$-]+)')
BYTES = {"double": 8, "float": 4, "ptr": 8}
ARITHMETIC = ("fadd", "fsub", "fmul", "fdiv", "frem", "fcmp", "sqrt", "floor", "ceil", "rint", "minnum", "maxnum")
# what becomes part of an address, another name of a register, or nothing
FREE = ("phi", "alloca", "getelementptr", "bitcast", "inttoptr", "ptrtoint", "freeze", "lifetime", "assume")
# cycles until a result can be used, where these are not 1: typical ones, for a bound on what waiting costs
WAITS = {**dict.fromkeys(ARITHMETIC, 3), **dict.fromkeys(FREE, 0), "fdiv": 13, "sqrt": 20, "load": 6, "masked": 6}
WAITS |= dict.fromkeys(("shufflevector", "fptosi", "sitofp", "uitofp", "fptrunc", "fpext"), 4)
WAITS |= dict.fromkeys(("mul", "insertelement", "extractelement"), 3)
WAITS |= dict.fromkeys(("sdiv", "udiv", "srem", "urem"), 15)


def sizes_of(text: str) -> list[tuple[int, int]]:
    """Elements and bytes of the types in a text."""
    types = [(int(found[1] or 1), found[2]) for found in TYPE.finditer(text)]
    return [(lanes, lanes * (BYTES.get(kind) or -(-int(kind[1:]) // 8))) for lanes, kind in types]


def meant_by(opcode: str, rest: str) -> str:
    """The opcode, or the function that a call calls: "" for one that is no built-in one."""
    named = CALLED.search(rest)
    if opcode != "call" or not named:
        return "" if opcode == "call" else opcode
    parts = named[1].split(".")
    return parts[1] if parts[0] == "llvm" else parts[0] if parts[0] in ARITHMETIC else ""


def tally_of(name: str, rest: str) -> Counter[str]:
    """What an instruction executes, by the name that `meant_by` gives it."""
    found: Any = Counter(instructions=1, calls=not name)
    sizes = sizes_of(rest) or [(1, 0)]
    lanes, size = sizes[0]
    if name in ARITHMETIC:
        unit = {"fdiv": "divisions", "frem": "divisions", "sqrt": "roots"}.get(name, "plain")
        found[f"{unit} in vectors" if lanes > 1 else unit] += lanes
    elif name == "load" or (name == "masked" and ".load." in rest):
        found["loaded"] += size
    elif name in ("store", "masked"):
        found["stored"] += size
    elif name == "memset":
        found["stored"] += sum(map(int, re.findall(r"i64 (\d+)", rest)))
    if name not in ("", "load", "store", "masked"):
        widest = max((size for lanes, size in sizes if lanes > 1), default=0)
        found["vectors"] += 1.0 if widest > 32 else 0.5 if widest else 0.0
    found["branches"] += name == "switch" or (name == "br" and " i1 " in rest)
    return found


def name_of(mangled: str) -> str:
    """The Python name of a function; "copying" for all that copies rows to blocks and back."""
    name, rest = mangled, mangled.removeprefix("_ZN")
    while length := re.match(r"\d+", rest):
        rest = rest[length.end() :]
        name, rest = rest[: int(length[0])], rest[int(length[0]) :]
    name = re.sub(r"_[uv]+(_m)?_\d+$", "", name)  # of lane forms
    return "copying" if re.fullmatch(r"(take|give)_\d|copy_rows", name) else name


class CountedCode:
    """Code with a counter in every block, as machine code.

    Args:
        text: of a module, in LLVM's language.
    """

    def __init__(self, text: str) -> None:
        self._tallies: list[Counter[str]] = []
        self._times: Any = np.zeros(text.count("\n"), np.int64)
        self._engine = machine_code("\n".join(self._with_counters(text.split("\n"))))
        self.address_of = self._engine.get_function_address

    def _with_counters(self, lines: list[str]) -> Iterator[str]:
        begins, function = False, ""
        ready: dict[str, int] = {}  # by name, when a result of this block can be used
        for line in lines:
            found = LINE.match(line)
            if line.startswith("define"):
                function = name_of(CALLED.findall(line)[0])
            begins = begins or line.startswith("define") or LABEL.match(line) is not None
            if found and begins and found[2] != "phi":
                yield self._counter()
                begins, ready = False, {}
            if found and found[2] != "phi":
                result, name, rest = found[1], meant_by(found[2], found[3]), found[3]
                tally, start = self._tallies[-1], max((ready.get(used, 0) for used in OPERAND.findall(rest)), default=0)
                ready[result] = start + WAITS.get(name, 1)
                tally["waits"] = max(tally["waits"], ready[result])
                if name not in FREE:
                    tally.update(tally_of(name, rest))
                    tally[f"in {function}"] += 1
            yield line

    def _counter(self) -> str:
        k = len(self._tallies)
        self._tallies.append(Counter())
        place = f"ptr inttoptr (i64 {self._times.ctypes.data + 8 * k} to ptr)"
        return f"  %T{k} = load i64, {place}\n  %T{k}.1 = add i64 %T{k}, 1\n  store i64 %T{k}.1, {place}"

    def counts(self) -> Counter[str]:
        """What has been executed."""
        total: Counter[str] = Counter()
        for times, tally in zip(self._times.tolist(), self._tallies, strict=False):
            total.update({key: times * number for key, number in tally.items()})
        return +total


def machine_code(text: str) -> Any:
    """An engine with the functions of a module, compiled for numba's processor, not optimised further."""
    _, processor, features = cpu_target.target_context.codegen().magic_tuple()
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(cpu=processor, features=features, opt=3, jit=True)
    engine = binding.create_mcjit_compiler(binding.parse_assembly(text), machine)
    engine.finalize_object()
    return engine


class CountedLoop:
    """An entry point of a driver that counts what it executes; called as numba's dispatcher is."""

    def __init__(self, entry: Any) -> None:
        (overload,) = entry.overloads.values()
        self.code = CountedCode(entry.inspect_llvm(entry.signatures[0]))
        self.address = self.code.address_of(overload.fndesc.llvm_cfunc_wrapper_name)
        self._call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 4)(self.address)

    def __call__(self, *arguments: int) -> int:
        return int(self._call(*arguments))


class CountedDriver:
    """A driver with counted loops."""

    def __init__(self, driver: Any, own: bool, lanes: bool) -> None:
        self._driver, self.run_worlds = driver, CountedLoop(driver.run_worlds)
        self._blocks = CountedLoop(driver.run_blocks(own)) if lanes else self.run_worlds

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def run_blocks(self, own: bool) -> CountedLoop:
        return self._blocks

    def counts(self) -> Counter[str]:
        alone = self.run_worlds.code.counts()
        together = Counter() if self._blocks is self.run_worlds else self._blocks.code.counts()
        return alone + together + Counter({"one by one": alone["instructions"]})


# --- worlds -----------------------------------------------------------------------------------------------------------


def choose(batch: Any, generator: np.random.Generator) -> None:
    """Random actions, legal ones where the world has masks."""
    if "mask" in batch.world.kernels:
        batch.player_actions("random")
    elif batch.setup.continuous:
        batch.load_actions(batch.setup.spread_action(generator.uniform(-1.0, 1.0, batch.actions.shape)))
    else:
        batch.load_actions(generator.integers(batch.setup.action_size, size=batch.actions.shape[:2]))


def prepared(name: str, worlds: int) -> tuple[Any, np.random.Generator]:
    """A batch in the middle of its episodes, no two of which need end at the same time, and what draws its actions."""
    id, keywords = WORLDS[name]
    batch, generator = rlenvs.make_batch(id, worlds, threads=1, **keywords), np.random.default_rng(0)
    batch.seed(0)
    batch.reset()
    batch.states["elapsed"] = generator.integers(batch.setup.horizon, size=worlds)
    spent(batch, generator, WARM)
    return batch, generator


def spent(batch: Any, generator: np.random.Generator, steps: int) -> float:
    """Seconds of some steps, but for the choice of actions, in which this thread had a core."""
    seconds = 0.0
    for _ in range(steps):
        choose(batch, generator)
        start = thread_time()
        batch.step_inplace()
        seconds += thread_time() - start
    return seconds


def counts_of(name: str) -> dict[str, float]:
    """What one step of one world executes. The counted batch has to go where another one goes."""
    os.environ["RLENVS_TARGET"] = "none"
    cache.cache_folders = list  # none: code that comes from the disk cannot be read
    (batch, draws), (other, other_draws) = prepared(name, COUNTED), prepared(name, COUNTED)
    driver, own = batch.loops.driver, batch.loops.table.own_params
    counted = batch.loops.driver = CountedDriver(driver, own, batch.in_lanes)
    spent(batch, draws, STEPS)
    spent(other, other_draws, STEPS)
    here, there = batch.arrays(), other.arrays()
    assert all(array.tobytes() == there[key].tobytes() for key, array in here.items())
    return {key: number / (COUNTED * STEPS) for key, number in counted.counts().items()}


# --- the table -------------------------------------------------------------------------------------------------------

HEAD = (
    "| one step of one world | operations | in vectors | divisions | roots | instructions | vectors | one by one "
    "| branches | calls | loaded, B | stored, B | most instructions in |"
)


def row(name: str, found: dict[str, float]) -> str:
    counts = Counter(found)
    in_vectors = sum(counts[f"{unit} in vectors"] for unit in UNITS)
    totals = [counts[unit] + counts[f"{unit} in vectors"] for unit in UNITS]
    cells = [f"{sum(totals):,.0f}", f"{in_vectors / sum(totals):.0%}", *[f"{number:,.1f}" for number in totals[1:]]]
    cells += [
        f"{counts['instructions']:,.0f}",
        f"{counts['vectors']:,.0f}",
        f"{counts['one by one'] / counts['instructions']:.0%}",
    ]
    cells += [f"{counts[key]:,.0f}" for key in ("branches", "calls", "loaded", "stored")]
    functions = Counter({key[3:]: number for key, number in counts.items() if key.startswith("in ")})
    most = [f"{key} {number / counts['instructions']:.0%}" for key, number in functions.most_common(3)]
    return f"| {name} | {' | '.join(cells)} | {', '.join(most)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=f"of {', '.join(WORLDS)}; default: all")
    given = parser.parse_args()
    print(f"{HEAD}\n{'|---' * 13}|", flush=True)
    for name in given.worlds or WORLDS:
        print(row(name, counts_of(name)), flush=True)


if __name__ == "__main__":
    main()
