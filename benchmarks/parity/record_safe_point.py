"""Record safety-gymnasium's SafetyPointGoal0, 1 and 2 for tests/robotics/test_safe_point_goal.py.

Installed as: safety-gymnasium 1.0.0 with MuJoCo 2.3.3 on Python 3.10. The one argument is the file to write. Actions
are piecewise constant; at level 0 the robot always turns at full rate, where the original's servo is stable. The
arrays are described in tests/data/README.md.
"""

import sys

try:
    import numpy as np
    import safety_gymnasium
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

SEEDS, STEPS = (*range(4), *range(100, 106)), 200


def actions_of(generator, level):
    rows = []
    while len(rows) < STEPS:
        a = [generator.choice([-1.0, 1.0, 1.0, 0.02]), generator.choice([0.0, 0.0, generator.uniform(-1, 1)])]
        if level == 0:
            a[1] = generator.choice([-1.0, 1.0])
        rows += [a] * int(generator.integers(5, 30))
    return np.array(rows[:STEPS])


def pose(body):
    matrix = body.xmat.reshape(3, 3)
    return [*body.xpos[:2], np.arctan2(matrix[1, 0], matrix[0, 0])]


def record(level, seed):
    env = safety_gymnasium.make(f"SafetyPointGoal{level}-v0")
    observation, _ = env.reset(seed=seed)
    task = env.unwrapped.task
    body = task.data.body
    vases = range(task.vases.num if level else 0)
    out = {k: [] for k in ("robot", "sensors", "reward", "cost", "goal", "vases", "lidar", "reached")}
    start = {
        "robot0": pose(body("agent")),
        "goal0": task.goal.pos[:2],
        "hazards": np.array(task.hazards.pos)[:, :2] if level else np.zeros((0, 2)),
        "vases0": np.array([pose(body(f"vase{i}")) for i in vases]).reshape(-1, 3),
        "sensors0": observation[:12],
        "lidar0": observation[12:],
    }
    actions = actions_of(np.random.default_rng(seed), level)
    for t, a in enumerate(actions):
        observation, reward, cost, terminated, truncated, info = env.step(a)
        assert not terminated
        assert not truncated
        out["robot"].append(pose(body("agent")))
        out["sensors"].append(observation[:12])
        out["reward"].append(reward)
        out["cost"].append(
            [cost, info.get("cost_hazards", 0), info.get("cost_vases_contact", 0), info.get("cost_vases_velocity", 0)]
        )
        out["goal"].append(task.goal.pos[:2])
        out["vases"].append([pose(body(f"vase{i}")) for i in vases])
        out["reached"].append("goal_met" in info)
        if t % 10 == 9:
            out["lidar"].append(observation[12:])
    return {"actions": actions, **start, **{k: np.array(v) for k, v in out.items()}}


rows = {}
for level in (0, 1, 2):
    runs = [record(level, seed) for seed in SEEDS]
    for key in runs[0]:
        rows[f"level{level}_{key}"] = np.array([run[key] for run in runs])
np.savez_compressed(sys.argv[1], **rows)
