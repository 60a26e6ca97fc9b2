"""A robot with a lidar that drives among things to keep away from. Robots, a lidar, a file per task."""

from rlenvs.core.registry import register

register(
    "SafePointGoal-v0",
    "rlenvs.robotics.navigation.point_goal:SPEC",
    ("single", "robotics", "safe", "multi-objective"),
)
