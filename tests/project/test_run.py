"""run.py: what it starts."""

import importlib.util
import sys
from pathlib import Path

import pytest
from support.cross_section import KINDS
from support.places import ROOT

import rlenvs


@pytest.fixture
def run(monkeypatch):
    spec = importlib.util.spec_from_file_location("run", ROOT / "run.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "run", module)  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("cores", "memory", "expected"),
    [(4, float("inf"), 4), (64, 1000.0, 4), (4, 16.0, 4), (4, 9.9, 3), (4, 4.9, 1), (2, 0.5, 1), (None, 100.0, 1)],
)
def test_no_more_processes_than_memory_allows(run, monkeypatch, capsys, cores, memory, expected):
    monkeypatch.setattr(run, "free_memory", lambda: memory)
    monkeypatch.setattr(run.os, "cpu_count", lambda: cores)
    assert run.processes() == expected
    assert ("GiB" in capsys.readouterr().out) == (expected < min(cores or 1, 4))


def test_the_limit_of_a_container_counts(run, monkeypatch):
    told = {
        "/proc/meminfo": "MemTotal: 1 kB\nMemAvailable: 33554432 kB\n",
        "/sys/fs/cgroup/memory.max": f"{8 << 30}\n",
        "/sys/fs/cgroup/memory.current": f"{1 << 30}\n",
    }

    def read(path):
        if str(path) not in told:
            raise FileNotFoundError(path)
        return told[str(path)]

    monkeypatch.setattr(Path, "read_text", read)
    assert run.free_memory() == 7.0
    told["/sys/fs/cgroup/memory.max"] = "max\n"
    assert run.free_memory() == 32.0
    told.clear()
    assert run.free_memory() == float("inf")


def test_the_ids_of_the_api_tests_exist(run):
    assert {f"rlenvs/{id}" for id in run.API_IDS} <= set(rlenvs.list_envs())
    assert set(run.COMPILED_FIRST) <= {id for id, _ in KINDS.values()}


def test_worlds_compile_while_packages_are_installed(run, monkeypatch):
    steps = []
    monkeypatch.setattr(run, "is_set_up", lambda *told: bool(steps))
    monkeypatch.setattr(run, "set_up", lambda extras: steps.append(extras) or "python")
    monkeypatch.setattr(run, "start", lambda *command, **environment: steps.append(command[-1]))
    run.compile_first()
    run.compile_first()
    assert steps == ["compile", run.COMPILED_FIRST[-1]]


@pytest.mark.parametrize(("arguments", "built", "commands"), [([], 0, 1), (["--test"], 0, 2), (["--test"], 1, 1)])
def test_the_site_is_built_and_then_looked_at(run, monkeypatch, arguments, built, commands):
    called = []
    monkeypatch.setattr(run, "set_up", lambda extras: called.clear() or "python")
    monkeypatch.setattr(run, "fetch_micropython", lambda: None)
    for name in ("call", "call_patiently"):
        monkeypatch.setattr(run, name, lambda *command, **environment: called.append(command) or built)
    assert run.site(arguments) == built
    assert called[0][1] == "docs/web/build.py"
    assert (ROOT / called[0][1]).exists()
    assert len(called) == commands
    named = [part for command in called for part in command if str(part).endswith(".py")]
    assert "tests/project/test_browser_exercises.py" in named or commands == 1
    assert all((ROOT / part).exists() for part in named)


@pytest.mark.parametrize(("npm", "fetched"), [("npm", 1), (None, 0)])
def test_the_python_of_pages_is_fetched_once_where_npm_is(run, monkeypatch, tmp_path, npm, fetched):
    called = []
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setattr(run.shutil, "which", lambda name: npm)
    web = tmp_path / "docs" / "web"
    (web / "node_modules").mkdir(parents=True)
    (web / "package-lock.json").touch()

    def install(*command, **_):
        called.append(command)
        (web / "node_modules" / ".package-lock.json").touch()

    monkeypatch.setattr(run, "call", install)
    run.fetch_micropython()
    run.fetch_micropython()
    assert len(called) == fetched


def test_a_command_that_is_silent_is_told_to_run_still(run, monkeypatch, capfd):
    monkeypatch.setattr(run, "SAY_EVERY", 0.1)
    assert run.call_patiently(sys.executable, "-c", "import time; time.sleep(0.5); raise SystemExit(3)") == 3
    assert capfd.readouterr().out.count(" s\n") >= 3
    monkeypatch.setattr(run, "SAY_EVERY", 60.0)
    assert run.call_patiently(sys.executable, "-c", "print('done')") == 0
    assert capfd.readouterr().out == "done\n"


def test_an_environment_is_added_until_a_step_fails(run, monkeypatch, capsys):
    called = []
    monkeypatch.setattr(run, "set_up", lambda extras: "python")
    monkeypatch.setattr(run, "call", lambda *step, **environment: called.append(step) or len(called) == failing)
    failing = 0
    assert run.add(["rlenvs/CartPole-v0"]) == 0
    assert {step[-1] for step in called if "--write" not in step and "generate" not in step[1]} == {
        "CartPole-v0",
        "docs/reference.py",
    }
    assert all((ROOT / step[1]).exists() for step in called if step[1] != "-m")
    called.clear()
    failing = 2
    assert run.add(["CartPole-v0"]) == 1
    assert len(called) == 2
    assert "failed: benchmarks/scores.py CartPole-v0 --write" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="give one id"):
        run.add([])
