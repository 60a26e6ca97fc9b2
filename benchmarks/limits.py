"""What limits six worlds: `python benchmarks/limits.py [WORLD ...]` (ten minutes, on an idle machine).

Counts what a step executes (counting.py), measures steps per second and, by small loops, the processor's peaks, and
prints what share of these is reached. [limits.md](limits.md) says what follows.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

import numpy as np
from counting import HEAD, UNITS, WORLDS, CountedCode, counts_of, machine_code, prepared, row, spent

import rlenvs

FEW = 256  # worlds that fit into the caches
CHAINS = 12  # independent, to keep the units of the processor busy

# --- the processor ----------------------------------------------------------------------------------------------------

LOOP = """define void @run(i64 %n, ptr %memory) {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
{body}
  %next = add i64 %i, 8
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
{last}
  ret void
}}
"""
STREAM = """  %p = getelementptr double, ptr %memory, i64 %i
  %x = load <8 x double>, ptr %p, align 8
  %y = fadd <8 x double> %x, splat (double 1.0)
  store <8 x double> %y, ptr %p, align 8"""
# one turn of a chain in which each operation waits for the one before; what does not stop at a simple number
TURNS = {
    "plain": "  %m{k} = fmul {T} %a{k}, {half}\n  %r{k} = fadd {T} %m{k}, {one}",
    "divisions": "  %r{k} = fdiv {T} {three}, %a{k}",
    "roots": "  %m{k} = fsub {T} {three}, %a{k}\n  %r{k} = call {T} @llvm.sqrt.{S}({T} %m{k})",
    "cycles": "  %m{k} = xor {T} %a{k}, %n\n  %r{k} = add {T} %m{k}, %i",
}
IN_A_TURN = {"plain": 2, "divisions": 1, "roots": 1, "cycles": 2}


def chains_of(unit: str, width: int, chains: int) -> str:
    """Code of a loop of independent chains, in vectors of so many doubles."""
    kind, short = (f"<{width} x double>", f"v{width}f64") if width > 1 else ("double", "f64")
    kind = "i64" if unit == "cycles" else kind
    names = {"half": 0.5, "one": 1.0, "three": 3.0} | {k: 1.0 + k / 16 for k in range(chains)}
    numbers = {str(key): f"splat (double {value})" if width > 1 else str(value) for key, value in names.items()}
    first = [f"{k}" if unit == "cycles" else numbers[str(k)] for k in range(chains)]
    body = [f"  %a{k} = phi {kind} [ {first[k]}, %entry ], [ %r{k}, %loop ]" for k in range(chains)]
    body += [TURNS[unit].format(k=k, T=kind, S=short, **numbers) for k in range(chains)]
    size = 8 * width
    last = [f"  %p{k} = getelementptr i8, ptr %memory, i64 {size * k}\n  store {kind} %r{k}, ptr %p{k}, align 8"
            for k in range(chains)]  # fmt: skip
    declared = f"declare {kind} @llvm.sqrt.{short}({kind})\n" if unit == "roots" else ""
    return LOOP.format(body="\n".join(body), last="\n".join(last)) + declared


def function_of(engine: Any) -> Any:
    return ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(engine.get_function_address("run"))


def speed(unit: str, width: int, chains: int, seconds: float) -> float:
    """Operations per second in one thread, at best."""
    engine, turns, memory = machine_code(chains_of(unit, width, chains)), 100_000, np.zeros(CHAINS * 8)
    run, end, best = function_of(engine), perf_counter() + seconds, np.inf
    while perf_counter() < end:
        start = perf_counter()
        run(8 * turns, memory.ctypes.data)
        best = min(best, perf_counter() - start)
    return turns * chains * width * IN_A_TURN[unit] / best


def bandwidth(megabytes: int, workers: int, seconds: float) -> float:
    """Bytes read and written per second, at best, by threads that each update a part of an array in place."""
    memory = np.ones(megabytes * 2**17)  # pages that are there
    engine, part = machine_code(LOOP.format(body=STREAM, last="")), len(memory) // workers
    run, again, best = function_of(engine), -(-128 // megabytes), np.inf

    def update(worker: int) -> None:
        for _ in range(again):
            run(part, memory[worker * part :].ctypes.data)

    with ThreadPoolExecutor(workers) as pool:
        end = perf_counter() + seconds
        while perf_counter() < end:
            start = perf_counter()
            list(pool.map(update, range(workers)))
            best = min(best, perf_counter() - start)
    return again * 2 * memory.nbytes / best


def check_counting() -> None:
    """Loops whose operations are known by hand."""
    memory = np.zeros(800)
    known = {
        LOOP.format(body=STREAM, last=""): {"plain in vectors": 800, "loaded": 6400, "stored": 6400},
        chains_of("plain", 1, 3): {"plain": 600, "stored": 24},
        chains_of("roots", 8, 2): {"plain in vectors": 1600, "roots in vectors": 1600, "stored": 128},
        chains_of("divisions", 4, 2): {"divisions in vectors": 800, "stored": 64},
    }
    for text, wanted in known.items():
        code = CountedCode(text)
        ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(code.address_of("run"))(800, memory.ctypes.data)
        found = code.counts()
        assert {key: found[key] for key in (*UNITS, *wanted)} == {**dict.fromkeys(UNITS, 0), **wanted}, (found, wanted)


# --- worlds -----------------------------------------------------------------------------------------------------------


def traffic_of(name: str) -> tuple[int, int]:
    """Bytes of a world that a step moves between memory and processor, and all that the batch holds for it. What is
    written is fetched before. Of the state, arrays that outlive episodes are left out."""
    batch, _ = prepared(name, FEW)
    moved = 0
    table = batch.loops.table
    for key, array in table.arrays.items():
        rows = table.rows.get(key)
        if set(array.lanes) & {"taken", "given", "seen"} and rows is not None and len(rows) == FEW:
            moved += rows.nbytes * (1 if array.lanes == ("taken",) else 2)
    state = batch.states.dtype
    kept = sum(state[field].itemsize for field in batch.world.layouts["state"].last if state[field].shape)
    return moved // FEW - 2 * kept, batch.nbytes // FEW


def rates_of(name: str, worlds: int, rounds: int, seconds: float) -> list[float]:
    """Steps per second of many worlds and of few ones, in one thread: the best of rounds in turn, as the peaks are."""
    forms = [prepared(name, number) for number in (worlds, FEW)]
    steps = [max(int(seconds / (spent(*form, 5) / 5)), 1) for form in forms]
    rows = [
        [form[0].num_envs * n / spent(*form, n) for form, n in zip(forms, steps, strict=True)] for _ in range(rounds)
    ]
    return [max(column) for column in zip(*rows, strict=True)]


def threads_here() -> int:
    return os.cpu_count() or 1


# --- tables -----------------------------------------------------------------------------------------------------------


def measured(name: str, given: argparse.Namespace, lanes: int) -> dict[str, Any]:
    """What `--measure` prints, in a process that takes so many worlds at a time."""
    options = ["--measure", "--num", str(given.num), "--rounds", str(given.rounds), "--seconds", str(given.seconds)]
    command = [sys.executable, __file__, name, *options]
    environment = {**os.environ, "RLENVS_LANES": str(lanes)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measure(name: str, given: argparse.Namespace) -> None:
    """Count first: that needs code which this process has compiled."""
    counts = counts_of(name)
    rates = rates_of(name, given.num, given.rounds, given.seconds)
    lanes = rlenvs.make_batch(WORLDS[name][0], FEW, **WORLDS[name][1]).in_lanes
    print(json.dumps({"counts": counts, "rates": rates, "traffic": traffic_of(name), "lanes": lanes}))


def print_peaks(seconds: float) -> dict[tuple[str, int], float]:
    """The table of the processor; operations per second by unit and width of vectors."""
    peaks = {(unit, width): speed(unit, width, CHAINS, seconds) for unit in UNITS for width in (1, 4, 8)}
    print("| G operations/s in one thread | one double | vectors of 4 | vectors of 8 | wait of one chain of 8, ns |")
    print("|---|---|---|---|---|")
    for unit in UNITS:
        cells = [f"{peaks[unit, width] / 1e9:.2f}" for width in (1, 4, 8)]
        print(f"| {unit} | {' | '.join(cells)} | {8e9 / speed(unit, 8, 1, seconds):.2f} |")
    peaks["cycles", 1] = speed("cycles", 1, 1, seconds)
    print(f"\nClock, by a chain of additions of integers: {peaks['cycles', 1] / 1e9:.2f} GHz.\n")
    print("| GB/s read and written in place | one thread | all threads |\n|---|---|---|")
    for megabytes in (8, 256):
        peaks["bytes", megabytes] = bandwidth(megabytes, 1, seconds)
        both = bandwidth(megabytes, threads_here(), seconds)
        print(f"| {megabytes} MB | {peaks['bytes', megabytes] / 1e9:.1f} | {both / 1e9:.1f} |")
    print(flush=True)
    return peaks


SHARES = (
    "| world | M steps/s | G operations/s | of the peak | adders, multipliers | dividers | vector units | cycles "
    "| waits | instructions per cycle | to move, B | of the bandwidth | 256 worlds | 4 lanes | its instructions |"
)


def share_row(name: str, found: Any, four: Any, peaks: dict[tuple[str, int], float]) -> str:
    """What the counts and the rates say together; `four` is the same with four lanes."""
    counts, (rate, few) = Counter(found["counts"]), found["rates"]
    busy = [rate * (counts[unit] / peaks[unit, 1] + counts[f"{unit} in vectors"] / peaks[unit, 8]) for unit in UNITS]
    operations = rate * sum(counts[unit] + counts[f"{unit} in vectors"] for unit in UNITS)
    cycles, (moved, held) = peaks["cycles", 1] / rate, found["traffic"]
    cells = [f"{rate / 1e6:.2f}", f"{operations / 1e9:.2f}"]
    cells += [f"{operations / peaks['plain', 8]:.1%}", f"{busy[0]:.0%}", f"{busy[1] + busy[2]:.0%}"]
    cells += [f"{8 * rate * counts['vectors'] / peaks['plain', 8]:.0%}"]
    cells += [f"{cycles:,.0f}", f"{counts['waits']:,.0f}", f"{counts['instructions'] / cycles:.2f}"]
    cells += [f"{moved:,} ({held:,} held)", f"{rate * moved / peaks['bytes', 256]:.0%}", f"{few / rate:.2f}"]
    if found["lanes"]:
        cells += [f"{four['rates'][0] / rate:.2f}", f"{four['counts']['instructions'] / counts['instructions']:.2f}"]
    else:
        cells += ["", ""]
    return f"| {name} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=f"of {', '.join(WORLDS)}; default: all")
    parser.add_argument("--num", type=int, default=16384, help="worlds")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=0.02, help="per round")
    parser.add_argument("--measure", action="store_true", help="measure one world in this process, as JSON, and end")
    given = parser.parse_args()
    if given.measure:
        measure(given.worlds[0], given)
        return
    check_counting()
    peaks = print_peaks(given.rounds * given.seconds)
    rows = [f"{HEAD}\n{'|---' * 13}|"], [f"{SHARES}\n{'|---' * 15}|"]
    for name in given.worlds or WORLDS:
        found = measured(name, given, 8)
        four = measured(name, given, 4) if found["lanes"] else None
        rows[0].append(row(name, found["counts"]))
        rows[1].append(share_row(name, found, four, peaks))
        print(rows[1][-1], file=sys.stderr, flush=True)
    print("\n".join(rows[0]) + "\n\n" + "\n".join(rows[1]))


if __name__ == "__main__":
    main()
