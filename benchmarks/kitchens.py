"""Soups that cooks serve in the five kitchens of Overcooked: `python benchmarks/kitchens.py [--write]`.

The agent of each layout that has one plays with itself, on the same seeds as planners, greedy cooks and random actions.
`--write` puts the table into benchmarks/kitchens.md.
"""

import argparse
from pathlib import Path

from dilemma_agents import cell, played

import rlenvs
from rlenvs.agents.agent import Agent
from rlenvs.agents.store import own_agent

ID = "Overcooked-v0"
LAYOUTS = ("cramped_room", "asymm_advantages", "coord_ring", "forced_coord", "counter_circuit")
HEAD = """# Kitchens: soups in 400 steps

`python benchmarks/kitchens.py --write`: {episodes} episodes of two cooks, seeds 0 on, with 95 % intervals over these; a
soup is 20 in the returns that others publish. One training of each agent, with the settings of its card. For PPO in
self-play 200 to 240 (10 to 12 soups) are told of cramped_room, and less of coord_ring and counter_circuit; we have seen
no source that states these numbers.

"""


def learnt(level: str | None) -> Agent | None:
    """The agent of a layout, if there is one."""
    return rlenvs.load_agent(ID, level=level) if own_agent(ID, level) else None


def soups(level: str | None, policy: Agent | str | None, episodes: int) -> str:
    """Soups of an episode; "-" for nobody."""
    return cell(played(ID, policy, episodes, level=level)["served"][:, 0]) if policy else "-"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    lines = ["| layout | PPO | planners | greedy cooks | random |", "|---|---|---|---|---|"]
    print("\n".join(lines))
    for layout in LAYOUTS:
        level = None if layout == "cramped_room" else layout
        cells = (soups(level, policy, options.episodes) for policy in (learnt(level), "expert", "greedy", "random"))
        lines.append(f"| {layout} | {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if options.write:
        Path(__file__).with_suffix(".md").write_text(HEAD.format(episodes=options.episodes) + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
