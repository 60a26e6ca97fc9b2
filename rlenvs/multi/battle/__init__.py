"""Battles of units on a plane, as in StarCraft micromanagement."""
