"""Sokoban: levels as text, rooms of our own, solver."""
