"""Generals: armies on a board in the fog of war."""

from rlenvs.core.registry import register

register("Generals-v0", "rlenvs.multi.generals.generals:SPEC", ("multi-agent", "multi-objective", "safe"))
