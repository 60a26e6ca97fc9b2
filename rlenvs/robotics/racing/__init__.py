"""Small cars with a lidar on closed tracks. One file per task; tracks and lidar are in a shared file."""
