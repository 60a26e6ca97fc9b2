#!/usr/bin/env python3
"""Set up and run, with nothing but Python and git on the machine.

    python3 run.py demo     watch a drone learn to hover
    python3 run.py test     lint, type-check, and run the tests that a change can have touched; the first time a
                            cross-section of all families (--all: all that was not seen to pass as it is now; --slow:
                            the long ones too; --api: API tests of some ids)
    python3 run.py add ID   all that commands write of a new environment, or of a changed one: catalogue, scores,
                            recorded numbers, pages, film; and what is left to do by hand
    python3 run.py package  build the wheels and the source distributions, and try them in a fresh environment
    python3 run.py kernels  build compiled loops of all kinds of worlds as libraries for processors and browsers, to
                            build/kernels (--targets; --verify: compare them with numba's; ids: of these alone; --wheel:
                            and the wheel of this system with them, in dist; --turn: some, others with each commit;
                            --own: for this processor into the cache that rlenvs reads)
    python3 run.py site     build the documentation, to docs/_build/site (--test: and look at it in a browser)
    python3 run.py classroom
                            the classroom's exercises in full: grading, the sandbox, every notebook; with the newest and
                            the oldest gymnasium
    python3 run.py integrations
                            the tests with RLlib, TorchRL, Minari, RL Baselines3 Zoo, MO-Gymnasium, OmniSafe, Tianshou,
                            skrl, SuperSuit, MORL-Baselines and AgileRL, or with one group of them: rllib, learners,
                            omnisafe, frameworks, agilerl

Makes a virtual environment in .venv (or RLENVS_VENV), installs this package into it, and works there. Each group of
integrations has one of its own, .venv-rllib and so on.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = Path(os.environ.get("RLENVS_VENV", ROOT / ".venv"))
PINS = os.environ.get("RLENVS_CONSTRAINTS", "constraints.txt")
OLDEST = (3, 11)
NEWER = ("python3.12", "python3.13")  # besides, with which the built packages are tried
EXTRAS = {"demo": "compile,sb3", "classroom": "classroom,dev"}
EXTRAS["test"] = "sb3,pybullet,mujoco,exact,safety,mcp," + EXTRAS["classroom"]
EXTRAS["site"] = EXTRAS["test"] + ",docs"
EXTRAS["kernels"] = "mujoco,kernels"
# tests start hundreds of processes; where byte code may not lie beside the files, each would compile them again
BYTECODE = {"PYTHONPYCACHEPREFIX": str(VENV / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
# byte code is made where it is used: of all that torch brings it takes as long as all else
PIP = ("-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check")
SAY_EVERY = 4.0  # s; longer silence reads as a hang
GIB_PER_PROCESS = 3.0  # of memory: what a test process may grow to
# of the kinds that a fresh clone tests whole, those that no engine moves and that take longest to compile
COMPILED_FIRST = ["LunarLander-v0", "SafePointGoal-v0", "QuadHover-v0", "BipedalWalker-v0"]
KERNELS = ("-m", "rlenvs.core.check.libraries")
# kinds whose libraries the wheel has when it is tried
PACKAGED = ["CartPole-v0", "ParticlePush-v0", "QuadHover-v0", "QuadRace-v0"]
API_TESTS = [
    "tests/core/test_apis.py",
    "tests/core/test_check.py",
    "tests/core/test_spaces.py",
    "tests/integrations/test_sb3.py",
    "tests/wrappers/test_wrappers_forms.py",
]
# Another gymnasium can break forms, spaces, checkers and wrappers, not what worlds compute: of the environments that
# these tests go through, one of each make is enough
API_IDS = [
    "QuadHover-v0",  # continuous actions
    "DeepSeaTreasure-v0",  # choices with masks, a text
    "mo-DeepSeaTreasure-v0",  # rewards that are vectors
    "PandaReach-v0",  # an engine, goals
    "QuadMultiHover-v0",  # a team with continuous actions
    "PathFinding-v0",  # a team with masks, planes as observation
    "ParticleWorldComm-v0",  # agents that differ
    "mo-ParticleWorldComm-v0",
    "Generals-v0",  # sides, incremental observations
]


@dataclass
class Group:
    """Libraries that get along with each other in one virtual environment, and their tests.

    Attributes:
        extras: of this package.
        tests: files.
        more: other packages.
        bare: packages without those that they ask for.
        pins: the file of pinned versions.
    """

    extras: str
    tests: list[str]
    more: Sequence[str] = ()
    bare: Sequence[str] = ()
    pins: str = "constraints.txt"


GROUPS = {
    "rllib": Group("rllib,mujoco,dev", ["tests/integrations/test_rllib.py"], pins="constraints-oldest.txt"),
    "learners": Group(
        "sb3,torchrl,zoo,minari,mujoco,dev",
        [
            f"tests/integrations/test_integrations_{name}.py"
            for name in ("torchrl", "rl_zoo3", "minari", "mo_gymnasium", "docs")
        ],
        more=["scipy"],
        bare=["mo-gymnasium"],  # it asks for pygame, which breaks pygame-ce
    ),
    "benchmarl": Group(  # asks for an older TorchRL
        "dev", ["tests/integrations/test_integrations_benchmarl.py"], more=["torch", "torchrl>=0.11", "benchmarl"]
    ),
    "omnisafe": Group(
        "dev",
        ["tests/integrations/test_integrations_omnisafe.py", "tests/integrations/test_integrations_docs.py"],
        more=[
            "torch",
            "tensorboard",
            "wandb",
            "pyyaml",
            "moviepy",
            "seaborn",
            "pandas",
            "matplotlib",
            "gdown",
            "scipy",
        ],
        bare=["omnisafe"],  # it asks for Safety-Gymnasium, which asks for gymnasium 0.28
    ),
    "frameworks": Group(
        "dev",
        [
            f"tests/integrations/test_integrations_{name}.py"
            for name in ("tianshou", "skrl", "supersuit", "morl_baselines", "docs")
        ],
        more=["torch", "tianshou", "skrl", "supersuit", "pymoo", "wandb", "seaborn", "scipy", "sortedcontainers"],
        bare=["mo-gymnasium", "morl-baselines"],  # they ask for pygame, which breaks pygame-ce
    ),
    "servers": Group("compile,mcp,openenv,dev", ["tests/serve"]),
    "godot": Group(  # it pins an older gymnasium and an older Stable-Baselines3
        "compile,sb3,dev", ["tests/serve/test_godot.py", "tests/bridge"], bare=["godot-rl"]
    ),
    "verifiers": Group(  # asks for an older mcp
        "compile,verifiers,dev", ["tests/integrations/test_verifiers.py"], pins="constraints-oldest.txt"
    ),
    "agilerl": Group(
        "minari,dev",
        ["tests/integrations/test_integrations_agilerl.py", "tests/integrations/test_integrations_docs.py"],
        more=[
            "torch",
            "tensordict==0.13.0",
            "accelerate",
            "peft==0.21.0",  # imported without being asked for, as transformers is
            "transformers==5.14.1",
            "supersuit",
            *("dill", "fastrand", "flatten-dict", "hydra-core", "lazy-loader", "matplotlib", "mpe2", "omegaconf"),
            *("pandas", "pydantic", "pymunk", "pyyaml", "tabulate", "termcolor", "tqdm", "wandb"),
        ],
        bare=["agilerl", "agilerl-arena"],  # they ask for pettingzoo below 1.27, jax and cloud storage
    ),
}


def find_python() -> str:
    """A Python that is new enough: this one, or another on the PATH."""
    if sys.version_info >= OLDEST:
        return sys.executable
    for minor in (13, 12, 11, 14):
        found = shutil.which(f"python3.{minor}")
        if found:
            return found
    sys.exit(f"rlenvs needs Python 3.11 or newer; this is {sys.version.split()[0]}")


def call(*command: str | Path, cwd: Path = ROOT, **environment: str) -> int:
    """Run a command, in the repository by default; returns its exit code."""
    return subprocess.call([str(part) for part in command], cwd=cwd, env={**os.environ, **environment})


def call_patiently(*command: str | Path, **environment: str) -> int:
    """Run a command that says little, and tell every few seconds that it still runs. Returns its exit code."""
    start, shown = time.monotonic(), [str(part) for part in command]
    with subprocess.Popen(shown, cwd=ROOT, env={**os.environ, **environment}) as process:
        while True:
            try:
                return process.wait(timeout=SAY_EVERY)
            except subprocess.TimeoutExpired:
                print(f"  ... {time.monotonic() - start:.0f} s", flush=True)


def start(*command: str | Path, **environment: str) -> subprocess.Popen[str]:
    """Start a command in the repository that is to run beside others; what it says is kept for later."""
    return subprocess.Popen(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def python_of(venv: Path) -> Path:
    """The interpreter of a virtual environment."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def set_up(
    extras: str,
    venv: Path = VENV,
    pins: str = PINS,
    more: Sequence[str] = (),
    bare: Sequence[str] = (),
) -> Path:
    """Make a virtual environment and install the package, unless that was done for the present pyproject.

    Args:
        extras: of this package.
        venv: where.
        pins: the file of pinned versions.
        more: other packages; bare: packages without those that they ask for.
    """
    python = python_of(venv)
    if is_set_up(extras, venv, pins, more, bare):
        return python
    if not python.exists() and call_patiently(find_python(), "-m", "venv", venv) != 0:
        sys.exit("could not make a virtual environment (on Debian and Ubuntu: apt install python3-venv)")
    package = f".[{extras}]" if extras else "."
    print(f"Installing {package} into {venv} (a few minutes the first time) ...", flush=True)
    install = (python, *PIP, "-c", ROOT / pins)
    if call_patiently(*install, "-e", package, *more) != 0 or (
        bare and call_patiently(*install, "--no-deps", *bare) != 0
    ):
        sys.exit("the installation failed; the lines above say why")
    stamp_of(extras, venv).write_text(installed_by(pins, more, bare))
    return python


def stamp_of(extras: str, venv: Path) -> Path:
    """The file that says what was installed."""
    return venv / f"installed-{extras.replace(',', '-')}"


def installed_by(pins: str, more: Sequence[str], bare: Sequence[str]) -> str:
    """What decides on what is installed."""
    return (ROOT / "pyproject.toml").read_text() + (ROOT / pins).read_text() + " ".join([*more, "--no-deps", *bare])


def is_set_up(extras: str, venv: Path, pins: str, more: Sequence[str] = (), bare: Sequence[str] = ()) -> bool:
    """Whether this was installed there for the present pyproject."""
    stamp = stamp_of(extras, venv)
    return stamp.exists() and stamp.read_text() == installed_by(pins, more, bare)


def demo(arguments: list[str]) -> int:
    """Train, evaluate, draw."""
    return call(set_up(EXTRAS["demo"]), "-m", "rlenvs", "demo", *arguments, **BYTECODE)


def free_memory() -> float:
    """GiB that processes may still take, by the system and by the limits of a container; infinite where nobody says."""
    found = [float("inf")]
    try:
        lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
        found.append(int(lines["MemAvailable"].split()[0]) / 2**20)
    except (OSError, KeyError, ValueError):
        pass
    v2, v1 = Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/memory")
    pairs = [(v2 / "memory.max", v2 / "memory.current")]
    pairs += [(v1 / "memory.limit_in_bytes", v1 / "memory.usage_in_bytes")]
    for limit, used in pairs:
        try:
            found.append((int(limit.read_text()) - int(used.read_text())) / 2**30)
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return min(found)


def processes() -> int:
    """How many test processes to start: one per core, at most four, and no more than memory allows."""
    wanted = min(os.cpu_count() or 1, 4)
    room = max(int(min(free_memory() / GIB_PER_PROCESS, wanted)), 1)
    if room < wanted:
        print(f"{free_memory():.1f} GiB of memory are free: {room} test process(es) instead of {wanted}", flush=True)
    return room


def compile_first() -> subprocess.Popen[str] | None:
    """Where the packages for the tests are still missing: install what the worlds need, and compile those that take
    longest, beside what follows."""
    if is_set_up(EXTRAS["test"], VENV, PINS):
        return None
    python = set_up("compile")
    return start(
        python, "-m", "rlenvs", "--quiet", "compile", "--jobs", "1", *COMPILED_FIRST, RLENVS_TARGET="none", **BYTECODE
    )


def test(arguments: list[str]) -> int:
    """What has to pass before a change is merged."""
    compiling = None if "--api" in arguments else compile_first()
    python = set_up(EXTRAS["test"])
    if "--api" in arguments:
        ids = ",".join(f"rlenvs/{id}" for id in API_IDS)
        pytest = (python, "-m", "pytest", "-q", "-n", str(processes()), "--dist", "worksteal", "--durations", "12")
        return call(*pytest, *API_TESTS, "--ids", ids, **BYTECODE)
    checks = {
        "ruff check": (python, "-m", "ruff", "check", "."),
        "ruff format": (python, "-m", "ruff", "format", "--check", "."),
        "import-linter": (python.with_name("lint-imports"),),
    }
    mypy = start(python, "-m", "mypy", **BYTECODE)
    failed = [name for name, check in checks.items() if call(*check, **BYTECODE) != 0]
    if compiling:
        compiling.communicate()  # a failure shows in the tests
    suite = (python, "-m", "support.suite", "--jobs", str(processes()), *arguments)
    failed += ["tests"] if call(*suite, PYTHONPATH=str(ROOT / "tests"), **BYTECODE) != 0 else []
    said, _ = mypy.communicate()
    print(said, end="", flush=True)
    failed += ["mypy"] if mypy.returncode != 0 else []
    print(f"failed: {', '.join(failed)}" if failed else "all checks passed", flush=True)
    return len(failed)


def add(arguments: list[str]) -> int:
    """What commands write of an environment whose world file and test exist."""
    if len(arguments) != 1:
        sys.exit('give one id, such as "python3 run.py add Name-v0"')
    id = arguments[0].removeprefix("rlenvs/")
    python = set_up(EXTRAS["test"])
    pages = (python, "docs/generate.py")
    steps = [
        pages,  # gives a new world its id
        (python, "benchmarks/scores.py", id, "--write"),
        (python, "-m", "rlenvs.core.check", "--record", id),
        pages,
        (python, "-m", "rlenvs", "scores", "--write", "docs/scores.md"),
        (python, "docs/reference.py"),
        (python, "docs/films.py", id),
        (python, "-m", "rlenvs", "check", id),
        (python, "benchmarks/left.py", id),
    ]
    for step in steps:
        print("==", *step[1:], flush=True)
        if call(*step, **BYTECODE) != 0:
            print(f"\nfailed: {' '.join(map(str, step[1:]))}; mend what it says, and run this again", flush=True)
            return 1
    return 0


def package(arguments: list[str]) -> int:
    """The packages as users get them: source distributions of rlenvs and its agents and the wheels made of these, the
    wheel of kernels with few kinds, all away from the source tree."""
    python = set_up(EXTRAS["test"])
    set_up(EXTRAS["kernels"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for project in (ROOT, ROOT / "agents"):
            if call(python, "-m", "build", "--outdir", folder, project, cwd=folder) != 0:
                return 1
        libraries = folder / "libraries"
        if call(python, *KERNELS, *PACKAGED, "--here", "--folder", libraries, **BYTECODE) != 0:
            return 1
        if kernel_wheel(python, libraries, folder) != 0:
            return 1
        (kernels,) = folder.glob("rlenvs_suite_kernels-*.whl")
        (wheel,), (agents,) = folder.glob("rlenvs_suite-*.whl"), folder.glob("rlenvs_suite_agents-*.whl")
        fresh = python_of(folder / "fresh")
        install = (*PIP, "-c", ROOT / "constraints.txt")
        typed = ("-m", "mypy", "--strict", "--config-file=", "--cache-dir", folder, "--python-executable", fresh)
        steps: list[tuple[str | Path, ...]] = [
            (python, "-m", "venv", folder / "fresh"),
            (fresh, *install, wheel),
            (fresh, *install, kernels),  # in the place of numba
            (fresh, ROOT / "tests" / "installed.py", *folder.glob("rlenvs_suite-*.tar.gz")),
            (fresh.with_name("rlenvs"), "--version"),
            (fresh.with_name("rlenvs"), "list"),
            (python, *typed, ROOT / "tests" / "typed_user.py"),
            (fresh, *install, agents),
            (fresh, ROOT / "tests" / "installed_agents.py"),
            (fresh, ROOT / "tests" / "installed_kernels.py", *PACKAGED),
        ]
        for newer in newer_pythons():
            own = python_of(folder / newer.name)
            steps += [
                (newer, "-m", "venv", folder / newer.name),
                (own, *install, wheel, kernels),
                (own, ROOT / "tests" / "installed_kernels.py", *PACKAGED),
            ]
        for step in steps:
            if call(*step, cwd=folder, PYTHONPATH="", PYTHONDONTWRITEBYTECODE="") != 0:
                print("failed:", *step, flush=True)
                return 1
    print("the packages work", flush=True)
    return 0


def newer_pythons() -> list[Path]:
    """Interpreters of NEWER that this machine has, pyenv's or those on the path."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    found = []
    for name in NEWER:
        kept = sorted(versions.glob(f"{name.removeprefix('python')}.*/bin/{name}"))
        given = kept[-1] if kept else shutil.which(name)
        if given and subprocess.run([given, "--version"], capture_output=True).returncode == 0:
            found.append(Path(given))
        else:
            print(f"{name} is not on this machine: the packages are not tried with it", flush=True)
    return found


def kernels(arguments: list[str]) -> int:
    """Libraries of compiled loops, see docs/kernels.md."""
    python = set_up(EXTRAS["kernels"])
    given = [text for text in arguments if text not in ("--wheel", "--turn")]
    if "--turn" in arguments:
        command = (python, "-m", "support.kernels_in_turn")
        given += subprocess.check_output(
            command, env={**os.environ, "PYTHONPATH": str(ROOT / "tests")}, text=True
        ).split()
    code = call(python, *KERNELS, *given, **BYTECODE)
    return code or (kernel_wheel(python, ROOT / "build" / "kernels", ROOT / "dist") if "--wheel" in arguments else 0)


def kernel_wheel(python: Path, libraries: Path, folder: Path) -> int:
    """The wheel of libraries for this system, into a folder."""
    wheel = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT / "kernels")
    return call(python, *wheel, RLENVS_KERNELS=str(libraries))


BROWSER = [f"tests/project/test_browser{part}.py" for part in ("", "_live", "_exercises")]


def site(arguments: list[str]) -> int:
    """The documentation; its builder says how large it is and how long it took."""
    python = set_up(EXTRAS["site"])
    fetch_micropython()
    code = call_patiently(python, "docs/web/build.py", **BYTECODE)
    if code == 0 and "--test" in arguments:
        return call(python, "-m", "pytest", "-q", "-m", "browser", *BROWSER, **BYTECODE)
    return code


def fetch_micropython() -> None:
    """The Python of exercises that are solved in the browser, in the pinned version; without npm the site has none."""
    web = ROOT / "docs" / "web"
    there, lock = web / "node_modules" / ".package-lock.json", web / "package-lock.json"
    npm = shutil.which("npm")
    if npm and not (there.exists() and there.stat().st_mtime >= lock.stat().st_mtime):
        call(npm, "ci", "--silent", "--no-fund", "--no-audit", "--prefix", web)


def classroom(arguments: list[str]) -> int:
    """The exercises in full: what solutions, starters and cheats earn, and every notebook as a class runs it; with the
    newest and with the oldest supported gymnasium."""
    failed = []
    for venv, pins in ((VENV, "constraints.txt"), (ROOT / ".venv-oldest", "constraints-oldest.txt")):
        python = set_up(EXTRAS["classroom"], venv, pins)
        print(f"== with {pins} ==", flush=True)
        if call(python, "-m", "pytest", "-q", "-m", "slow or not slow", "tests/classroom", *arguments, **BYTECODE) != 0:
            failed.append(pins)
    print(f"failed with: {', '.join(failed)}" if failed else "all exercises work", flush=True)
    return len(failed)


def integrations(arguments: list[str]) -> int:
    """Other libraries, the real ones."""
    unknown = [name for name in arguments if name not in GROUPS]
    if unknown:
        sys.exit(f"there is no group {unknown[0]!r}; there are {', '.join(GROUPS)}")
    failed = []
    for name in arguments or GROUPS:
        group = GROUPS[name]
        python = set_up(group.extras, ROOT / f".venv-{name}", group.pins, group.more, group.bare)
        if call(python, "-m", "pytest", "-q", "-m", "slow or not slow", *group.tests) != 0:
            failed.append(name)
    print(f"failed: {', '.join(failed)}" if failed else "all integrations work", flush=True)
    return len(failed)


if __name__ == "__main__":
    jobs = {
        "demo": demo,
        "test": test,
        "add": add,
        "package": package,
        "kernels": kernels,
        "site": site,
        "classroom": classroom,
        "integrations": integrations,
    }
    if len(sys.argv) < 2 or sys.argv[1] not in jobs:
        sys.exit(__doc__)
    sys.exit(jobs[sys.argv[1]](sys.argv[2:]))
