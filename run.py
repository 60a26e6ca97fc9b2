#!/usr/bin/env python3
"""Set up and run, with nothing but Python and git on the machine.

    python3 run.py demo     watch a drone learn to hover
    python3 run.py test     lint, type-check and run the tests (--slow: the long ones too; --api: API tests alone)
    python3 run.py rllib    the tests with Ray, which wants an older gymnasium: in .venv-rllib

Makes a virtual environment in .venv (or RLENVS_VENV), installs this package into it, and works there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = Path(os.environ.get("RLENVS_VENV", ROOT / ".venv"))
OLDEST = (3, 11)
EXTRAS = {"demo": "sb3", "test": "sb3,pybullet,mujoco,safety,dev", "rllib": "rllib,mujoco,dev"}
API_TESTS = ["tests/test_apis.py", "tests/test_check.py", "tests/test_sb3.py", "tests/test_wrappers_forms.py"]


def find_python() -> str:
    """A Python that is new enough: this one, or another on the PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in (13, 12, 11, 14):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    sys.exit(f"rlenvs needs Python 3.11 or newer; this is {sys.version.split()[0]}")


def call(*command: str | Path, **environment: str) -> int:
    """Run a command in the repository; returns its exit code."""
    return subprocess.call([str(part) for part in command], cwd=ROOT, env={**os.environ, **environment})


def set_up(extras: str) -> Path:
    """Make the virtual environment and install the package, unless that was done for the present pyproject."""
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists() and call(find_python(), "-m", "venv", VENV) != 0:
        sys.exit("could not make a virtual environment (on Debian and Ubuntu: apt install python3-venv)")
    stamp = VENV / f"installed-{extras.replace(',', '-')}"
    wanted = (ROOT / "pyproject.toml").read_text() + constraints().read_text()
    if stamp.exists() and stamp.read_text() == wanted:
        return python
    print(f"Installing rlenvs with {extras} into {VENV} (a few minutes the first time) ...", flush=True)
    install = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if call(*install, "-c", constraints(), "-e", f".[{extras}]") != 0:
        sys.exit("the installation failed; the lines above say why")
    stamp.write_text(wanted)
    return python


def constraints() -> Path:
    """The file of pinned versions; RLENVS_CONSTRAINTS chooses another."""
    return ROOT / os.environ.get("RLENVS_CONSTRAINTS", "constraints.txt")


def demo(arguments: list[str]) -> int:
    """Train, evaluate, draw."""
    return call(set_up(EXTRAS["demo"]), "-m", "rlenvs", "demo", *arguments)


def test(arguments: list[str]) -> int:
    """Everything that has to pass before a change is merged."""
    python = set_up(EXTRAS["test"])
    pytest = (python, "-m", "pytest", "-q", "-n", str(min(os.cpu_count() or 1, 4)), "--dist", "loadfile")
    if "--api" in arguments:
        return call(*pytest, *API_TESTS)
    checks = {
        "ruff check": (python, "-m", "ruff", "check", "."),
        "ruff format": (python, "-m", "ruff", "format", "--check", "."),
        "mypy": (python, "-m", "mypy"),
        "import-linter": (python.with_name("lint-imports"),),
        "pytest": (*pytest, *([] if "--slow" in arguments else ["-m", "not slow"])),
    }
    failed = [name for name, check in checks.items() if call(*check) != 0]
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed", flush=True)
    return len(failed)


def rllib(arguments: list[str]) -> int:
    """RLlib on a local Ray."""
    return call(set_up(EXTRAS["rllib"]), "-m", "pytest", "-q", "tests/test_rllib.py", *arguments)


if __name__ == "__main__":
    jobs = {"demo": demo, "test": test, "rllib": rllib}
    if len(sys.argv) < 2 or sys.argv[1] not in jobs:
        sys.exit(__doc__)
    sys.exit(jobs[sys.argv[1]](sys.argv[2:]))
