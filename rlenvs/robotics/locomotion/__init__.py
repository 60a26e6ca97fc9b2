"""Walking and running, simulated by MuJoCo: Gymnasium's robots, with a limit of speed as a cost."""
