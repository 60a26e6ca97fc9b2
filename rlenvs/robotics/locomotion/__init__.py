"""Walking and running, simulated by MuJoCo: Gymnasium's robots, with a speed limit as a cost."""
