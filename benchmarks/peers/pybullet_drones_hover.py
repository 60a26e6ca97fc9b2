"""How soon PPO learns gym-pybullet-drones' one-dimensional hover: its own example, with the clock stopped to look.

Installed as for pybullet_drones.py, with stable-baselines3. One environment, PPO's default settings, one deterministic
episode every 1000 steps, as in its examples/learn.py. Prints seconds of training, steps, and whether the goal was
reached. Its episodes have 242 steps, ours 240: the same return is a little easier to reach here.
"""

import argparse
import sys
import time

import numpy as np


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clone", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--goal", type=float, required=True)
    parser.add_argument("--seconds", type=float, default=900.0, help="to give up after")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, options.clone)
    import torch
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.utils.enums import ActionType, ObservationType
    from stable_baselines3 import PPO
    from stable_baselines3.common.callbacks import BaseCallback
    from stable_baselines3.common.env_util import make_vec_env

    torch.set_num_threads(1)
    kinds = {"obs": ObservationType("kin"), "act": ActionType("one_d_rpm")}
    watched = HoverAviary(**kinds)

    class Clock(BaseCallback):
        seconds, reached = 0.0, False

        def _on_training_start(self) -> None:
            self.start = time.perf_counter()

        def _on_step(self) -> bool:
            if self.num_timesteps % 1000 == 0:
                self.seconds += time.perf_counter() - self.start
                total = self.look()
                self.reached = total >= options.goal
                if options.verbose:
                    print(self.num_timesteps, round(self.seconds, 1), total, file=sys.stderr, flush=True)
                self.start = time.perf_counter()
            return not self.reached and self.seconds < options.seconds

        def look(self) -> float:
            seen, _ = watched.reset(seed=0)
            total, over = 0.0, False
            while not over:
                action = self.model.predict(np.asarray(seen), deterministic=True)[0]
                seen, reward, terminated, truncated, _ = watched.step(action)
                total, over = total + reward, terminated or truncated
            return total

    model = PPO("MlpPolicy", make_vec_env(HoverAviary, env_kwargs=kinds, seed=options.seed), seed=options.seed)
    clock = Clock()
    model.learn(10_000_000, callback=clock)
    print(clock.seconds, model.num_timesteps, clock.reached)


if __name__ == "__main__":
    main()
