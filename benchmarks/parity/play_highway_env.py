"""Play recorded episodes of highway-env again, and say after which step each first differs.

    python benchmarks/parity/record_highway_env.py roundabout --seeds 100 --out roundabout.npz   # where highway-env is
    python benchmarks/parity/play_highway_env.py roundabout.npz                                  # where rlenvs is

The name of the file, or --world, says which world. States are synchronised once, behind the reset; then only actions
are played. An episode differs where a position does by more than the tolerance, or its end does. With --why, for each
step up to there: the largest differences and the slowest car.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from support.driving_replay import batch_of, differences, episode, follower, synchronise

from rlenvs.robotics.driving import (
    highway,
    highway_exit,
    intersection,
    merge,
    parking,
    racetrack,
    roundabout,
    two_way,
    u_turn,
)

UNSTABLE = 0.694  # m/s, below which highway-env's steering multiplies a car's distance from its lane; see driving.md
WORLDS = {
    "highway": highway.SPEC,
    "merge": merge.SPEC,
    "roundabout": roundabout.SPEC,
    "intersection": intersection.SPEC,
    "parking": parking.SPEC,
    "two_way": two_way.SPEC,
    "u_turn": u_turn.SPEC,
    "exit": highway_exit.SPEC,
    "racetrack": racetrack.SPEC,
    "racetrack_large": racetrack.SPEC.level("large"),
    "racetrack_oval": racetrack.SPEC.level("oval"),
}


def slowest_until(told: dict[str, Any], first: int) -> float:
    """The speed of the slowest moving car behind any step before a difference, and behind that step."""
    found = [
        np.abs(numbers[:, 3][places[:, 0] > -3]).min()
        for numbers, places in zip(told["numbers"], told["places"], strict=True)
    ]
    return float(min(found[: first + 1]))


def explained(batch: Any, told: dict[str, Any], steps: int, follow: Any) -> list[str]:
    """A line for each step up to a difference: the largest differences, and the slowest car."""
    batch.reset()
    synchronise(batch, told)
    lines = []
    for n in range(steps):
        action = told["actions"][n]
        batch.step(np.asarray(action)[None] if np.ndim(action) else np.array([action]))
        p, s = batch.records(0)
        if follow is not None:
            follow(p, s, told, n + 1)
        theirs = told["numbers"][n + 1]
        count = min(int(s.bodies), len(theirs))
        ours = np.stack([s.x[:count], s.y[:count], s.heading[:count], s.speed[:count]], 1)
        off = np.abs(ours - theirs[:count, :4])
        worst = int(off[:, :2].max(1).argmax())
        lines.append(
            f"  step {n + 1}: car {worst} of {count} off by {off[worst, :2].max():.1e} m, {off[worst, 2]:.1e} rad, "
            f"at {theirs[worst, 3]:.3f} m/s; slowest car {np.abs(theirs[:count, 3]).min():.3f} m/s"
        )
    return lines


def each_step(batch: Any, told: dict[str, Any], follow: Any) -> tuple[float, float]:
    """The largest differences of positions in steps that all begin with the recorded state: of cars that are faster
    than UNSTABLE behind it, and of all."""
    fast = every = 0.0
    for n, action in enumerate(told["actions"]):
        batch.reset()
        synchronise(batch, told, n)
        batch.step(np.asarray(action)[None] if np.ndim(action) else np.array([action]))
        p, s = batch.records(0)
        if follow is not None:
            follow(p, s, told, n + 1)
        theirs = told["numbers"][n + 1]
        count = min(int(s.bodies), len(theirs))
        off = np.abs(np.stack([s.x[:count], s.y[:count]], 1) - theirs[:count, :2]).max(1)
        every = max(every, float(off.max()))
        fast = max(fast, float(off[np.abs(theirs[:count, 3]) > UNSTABLE].max(initial=0.0)))
    return fast, every


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", help="an .npz file of record_highway_env.py")
    parser.add_argument("--world", choices=WORLDS)
    parser.add_argument("--tolerance", type=float, default=1e-9, help="m")
    parser.add_argument("--seeds", type=int, help="only so many")
    parser.add_argument("--why", action="store_true")
    parser.add_argument("--each", action="store_true", help="synchronise states before every step")
    asked = parser.parse_args()
    name = asked.world or Path(asked.recording).stem.removeprefix("highway_env_")
    if name not in WORLDS:
        raise SystemExit(f"{name!r} is not one of {', '.join(WORLDS)}; --world says which world it is")
    with np.load(asked.recording) as stored:
        recorded = {key: stored[key] for key in stored.files}
    batch = batch_of(WORLDS[name], horizon=1000)
    follow = follower(intersection) if name == "intersection" else None
    seeds = min(int(recorded["seeds"]), asked.seeds or int(recorded["seeds"]))
    if asked.each:
        worst = np.array([each_step(batch, episode(recorded, seed), follow) for seed in range(seeds)]).max(0)
        print(
            f"{name}: largest difference of a position after one step from the recorded state, of {seeds} episodes: "
            f"{worst[0]:.1e} m of cars above {UNSTABLE} m/s, {worst[1]:.1e} m of all"
        )
        return
    same, slow, position, reward = 0, 0, 0.0, 0.0
    for seed in range(seeds):
        told = episode(recorded, seed)
        first, steps, most = differences(batch, told, asked.tolerance, follow)
        if first < 0:
            same, position = same + 1, max(position, most["position"])
            reward = max(reward, most["reward"])
            continue
        slowest = slowest_until(told, first)
        slow += slowest < UNSTABLE
        print(
            f"seed {seed}: differs after step {first} of {steps}, by {most['position']:.1e} m; "
            f"slowest car until then {slowest:.3f} m/s"
        )
        if asked.why:
            print("\n".join(explained(batch, told, first, follow)))
    print(
        f"{name}: {same} of {seeds} episodes the same to {asked.tolerance:g} m (largest difference in these "
        f"{position:.1e} m, of rewards {reward:.1e}); in {slow} of the others a car had been slower than {UNSTABLE} m/s"
    )


if __name__ == "__main__":
    main()
