"""Wrappers: noisy sensors, a cost budget, episodes from snapshots; the same for every API."""

import numpy as np

import rlenvs
from rlenvs.wrappers import CostBudget, Sensor, SnapshotReset, wrap

print("Takes about 10 s; the first time a minute more, to compile.", flush=True)
ID, DRONES, STEPS = "QuadHover-v0", 100, 240
KEYWORDS = {"action": "velocity", "speed_limit": 1.5, "start_spread": 0.4, "goal_spread": 0.4}


def pilot(observations):
    """Fly along the vector to the goal that the drone sees, faster when it is longer."""
    ahead = observations[:, -3:]
    return np.hstack([ahead, np.linalg.norm(ahead, axis=1, keepdims=True)]).clip(-1.0, 1.0)


def fly(*wrappers):
    """Mean distance from the goal [m], mean cost of an episode, and the number of episodes."""
    env = rlenvs.make_vec(ID, DRONES, autoreset_mode="SAME_STEP", **KEYWORDS)
    env = wrap(env, *wrappers) if wrappers else env
    seen, infos = env.reset(seed=0)
    distances, costs, episodes = [], 0.0, DRONES
    for _ in range(STEPS):
        seen, _, terminated, truncated, infos = env.step(pilot(seen))
        ended = terminated | truncated
        distances.extend(-infos["reward_distance"][~ended])
        costs += infos["cost"].sum() + (infos["final_info"]["cost"].sum() if ended.any() else 0.0)
        episodes += ended.sum()
    return np.mean(distances), costs / episodes, episodes


camera = Sensor("to_goal", noise=0.1, delay=10, dropout=0.3)  # m, steps, probability
budget = CostBudget(limit=10.0)
teacher = SnapshotReset(rlenvs.collect_snapshots(ID, episodes=5, every=20, **KEYWORDS), probability=0.8, max_steps=60)
stacks = {
    "none": [],
    "goal seen by a bad camera": [camera],
    "the same with a budget of 10": [camera, budget],
    "episodes from snapshots": [teacher],
    "all three": [teacher, camera, budget],
}
print(f"{'wrappers':30}{'distance':>10}{'cost':>8}{'episodes':>10}", flush=True)
for name, wrappers in stacks.items():
    distance, cost, episodes = fly(*wrappers)
    print(f"{name:30}{distance:8.2f} m{cost:8.2f}{episodes:10}", flush=True)

one = wrap(rlenvs.make(ID, **KEYWORDS), *stacks["all three"])
seen, info = one.reset(seed=0)
print(
    "\nThe same wrappers on a gymnasium.Env add to info:",
    ", ".join(key for wrapper in one.wrappers for key in wrapper.extra_info()),
)
team = wrap(rlenvs.parallel_env("ParticleSpread-v0"), Sensor(noise=0.02))
seen, infos = team.reset(seed=0)
print("Noise on a PettingZoo team changes what", ", ".join(seen), "see")
