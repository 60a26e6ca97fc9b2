"""Single-agent worlds, a folder per family."""
