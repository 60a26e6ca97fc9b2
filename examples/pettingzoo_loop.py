"""The PettingZoo loop: agents find paths through a warehouse without blocking each other."""

import pettingzoo

import rlenvs  # noqa: F401  (registers the ids)

MAP = """
..........
.##.##.##.
.##.##.##.
..........
.##.##.##.
.##.##.##.
..........
"""
print("Takes a few seconds; the first time half a minute more, to compile.", flush=True)
env = pettingzoo.make("parallel", "rlenvs/PathFinding-v0", map=MAP.strip(), agents=8, max_cycles=100)
observations, infos = env.reset(seed=0)
while env.agents:
    actions = env.expert_actions()  # or: {agent: policy(observations[agent]) for agent in env.agents}
    observations, rewards, terminations, truncations, infos = env.step(actions)
    for agent, reward in rewards.items():
        if reward > 0:
            print(f"{agent} arrived")
env.close()
