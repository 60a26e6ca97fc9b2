"""Multi-agent worlds, a folder per family."""
