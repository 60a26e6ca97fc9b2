"""What the installed package has to do without its source tree: a script that `run.py package` runs."""

import importlib.metadata
from pathlib import Path

import rlenvs

SOURCE = Path(__file__).parent.parent / "rlenvs"
HOME = Path(rlenvs.__file__).parent
assert "site-packages" in HOME.parts, f"{HOME} is the source tree"


def files(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*.*") if "__pycache__" not in path.parts}


assert files(HOME) == files(SOURCE), files(HOME) ^ files(SOURCE)
installed = {str(file).partition("/")[0] for file in importlib.metadata.files("rlenvs") if file.parts[0] != ".."}
assert installed == {"rlenvs", f"rlenvs-{rlenvs.__version__}.dist-info"}, installed
assert importlib.metadata.version("rlenvs") == rlenvs.__version__

agent = rlenvs.load_agent("QuadHover-v0")
env = rlenvs.make("QuadHover-v0", render_mode="rgb_array")
observation, info = env.reset(seed=0)
observation, reward, terminated, truncated, info = env.step(agent.act(observation)[0])
print(HOME, "works:", reward, env.render().shape)
