"""Do policies carry over between our planar worlds and Gymnasium's on Box2D?

    python benchmarks/carry_over.py train LunarLander-v0 --seed 0 --out theirs/0
    python benchmarks/carry_over.py compare LunarLander-v0 theirs/0 theirs/1 --episodes 500

`train` learns on Gymnasium's world with the settings that `rlenvs train` uses on ours, and saves an agent; `--on ours`
learns on ours. `compare` plays these agents, or the shipped one where none is named, on both, and shows mean returns
with 95 % intervals, and how much more there is on Gymnasium's (0 is what random actions have, 100 the better of both).
Needs stable-baselines3, gymnasium 1.4 and box2d 2.3.10 in the interpreter that runs it.
"""

import argparse
from dataclasses import replace

import gymnasium
import numpy as np
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize

import rlenvs
from rlenvs.agents.agent import Agent
from rlenvs.agents.export import agent_from_sb3
from rlenvs.agents.files import save_agent
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.hyperparameters.settings import Settings
from rlenvs.agents.train import learn, new_model

ORIGINALS = {
    "LunarLander-v0": ("LunarLander-v3", {}),
    "LunarLanderContinuous-v0": ("LunarLander-v3", {"continuous": True}),
    "BipedalWalker-v0": ("BipedalWalker-v3", {}),
}


def original(id: str) -> gymnasium.Env:
    name, keywords = ORIGINALS[id]
    return gymnasium.make(name, **keywords)


def on_the_original(model, id: str, settings: Settings, processes: int) -> None:
    """Put a new model on Gymnasium's world, with statistics of its own where ours have them."""
    makers = [lambda: original(id) for _ in range(settings.num_envs)]
    envs = SubprocVecEnv(makers) if processes > 1 else DummyVecEnv(makers)
    envs.seed(model.seed)
    ours = model.get_vec_normalize_env()
    if ours is not None:
        envs = VecNormalize(envs, norm_obs=ours.norm_obs, norm_reward=ours.norm_reward, gamma=ours.gamma)
    model.set_env(envs)


def train(id: str, seed: int, out: str, on: str, steps: int | None, processes: int) -> None:
    settings = settings_for(id)
    settings = replace(settings, steps=steps or settings.steps)
    model = new_model(id, settings, seed)
    if on == "theirs":
        on_the_original(model, id, settings, processes)
    learn(model, id, settings.steps)
    told = {"steps": settings.steps, "seeds": [seed], "seconds": 0.0}
    print("saved", save_agent(out, agent_from_sb3(model, id, keywords={}, settings=settings.to_dict(), **told)))


def play_ours(id: str, policy: Agent | str, episodes: int) -> np.ndarray:
    return rlenvs.evaluate(id, policy, seeds=episodes).returns


def play_theirs(id: str, policy: Agent | str, episodes: int) -> np.ndarray:
    """Returns of one episode for each seed."""
    env = original(id)
    env.action_space.seed(0)
    found = np.zeros(episodes)
    for seed in range(episodes):
        seen, over = env.reset(seed=seed)[0], False
        while not over:
            action = env.action_space.sample() if policy == "random" else policy.act(seen)[0]
            seen, reward, ended, cut, _ = env.step(action)
            found[seed] += float(reward)
            over = ended or cut
    return found


def half_width(returns: np.ndarray) -> float:
    return 1.96 * returns.std(ddof=1) / np.sqrt(returns.size)


def compare(id: str, files: list[str], episodes: int) -> None:
    low = {"ours": play_ours(id, "random", episodes).mean(), "Gymnasium": play_theirs(id, "random", episodes).mean()}
    print(f"{id}, {episodes} episodes; random actions: ours {low['ours']:.1f}, Gymnasium {low['Gymnasium']:.1f}\n")
    print("| agent | on ours | on Gymnasium's | difference, % of the normalised return |\n|---|---|---|---|")
    for file in files or [id]:
        agent = rlenvs.load_agent(file)
        ours, theirs = play_ours(id, agent, episodes), play_theirs(id, agent, episodes)
        lifted = [ours.mean() - low["ours"], theirs.mean() - low["Gymnasium"]]
        lost = 100.0 * (lifted[1] - lifted[0]) / max(lifted)
        either = 100.0 * np.hypot(half_width(ours), half_width(theirs)) / max(lifted)
        cells = [f"{returns.mean():.1f} ± {half_width(returns):.1f}" for returns in (ours, theirs)]
        print(f"| {file} | {cells[0]} | {cells[1]} | {lost:+.1f} ± {either:.1f} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    learns = commands.add_parser("train")
    learns.add_argument("id", choices=sorted(ORIGINALS))
    learns.add_argument("--seed", type=int, default=0)
    learns.add_argument("--out", required=True)
    learns.add_argument("--on", choices=("theirs", "ours"), default="theirs")
    learns.add_argument("--steps", type=int)
    learns.add_argument("--processes", type=int, default=1)
    compares = commands.add_parser("compare")
    compares.add_argument("id", choices=sorted(ORIGINALS))
    compares.add_argument("files", nargs="*")
    compares.add_argument("--episodes", type=int, default=500)
    asked = parser.parse_args()
    if asked.command == "train":
        train(asked.id, asked.seed, asked.out, asked.on, asked.steps, asked.processes)
    else:
        compare(asked.id, asked.files, asked.episodes)


if __name__ == "__main__":
    main()
