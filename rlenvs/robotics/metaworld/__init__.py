"""Meta-World's tasks of a Sawyer arm over a table, simulated by MuJoCo: one kind, of which each task is a member."""
