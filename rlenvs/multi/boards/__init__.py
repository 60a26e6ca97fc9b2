"""Turn-based board games."""
