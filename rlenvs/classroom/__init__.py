"""Exercises that grade themselves: `rlenvs grade SUBMISSION`."""
