"""Physics-based worlds, a folder per family."""
