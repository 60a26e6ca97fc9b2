"""Worlds of several agents with rigid bodies in the plane."""
