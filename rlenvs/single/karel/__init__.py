"""Karel the robot: tasks on grids that are solved by short programs."""
