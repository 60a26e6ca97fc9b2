"""What the data package adds to the installed one: a script that `run.py package` runs."""

from pathlib import Path

import rlenvs
from rlenvs.agents.store import REFERENCE, read_card, reference_agents, stores, wrong_sums

SOURCE = Path(__file__).parent.parent / "agents" / "rlenvs_agents"
HOME = stores()[1]
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"
assert stores() == [REFERENCE, HOME], stores()
assert wrong_sums(HOME) == []
assert {path.relative_to(HOME) for path in HOME.rglob("*.json")} == {
    path.relative_to(SOURCE) for path in SOURCE.rglob("*.json")
}
assert all(read_card(stem).score for stem in reference_agents())

agent, env = rlenvs.load_agent("QuadRace-v0", level="hard"), rlenvs.make("QuadRace-v0", level="hard")
assert agent.card.keywords == {"level": "hard"}
observation, info = env.reset(seed=0)
env.step(agent.act(observation)[0])
print(HOME, "works:", len(reference_agents()), "agents;", agent)
