"""Every script of the benchmarks runs, in a small way, or says in one line what it needs."""

import subprocess
import sys

import pytest
from support.places import ROOT

FOLDER = ROOT / "benchmarks"
TREASURE, PEER = "DeepSeaTreasure-v0", "python ours.py --id {id} --form single --keywords {{}}"
# arguments of a small run; {out} is an empty folder
SMALL = {
    "arms": ["--peers", "{out}/peers.toml", "--rounds", "1", "--seconds", "0.01", "--output", "{out}/table.md"],
    "arms_success": ["PandaReach-v0", "--seeds", "2"],
    "bridge": ["speed", "--processes", "1", "--agents", "2", "--seconds", "0.05", "--rounds", "1"],
    "boards": ["--peers", "{out}/peers.toml", "--only", "SameGame", "--rounds", "1", "--seconds", "0.01"],
    "carry_over_arm": ["--episodes", "1"],
    "carry_over": ["train", "LunarLander-v0", "--on", "ours", "--steps", "100", "--out", "{out}/agent"],
    "car_racing": ["--rounds", "1", "--seconds", "0.01"],
    "checkouts": [".", TREASURE, "--num", "8", "--slices", "2", "--seconds", "0.01"],
    "classic": ["--only", "CartPole", "--rounds", "1", "--seconds", "0.01", "--num", "64"],
    "classroom": ["mdp_by_hand"],
    "classroom_cheats": ["find_the_bug"],
    "commons_learning": ["--steps", "6400", "--episodes", "2"],
    "core": [TREASURE, "PandaReach-v0", "ParticleSimple-v0", "--quick"],
    "counting": ["ParticleSpread"],
    "videos": [TREASURE, "--seconds", "0.5"],
    "deduction": ["--games", "2"],
    "dilemma_agents": ["CoinGame-v0", "--episodes", "2"],
    "dilemmas": ["--peers", "{out}/peers.toml", "--only", "CoinGame", "--rounds", "1", "--seconds", "0.01"],
    "driving": ["--peers", "{out}/peers.toml", "--only", "Merge", "--rounds", "1", "--seconds", "0.01"],
    "exploration": ["--peers", "{out}/peers.toml", "--rounds", "1", "--seconds", "0.01"],
    "exploits": [TREASURE, "--seeds", "2"],
    "first_minutes": ["--only", "rlenvs list"],
    "font_widths": ["{out}/widths.js"],
    "forged_states": ["Chain-v0", "--seconds", "0.2"],
    "frozen": ["--first"],
    "gaits": ["--seconds", "0.1"],
    "planar_gaits": ["BipedalWalker-v0", "--seconds", "0.1", "--starts", "1", "--episodes", "2"],
    "functions": ["exp", "hypot", "--points", "20", "--slices", "1"],
    "fuzz": ["checked", TREASURE, "--sets", "1", "--steps", "5", "--out", "{out}/fuzz.jsonl"],
    "hanabi": ["--games", "2"],
    "hanabi_speed": ["--peers", "{out}/peers.toml", "--only", "SwitchRiddle", "--rounds", "1", "--seconds", "0.01"],
    "kitchens": ["--episodes", "2"],
    "lanes": [TREASURE, "ParticleSimple-v0", "--num", "64", "--slices", "2", "--seconds", "0.01"],
    "limits": ["ParticleSpread", "--num", "64", "--rounds", "1", "--seconds", "0.01"],
    "learn_arms": ["--task", "reach", "--seeds", "1", "--quick", "--output", "{out}"],
    "learn_hover": ["ppo", "sac", "td3", "--seeds", "1", "--quick", "--output", "{out}"],
    "learning_to_fly": ["--engines", "kernel", "--output", "{out}/table.md"],
    "inverse_rewards": ["--episodes", "5", "--concern", "0", "--seeds", "1"],
    "lattice": ["--seeds", "2", "--rounds", "150", "--floors", "0.1", "--payoffs", "1"],
    "left": [TREASURE],
    "levels": ["PathFinding-v0", "--seeds", "2"],
    "memory": ["--only", "MortarMayhemGrid", "--rounds", "1", "--seconds", "0.01", "--output", "{out}/table.md"],
    "live_engine": ["{out}", "Hopper-v0"],
    "live_pages": ["{out}"],
    "live_proofs": ["CartPole-v0", "--kernels", "{out}"],
    "live_drawing": ["CartPole-v0", "--steps", "4", "--frames", "2"],
    "make_agents": [TREASURE, "--measure", "--to", "{out}"],
    "metaworld_speed": ["--peers", "{out}/peers.toml", "--only", "Reach", "--rounds", "1", "--seconds", "0.01"],
    "metaworld_success": ["reach", "--seeds", "2"],
    "minecart_front": ["--seconds", "0.2", "--out", "{out}/routes.json"],
    "mixed_tasks": ["--num", "10", "--rounds", "1", "--steps", "1", "--backend", "python"],
    "morl": ["--quick", "--seeds", "1", "--only", "depth 6", "--output", "{out}"],
    "multi": ["--peers", "{out}/peers.toml", "--rounds", "1", "--seconds", "0.01"],
    "multi_task": ["--steps", "10", "--num", "10", "--goals", "1", "--output", "{out}"],
    "objectives": ["--peers", "{out}/peers.toml", "--rounds", "1", "--seconds", "0.01"],
    "oscillators": ["PlanarHoppers-v0", "--generations", "1", "--population", "4", "--steps", "10"],
    "planar": ["--peers", "{out}/peers.toml", "--only", "LunarLander", "--rounds", "1", "--seconds", "0.01"],
    "planar_episodes": ["LunarLander-v0", "--seeds", "3"],
    "open_rl_benchmark": ["--export", "{out}/runs", "--ids", "Pendulum-v0", "CartPole-v0"],
    "offline_learning": ["racer", "safe", "--steps", "5", "--episodes", "2", "--horizon", "20"],
    "offline_data": ["--only", "basicSmall", "--horizon", "200"],
    "planted_faults": ["recorded number"],
    "price": [],
    "processors": [TREASURE],
    "published": ["--list"],
    "puzzles": ["--peers", "{out}/peers.toml", "--only", "Game2048", "--rounds", "1", "--seconds", "0.01"],
    "repeat": ["Blackjack-v0"],
    "reward_comparison": ["--steps", "1", "--rewards", "simple", "--sizes", "16384"],
    "robust_grid": ["--robot", "hopper", "--worlds", "4", "--blocks", "1"],
    "robots": ["--peers", "{out}/peers.toml", "--only", "Reacher", "--rounds", "1", "--seconds", "0.01"],
    "robust_training": ["rrls-inverted-pendulum-1", "--steps", "1024", "--seeds", "1", "--output", "{out}"]
    + ["--episodes", "1", "--points", "2"],
    "run": ["--peers", "{out}/peers.toml", "--only", TREASURE, "--rounds", "1", "--seconds", "0.01"]
    + ["--output", "{out}/table.md"],
    "racing": ["--rounds", "1", "--seconds", "0.01", "--output", "{out}/table.md"],
    "safety": ["--steps", "2000"],
    "scores": [TREASURE, "--seeds", "2"],
    "shields": ["SafePointGoal-v0", "--steps", "3", "--worlds", "2"],
    "swarms": ["--worlds", "2"],
    "traffic": ["--seeds", "2", "--only", "single"],
    "traffic_learners": ["--networks", "single", "--steps", "3000", "--episodes", "2"],
    "serve": ["mcp", "--episodes", "12"],
    "text": ["--episodes", "4"],
    "traffic_libsignal": ["--data", "{out}"],
    "traffic_size": ["--side", "2", "--vehicles", "50"],
    "traffic_speed": ["--files", "{out}/files", "--only", "example"],
    "training": ["--rounds", "1", "--only", "QuadHover", "--quick"],
    "wrappers": ["--only", "HideObservations"],
}
NEEDED = {
    "serve": "mcp",
    "oscillators": "cma",
    "carry_over": "stable_baselines3",
    "carry_over_arm": "panda_gym",
    "commons_learning": "stable_baselines3",
    "inverse_rewards": "scipy",
    "learn_arms": "stable_baselines3",
    "learn_hover": "stable_baselines3",
    "live_proofs": "ziglang",
    "morl": "torch",
    "offline_data": "minari",
    "multi_task": "stable_baselines3",
    "metaworld_speed": "mujoco",
    "metaworld_success": "mujoco",
    "offline_learning": "minari",
    "repeat": "stable_baselines3",
    "reward_comparison": "stable_baselines3",
    "robots": "mujoco",
    "robust_grid": "mujoco",
    "robust_training": "stable_baselines3",
    "traffic_learners": "stable_baselines3",
    "training": "stable_baselines3",
}
# how others' packages are named in a file of peers; here this package plays their part
PEERS = f"""
mo-deep-sea = "{sys.executable} ours.py --id {TREASURE} --form single"
panda-gym-reach = "{sys.executable} ours.py --id PandaReach-v0 --form single"
highway-env-merge = "{sys.executable} ours.py --id Merge-v0 --form single"
minigrid-doorkey = "{sys.executable} ours.py --id MiniGridDoorKey8x8-v0 --form single"
momaland-samegame = "{sys.executable} ours.py --id SameGame-v0 --form parallel --legal"
jumanji-2048 = "{sys.executable} ours.py --id Game2048-v0 --form single"
gymnasium-lander = "{sys.executable} ours.py --id LunarLander-v0 --form single"
jaxmarl-switch-riddle = "{sys.executable} ours.py --id SwitchRiddle-v0 --form parallel --legal"
metaworld-reach = "{sys.executable} ours.py --id MetaWorldReach-v0 --form single"
gymnasium-reacher = "{sys.executable} ours.py --id Reacher-v0 --form single"
mpe2-simple = "{sys.executable} ours.py --id ParticleSimple-v0 --form parallel"
"""


def run(script, *arguments):
    command = [sys.executable, str(script), *arguments]
    return subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, timeout=900, check=False)


def test_every_script_is_tried():
    assert sorted(SMALL) == sorted(path.stem for path in FOLDER.glob("*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_a_benchmark_runs(tmp_path, name):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    (tmp_path / "peers.toml").write_text(PEERS)
    done = run(FOLDER / f"{name}.py", *(part.format(out=tmp_path) for part in SMALL[name]))
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() or (tmp_path / "table.md").exists()
    changed = subprocess.run(["git", "status", "--short", "benchmarks"], capture_output=True, text=True, cwd=FOLDER)
    assert not changed.stdout.strip() or changed.returncode, "a small run has written into the repository"


@pytest.mark.slow
def test_the_archive_of_routes_is_among_the_learners_of_fronts(tmp_path):
    done = run(FOLDER / "morl.py", "--quick", "--seeds", "1", "--only", "Minecart", "--output", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "Archive of routes, Minecart, 0.99, seed 0" in done.stdout


# what only others' interpreters have: a file or a clone is missing, or a package
ORIGINALS = {
    "play_highway_env": ["{out}/x.npz"],
    "record_highway_env": ["highway", "--out", "{out}/x.npz"],
    "record_generals": ["paper", "{out}/x.npz"],
    "record_informarl": ["navigation", "{out}", "{out}/x.npz"],
    "record_memory_gym": ["{out}/x.npz"],
    "record_offlinemania": ["{out}"],
    "play_microracer": ["--clone", "{out}"],
    "record_microracer": ["--clone", "{out}"],
    "record_mars_explorer": ["--clone", "{out}"],
    "record_momaland_drones": ["{out}/x.npz"],
    "record_mpe2": ["{out}/x.npz"],
    "record_quadcopters": ["--clone", "{out}"],
    "record_quadhover_dyn": ["--clone", "{out}"],
    "record_safe_point": ["{out}/x.npz"],
    "record_social_deduction": ["--clone", "{out}"],
    "record_social_net": ["--clone", "{out}"],
    "record_swing_up_bsuite": ["{out}/x.npz"],
}


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((FOLDER / "parity").glob("*.py")), ids=lambda path: path.stem)
def test_a_recording_says_what_it_needs(tmp_path, path):
    done = run(path, *(part.format(out=tmp_path) for part in ORIGINALS.get(path.stem, [])))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr, done.stderr
    assert done.stderr.strip().count("\n") <= 3
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted((FOLDER / "peers").glob("*.py")), ids=lambda path: path.stem)
def test_a_peer_says_what_it_needs(path):
    if path.stem in ("worker", "ours"):
        return
    done = run(path, *(["--clone", "nowhere"] if "--clone" in path.read_text() else []))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr, done.stderr


@pytest.mark.slow
def test_a_peer_that_does_not_start_is_said(tmp_path):
    (tmp_path / "peers.toml").write_text(f'mo-deep-sea = "{sys.executable} mo_gymnasium_worlds.py"\n')
    done = run(FOLDER / "run.py", "--peers", str(tmp_path / "peers.toml"), "--only", TREASURE)
    assert done.returncode != 0
    assert "the worker did not start: " in done.stderr
    assert "mo_gymnasium, which is not installed" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.budget(4)
def test_levels_of_one_environment_are_renewed_and_the_other_lines_stay(tmp_path):
    page = (FOLDER / "levels.md").read_text()
    for name in ("levels.py", "levels.md"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    lines = page.splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith("| MarsRovers-v0 ")]
    assert len(kept) < len(lines)
    (tmp_path / "levels.md").write_text("".join(kept))
    assert run(tmp_path / "levels.py", "MarsRovers-v0", "--write").returncode == 0
    now = (tmp_path / "levels.md").read_text().splitlines(keepends=True)
    assert [line.split("|")[1:3] for line in now] == [line.split("|")[1:3] for line in lines]
    assert [line for line in now if not line.startswith("| MarsRovers-v0 ")] == kept
    refused = run(tmp_path / "levels.py", "MarsRovers-v0", "--seeds", "2", "--write")
    assert refused.returncode != 0
    assert "levels.md was not written with --seeds 2" in refused.stderr
    assert (tmp_path / "levels.md").read_text().splitlines(keepends=True) == now
