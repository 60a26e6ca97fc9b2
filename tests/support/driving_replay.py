"""Episodes of highway-env, recorded by benchmarks/parity/record_highway_env.py, played again from the same states."""

from typing import Any

import numpy as np

from rlenvs.core.batch.engines import new_batch
from rlenvs.kits.traffic.cars import slip_of

FIELDS = ("x", "y", "heading", "speed", "target_speed", "timer", "exponent", "acceleration")
FLAGS = ("crashed", "changes", "checked", "hit", "yielding")


def episode(recorded: Any, seed: int) -> dict[str, Any]:
    """What was recorded of a seed, with the bodies of each step in lists."""
    found = {name.partition("/")[2]: recorded[name] for name in recorded if name.startswith(f"{seed}/")}
    ends = np.cumsum(found["bodies"])[:-1]
    return {**found, **{name: np.split(found[name], ends) for name in ("names", "numbers", "places", "routes")}}


def put_body(s: Any, i: int, numbers: Any, place: Any, route: Any) -> None:
    """Make body i what was recorded."""
    for name, number in zip(FIELDS, numbers, strict=False):
        getattr(s, name)[i] = number
    s.sine[i], s.cosine[i] = np.sin(numbers[2]), np.cos(numbers[2])
    s.slip[i] = slip_of(float(numbers[8]))
    s.box[i], s.shift[i] = numbers[9:11], numbers[11:13]
    s.driver[i], s.lane_of[i], s.target_lane[i] = place[:3]
    for name, flag in zip(FLAGS, place[3:8], strict=True):
        getattr(s, name)[i] = flag
    length = min(s.route.shape[1], len(route))
    s.route[i], s.route_lane[i] = -1, -1
    s.route[i, :length], s.route_lane[i, :length] = route[:length, 0], route[:length, 1]
    s.stage[i] = 0


def synchronise(batch: Any, told: dict[str, Any], n: int = 0) -> None:
    """Put the state behind step n into world 0 of a batch."""
    from rlenvs.kits.traffic.lane_lists import locate

    p, s = batch.records(0)
    numbers, places, routes = (told[name][n] for name in ("numbers", "places", "routes"))
    s.bodies, s.movers = len(numbers), int((places[:, 0] > -3).sum())
    s.ego = told["egos"][n]
    for i in range(len(numbers)):
        put_body(s, i, numbers[i], places[i], routes[i])
    if "ticks" in s.dtype.names:
        s.ticks = 45 + 15 * n  # moments of simulation, three seconds of them before the ego car comes
    if "desired" in s.dtype.names:
        s.achieved[:6], s.desired[:6] = told["observations"][n][6:12], told["observations"][n][12:18]
    locate(p, s)
    batch.recompute_observations()


def differences(
    batch: Any, told: dict[str, Any], tolerance: float = 1e-9, follow: Any = None
) -> tuple[int, int, dict[str, float]]:
    """Play an episode again.

    Returns:
        the first step after which a position differs by more than the tolerance, or an end differs (-1 for none), the
        number of steps, and the largest differences of positions, observations and rewards up to there.
    """
    batch.reset()
    synchronise(batch, told)
    most = {"position": 0.0, "observation": 0.0, "reward": 0.0}
    steps = len(told["rewards"])
    for n in range(steps):
        action = told["actions"][n]
        batch.step(np.asarray(action)[None] if np.ndim(action) else np.array([action]))
        p, s = batch.records(0)
        if follow is not None:
            follow(p, s, told, n + 1)
        count = int(s.bodies)
        if count != len(told["numbers"][n + 1]):
            return n + 1, steps, most
        ours = np.stack([s.x[:count], s.y[:count]], 1)
        off = float(np.abs(ours - told["numbers"][n + 1][:, :2]).max())
        ended = bool(batch.terminated[0, 0]) != bool(told["ends"][n, 0])
        if off > tolerance or ended:
            return n + 1, steps, {**most, "position": max(off, most["position"])}
        seen = np.ravel(batch.observations[0]) if batch.observations.size else np.zeros(0)
        theirs = np.ravel(told["observations"][n + 1])
        seen = seen[: len(theirs) // 3] if "desired" in s.dtype.names else seen
        theirs = theirs[: len(seen)]
        if len(seen) == len(theirs):
            most["observation"] = max(most["observation"], float(np.abs(seen - np.clip(theirs, -1e9, 1e9)).max()))
        most["reward"] = max(most["reward"], abs(float(batch.rewards[0, 0]) - float(told["rewards"][n])))
        most["position"] = max(most["position"], off)
    return -1, steps, most


def batch_of(world: Any, **options: Any) -> Any:
    """A batch of one that does not begin a new episode by itself."""
    from gymnasium.vector import AutoresetMode

    batch = new_batch(world, 1, autoreset=AutoresetMode.DISABLED, **options)
    batch.seed([0])
    return batch


def follower(intersection: Any) -> Any:
    """For a junction: who leaves is taken away, and who entered there is put in, with the recorded draws."""

    def follow(p: Any, s: Any, told: dict[str, Any], n: int) -> None:
        from rlenvs.kits.traffic.lane_lists import locate

        intersection.clear(p, s)
        known = set(told["names"][n - 1])
        for i, name in enumerate(told["names"][n]):
            if name not in known:
                s.movers = s.bodies = i + 1
                put_body(s, i, told["numbers"][n][i], told["places"][n][i], told["routes"][n][i])
        locate(p, s)
        s.entered = True

    return follow
