"""Exploration tasks: unknown terrain, mazes of rooms with doors and keys, an open-world survival game."""
