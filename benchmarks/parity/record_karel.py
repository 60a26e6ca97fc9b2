"""Record HPRL's Karel tasks: starts, actions, rewards and grids, under random actions and under programs.

Needs a checkout of https://github.com/NTURobotLearningLab/HPRL (commit 6690f3f) and scipy; recorded with Python 3.11
and numpy 2.4. The arrays are described in tests/data/README.md.
"""

import argparse
import random
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

try:
    import numpy as np
    import scipy  # noqa: F401 (of the original)
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

# the original's names of tasks and of the functions that make their starts, and its example programs
TASKS = {
    "stair_climber": ("stairClimber", "stair_climber", "stairClimber_sparse"),
    "four_corners": ("fourCorners", "four_corners", "fourCorners"),
    "top_off": ("topOff", "chain_smoker", "topOff_sparse"),
    "maze": ("randomMaze", "random_maze", "randomMaze"),
    "clean_house": ("cleanHouse", "clean_house", "cleanHouse"),
    "harvester": ("harvester", "harvester", "harvester"),
    "door_key": ("doorkey", "doorkey", "doorkey"),
    "one_stroke": ("oneStroke", "oneStroke", "oneStroke"),
    "seeder": ("seeder", "seeder", "seeder"),
    "snake": ("snake", "snake", "snake"),
}
ACTIONS = ("move", "turnLeft", "turnRight", "pickMarker", "putMarker")
LIKELY = (0.5, 0.15, 0.15, 0.1, 0.1)
CONDITIONS = ("frontIsClear", "leftIsClear", "rightIsClear", "markersPresent", "noMarkersPresent")
EPISODES, STEPS, WRITTEN = 8, 60, 12  # with random actions; actions; random programs


def load(clone: Path) -> tuple[Any, Any, Any]:
    """The original's world, starts and interpreter; what its modules import beside is not used."""
    for name in ("h5py", "progressbar", "dsl", "dsl.dsl_parse_and_trace", "util"):
        module = ModuleType(name)
        for attribute in ("get_DSL_option_v2", "parse_and_trace", "log"):
            setattr(module, attribute, None)
        sys.modules[name] = module
    sys.path[:0] = [str(clone / "karel_env"), str(clone / "karel_env" / "dsl")]
    import dsl_parse
    import karel_option_key2door

    sys.modules["karel_option"] = karel_option_key2door
    import generator_option_key2door

    return karel_option_key2door.Karel_world, generator_option_key2door.KarelStateGenerator, dsl_parse.parse


def random_condition(rng: np.random.Generator) -> str:
    """One of the five, every third one negated."""
    name = str(rng.choice(CONDITIONS))
    return f"not c( {name} c)" if rng.random() < 0.3 else name


def random_statements(rng: np.random.Generator, depth: int) -> str:
    """One to three statements."""
    return " ".join(random_statement(rng, depth) for _ in range(rng.integers(1, 4)))


def random_statement(rng: np.random.Generator, depth: int) -> str:
    kind = int(rng.integers(0, 8)) if depth < 3 else 7
    if kind > 3:
        return str(rng.choice(ACTIONS, p=LIKELY))
    inside, condition = random_statements(rng, depth + 1), random_condition(rng)
    if kind == 0:
        return f"REPEAT R={rng.integers(0, 6)} r( {inside} r)"
    if kind == 1:
        return f"WHILE c( {condition} c) w( {inside} w)"
    if kind == 2:
        return f"IF c( {condition} c) i( {inside} i)"
    return f"IFELSE c( {condition} c) i( {inside} i) ELSE e( {random_statements(rng, depth + 1)} e)"


def grid_of(state: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Walls, markers, and row, column and direction."""
    row, column, direction = (int(place[0]) for place in np.where(state[:, :, :4]))
    markers = state[:, :, 6] + 2 * state[:, :, 7]
    return state[:, :, 4].astype(np.uint8), markers.astype(np.uint8), np.array([row, column, direction])


def history(world: Any, start: np.ndarray, metadata: dict[str, Any]) -> dict[str, Any]:
    """What a played world remembers: grids at the start and the end, Karel's places, actions, rewards."""
    first, last = grid_of(start), grid_of(world.s)
    poses = [first[2], *(grid_of(state)[2] for state in world.s_h[1:]), last[2]]
    return {
        "wall": np.array([first[0], last[0]]),
        "markers": np.array([first[1], last[1]]),
        "pose": np.array(poses, np.int8),
        "actions": np.array(world.a_h, np.int8),
        "rewards": np.array(world.r_h, np.float64),
        "done": np.array([world.done]),
        "places": np.array([*metadata.get("key", (0, 0)), *metadata.get("target", (0, 0))], np.int8),
    }


def play(parts: tuple[Any, Any, Any], task: str, seed: int, program: str) -> dict[str, Any]:
    """An episode, under a program or under random actions."""
    World, Starts, parse = parts
    name, maker, _ = TASKS[task]
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 (the original draws from it)
    rows, columns = (14, 22) if task == "clean_house" else (8, 8)
    start, _, _, _, metadata = getattr(Starts(seed=seed), f"generate_single_state_{maker}")(
        rows, columns, 0.25, **({"is_top_off": True} if task == "top_off" else {})
    )

    class Stopping(World):  # type: ignore[misc, valid-type]
        def state_transition(self, action: np.ndarray) -> None:
            if self.done:
                raise RuntimeError("the episode is over")
            super().state_transition(action)

    world = Stopping(make_error=False, env_task=name, task_definition="custom_reward", reward_diff=True)
    world.set_new_state(start, metadata)
    rng = np.random.default_rng(seed)
    try:
        if program:
            parse(program, environment="karel")[0](world, 0)
        for _ in range(0 if program else STEPS):
            world.state_transition(np.eye(5)[rng.choice(5, p=LIKELY)])
    except RuntimeError:
        assert world.done
    return history(world, start.astype(bool), metadata)


def joined(rows: list[np.ndarray]) -> np.ndarray:
    """Arrays one above the other, padded with zeros."""
    shape = [max(sizes) for sizes in zip(*(row.shape for row in rows), strict=True)]
    whole = np.zeros((len(rows), *shape), rows[0].dtype)
    for padded, row in zip(whole, rows, strict=True):
        padded[tuple(slice(size) for size in row.shape)] = row
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clone", type=Path, required=True, help="the checkout")
    parser.add_argument("--out", type=Path, default=Path("tests/data/karel.npz"))
    given = parser.parse_args()
    if not (given.clone / "karel_env").is_dir():
        raise SystemExit(f"{given.clone} is no checkout of HPRL; the docstring of this script says where it is")
    parts, arrays = load(given.clone), {}
    rng = np.random.default_rng(0)
    for task, (_, _, example) in TASKS.items():
        lines = (given.clone / "tasks" / "example" / f"{example}.txt").read_text().splitlines()
        programs = ["", lines[0].strip()] + [f"DEF run m( {random_statements(rng, 0)} m)" for _ in range(WRITTEN)]
        programs = [*[""] * (EPISODES - 1), *programs]
        played = [play(parts, task, 100 + k, program) for k, program in enumerate(programs)]
        arrays[f"{task}.program"] = np.array(programs)
        arrays[f"{task}.steps"] = np.array([len(each["actions"]) for each in played], np.int16)
        for name in played[0]:
            arrays[f"{task}.{name}"] = joined([each[name] for each in played])
    np.savez_compressed(given.out, **arrays)
    print(f"{given.out}: {len(arrays)} arrays, {given.out.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
