"""Reference agents of rlenvs: files that `rlenvs.load_agent` finds. There is no code in this package."""
