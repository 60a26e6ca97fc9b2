"""The barrier function of the point robot: it can always coast to rest outside all hazards.

With mass m, drag D, tau = m / D, distance o from the robot's origin x to its center of mass c, heading e and thrust u F
along it, the equations of motion say that the point where the robot would come to rest,

    P = x + tau (velocity of the center of mass),    moves by the thrust alone,    dP/dt = (u F / D) e,

and that c follows it as a first-order lag, dc/dt = (P + o e - c) / tau. Let l be the heading, lagging likewise,
dl/dt = (e - l) / tau. Then z = c - o l has dz/dt = (P - z) / tau: without thrust it stays on the segment from z to P,
however the robot turns. The robot is at x = z + o (l - e). A pair of headings with |l| <= 1 and |l - e| <= B keeps
these bounds forever, for rates of turning up to W, when B^2 = 1 / (1/4 + 1 / (W tau)^2). So the barrier of a hazard,

    h = distance from its center to the segment from z to P - (radius + B o + margin),  for the best l in these bounds,

is nonnegative only if the robot is outside the hazard, and does not decrease without thrust: there is always a safe
action, for all hazards at once. A half-plane argument covers a step with thrust: the distance to the segment is the
largest min(v . z, v . P) over unit vectors v, and with the current best v it is at least min(v . z, v . P) after the
step. There v . P is linear in the thrust, and the new heading follows from the turn action, which the filter does not
change.

Physics steps of 2 ms differ from this: P drifts by at most (b / D) TIMESTEP spin^3 / 2 (b the first moment of the nose:
0.4 mm/s at the largest spin, in a direction that rotates with the robot). And the best v and l come from a few
iterations. The margin covers both.
"""

import math

from rlenvs.core import kernel, maths
from rlenvs.robotics.navigation.point import BALL, NOSE, NOSE_AT, TIMESTEP, clipped

MARGIN = 0.005  # m
ROUNDS = 4


@kernel
def ahead(p, s, turn):
    """The integral [s] of the heading vector over the coming step, x and y, under a turn action."""
    moment = p.nose_mass * NOSE_AT
    inertia = 0.4 * p.body_mass * BALL**2 + p.nose_mass * (2.0 / 3.0 * NOSE**2 + NOSE_AT**2)
    heavy, stiff = p.body_mass + p.nose_mass + TIMESTEP * p.drag, inertia + TIMESTEP * p.spin_drag
    coupled = 1.0 / (heavy * stiff - moment * moment)
    heading, spin = s.heading, s.spin
    along_x, along_y = 0.0, 0.0
    for _ in range(p.substeps):
        cosine, sine = maths.cos(heading), maths.sin(heading)
        fy = -p.drag * (cosine * s.velocity[1] - sine * s.velocity[0])
        tz = p.torque * clipped((turn - spin / p.turn_rate) / p.saturation) - p.spin_drag * spin
        spin += TIMESTEP * coupled * (heavy * tz - moment * fy)
        heading += TIMESTEP * spin
        along_x += TIMESTEP * cosine
        along_y += TIMESTEP * sine
    return along_x, along_y


@kernel
def swing(forward, most):
    """The most that v . (e - l) can be for a unit vector v with v . e = forward, where |l| <= 1 and |l - e| <= most."""
    along = 0.5 * most * most
    if 1.0 + forward <= along:  # l = -v
        return 1.0 + forward
    if most <= 2.0 * forward:  # l = e - most v
        return most
    return along * forward + math.sqrt((2.0 - along) * along * max(0.0, 1.0 - forward * forward))


@kernel
def separating(gx, gy, px, py, reach):
    """The unit vector v that makes the smaller of v . g + reach and v . p the largest."""
    size = math.sqrt(gx * gx + gy * gy) + 1e-12
    vx, vy = gx / size, gy / size
    if vx * px + vy * py >= size + reach:
        return vx, vy
    size = math.sqrt(px * px + py * py) + 1e-12
    vx, vy = px / size, py / size
    if vx * gx + vy * gy + reach >= size:
        return vx, vy
    # both are equal: of the two such vectors, the one on the side of the origin
    wx, wy = px - gx, py - gy
    size = math.sqrt(wx * wx + wy * wy) + 1e-12
    wx, wy = wx / size, wy / size
    along = min(reach / size, 1.0)
    across = math.sqrt(1.0 - along * along)
    if gy * wx - gx * wy < 0.0:
        across = -across
    return along * wx - across * wy, along * wy + across * wx


@kernel
def keep_out(p, s, a, b):
    """Fill the barrier [m] of every hazard, and how the throttle changes it. Throttles beyond saturation act like the
    nearest that is not."""
    mass = p.body_mass + p.nose_mass
    offset = p.nose_mass * NOSE_AT / mass
    lag = mass / p.drag
    cosine, sine = maths.cos(s.heading), maths.sin(s.heading)
    uneven = TIMESTEP * s.spin * s.spin  # the physics steps push by the old spin, and turn by the new one
    px = s.position[0] + lag * (s.velocity[0] + offset * (uneven * cosine - s.spin * sine))
    py = s.position[1] + lag * (s.velocity[1] + offset * (uneven * sine + s.spin * cosine))
    along_x, along_y = ahead(p, s, a[1])
    push = p.thrust / (p.drag * p.saturation)
    most = 1.0 / math.sqrt(0.25 + 1.0 / (p.turn_rate * lag) ** 2)
    clear = p.hazard_radius + most * offset + MARGIN
    b.low[0], b.high[0] = -p.saturation, p.saturation
    for k in range(s.hazards.shape[0]):
        gx, gy = s.position[0] - s.hazards[k, 0], s.position[1] - s.hazards[k, 1]
        hx, hy = px - s.hazards[k, 0], py - s.hazards[k, 1]
        vx, vy, reach = 0.0, 0.0, 0.0
        for _ in range(ROUNDS):
            vx, vy = separating(gx, gy, hx, hy, reach)
            reach = offset * swing(vx * cosine + vy * sine, most)
        resting = vx * hx + vy * hy - clear
        b.value[k] = min(vx * gx + vy * gy + reach - clear, resting)
        b.drift[k] = resting - b.value[k]
        b.slope[k, 0] = push * (vx * along_x + vy * along_y)
        b.slope[k, 1] = 0.0
