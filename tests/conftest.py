import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")
os.environ["RLENVS_QUIET"] = "1"  # what is said of progress depends on how fast the machine is

import pytest
from hypothesis import settings

settings.register_profile("rlenvs", deadline=None)
settings.load_profile("rlenvs")


@pytest.fixture
def saved(tmp_path):
    """The stem of the files of an agent for QuadHover-v0."""
    from rlenvs.agents.files import save_agent
    from tests.agent_helpers import HOVER, agent_for

    save_agent(tmp_path / "mine", agent_for(HOVER))
    return tmp_path / "mine"
