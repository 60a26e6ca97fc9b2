"""What the installed package has to do without its source tree and without the data package: a script that `run.py
package` runs, with the source distribution as argument."""

import importlib.metadata
import sys
import tarfile
from pathlib import Path

import rlenvs
from rlenvs.agents.store import REFERENCE, reference_agents, stores, wrong_sums
from rlenvs.core.declare.errors import NoAgentError
from rlenvs.version import DISTRIBUTION

SOURCE = Path(__file__).parent.parent / "rlenvs"
HOME = Path(rlenvs.__file__).parent
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*.*") if "__pycache__" not in path.parts}


assert files(HOME) == files(SOURCE), files(HOME) ^ files(SOURCE)
installed = {str(file).partition("/")[0] for file in importlib.metadata.files(DISTRIBUTION) if file.parts[0] != ".."}
assert installed == {"rlenvs", f"rlenvs_suite-{rlenvs.__version__}.dist-info"}, installed
assert importlib.metadata.version(DISTRIBUTION) == rlenvs.__version__

for archive in sys.argv[1:]:
    with tarfile.open(archive) as file:
        within = {name.split("/")[1] for name in file.getnames() if "/" in name}
    assert {"rlenvs", "tests", "pyproject.toml"} <= within, within
    assert "agents" not in within, "the agents have a package of their own"

assert stores() == [REFERENCE], stores()
assert len(reference_agents()) == 12
assert wrong_sums(REFERENCE) == []
said = ""
try:
    rlenvs.load_agent("QuadRace-v0")
except NoAgentError as error:
    said = str(error)
assert "rlenvs-suite-agents: pip install ./agents" in said, said

agent = rlenvs.load_agent("QuadHover-v0")
env = rlenvs.make("QuadHover-v0", render_mode="rgb_array")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(agent.act(observation)[0])
print(HOME, "works:", reward, env.render().shape)
