"""Multi-agent path finding on grids."""

from rlenvs.core.registry import register

register("PathFinding-v0", "rlenvs.multi.pathfinding.path_finding:SPEC", ("multi-agent", "multi-objective", "safe"))
