"""The Rubik's cube: turns of a cube of any size, and the table of the 2 x 2 x 2 cube."""
