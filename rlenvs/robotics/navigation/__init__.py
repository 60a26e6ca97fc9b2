"""A robot with a lidar that drives among things to keep away from. Robots, a lidar, a file per task."""
