"""Generals: armies on a board in the fog of war."""
