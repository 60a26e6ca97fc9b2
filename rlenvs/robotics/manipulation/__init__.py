"""Tasks of a Panda arm on a table, simulated by MuJoCo: the arm, what all tasks share, a file per task."""

from rlenvs.core.registry import register

GOAL = ("single", "robotics")

register("PandaReach-v0", "rlenvs.robotics.manipulation.reach:SPEC", GOAL)
