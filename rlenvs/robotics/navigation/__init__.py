"""Navigation on the plane among things to keep away from: robots, a lidar, a file per task."""

from rlenvs.core.registry import register

register(
    "SafePointGoal-v0",
    "rlenvs.robotics.navigation.point_goal:SPEC",
    ("single", "robotics", "safe", "multi-objective"),
)
