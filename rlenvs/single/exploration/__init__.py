"""Worlds to be explored: unknown terrain, mazes of rooms with doors and keys, an open world to live in."""
