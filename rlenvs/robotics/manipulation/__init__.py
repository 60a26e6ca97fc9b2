"""Tasks of a Panda arm on a table, simulated by MuJoCo. The arm, what all tasks share, a file per task."""
