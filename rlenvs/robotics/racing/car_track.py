"""Tracks of CarRacing: a closed road of tiles through twelve points at random distances, and the objects on it.

The road is traced from point to point with a bounded turning rate, lap after lap, until it closes; the last whole lap
is used (Gymnasium 1.4, car_racing.py, by Oleg Klimov). Tile i is between gate i - 1 and gate i.
"""

import math

from rlenvs.core import f8, i1, i8, kernel, maths, u1, uniform

POINTS = 12
MOST = 512  # tiles
RING = 1024  # gates that are remembered while the road is walked
LONGEST_WALK, LAPS = 2500, 4
STEP = 21.0 / 6.0  # m, from gate to gate
GAIN, DEAD = 0.001, 0.3  # of the turn, per projected distance; below which the road goes straight
SKIN = 0.02  # m, at which two of Box2D's polygons touch
KERB_TURN, KERB_COUNT = 0.2, 4  # share of the turn rate; gates in a row
TURN = 2.0 * math.pi

ROAD = {
    "tiles": i8.up_to(MOST, low=1),
    "gate": f8(MOST, 3),  # m, m, rad: middle, and the direction across, to the right
    "edge": f8(MOST, 4),  # m: left and right end of each gate
    "kerb": i1(MOST),  # -1 on the left of the tile, 1 on the right
    "point": f8(POINTS, 3),  # rad, m, m: polar angle and place
}
WALK = {"walk": f8(RING, 3)}


def marks(cars: int | str) -> dict:
    """What cars have done to tiles."""
    return {
        "visited": u1(cars, MOST),  # a wheel was on it
        "painted": u1(cars, MOST),  # any part of the car was
        "visits": i8(cars),
        "lap_closed": u1(cars),
    }


@kernel
def draw_points(p, s, rng):
    """The points that the road goes by: the first and the last are far out, so that the start is straight."""
    for c in range(POINTS):
        angle = TURN * c / POINTS + uniform(rng, 0.0, TURN / POINTS)
        radius = uniform(rng, p.track_radius / 3.0, p.track_radius)
        if c == 0:
            angle, radius = 0.0, 1.5 * p.track_radius
        if c == POINTS - 1:
            angle, radius = TURN * c / POINTS, 1.5 * p.track_radius
        sn, cs = maths.sin_cos(angle)
        s.point[c, 0], s.point[c, 1], s.point[c, 2] = angle, radius * cs, radius * sn


@kernel
def next_point(s, angle, aim):
    """The point ahead of a polar angle, and the angle in the lap to which that point belongs."""
    for _ in range(3):
        while True:
            if angle <= s.point[aim % POINTS, 0]:
                return angle, aim
            aim += 1
            if aim % POINTS == 0:
                break
        angle -= TURN
    return angle, aim


@kernel
def walk_road(p, s):
    """Walk for four laps. Returns the first gate of the last whole lap and the number of its gates, (0, 0) if none."""
    x, y, across = 1.5 * p.track_radius, 0.0, 0.0
    aim, laps, beyond = 0, 0, False
    start, last = -TURN * 0.5 / POINTS, 0.0
    first, second = -1, -1  # where the last two laps begin
    count = 0
    while count < LONGEST_WALK and laps <= LAPS:
        angle = maths.atan2(y, x)
        if beyond and angle > 0.0:
            laps += 1
            beyond = False
        if angle < 0.0:
            beyond = True
            angle += TURN
        angle, aim = next_point(s, angle, aim)
        sn, cs = maths.sin_cos(across)
        forward = (cs * (s.point[aim % POINTS, 1] - x) + sn * (s.point[aim % POINTS, 2] - y)) * 6.0
        while across - angle > 0.75 * TURN:
            across -= TURN
        while across - angle < -0.75 * TURN:
            across += TURN
        before = across
        if forward > DEAD:
            across -= min(p.track_turn_rate, GAIN * forward)
        if forward < -DEAD:
            across += min(p.track_turn_rate, -GAIN * forward)
        x -= sn * STEP
        y += cs * STEP
        k = count % RING
        s.walk[k, 0], s.walk[k, 1], s.walk[k, 2] = x, y, 0.5 * before + 0.5 * across
        if count > 0 and angle > start and last <= start:
            first, second = second, count
        last = angle
        count += 1
    if first < 0 or second - 1 - first > MOST or count - first > RING or second - 1 - first <= KERB_COUNT:
        return 0, 0
    return first, second - 1 - first


@kernel
def lay_road(p, s):
    """Tiles along the points; False where the road does not close."""
    first, tiles = walk_road(p, s)
    if tiles == 0:
        return False
    for i in range(tiles):
        for j in range(3):
            s.gate[i, j] = s.walk[(first + i) % RING, j]
    sn, cs = maths.sin_cos(s.gate[0, 2])
    dx, dy = cs * (s.gate[0, 0] - s.gate[tiles - 1, 0]), sn * (s.gate[0, 1] - s.gate[tiles - 1, 1])
    if math.sqrt(dx * dx + dy * dy) > STEP:
        return False
    s.tiles = tiles
    lay_edges(p, s)
    return True


@kernel
def lay_edges(p, s):
    """Edges and kerbs along the gates."""
    for i in range(s.tiles):
        sn, cs = maths.sin_cos(s.gate[i, 2])
        x, y = s.gate[i, 0], s.gate[i, 1]
        s.edge[i, 0], s.edge[i, 1] = x - p.track_width * cs, y - p.track_width * sn
        s.edge[i, 2], s.edge[i, 3] = x + p.track_width * cs, y + p.track_width * sn
    lay_kerbs(p, s)


@kernel
def mirror_road(p, s):
    """The same road, left for right: it is driven clockwise then."""
    for i in range(s.tiles):
        s.gate[i, 0], s.gate[i, 2] = -s.gate[i, 0], -s.gate[i, 2]
    lay_edges(p, s)


@kernel
def lay_kerbs(p, s):
    """Kerbs beside tiles where the road has turned hard the same way for four gates."""
    n = s.tiles
    for i in range(n):
        s.kerb[i] = 0
    for i in range(n):
        hard, side = True, 0
        for back in range(KERB_COUNT):
            turned = s.gate[(i - back) % n, 2] - s.gate[(i - back - 1) % n, 2]
            hard = hard and abs(turned) > p.track_turn_rate * KERB_TURN
            side += 1 if turned > 0.0 else (-1 if turned < 0.0 else 0)
        if hard and abs(side) == KERB_COUNT:
            for back in range(KERB_COUNT):
                j = (i - back) % n
                s.kerb[j] = 1 if s.gate[(j - 1) % n, 2] > s.gate[j, 2] else -1


@kernel
def make_track(p, s, rng):
    """A new track; the points are drawn again until the road closes."""
    for _ in range(1000):
        draw_points(p, s, rng)
        if lay_road(p, s):
            return
    s.tiles = 0


# --- what stands on it ------------------------------------------------------------------------------------------------


@kernel
def corner(s, i, j, k):
    """A corner of the tile between the edges j and i, clockwise: left and right of i, right and left of j."""
    edge = i if k < 2 else j
    if k == 0 or k == 3:
        return s.edge[edge, 0], s.edge[edge, 1]
    return s.edge[edge, 2], s.edge[edge, 3]


@kernel
def wheel_touches(s, i, x, y, cs, sn, half_width, radius):
    """Whether a wheel, seen from above a rectangle that looks along (-sn, cs), touches tile i: no side of either
    polygon has the other wholly beyond it."""
    j = i - 1 if i > 0 else s.tiles - 1
    low_u, high_u, low_v, high_v = 1e9, -1e9, 1e9, -1e9
    ax, ay = corner(s, i, j, 3)
    for k in range(4):
        bx, by = corner(s, i, j, k)
        nx, ny = ay - by, bx - ax  # outwards
        long = math.sqrt(nx * nx + ny * ny)
        reach = half_width * abs(nx * cs + ny * sn) + radius * abs(ny * cs - nx * sn)
        if nx * (x - ax) + ny * (y - ay) - reach > SKIN * long:
            return False
        u, v = (ax - x) * cs + (ay - y) * sn, (ay - y) * cs - (ax - x) * sn
        low_u, high_u, low_v, high_v = min(low_u, u), max(high_u, u), min(low_v, v), max(high_v, v)
        ax, ay = bx, by
    apart = max(max(low_u, -high_u) - half_width, max(low_v, -high_v) - radius)
    return apart <= SKIN


@kernel
def holds(s, i, x, y):
    """Whether a point lies on tile i, or within the skin of it."""
    j = i - 1 if i > 0 else s.tiles - 1
    ax, ay = corner(s, i, j, 3)
    for k in range(4):
        bx, by = corner(s, i, j, k)
        nx, ny = ay - by, bx - ax
        if nx * (x - ax) + ny * (y - ay) > SKIN * math.sqrt(nx * nx + ny * ny):
            return False
        ax, ay = bx, by
    return True


@kernel
def nearest_gate(s, guess, x, y):
    """The gate nearest to a point: first beside a guess, where the road may cross itself; if that is far, of all."""
    n = s.tiles
    best, closest = guess, 1e18
    for i in range(guess - 6, guess + 9):
        k = i % n
        far = (s.gate[k, 0] - x) * (s.gate[k, 0] - x) + (s.gate[k, 1] - y) * (s.gate[k, 1] - y)
        if far < closest:
            best, closest = k, far
    if closest > 400.0:
        for k in range(n):
            far = (s.gate[k, 0] - x) * (s.gate[k, 0] - x) + (s.gate[k, 1] - y) * (s.gate[k, 1] - y)
            if far < closest:
                best, closest = k, far
    return best
