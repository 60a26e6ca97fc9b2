"""What a newcomer waits for: the README's blocks and the first commands, each on an empty code cache.

    python benchmarks/first_minutes.py [--only TEXT] [--write]

For each: seconds until the first sign of life, the longest silence, and the whole. Output is read through a pipe, as in
a notebook or a log. `--write` writes first_minutes.md; run it on an idle machine.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMMANDS = [
    "rlenvs list",
    "rlenvs info QuadHover-v0",
    "rlenvs eval QuadHover-v0",
    "rlenvs eval Generals-v0",
    "rlenvs watch QuadHover-v0 --output {folder}/video.gif",
    "rlenvs record Battle-v0 --output {folder}/video.gif",
    "rlenvs bench QuadHover-v0",
    "rlenvs check DeepSeaTreasure-v0",
    "rlenvs train MicroRacer-v0 --steps 50000 --output {folder}/run",
    "rlenvs demo --output {folder}/demo",
]


def cases() -> list[tuple[str, list[str]]]:
    """A name and the command of each case."""
    named = [
        (f"{name}, block {i + 1}", [sys.executable, "-c", code])
        for name in ("README", "docs/tour")
        for i, code in enumerate(re.findall(r"```python\n(.*?)```", (ROOT / f"{name}.md").read_text(), re.DOTALL))
    ]
    return named + [(f"`{command.replace('{folder}/', '')}`", command.split()) for command in COMMANDS]


def watch(command: list[str]) -> tuple[float, float, float, int]:
    """Seconds to the first byte of output, of the longest silence and of all; and the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, RLENVS_CACHE_DIR=f"{folder}/cache", XDG_CACHE_HOME=folder, HOME=folder)
        environment["SDL_VIDEODRIVER"] = "dummy"
        environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
        start = last = time.monotonic()
        first = longest = 0.0
        process = subprocess.Popen(
            [part.replace("{folder}", folder) for part in command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            bufsize=0,
        )
        assert process.stdout is not None
        while process.stdout.read(4096):
            now = time.monotonic()
            first = first or now - start
            longest, last = max(longest, now - last), now
        status, end = process.wait(), time.monotonic()
    return first or end - start, max(longest, end - last), end - start, status


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--only", default="", help="a part of the name of the cases to try")
    options.add_argument("--write", action="store_true", help="write first_minutes.md")
    given = options.parse_args()
    lines = ["| what | first word, s | longest silence, s | all, s |", "| --- | --- | --- | --- |"]
    print("\n".join(lines), flush=True)
    failed = []
    for name, command in cases():
        if given.only not in name:
            continue
        first, silence, whole, status = watch(command)
        failed += [name] if status else []
        lines.append(f"| {name} | {first:.1f} | {silence:.1f} | {whole:.1f} |")
        print(lines[-1] + (f" exit status {status}" if status else ""), flush=True)
    if given.write:
        head = ["# The first minutes, on an empty code cache", "", "`python benchmarks/first_minutes.py --write`", ""]
        (ROOT / "benchmarks" / "first_minutes.md").write_text("\n".join([*head, *lines]) + "\n")
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
