"""rlenvs: reinforcement-learning environments, one definition behind every API.

`import rlenvs` registers the ids; make environments with `gymnasium.make("rlenvs/QuadHover-v0")`.
"""

from rlenvs import multi, robotics, single
from rlenvs.core.registry import list_envs, register, register_families, watch_pettingzoo

__version__ = "0.1.0"

register_families((single, multi, robotics))
watch_pettingzoo()

# public names whose modules are heavy: imported at first use
_LAZY = {
    "check": "rlenvs.core.check",
    "make": "rlenvs.core.make",
    "make_batch": "rlenvs.core.make",
    "make_vec": "rlenvs.core.make",
    "parallel_env": "rlenvs.core.make",
    "aec_env": "rlenvs.core.make",
    "text_env": "rlenvs.core.make",
    "text_parallel_env": "rlenvs.core.make",
    "sb3_vec_env": "rlenvs.integrations.sb3",
    "simulate": "rlenvs.core.simulate",
    "Simulator": "rlenvs.core.simulate",
    "evaluate": "rlenvs.agents.evaluate",
    "normalized_score": "rlenvs.agents.evaluate",
    "tournament": "rlenvs.agents.tournament",
    "load_agent": "rlenvs.agents.files",
    "wrap": "rlenvs.wrappers.forms",
    "as_sb3": "rlenvs.integrations.sb3",
    "collect_snapshots": "rlenvs.agents.teacher",
    "evaluate_robustness": "rlenvs.agents.robustness",
}

__all__ = ["list_envs", "register", *_LAZY]


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'rlenvs' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name]), name)
