"""Environments served to language agents elsewhere: text environments as sessions with snapshots, over MCP and OpenEnv.

`sessions` holds who plays what, `mcp_server` and `openenv_server` speak the protocols, `guard` refuses strangers and
messages that are too long. `rlenvs serve ID --mcp` and `rlenvs serve ID --openenv` start them.
"""

from rlenvs.serve.sessions import Limits as Limits
from rlenvs.serve.sessions import Session as Session
from rlenvs.serve.sessions import Sessions as Sessions
from rlenvs.serve.sessions import Turn as Turn
