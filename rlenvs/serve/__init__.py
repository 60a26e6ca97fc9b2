"""Environments for others: in words to language agents, over MCP and OpenEnv; in arrays to trainers, over bridges.

`sessions` holds who plays what in words, `mcp_server` and `openenv_server` speak the protocols, `guard` refuses
strangers and messages that are too long. `worlds` is what trainers play, `bridge_server` and `godot_game` are the
engine's sides of the protocols of `rlenvs.bridge`. `rlenvs serve ID --mcp`, `--openenv`, `--bridge` and `--godot` start
them.
"""

from rlenvs.serve.sessions import Limits as Limits
from rlenvs.serve.sessions import Session as Session
from rlenvs.serve.sessions import Sessions as Sessions
from rlenvs.serve.sessions import Turn as Turn
