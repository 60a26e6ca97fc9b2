"""Navigation with a lidar among hazards: robots, a lidar, one file per task."""
