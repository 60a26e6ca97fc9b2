"""Compiled loops ahead of their use: a library per kind of world and processor, without numba and Python."""
