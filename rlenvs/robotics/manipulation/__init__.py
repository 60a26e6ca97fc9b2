"""Tasks of a Panda arm on a table, simulated by MuJoCo. One file per task; the arm and code shared by all tasks are
separate."""
