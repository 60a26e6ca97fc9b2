"""Stable-Baselines3 on the native vector form: 20 lines from nothing to a drone that begins to hover."""

from stable_baselines3 import PPO

import rlenvs

envs = rlenvs.sb3_vec_env("QuadHover-v0", 64, action="one_d_rpm", level="easy")
model = PPO("MlpPolicy", envs, n_steps=128, batch_size=2048, learning_rate=1e-3, gamma=0.98, seed=0)
before = rlenvs.evaluate("QuadHover-v0", "random", seeds=50, action="one_d_rpm", level="easy")
model.learn(120_000)
after = rlenvs.evaluate(
    "QuadHover-v0",
    lambda observations: model.predict(observations, deterministic=True)[0],
    seeds=50,
    action="one_d_rpm",
    level="easy",
)
print(f"mean return: random {before.mean:.0f}, after 120 000 steps {after.mean:.0f} (the most possible is 480)")
