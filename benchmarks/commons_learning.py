"""Harvest, learnt by selfish agents, by agents that are paid what all get, and by agents that mind inequity.

All are trained here, with one seed and the settings of the level "small" (two agents, 200 steps), in some minutes, and
play it paid what each gets, on the same seeds as random actions, the scripted cooperator and the scripted harvester.
`--write` puts the table into benchmarks/commons_learning.md.
"""

import argparse
from dataclasses import replace
from pathlib import Path

from dilemma_agents import cell, mean_of, played

from rlenvs.agents.agent import Agent
from rlenvs.agents.export import agent_from_sb3
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.train import train

ID = "Harvest-v0"
MEASURES = {
    "apples of an agent": mean_of("efficiency"),
    "sustainability": mean_of("sustainability"),
    "equality": mean_of("equality"),
    "shots of an agent": mean_of("shot", -1.0),
}
LEARNERS = {
    "own": "PPO, own reward",
    "collective": "PPO, collective reward",
    "inequity": "PPO, inequity aversion",
}
PAGE = """# Harvest: selfish learners and remedies

`python benchmarks/commons_learning.py --write`: {episodes} episodes at level "small" (two agents, 200 steps), seeds 0
on, with 95 % intervals over these; one training of each learner, {steps} steps of PPO. Sustainability is the mean step
in which an apple was taken. Inequity aversion is that of Hughes et al. (NeurIPS 2018), with the world's envy and guilt.

"""


def learnt(reward: str, steps: int) -> Agent:
    """What PPO learns from a reward."""
    settings = settings_for(ID, steps=steps, environment={"level": "small"})
    settings = replace(settings, training={"reward": reward})
    model = train(ID, settings)
    given = {"keywords": settings.environment, "settings": settings.to_dict()}
    return agent_from_sb3(model, ID, steps=steps, seeds=[0], seconds=0.0, **given)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--steps", type=int, default=settings_for(ID, environment={"level": "small"}).steps)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = [f"| agents | {' | '.join(MEASURES)} |", "|---" * (1 + len(MEASURES)) + "|"]
    print("\n".join(lines))
    for name in ("random", "expert", "harvester", *LEARNERS):
        policy = learnt(name, options.steps) if name in LEARNERS else name
        sums = played(ID, policy, options.episodes, level="small")
        cells = [LEARNERS.get(name, name), *(cell(measure(sums)) for measure in MEASURES.values())]
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if options.write:
        page = PAGE.format(episodes=options.episodes, steps=options.steps)
        Path(__file__).with_suffix(".md").write_text(page + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
