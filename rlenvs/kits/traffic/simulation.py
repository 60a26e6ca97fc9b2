"""One step of time of all traffic."""

from rlenvs.core import kernel
from rlenvs.kits.traffic.cars import advance_all
from rlenvs.kits.traffic.collisions import collide_all
from rlenvs.kits.traffic.lane_lists import list_lanes, sort_bodies


@kernel
def move_all(net, c, dt):
    """Move all cars for a time [s], let them collide, and find where they are."""
    advance_all(c, dt)
    sort_bodies(c)
    collide_all(c, dt)
    list_lanes(net, c)
