"""Code run as a process of its own runs it, without each process importing torch and numba again: where the system has
them, processes are forked from one that has imported these and nothing else."""

import io
import multiprocessing
import os
import runpy
import subprocess
import sys
import traceback
from pathlib import Path

PRELOADED = ["numba", "numpy", "gymnasium", "pettingzoo", "rlenvs", "stable_baselines3", "sb3_contrib", "torch"]
FORKS = sys.platform == "linux"
if FORKS:
    FORKED = multiprocessing.get_context("forkserver")
    FORKED.set_forkserver_preload(PRELOADED)  # those that are not installed are left out


def _play(path, arguments, folder, out, err):
    for number, name in ((1, out), (2, err)):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.FileIO(number, "w", closefd=False), "utf-8") for number in (1, 2))
    os.chdir(folder)
    sys.argv = [str(path), *arguments]
    sys.path[0] = str(Path(path).parent)
    code = 0
    try:
        runpy.run_path(str(path), run_name="__main__")
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
        if code and not isinstance(left.code, int):
            print(left.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def run_alone(path, arguments, folder, timeout=300):
    """Run a file as `python path arguments` does; in `folder`, which also takes what it prints.

    Returns:
        A CompletedProcess, with what it printed as text.
    """
    arguments = [str(each) for each in arguments]
    if not FORKS:
        command = [sys.executable, str(path), *arguments]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout)
    out, err = Path(folder) / "printed-out", Path(folder) / "printed-err"
    process = FORKED.Process(target=_play, args=(str(path), arguments, str(folder), str(out), str(err)))
    process.start()
    process.join(timeout)
    if process.is_alive():
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(str(path), timeout)
    return subprocess.CompletedProcess(
        [str(path), *arguments], process.exitcode, out.read_text("utf-8"), err.read_text("utf-8")
    )
