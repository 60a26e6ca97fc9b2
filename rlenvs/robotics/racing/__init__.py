"""Small cars with a lidar on closed tracks. A file per task; tracks and lidar in one shared file."""
