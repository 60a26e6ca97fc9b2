"""Multi-agent path finding on grids."""
