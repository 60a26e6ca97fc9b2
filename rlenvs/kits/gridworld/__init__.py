"""Worlds of cells with objects: a view ahead, doors, keys, boxes, balls, lava, goals, with the numbers of MiniGrid."""
