"""Finite worlds with several objectives; `rlenvs.pareto` computes their exact Pareto fronts."""
