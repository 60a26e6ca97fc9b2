"""Planning: roll out 512 random action sequences from the present state, take the best first action, repeat."""

import gymnasium
import numpy as np

import rlenvs

print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
SEQUENCES, STEPS = 512, 20
env = gymnasium.make("rlenvs/QuadHover-v0", action="one_d_rpm")
env.reset(seed=0)
simulator = rlenvs.PlanRollouts(env, SEQUENCES)
generator = np.random.default_rng(0)
total, steps = 0.0, 0
terminated = truncated = False
while not (terminated or truncated):
    # sequences that hold an action for five steps look further than white noise
    plans = generator.uniform(-1, 1, (SEQUENCES, STEPS // 5, 1)).repeat(5, axis=1)
    futures = simulator(plans)
    best = futures.rewards.sum(axis=1).argmax()
    _, reward, terminated, truncated, info = env.step(plans[best, 0].astype(np.float32))
    total, steps = total + reward, steps + 1
    if steps % 40 == 0:
        print(f"{steps:4} steps: return {total:6.1f}, {-info['reward_distance']:.2f} m from the goal", flush=True)

print(f"\nplanned   return {total:.1f}, within 0.1 m of the goal at the end: {info['is_success']}; means of others:")
for name in ("random", "idle", "expert"):
    print(f"{name:9}", rlenvs.evaluate("QuadHover-v0", name, n_episodes=50, action="one_d_rpm"), flush=True)
