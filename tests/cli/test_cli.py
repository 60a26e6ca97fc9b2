import os
import re
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import rlenvs
from rlenvs import doctor
from rlenvs.bench import time_batch, time_single
from rlenvs.cli import app, environments, machine
from rlenvs.cli.common import check_screen, keywords_from
from rlenvs.cli.environments import short_number
from rlenvs.core.catalogue.registry import list_envs, world_of
from rlenvs.core.compiler import cache
from rlenvs.core.declare.errors import KernelError, MissingExtraError, ParameterError
from rlenvs.core.declare.progress import QUIET, quiet
from rlenvs.play import Game, key_table

HOVER = "QuadHover-v0"


def run(*arguments, width=120):
    return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": str(width), "NO_COLOR": "1"})


def good(*arguments, width=120):
    result = run(*arguments, width=width)
    assert result.exit_code == 0, result.output + repr(result.exception)
    return result.output


def refused(*arguments):
    """What a command says that fails by the user's doing: one line, exit code 2, no traceback."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output + repr(result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert result.stderr.strip().count("\n") == 0
    return result.stderr


# --- looking ----------------------------------------------------------------------------------------------------------


def test_help_names_every_command_and_imports_nothing_heavy():
    output = good("--help")
    commands = (
        "list info play export record bench check doctor demo tournament replay eval watch scores train plot benchmark"
    )
    for command in [*commands.split(), "dataset"]:
        assert command in output
        assert "Usage" in good(command, "--help")
    code = "import sys, rlenvs.cli; print([m for m in ('numba', 'torch', 'pygame', 'matplotlib') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


COMMANDS = [command.name or command.callback.__name__ for command in app.registered_commands]


@pytest.mark.parametrize(
    "command", [*COMMANDS, "benchmark", "benchmark rrls", "benchmark contexts", "benchmark MT10", "benchmark ML45"]
)
def test_help_fits_80_columns_and_says_what_to_write(command):
    output = good(*command.split(), "--help", width=80)
    assert max(map(len, output.splitlines())) <= 80
    for cut_or_unclear in ("…", "int range", "float range"):
        assert cut_or_unclear not in output


def test_python_dash_m():
    command = [sys.executable, "-m", "rlenvs", "info", "nothing"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "there is no environment 'nothing'" in done.stderr
    assert "Traceback" not in done.stderr


def test_unknown_ids_that_are_like_none_point_to_the_list():
    said = refused("info", "Xyz-v0")
    assert "Did you mean" not in said
    assert "Run `rlenvs list`" in said


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("QuadHover", "'rlenvs/QuadHover-v0'?"),
        ("quadhover-v0", "'rlenvs/QuadHover-v0'?"),
        ("QuadHover-v1", "'rlenvs/QuadHover-v0'?"),
        ("mo-QuadHovr-v0", "'rlenvs/mo-QuadHover-v0'?"),
        ("hover", "QuadHover-v0"),
        ("rlenvs/Cheetah-v0", "'rlenvs/HalfCheetah-v0'"),
    ],
)
def test_ids_that_are_meant(wrong, meant):
    assert meant in refused("info", wrong)


def test_overlong_ids():
    said = refused("info", "\x1b[31m" * 100_000)
    assert len(said) < 2000
    assert "\x1b" not in said


@pytest.mark.budget(12)
def test_compile_keeps_code_for_later(tmp_path):
    """In a process of its own, since this one may have the world in memory."""
    environment = {
        **os.environ,
        "RLENVS_CACHE_DIR": str(tmp_path),
        "XDG_CACHE_HOME": str(tmp_path / "none"),
        QUIET: "1",
    }
    command = [sys.executable, "-m", "rlenvs", "compile", "ParticleSimple-v0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^rlenvs/ParticleSimple-v0: \d+\.\d s\n.*" + re.escape(str(tmp_path)), done.stdout)
    kept = {path.name: path.stat().st_ino for path in tmp_path.glob("*.bin")}
    assert {"run_worlds", "run_blocks", "play_worlds"} <= {name.split(".")[-2].split("-")[0] for name in kept}
    code = """if True:
        import rlenvs
        batch = rlenvs.make_batch("ParticleSimple-v0", 64)
        batch.seed(0)
        batch.reset()
        batch.step_inplace()
        batch.player_actions("direct")
    """
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert {path.name: path.stat().st_ino for path in tmp_path.glob("*.bin")} == kept


def test_compile_refuses_and_fails(tmp_path, monkeypatch):
    assert "'rlenvs/QuadHover-v0'" in refused("compile", "QuadHovr-v0")
    assert "gravty" in refused("compile", HOVER, "--set", "gravty=1")

    def broken(id, keywords):
        raise MissingExtraError("It", "mujoco") if "Panda" in id else KernelError("a bad line")

    monkeypatch.setattr(machine, "_compile", broken)
    _, said, fine = machine._attempt(("PandaReach-v0", {}))
    assert said.startswith("left out. It")
    assert fine
    assert machine._attempt((HOVER, {})) == (HOVER, "failed. a bad line", False)
    monkeypatch.setattr(cache, "cache_folders", list)
    assert "RLENVS_CACHE_DIR" in refused("compile", HOVER)


def test_version():
    assert good("--version").strip() == f"rlenvs {rlenvs.__version__}"


def test_quiet(monkeypatch):
    monkeypatch.setenv(QUIET, "0")
    good("--quiet", "list")
    assert quiet()


@pytest.mark.parametrize("width", [30, 50, 80, 200])
def test_list_never_cuts_ids(width):
    output = run("list", width=width).output
    assert "…" not in output
    for id in list_envs():
        assert ("/mo-" in id) or re.search(rf"^{id}( |$)", output, re.MULTILINE) or width < len(id)
    assert max(map(len, output.splitlines())) <= max(width, 110)


@pytest.mark.parametrize("id", ["QuadHover-v0", "Generals-v0", "ParticleSpeakerListener-v0", "DeepSeaTreasure-v0"])
def test_info_begins_with_a_summary(id):
    output = run("info", id, width=80).output
    head = output.splitlines()[:25]
    assert head[0].strip() == f"rlenvs/{id}"
    names = ("Action", "Observation", "Agents", "Reward", "Horizon", "Run it", "See it")
    assert [line.split()[0] for line in head if line.startswith(names)] == [n.split()[0] for n in names]
    assert "Description" in output
    assert "Description" not in good("info", id, "--short")


def test_list():
    output = good("list")
    for id in list_envs():
        assert (id in output) == ("/mo-" not in id)
    multi = good("list", "--tag", "multi-agent")
    assert "PathFinding" in multi
    assert "QuadHover" not in multi
    assert "'constrained'" in refused("list", "--tag", "constraned")


def test_info_has_every_section():
    output = good("info", HOVER)
    for heading in ("Action Space", "Observation Space", "Rewards", "Costs", "Parameters", "Reference Scores"):
        assert heading in output
    for name in world_of(HOVER).params:
        assert name in output


def test_pages_are_of_environments_that_kernels_move(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    assert "physics engine" in refused("export", "Ant-v0", tmp_path)
    assert "no world at 'nothing:SPEC'" in refused("export", "nothing:SPEC", tmp_path)


@pytest.mark.parametrize("command", ["info", "play", "record", "bench", "check", "front"])
def test_unknown_ids_name_the_nearest(command):
    assert "rlenvs/QuadHover-v0" in refused(command, "QuadHovr-v0")


def test_doctor(monkeypatch):
    monkeypatch.setattr("rlenvs.core.check.one_per_kind", lambda ids: ["QuadHover-v0"])  # all take seconds to import
    output = good("doctor")
    for word in (
        "Python",
        "numba",
        "gymnasium",
        "cores",
        "cache",
        "self-test",
        "mujoco",
        "pybullet",
        "minari",
        "1 of 1",
    ):
        assert word in output


def test_doctor_tells_where_the_code_of_environments_comes_from(monkeypatch):
    origins = iter(["x86-64-v3", "cache", "compiled", ""])
    monkeypatch.setattr("rlenvs.core.compiler.origins.origin_of", lambda world: next(origins))
    output = good("doctor", "CartPole-v0", "QuadHover-v0", "LunarLander-v0", "DeepSeaTreasure-v0")
    for word in ("library for x86-64-v3", "in the cache", "on first use", "'rlenvs-suite[compile]'"):
        assert word in output
    assert "self-test" not in output


def test_doctor_names_the_command_for_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setitem(doctor.EXTRAS, "mujoco", ("no_such_module", "MuJoCo environments"))
    line = next(line for line in doctor.extra_lines() if line.subject == "mujoco")
    assert not line.fine
    assert "pip install 'rlenvs-suite[mujoco]'" in line.text
    monkeypatch.setenv("RLENVS_CACHE_DIR", str(tmp_path))
    assert doctor.machine_lines()[1] == ("cache", True, f"{tmp_path} (writable)")


# --- keywords ---------------------------------------------------------------------------------------------------------


def test_set_is_json_where_it_can_be():
    pairs = ["mass=0.03", "action=one_d_rpm", "flag=true", 'weights={"hover": 2}', "text=a=b", "names=Trueish"]
    expected = {
        "mass": 0.03,
        "action": "one_d_rpm",
        "flag": True,
        "weights": {"hover": 2},
        "text": "a=b",
        "names": "Trueish",
    }
    assert keywords_from(pairs) == expected
    assert keywords_from(None, "easy") == {"level": "easy"}


def test_set_takes_constants_as_python_writes_them():
    assert keywords_from(["a=True", "b=False", "c=None"]) == {"a": True, "b": False, "c": None}


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ("mass", "NAME=VALUE"),
        ("=3", "NAME=VALUE"),
        ("mas=0.03", "'mass'"),
        ("mass=9", "outside its range"),
        ("mass=x", "number"),
    ],
)
def test_bad_set(pair, words):
    assert words in refused("record", HOVER, "--set", pair)


def test_bad_level():
    assert "'hard'" in refused("play", HOVER, "--level", "hart")


# --- videos -----------------------------------------------------------------------------------------------------------


def test_record_a_gif(tmp_path):
    path = tmp_path / "new" / "flight.gif"
    output = good("record", HOVER, "-o", path, "--seconds", "1", "--seed", "3", "--set", "action=one_d_rpm")
    assert f"wrote {path}" in output
    video = Image.open(path)
    assert (video.n_frames, video.size, video.info["loop"]) == (15, (512, 512), 0)
    assert video.info["duration"] == pytest.approx(1000 / 15, abs=10)  # GIFs count hundredths of a second
    frames = []
    for index in (0, 14):
        video.seek(index)
        frames.append(np.asarray(video.convert("RGB")))
    assert (frames[0] != frames[1]).any()
    for color in ((0, 158, 115), (230, 159, 0)):  # goal and front rotors keep their colours
        assert (np.abs(frames[0].astype(int) - color).sum(axis=2) < 90).any()


def test_the_default_file_is_named_after_the_environment(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    good("record", HOVER, "--policy", "random", "--seconds", "0.2")
    assert Image.open(tmp_path / "QuadHover-v0.gif").n_frames == 3


def test_record_mp4(tmp_path):
    imageio = pytest.importorskip("imageio.v2")
    pytest.importorskip("imageio_ffmpeg")
    path = tmp_path / "flight.mp4"
    good("record", HOVER, "-o", path, "--seconds", "0.5")
    with imageio.get_reader(path) as reader:
        frames = [frame for frame in reader]  # noqa: C416 (a reader has no length)
    assert len(frames) == 15
    assert frames[0].shape == (1024, 1024, 3)  # which keeps the colours of small things


def test_record_refuses_what_it_cannot_do(tmp_path, monkeypatch):
    assert ".mp4" in refused("record", HOVER, "-o", tmp_path / "a.avi")
    assert "'expert'" in refused("record", HOVER, "--policy", "expart")
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert "rlenvs-suite[video]" in refused("record", HOVER, "-o", tmp_path / "a.mp4")


# --- the keyboard -----------------------------------------------------------------------------------------------------


class Script:
    """Key presses by step of the game's loop, in place of a person; Esc at the end."""

    def __init__(self, monkeypatch, steps):
        import pygame

        self.pygame, self.steps = pygame, iter(steps)
        monkeypatch.setattr(pygame.event, "get", self.get)
        monkeypatch.setattr(pygame.time, "Clock", lambda: self)

    def get(self):
        pygame = self.pygame
        events = next(self.steps, [("down", "escape")])
        kinds = {"down": pygame.KEYDOWN, "up": pygame.KEYUP}
        return [pygame.event.Event(kinds[kind], key=pygame.key.key_code(key)) for kind, key in events]

    def tick(self, fps):
        pass


def test_key_table():
    assert key_table(HOVER, action="one_d_rpm") == [("up", "all rotors +1"), ("down", "all rotors -1")]
    assert dict(key_table("DeepSeaTreasure-v0")).keys() >= {"up", "down", "left", "right"}


def test_play_lists_the_keys_and_leaves_on_escape(monkeypatch):
    Script(monkeypatch, [[]] * 3)
    monkeypatch.setattr("rlenvs.cli.environments.check_screen", lambda otherwise: None)
    output = good("play", HOVER, "--level", "easy", "--set", "action=one_d_rpm")
    for words in ("all rotors +1", "restart", "quit"):
        assert words in output


def test_held_keys_count_until_they_are_released(monkeypatch):
    game = Game(HOVER, action="one_d_rpm")
    commands = []
    monkeypatch.setattr(game.batch, "step", lambda a: commands.append(a[0][0]))
    Script(monkeypatch, [[("down", "up")], [], [("up", "up")], [("down", "down"), ("up", "down")], []])
    game.run()
    assert commands == [1.0, 1.0, 0.0, -1.0, 0.0]  # the short tap counts for one step


def test_score_restart_and_the_next_episode(monkeypatch):
    lines = []
    game = Game(HOVER, report=lines.append, horizon=4)
    Script(monkeypatch, [[]] * 5)
    game.run()
    assert lines == [f"episode 1: {game.status()}"]
    assert f"return {game.score:.2f}" in lines[0]
    assert "step 4 of 4   over" in lines[0]
    Script(monkeypatch, [[("down", "r")]])
    game.run()
    assert game.steps == 1
    Script(monkeypatch, [[]] * (3 + 46))  # to the end, then a rest of 1.5 s
    game.run()
    assert not game.batch.over[0]
    assert game.episodes == 2


def test_worlds_may_wait_for_a_key(monkeypatch):
    game = Game("DeepSeaTreasure-v0")
    Script(monkeypatch, [[], [], [("down", "down"), ("up", "down")], []])
    game.run()
    assert game.steps == 1


def test_a_person_may_play_in_a_team(monkeypatch):
    game = Game("PathFinding-v0", agents=3)
    Script(monkeypatch, [[("down", "up")]] * 3)
    game.run()
    assert game.steps == 3


def test_windows_that_nobody_would_see_are_refused(monkeypatch, tmp_path):
    assert "rlenvs record" in refused("play", HOVER)
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ParameterError, match=r"neither DISPLAY nor WAYLAND_DISPLAY.*do this"):
        check_screen("do this")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    check_screen("do this")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    with pytest.raises(ParameterError, match="SDL_VIDEODRIVER is 'dummy'"):
        check_screen("do this")
    monkeypatch.delenv("WAYLAND_DISPLAY")
    monkeypatch.setenv("SDL_VIDEODRIVER", "kmsdrm")
    check_screen("do this")
    monkeypatch.delenv("SDL_VIDEODRIVER")
    for platform in ("darwin", "win32"):
        monkeypatch.setattr(sys, "platform", platform)
        check_screen("do this")


def test_scores_fit_a_narrow_terminal():
    lines = good("scores", width=80).splitlines()
    table = lines[: lines.index("")]
    assert max(map(len, table)) <= 80
    assert "…" not in "".join(table)
    names = {id.partition("/")[2] for id in list_envs() if not id.startswith("rlenvs/mo-")}
    firsts = "".join(line.split("  ")[0].strip() + " " for line in table)
    assert {"CartPole-v0", "QuadHover-v0"} <= names & set(firsts.split())
    assert "rlenvs scores ID" in "".join(lines)


def test_scores_of_one_environment():
    output = good("scores", HOVER, width=80)
    assert output.startswith(HOVER)
    assert "CartPole" not in output
    for word in ("random", "idle", "expert", "Return", "Score"):
        assert word in output
    assert max(map(len, output.splitlines())) <= 80
    assert f"{world_of(HOVER).scores['expert'].mean:.4g}" in output
    assert "there is no environment" in refused("scores", "nothing")


def test_no_keyboard_is_said(monkeypatch):
    monkeypatch.delitem(world_of(HOVER).functions, "keys")
    assert "cannot be played" in refused("play", HOVER)


# --- measuring --------------------------------------------------------------------------------------------------------


def test_bench():
    output = good("bench", HOVER, "DeepSeaTreasure-v0", "--seconds", "0.01")
    for word in ("single", "4096", "QuadHover-v0", "DeepSeaTreasure-v0"):
        assert word in output
    assert time_single(HOVER, 0.01, level="easy") > 0
    assert time_batch(HOVER, 64, 2, 0.01, level="easy") > 0


def test_numbers_have_three_digits():
    assert [short_number(x) for x in (12.34, 999.4, 1234, 56_789, 999_600, 1_234_567)] == [
        "12.3",
        "999",
        "1.23 k",
        "56.8 k",
        "1 M",
        "1.23 M",
    ]


@pytest.mark.parametrize("passed", [True, False])
def test_check_tells_by_its_exit_code(monkeypatch, passed):
    module = pytest.importorskip("rlenvs.core.check")

    class Report:
        def __str__(self):
            return "the report"

    Report.passed = passed
    given = {}
    monkeypatch.setattr(module, "check_env", lambda id, **keywords: given.update(id=id, **keywords) or Report())
    result = run("check", HOVER, "--level", "easy", "--set", "horizon=50")
    assert result.exit_code == (0 if passed else 1)
    assert "the report" in result.output
    assert given == {"id": HOVER, "long": False, "level": "easy", "horizon": 50}


# --- the demo ---------------------------------------------------------------------------------------------------------


def test_demo_without_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "rlenvs-suite[sb3]" in refused("demo", "--steps", "1")


@pytest.mark.budget(8)
def test_demo(tmp_path):
    pytest.importorskip("stable_baselines3")
    output = good("demo", "--output", tmp_path, "--steps", "4096")
    for words in ("random", "PPO", "scripted expert", "learning_curve.png", "flight.gif"):
        assert words in output
    assert (tmp_path / "learning_curve.png").exists()
    assert Image.open(tmp_path / "flight.gif").n_frames == 90


# --- bad input --------------------------------------------------------------------------------------------------------

SETS = {
    "weights=[1]": "weights=[1] must be a dictionary with names as keys",
    "weights=1": "weights=1 must be a dictionary with names as keys",
    'weights={"hover": "a"}': "weights",
    "randomize=1": "randomize=1 must be a dictionary with names as keys",
    "randomize=mass": "randomize='mass' must be a dictionary with names as keys",
    "horizon=99999999999999999999": "horizon=99999999999999999999 must be an integer in",
    "horizon=-3": "horizon=-3 must be an integer in",
    "horizon=1e999": "horizon",
    "mass=null": "mass=None must be a number",
    "mass=NaN": "outside its range",
    "mass=[0.03,0.03]": "mass has 2 values for 1 environments",
    "mass={}": "must be a number",
    "mass=" + "[" * 100_000: "must be a number",
    "mass=" + "9" * 100_000: "mass",
    "level=5": "no level 5",
    "num_envs=5": "unexpected keyword argument 'num_envs'",
    "id=5": "unexpected keyword argument 'id'",
    "world=5": "there is no keyword argument 'world'",
    "self=5": "there is no keyword argument 'self'",
    "seed=5": "unexpected keyword argument 'seed'",
    "threads=foo": "threads='foo' must be a positive integer",
    "action=\x1b[31m": "action='\\x1b[31m' is not one of",
    "\x1b[31m=1": "expected NAME=VALUE",
}


@pytest.mark.parametrize("pair", SETS, ids=lambda pair: pair[:30])
def test_keywords_that_are_refused(pair, tmp_path):
    said = refused("record", HOVER, "--set", pair, "-o", tmp_path / "new" / "a.gif", "--seconds", 0.1)
    assert SETS[pair] in said
    assert "\x1b" not in said
    assert len(said) < 3000
    assert not list(tmp_path.rglob("*.gif"))


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("record", HOVER, "--seconds", "inf"), "'--seconds'"),
        (("record", HOVER, "--seconds", "nan"), "'--seconds'"),
        (("record", HOVER, "--seconds", "-3"), "'--seconds'"),
        (("record", HOVER, "--seed", "-3"), "'--seed'"),
        (("eval", HOVER, "--seeds", "-5"), "'--seeds'"),
        (("eval", HOVER, "--seeds", "0"), "'--seeds'"),
        (("eval", HOVER, "--seeds", "1000000000000"), "is too many"),
        (("eval", HOVER, "--against", "foo"), "all agents are on one team"),
        (("eval", HOVER, "--every-level", "--level", "hard"), "cannot be combined with --every-level"),
        (("eval", "Taxi-v0", "--every-level"), "has no levels"),
        (("eval", "Generals-v0", "--against", "foo"), "no player 'foo'"),
        (("watch", "Generals-v0", "--against", "foo"), "no player 'foo'"),
        (("dataset", HOVER, "--episodes", "-1"), "'--episodes'"),
        (("tournament", HOVER), "a tournament needs two"),
        (("tournament", "Generals-v0", "random", "nothing.zip"), "the file 'nothing.zip' cannot be read"),
        (("train", HOVER, "--steps", "-1"), "'--steps'"),
        (("train", HOVER, "--algorithm", "FOO"), "no algorithm 'FOO'"),
        (("train", HOVER, "--envs", "100000000"), "num_envs=100000000 is too many"),
        (("train", HOVER, "--output", "a" * 300), "cannot be written: File name too long"),
        (("plot", "nothing"), "contains no run"),
        (("plot", "nothing", "-o", "a.doc"), "must end in .png or .pdf or .svg"),
        (("plot", HOVER, "--x", "time"), "x='time' is not one of steps, seconds"),
        (("plot", HOVER, "nothing"), "'nothing' is not an environment id"),
        (("replay", "nothing"), "No such file"),
        (("bench", HOVER, "--set", "id=3"), "unexpected keyword argument 'id'"),
        (("play", HOVER, "--set", "id=3"), "unexpected keyword argument 'id'"),
    ],
)
def test_arguments_that_are_refused(command, said):
    result = run(*command)
    assert result.exit_code == 2, result.output + repr(result.exception)
    assert said in result.stderr
    assert result.stderr.count("\n") <= 5


PLACES = ["/proc/x/y/a.gif", "/dev/null/a.gif", "{here}/" + "a" * 300 + ".gif", "{here}/b.gif"]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place[:20])
def test_videos_that_cannot_be_written_are_refused_before_they_are_made(tmp_path, monkeypatch, place):
    monkeypatch.setattr(environments, "compiled", lambda *_: pytest.fail("it began"))
    (tmp_path / "b.gif").mkdir()
    said = refused("record", HOVER, "-o", place.format(here=tmp_path))
    assert any(words in said for words in ("is not writable", "cannot be written", "is a folder"))


def test_a_video_in_a_folder_that_does_not_exist(tmp_path):
    good("record", HOVER, "-o", tmp_path / "a" / "b" / "c.gif", "--seconds", "0.1")
    assert (tmp_path / "a" / "b" / "c.gif").exists()
