"""Quadcopters: one vehicle model, a file per task."""

from rlenvs.core.registry import register

register("QuadHover-v0", "rlenvs.robotics.quadcopter.hover:SPEC", ("single", "robotics", "safe", "multi-objective"))
