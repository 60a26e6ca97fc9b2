"""The command line: `rlenvs` or `python -m rlenvs`. Heavy imports happen inside the commands."""

from rlenvs.cli import environments, serve, fronts, agents, lockstep, scores, benchmark, classroom, machine  # noqa: F401, I001  (commands are listed in this order)
from rlenvs.cli.common import app as app
