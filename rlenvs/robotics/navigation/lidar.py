"""The pseudo-lidar: the closeness of the nearest object of one kind, in bins of direction around the robot.

An object at distance d sets the bin of its bearing to max(0, R - d) / R. It also appears in both neighboring bins, in
proportion to its position within its bin, so the reading changes smoothly when an object crosses from bin to bin.
Source: Ray, Achiam and Amodei, "Benchmarking Safe Exploration in Deep Reinforcement Learning", 2019 (Safety Gym).
"""

import math

from rlenvs.core import kernel, maths


@kernel
def scan(lidar, objects, x, y, heading, reach):
    """Fill `lidar` (bins,), 0 for nothing to 1 for here, with what a robot at x, y sees of `objects` (n, 2)."""
    bins = lidar.shape[0]
    for k in range(bins):
        lidar[k] = 0.0
    cosine, sine = maths.cos(heading), maths.sin(heading)
    for j in range(objects.shape[0]):
        dx, dy = objects[j, 0] - x, objects[j, 1] - y
        closeness = max(0.0, reach - math.sqrt(dx * dx + dy * dy)) / reach
        bearing = maths.atan2(cosine * dy - sine * dx, cosine * dx + sine * dy) % (2.0 * math.pi)
        place = bearing / (2.0 * math.pi) * bins
        whole = int(place)
        part = place - whole
        here, after, before = whole % bins, (whole + 1) % bins, (whole + bins - 1) % bins
        lidar[here] = max(lidar[here], closeness)
        lidar[after] = max(lidar[after], part * closeness)
        lidar[before] = max(lidar[before], (1.0 - part) * closeness)
