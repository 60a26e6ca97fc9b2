"""Physics-based worlds, one folder per family."""
