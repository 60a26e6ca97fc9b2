"""Gathering: agents collect items of several kinds, each kind an objective."""
