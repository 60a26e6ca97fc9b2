"""Social dilemmas: matrix games, the coin game, STORM, Harvest and Cleanup."""
