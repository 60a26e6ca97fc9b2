"""Sokoban: levels as text, generated rooms, solver."""
