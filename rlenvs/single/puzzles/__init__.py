"""Single-agent puzzles on boards."""
