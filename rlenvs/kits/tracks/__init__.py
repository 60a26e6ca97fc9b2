"""Closed roads for cars: one strip of cells, and everything a car asks of it in constant time or in one walk.

- `road`: the strip; `locate` with a hint, progress and offset, distances to borders, contact of a body, places, grip
  patches, checkpoints. Fields and columns are described there.
- `lidar`: exact scans of any number of beams, other cars included.
- `files`: roads from points, CSV files and names, with every fault refused in plain words.
- `generator`: random roads with a difficulty, in kernels or in plain Python.
- `line`: a line of little curvature on a road, the speeds that friction allows on it, and lap times.
- `splines`: periodic cubic splines.

A world with a fixed road has it in its data and one that draws a road for every episode in its persistent state
(`generator.ROAD_STATE`); the kernels take the array, wherever it lies:

    s.cell[k] = locate(s.road, s.cell[k], x, y)
    progress, offset = coordinates(s.road, s.cell[k], x, y)
    r.progress[k] = gained(length, s.progress[k], progress)
    scan(s.road, s.cell[k], x, y, cos, sin, p.beams, view, 30.0, s.lidar[k])
"""
