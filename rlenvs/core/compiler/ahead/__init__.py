"""Compiled loops ahead of their use: one library per kind of world and processor, which needs neither numba nor Python."""
