"""Environments that run in engines outside, over a socket: games of Godot RL Agents, and engines that speak our own
protocol.

`godot` is the trainer's side of Godot RL Agents' protocol 0.7, `remote` the trainer's side of our own. `wire`, `layout`
and `spaces` are what both sides share; the engine's sides are in `rlenvs.serve`. docs/bridges.md has all messages.
"""

from typing import TYPE_CHECKING

from rlenvs.core.declare.lazy import lazy_names

if TYPE_CHECKING:
    from rlenvs.bridge.godot import GodotGame as GodotGame
    from rlenvs.bridge.godot import GodotParallelEnv as GodotParallelEnv
    from rlenvs.bridge.godot import GodotVectorEnv as GodotVectorEnv
    from rlenvs.bridge.remote import RemoteEngine as RemoteEngine
    from rlenvs.bridge.remote import RemoteParallelEnv as RemoteParallelEnv
    from rlenvs.bridge.remote import RemoteVectorEnv as RemoteVectorEnv
else:
    __all__, __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "godot": "GodotGame GodotParallelEnv GodotVectorEnv",
            "remote": "RemoteEngine RemoteParallelEnv RemoteVectorEnv",
        },
    )
