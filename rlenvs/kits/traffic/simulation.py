"""One step of time of all traffic."""

from rlenvs.core import kernel
from rlenvs.kits.traffic.cars import advance, locate, sort_bodies
from rlenvs.kits.traffic.collisions import collide_all


@kernel
def move_all(net, c, dt):
    """Move all cars for a time [s], let them collide, and find where they are."""
    for i in range(c.movers):
        c.timer[i] += dt
        advance(c, i, dt)
    sort_bodies(c)
    collide_all(c, dt)
    locate(net, c)
