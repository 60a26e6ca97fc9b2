"""Finite worlds with several objectives, their exact fronts computed by `rlenvs.pareto`."""
