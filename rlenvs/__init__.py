"""rlenvs: reinforcement-learning environments, one definition behind every API.

`import rlenvs` registers the ids; make environments with `gymnasium.make("rlenvs/QuadHover-v0")`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from rlenvs.core.catalogue.foreign import check_distribution
from rlenvs.core.catalogue.registry import register_catalogue, watch_pettingzoo
from rlenvs.core.declare.lazy import lazy_names
from rlenvs.version import __version__ as __version__

check_distribution(Path(__file__).parents[1])
register_catalogue(Path(__file__).with_name("catalogue.json"))
watch_pettingzoo()

if TYPE_CHECKING:
    from rlenvs.agents.benchmarks import benchmark as benchmark
    from rlenvs.agents.cross_play import cross_play as cross_play
    from rlenvs.agents.decision_frequency import evaluate_frequencies as evaluate_frequencies
    from rlenvs.agents.evaluate import evaluate as evaluate
    from rlenvs.agents.evaluate import normalized_score as normalized_score
    from rlenvs.agents.files import load_agent as load_agent
    from rlenvs.agents.live import LiveCurveCallback as LiveCurveCallback
    from rlenvs.agents.notebook import show_episode as show_episode
    from rlenvs.agents.protocols import protocol as protocol
    from rlenvs.agents.robustness import evaluate_robustness as evaluate_robustness
    from rlenvs.agents.teacher import collect_snapshots as collect_snapshots
    from rlenvs.agents.tournament import tournament as tournament
    from rlenvs.core.batch.simulate import PlanRollouts as PlanRollouts
    from rlenvs.core.batch.simulate import rollout_plans as rollout_plans
    from rlenvs.core.catalogue.links import from_link as from_link
    from rlenvs.core.catalogue.make import aec_env as aec_env
    from rlenvs.core.catalogue.make import make as make
    from rlenvs.core.catalogue.make import make_batch as make_batch
    from rlenvs.core.catalogue.make import make_vec as make_vec
    from rlenvs.core.catalogue.make import parallel_env as parallel_env
    from rlenvs.core.catalogue.make import text_env as text_env
    from rlenvs.core.catalogue.make import text_parallel_env as text_parallel_env
    from rlenvs.core.catalogue.registry import list_envs as list_envs
    from rlenvs.core.catalogue.registry import register as register
    from rlenvs.core.check import check_env as check_env
    from rlenvs.integrations.sb3 import as_sb3 as as_sb3
    from rlenvs.integrations.sb3 import sb3_vec_env as sb3_vec_env
    from rlenvs.kits.tables.constrained import solve_constrained as solve_constrained
    from rlenvs.kits.tables.solve import solve_mdp as solve_mdp
    from rlenvs.wrappers.forms import wrap as wrap
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "agents.benchmarks": "benchmark",
            "agents.cross_play": "cross_play",
            "agents.decision_frequency": "evaluate_frequencies",
            "agents.evaluate": "evaluate normalized_score",
            "agents.files": "load_agent",
            "agents.live": "LiveCurveCallback",
            "agents.notebook": "show_episode",
            "agents.protocols": "protocol",
            "agents.robustness": "evaluate_robustness",
            "agents.teacher": "collect_snapshots",
            "agents.tournament": "tournament",
            "core.check": "check_env",
            "core.catalogue.links": "from_link",
            "core.catalogue.make": "make make_batch make_vec parallel_env aec_env text_env text_parallel_env",
            "core.catalogue.registry": "list_envs register",
            "core.batch.simulate": "rollout_plans PlanRollouts",
            "kits.tables.constrained": "solve_constrained",
            "kits.tables.solve": "solve_mdp",
            "integrations.sb3": "sb3_vec_env as_sb3",
            "wrappers.forms": "wrap",
        },
    )
