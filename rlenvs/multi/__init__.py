"""Multi-agent worlds, one folder per family."""
