"""Traffic of RouteDrive's towns, in kernels: other cars on endless routes, pedestrians, and the removal of cars.

Cars are the kit's (`rlenvs.kits.traffic`): they follow the car ahead, obey speed limits, stop at red lights and stop
signs, give way at junctions, and stop for pedestrians. A car that has crashed, or has stood still for long, is removed
and reappears in another street, out of the ego car's sight.
"""

import functools
import math

import numpy as np

from rlenvs.core import below, kernel, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.roads.lanes import END, FIRST, LENGTH, LIMIT, OUT, ROAD, point_on
from rlenvs.kits.roads.towns import Town, side_by_side
from rlenvs.kits.traffic.cars import put_on_lane
from rlenvs.kits.traffic.drivers import LIMIT_OF, become_driver
from rlenvs.kits.traffic.pedestrians import place_walkers, put_walker
from rlenvs.kits.traffic.signals import signal_table
from rlenvs.robotics.driving.town_cars import DT

SLOT = 8.0  # m, of a street for one car at the start
MARGIN = 4.0  # m of a street's ends that are no place to start
STAGES = 4  # roads that other cars know of their ways
CALM_PLACE, FAR_PLACE = 14.0, 60.0  # m from other cars, and from the ego car, of a place for a car that comes back
WRECK, STUCK = 5.0, 30.0  # s until a crashed car, and one that stands, is taken off the road
STANDING = 0.3  # m/s
ON_SLOT = 2.0  # m from the middle of a slot: who starts on it is nearer, others are farther


@functools.lru_cache(maxsize=8)
def towns_of(town, towns, columns, rows):
    """Static data of some towns side by side, by the seed of the first."""
    made = [Town(town + n, columns, rows) for n in range(towns)]
    roads, signals, crossings = side_by_side(made)
    names = [start for one in made for start, _ in one.network.roads]
    streets = np.array([int(" out " in name) for name in names], np.int64)
    lane_towns = np.repeat(np.arange(towns), [len(one.network.lanes) for one in made])
    slots, slot_towns = [], []
    for k in np.flatnonzero(streets):
        count = int((roads["lane"][k, LENGTH] - MARGIN) // SLOT)
        slots += [(float(k), MARGIN + SLOT * (n + 0.5)) for n in range(count)]
        slot_towns += [lane_towns[k]] * count
    spans = [np.searchsorted(slot_towns, [n, n + 1]) for n in range(towns)]
    places = np.cumsum([0, *(len(one.crossings) for one in made)])
    return {
        **roads,
        **signal_table(signals),
        "crossing": crossings,
        "street": streets,
        "slot": np.array(slots),
        "slots_of": np.array(spans, np.int64),
        "crossings_of": np.stack([places[:-1], places[1:]], 1),
    }


def data_of(values):
    """The same for values of options.

    Raises:
        ParameterError: more cars than a town has places.
    """
    data = towns_of(values.town, values.towns, values.columns, values.rows)
    room = int((data["slots_of"][:, 1] - data["slots_of"][:, 0]).min())
    if values.cars + 1 > room // 2:
        raise ParameterError(f"cars={values.cars} do not fit into a town with room for {room // 2 - 1}")
    return data


# --- starts -----------------------------------------------------------------------------------------------------------


@kernel
def some_exit(p, road, rng):
    """A random road out of the end of a road."""
    node, count = p.road[road, END], 0
    for n in range(p.branch.shape[2]):
        if p.branch[node, OUT, n] >= 0:
            count += 1
    return p.branch[node, OUT, below(rng, count)]


@kernel
def choose_way(p, s, rng):
    """The ego car's way: from its place on a random walk, `route_length` metres long."""
    lane = int(s.way[0])
    total, n = p.lane[lane, LENGTH] - s.start, 0
    while total < p.route_length and n < s.way.size - 1:
        lane = p.road[some_exit(p, p.lane_at[lane, ROAD], rng), FIRST]
        n += 1
        s.way[n] = lane
        total += p.lane[lane, LENGTH]
    s.legs = n + 1
    s.goal_at = p.lane[lane, LENGTH] - max(total - p.route_length, 0.0)


@kernel
def prepare(p, s, i, rng):
    """Make car i a driver on its way."""
    become_driver(p.drivers, s, i, 0, rng)
    k = s.lane_of[i]
    s.target_speed[i], s.changes[i] = p.lane[k, LIMIT], False
    s.route[i, 0] = p.lane_at[k, ROAD]
    for n in range(1, STAGES):
        s.route[i, n] = some_exit(p, s.route[i, n - 1], rng)
    s.stage[i], s.idle[i] = 0, 0.0
    s.halted[i], s.line_lane[i] = -1, -1


@kernel
def put_in_slot(p, s, i, n, at, speed):
    """Put car i onto a place of the streets."""
    put_on_lane(p, s, i, int(p.slot[n, 0]), p.slot[n, 1] + at, speed)


@kernel
def place_for(p, s, i, rng):
    """A slot for car i that is not next to those of other cars; where there is none, one without a car."""
    first, last = p.slots_of[s.town, 0], p.slots_of[s.town, 1]
    n = first + below(rng, last - first)
    for _ in range(last - first):
        if not s.taken[n]:
            return n
        n = n + 1 if n + 1 < last else first
    for _ in range(last - first):
        x, y = point_on(p, int(p.slot[n, 0]), p.slot[n, 1], 0.0)
        alone = True
        for j in range(i):
            alone = alone and apart(s, j, x, y) > ON_SLOT
        if alone:
            break
        n = n + 1 if n + 1 < last else first
    return n


@kernel
def place_cars(p, s, rng):
    """All cars at places of the town of their own: a slot each, with no car on the next one where there is room for
    that; the ego car first."""
    first, last = p.slots_of[s.town, 0], p.slots_of[s.town, 1]
    for i in range(p.cars + 1):
        n = place_for(p, s, i, rng)
        for m in range(max(n - 1, first), min(n + 2, last)):
            s.taken[m] = True
        shift = uniform(rng, -1.0, 1.0)
        put_in_slot(p, s, i, n, shift, 0.0 if i == 0 else uniform(rng, 0.0, 6.0))
        if i == 0:
            s.start, s.way[0] = p.slot[n, 1] + shift, int(p.slot[n, 0])
        else:
            prepare(p, s, i, rng)


@kernel
def place_pedestrians(p, s, rng):
    """Pedestrians at the crossings of the town, in turn from a random one on."""
    place_walkers(p, s, rng, p.bold)
    first, last = p.crossings_of[s.town, 0], p.crossings_of[s.town, 1]
    shift = below(rng, last - first)
    for n in range(s.walker_at.size):
        s.walker_crossing[n] = first + (n + shift) % (last - first)
        put_walker(p, s, n)


# --- on the way -------------------------------------------------------------------------------------------------------


@kernel
def settle(p, s):
    """Let cars that brake hard stop and not roll back, and those that give way come to a halt and stay there."""
    for i in range(1, s.movers):
        stop = -max(s.speed[i], 0.0) / DT
        if s.yielding[i]:
            s.acceleration[i] = max(stop, -p.drivers[0, LIMIT_OF])
        s.acceleration[i] = max(s.acceleration[i], stop)


@kernel
def go_on(p, s, rng):
    """Give cars new roads behind those that they know, and take away who has crashed or stood for long."""
    for i in range(1, s.movers):
        done = s.stage[i]
        if done > 0:
            for n in range(STAGES):
                old = s.route[i, n + done] if n + done < STAGES else -1
                s.route[i, n] = old if old >= 0 else some_exit(p, s.route[i, n - 1], rng)
            s.stage[i] = 0
        if not s.crashed[i] and abs(s.speed[i]) > STANDING:
            s.idle[i] = 0.0
            continue
        s.idle[i] += DT
        if s.idle[i] > (WRECK if s.crashed[i] else STUCK):
            come_back(p, s, i, rng)


@kernel
def come_back(p, s, i, rng):
    """Put car i elsewhere, if a few tries find a place."""
    first, last = p.slots_of[s.town, 0], p.slots_of[s.town, 1]
    for _ in range(4):
        n = first + below(rng, last - first)
        x, y = point_on(p, int(p.slot[n, 0]), p.slot[n, 1], 0.0)
        if is_free(s, i, x, y):
            put_in_slot(p, s, i, n, 0.0, 0.0)
            prepare(p, s, i, rng)
            return


@kernel
def apart(s, i, x, y):
    """Metres from car i to a point."""
    right, down = s.x[i] - x, s.y[i] - y
    return math.sqrt(right * right + down * down)


@kernel
def is_free(s, i, x, y):
    """Whether a place for car i is far from all others, and out of the ego car's sight."""
    if apart(s, 0, x, y) < FAR_PLACE:
        return False
    for j in range(1, s.movers):
        if j == i:
            continue
        if apart(s, j, x, y) < CALM_PLACE:
            return False
    return True
