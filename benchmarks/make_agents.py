"""Publish agents: put those of finished runs among the reference agents, or measure reference agents anew.

    rlenvs train PandaStack-v0 --level hard --output runs/stack
    python benchmarks/make_agents.py runs/stack/seed-0               # the agent and its learning curve
    python benchmarks/make_agents.py --curves runs/stack/seed-1      # of a further seed, the learning curve alone
    python benchmarks/make_agents.py --measure PandaStack-v0         # play its agents again, and write their scores
    python benchmarks/make_agents.py --sums                          # the lists of hashes, after changes by hand

Agents go to agents/rlenvs_agents, or to rlenvs/agents/reference where that has one of the same name. Afterwards:
`rlenvs scores --write docs/scores.md` and `python benchmarks/levels.py --write`.
"""

import argparse
from pathlib import Path

from rlenvs.agents.files import load_agent, save_agent, with_score
from rlenvs.agents.publish import publish, publish_curve
from rlenvs.agents.scores import measure
from rlenvs.agents.store import reference_agents, stores, title, write_sums
from rlenvs.core.catalogue.registry import world_of


def told(stem: Path) -> str:
    """A line on an agent that was measured."""
    card = load_agent(stem).card
    score = card.score
    scale = "" if score.normalized is None else f", normalised {score.normalized:.3f}"
    return f"{title(stem)}, {card.learner}: {score.mean:.4g} ± {score.half_width:.2g}{scale}"


def measured(stem: Path, to: Path) -> Path:
    """Play an agent again on the seeds of its card, and write it with the score into a store."""
    agent = load_agent(stem)
    before = agent.card.score
    score = measure(agent) if before is None else measure(agent, before.seeds, before.first_seed, before.against)
    place = to / stem.parent.name / stem.name
    place.parent.mkdir(parents=True, exist_ok=True)
    save_agent(place, with_score(agent, score), half=True)
    write_sums(to)
    return place


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", nargs="*", help="folders of runs; with --measure environments, such as QuadRace-v0")
    options.add_argument("--to", type=Path, help="store, a folder; by default the one where the agent belongs")
    options.add_argument("--name", help="of the files, such as PPO for the best of several seeds")
    task = options.add_mutually_exclusive_group()
    task.add_argument("--curves", action="store_true", help="publish learning curves alone")
    task.add_argument("--measure", action="store_true", help="measure reference agents")
    task.add_argument("--sums", action="store_true", help="write the lists of hashes")
    given = options.parse_args()
    if given.sums:
        for store in stores():
            print(write_sums(store))
    for what in given.what:
        if given.measure:
            for stem in reference_agents(world_of(what).name):
                print(told(measured(stem, given.to or stem.parents[1])), flush=True)
        elif given.curves:
            print(publish_curve(what, given.to), flush=True)
        else:
            print(told(publish(what, given.name, given.to)), flush=True)


if __name__ == "__main__":
    main()
