"""Boards of cells: maps in letters and text, and their images."""
