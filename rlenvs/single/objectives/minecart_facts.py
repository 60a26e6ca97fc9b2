"""Minecart's actions and units, and where its mines lie as published: what its files share."""

import math

DIG, LEFT, RIGHT, ACCELERATE, BRAKE, NONE = range(6)
MINES = (  # x, y, mean of each ore per frame of digging
    (0.16, 0.84, 0.2, 0.0),
    (0.5, 0.84, 0.15, 0.1),
    (0.84, 0.84, 0.2, 0.2),
    (0.84, 0.5, 0.1, 0.15),
    (0.84, 0.16, 0.0, 0.2),
)
START = 45.0  # degrees
RADIANS = math.pi / 180.0
