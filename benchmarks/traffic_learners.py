"""Mean travel times of learners of SignalGrid beside the scripted players, on the same seeds at the same timing.

    python benchmarks/traffic_learners.py --write [--networks 2x2] [--players PPO] [--steps 1000000]

Every learner is trained here on the network on which it plays, once, with the settings of the environment. In all of
them junctions share one network. "PPO" and "IDQN" (`rlenvs train SignalGrid-v0 --algorithm DQN`) are paid for short
queues; "PressLight" is the same deep Q-learning with the observation and the reward of PressLight, pressure;
"attention" is examples/attention_signals.py. Seeds of the evaluation are 10000 on. With --write the rows that were
measured replace those in benchmarks/traffic_learners.md.
"""

import argparse
import importlib.util
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.evaluate import chooser
from rlenvs.agents.export import agent_from_sb3
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.train import train
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.multi.traffic.signal_grid import SPEC, metrics

TABLE = Path(__file__).with_suffix(".md")
FIRST_SEED = 10_000
Keywords = dict[str, Any]
Step = Callable[[KernelBatch], Any]
NETWORKS: dict[str, Keywords] = {
    "single": {"level": "single"},
    "2x2": {},
    "arterial": {"level": "arterial"},
    "4x4": {"level": "4x4"},
}
SCRIPTED = ("fixed", "actuated", "max_pressure")
LEARNERS: dict[str, tuple[str, Keywords]] = {
    "PPO": ("MaskablePPO", {}),
    "IDQN": ("DQN", {"observation": "count"}),
    "PressLight": ("DQN", {"observation": "pressure", "reward": "pressure"}),
}
PLAYERS = (*SCRIPTED, *LEARNERS, "attention")
HEAD = """# Traffic: learners

`python benchmarks/traffic_learners.py --write`: mean travel time in seconds after an hour, over {episodes} seeds, with
its 95 % interval; one training of each learner, on the network on which it plays. Steps are those of all junctions
together.

| network | player | steps | travel time |
|---|---|---|---|
"""


def travel_times(choose: Callable[[KernelBatch], Step], episodes: int, keywords: Mapping[str, Any]) -> np.ndarray:
    """Seconds, of each seed, when the hour is over.

    Args:
        choose: from a batch, how its actions are chosen in each step.
    """
    batch = rlenvs.make_batch(SPEC.name, episodes, threads=1, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(FIRST_SEED, FIRST_SEED + episodes))
    batch.reset()
    step = choose(batch)
    while not batch.over.all():
        batch.step(step(batch))
    return np.array([metrics(*batch.records(index))["travel_time"] for index in range(episodes)])


def learnt(player: str, network: Keywords, steps: int | None, episodes: int) -> tuple[int, np.ndarray]:
    """Train with the settings of the environment; the steps, and the travel times without exploration."""
    algorithm, own = LEARNERS[player]
    keywords = {**network, **own}
    settings = settings_for(SPEC.name, algorithm=algorithm, steps=steps, environment=keywords)
    model = train(SPEC.name, settings)
    given = {"keywords": settings.environment, "settings": settings.to_dict()}
    agent = agent_from_sb3(model, SPEC.name, steps=settings.steps, seeds=[0], seconds=0.0, **given)

    def choose(batch: KernelBatch) -> Step:
        act = chooser(batch, agent, range(FIRST_SEED, FIRST_SEED + episodes))
        return lambda _: act()

    return settings.steps, travel_times(choose, episodes, keywords)


def attention(network: Keywords, steps: int | None, episodes: int) -> tuple[int, np.ndarray]:
    """The same of the example."""
    path = Path(__file__).parents[1] / "examples" / "attention_signals.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    arguments = example.parser.parse_args([] if steps is None else ["--steps", str(steps)])
    torch.set_num_threads(1)
    agent = example.learn(arguments, network)
    return arguments.steps, travel_times(lambda _: agent.act, episodes, network)


def row(name: str, player: str, steps: int | None, episodes: int) -> str:
    network, start = NETWORKS[name], time.process_time()
    done = 0
    if player in SCRIPTED:
        times = travel_times(lambda _: lambda batch: batch.player_actions(player), episodes, network)
    elif player in LEARNERS:
        done, times = learnt(player, network, steps, episodes)
    else:
        done, times = attention(network, steps, episodes)
    half = 1.96 * times.std(ddof=1) / math.sqrt(len(times))
    print(f"{name}, {player}: {time.process_time() - start:.0f} s of the processor", flush=True)
    return f"| {name} | {player} | {f'{done:,}' if done else ''} | {times.mean():.1f} ± {half:.1f} |"


def written(rows: list[str], episodes: int) -> str:
    """The page with these rows in place of those of the same network and player."""
    page = TABLE.read_text(encoding="utf-8").splitlines() if TABLE.exists() else []
    known = {tuple(line.split(" | ")[:2]): line for line in [*page, *rows] if line.count(" | ") == 3}
    order = [(f"| {name}", player) for name in NETWORKS for player in PLAYERS]
    return HEAD.format(episodes=episodes) + "".join(f"{known[key]}\n" for key in order if key in known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", nargs="*", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--players", nargs="*", choices=PLAYERS, default=list(PLAYERS))
    parser.add_argument("--steps", type=int, help="of each training; by default those of the settings")
    parser.add_argument("--episodes", type=int, default=10)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    rows = []
    for name in options.networks:
        for player in options.players:
            rows.append(row(name, player, options.steps, options.episodes))
            print(rows[-1], flush=True)
            if options.write:
                TABLE.write_text(written(rows, options.episodes), encoding="utf-8")


if __name__ == "__main__":
    main()
