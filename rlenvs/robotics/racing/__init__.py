"""Small cars with a lidar on closed tracks. A file per task; tracks and lidar in one shared file."""

from rlenvs.core.registry import register

KINDS = ("single", "robotics", "safe", "multi-objective")

register("MicroRacer-v0", "rlenvs.robotics.racing.micro_racer:SPEC", KINDS)
