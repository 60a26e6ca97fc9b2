"""Make reference agents anew: train with the settings of the environment or level, measure, put in their place.

    python benchmarks/make_agents.py                              # all that exist; some hours
    python benchmarks/make_agents.py PandaStack-v0-hard QuadHover-v0
    python benchmarks/make_agents.py --measure QuadHover-v0       # play it again, and write the score into its card

A name is an id, with the level behind it where that is to have an agent of its own. Runs lie in `runs/reference/`; one
that is there already is not trained again, only measured and put in its place. Weights are written as float16, and the
score on the card is that of the rounded ones. Afterwards: `rlenvs scores --write docs/scores.md` and
`python benchmarks/levels.py --write`.
"""

import argparse
from pathlib import Path

from rlenvs.agents.files import REFERENCE, load_agent, reference_agents, save_agent, with_score
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.runs import SETTINGS, run
from rlenvs.agents.scores import measure
from rlenvs.core.registry import world_of


def split(name: str) -> tuple[str, str | None]:
    """Id and level (None: the defaults) of a name."""
    id, version, level = name.partition("-v0")
    world = world_of(id + version)
    if level and level[1:] not in world.levels:
        raise SystemExit(f"{world.name} has no level {level[1:]!r}; it has {', '.join(world.levels)}")
    return id + version, level[1:] or None


def make(name: str, runs: Path, to: Path) -> str:
    """Train where there is no finished run, measure, and write; a line on what came of it."""
    id, level = split(name)
    folder = runs / name
    settings = settings_for(id, environment={} if level is None else {"level": level})
    run(id, settings, folder, resume=(folder / SETTINGS).exists(), tensorboard=False)
    save_agent(to / name, load_agent(folder / "agent"), half=True)
    return measured(name, to, to)


def measured(name: str, at: Path, to: Path) -> str:
    """Measure the agent that is there on the seeds of its card, and write it with the score."""
    agent = load_agent(at / name)
    before = agent.card.score
    score = measure(agent) if before is None else measure(agent, before.seeds, before.first_seed, before.against)
    save_agent(to / name, with_score(agent, score), half=True)
    scale = "" if score.normalized is None else f", normalised {score.normalized:.3f}"
    return f"{name}: {score.mean:.4g} ± {score.half_width:.2g}{scale}"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="agents; all that exist by default")
    options.add_argument("--runs", type=Path, default=Path("runs/reference"), help="folder of the runs")
    options.add_argument("--measure", action="store_true", help="only measure, and write the scores")
    options.add_argument("--to", type=Path, default=REFERENCE, help="folder of the agents")
    given = options.parse_args()
    for name in given.names or [stem.name for stem in reference_agents()]:
        print(measured(name, REFERENCE, given.to) if given.measure else make(name, given.runs, given.to), flush=True)


if __name__ == "__main__":
    main()
