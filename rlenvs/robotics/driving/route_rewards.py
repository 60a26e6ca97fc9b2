"""Rewards of RouteDrive, as kernels.

`simple` is CaRL's (Jaeger et al., "CaRL: Learning Scalable Planning Policies with Simple Rewards", 2025): the increase
of the completed part of the route, in percent, times soft factors in [0, 1]. Its code compares with the previous value,
so that moving back and forth is rewarded repeatedly; here progress is rewarded only once. `shaped` is the dense reward
of Roach (Zhang et al., "End-to-End Urban Driving by Imitating a Reinforcement Learning Coach", 2021), with the numbers
of its code (`valeo_action.py`, `terminal/valeo.py`), of the kind that CaRL compares with. Roach considers cars and
pedestrians within 9.5 m ahead and lights within 18 m; here all on the route count, and an episode does not end 3.5 m
off the route as there. `composed` is the synthesis of VLM-RL (Huang et al., 2024), with the numbers of its code, and
with a risk score computed from distances and times to collision, where VLM-RL queries a vision-language model.
"""

import math
from typing import Any

import numpy as np

from rlenvs.core import choice, f8, i8, kernel
from rlenvs.core.declare import algebra
from rlenvs.kits.roads.lanes import LENGTH, LIMIT, WIDTH, along_and_across, box_distance, heading_on, wrapped
from rlenvs.kits.traffic.cars import CAR_LENGTH, CAR_WIDTH
from rlenvs.kits.traffic.pedestrians import RADIUS, walker_distance
from rlenvs.kits.traffic.signals import line_distance
from rlenvs.robotics.driving.town_cars import DT

# --- soft factors of `simple`, with CaRL's numbers ---
SPEEDING, COLLISION_TIME, COMFORT, CENTRE = range(4)  # of s.factors
EXCESS = 2.23  # m/s above the limit, where the factor of speeding is 0
TOO_CLOSE, UNCALM = 0.5, 0.5  # the factor of a collision ahead; what six uncomfortable readings take away
FORESEEN = (0.1, 0.3, 0.5, 0.7, 0.9)  # s: every second moment
HELD = 500  # steps for which both are held
# largest comfortable values: acceleration and braking along the car, across it, m/s^2; jerk, jerk along, m/s^3; yaw
# rate, rad/s, and its change, rad/s^2
CARLA = (10.0, 20.0, 9.0, 30.0, 30.0, 1.0, 3.0)
NUPLAN = (2.40, 4.05, 4.89, 8.37, 4.13, 0.95, 1.93)
NOTHING, NEVER = 1000.0, 100.0  # m, s: where there is nothing on the way, and no collision
READINGS, SHORT, LONG = 6, 8, 15  # checks of comfort; steps over which they are smoothed
ALONG, ACROSS, TOTAL, HEADING, ASIDE = range(5)  # of s.history
# --- `shaped` ---
CRUISE, RAMP = 6.0, 5.0  # m/s, the speed wanted where nothing is in the way; m over which it falls to 0
HALT = (8.0, 6.0, 5.0)  # m before a car, a pedestrian, a line, where the wanted speed is 0
TURN = 0.01  # of the steering, which is a change
# --- `composed` ---
TOP = 25.0 / 3.6  # m/s, wanted where there is no risk
ROOM, CLEAR = 2.0, 2.0  # ours: m and s before the car; within these metres all is risk, beyond these seconds more none
OFF, ASKEW, UNSTEADY = 3.0, 0.5 * math.pi, 0.4  # m, rad, m: where the factors of centring, angle and steadiness are 0
PENALTY = 10.0
OVER = 35.0 / 3.6  # m/s: faster, or OFF beside the lane's middle, an episode of `composed` is at an end
SIMPLE_OFF = {"completion": 0.0, "crash": 0.0}
REST_PAID = {"arrived": 2000.0}  # 2 for each step that is left: who waits has at most 1
REWARD = choice(
    "simple",
    "shaped",
    "composed",
    doc="CaRL's, Roach's, or VLM-RL's",
    sets={
        "shaped": {**SIMPLE_OFF, "pace": 1.0, "offset": 1.0, "angle": 1.0, "turn": 1.0, "end": 1.0, **REST_PAID},
        "composed": {**SIMPLE_OFF, "synthesis": 1.0, **REST_PAID},
    },
)
(COMPOSED,) = REWARD.codes("composed")

SMOOTH_DATA = {"smooth": f8(4, LONG), "comfort": f8(7), "foreseen": f8(len(FORESEEN))}
JUDGED = {
    "factors": f8(4),
    "history": f8(5, LONG),  # the newest last
    "close_held": i8,  # steps for which the factor of a collision ahead is still held
    "comfort_held": i8(READINGS),
    "time_left": f8,  # s to a collision that is foreseen
    "gaps": f8(3),  # m from the front to the next car, pedestrian and line on the way
}


def edge_weights(samples: int, order: int, derivative: int) -> np.ndarray:
    """Weights (LONG,) of the newest samples, with which a Savitzky-Golay filter gives its value or a derivative at the
    last one."""
    times = np.arange(1 - samples, 1, dtype=float)
    powers = np.stack([times**0 if n == 0 else np.multiply.reduce([times] * n) for n in range(order + 1)], 1)
    normal = np.array([[float((a * b).sum()) for b in powers.T] for a in powers.T])
    rows = algebra.solve(normal, powers.T)
    weights = np.zeros(LONG)
    weights[LONG - samples :] = rows[derivative] * math.factorial(derivative) / DT**derivative
    return weights


def reward_data(comfort: str) -> dict[str, Any]:
    """The data of `SMOOTH_DATA`: filters of accelerations, jerks, yaw rate and its change; limits of comfort."""
    smooth = (edge_weights(SHORT, 2, 0), edge_weights(LONG, 2, 1), edge_weights(LONG, 2, 1), edge_weights(LONG, 3, 2))
    limits = CARLA if comfort == "carla" else NUPLAN
    return {"smooth": np.array(smooth), "comfort": np.array(limits), "foreseen": np.array(FORESEEN)}


# --- what is before the car -------------------------------------------------------------------------------------------


@kernel
def gap_ahead(p, s, x, y, side, far):
    """Metres along the way from the ego car's middle to a point that lies at most `side` m beside it, within `far` m;
    infinity for none."""
    begin = -s.along
    for n in range(s.leg, s.legs):
        k = s.way[n]
        if begin > far:
            break
        if box_distance(p, k, x, y) < side:
            station, aside = along_and_across(p, k, x, y)
            if 0.0 <= station <= p.lane[k, LENGTH] and abs(aside) <= side and begin + station > 0.0:
                return begin + station
        begin += p.lane[k, LENGTH]
    return math.inf


@kernel
def look_ahead(p, s):
    """Fill what is next on the way."""
    half = 0.5 * CAR_LENGTH
    s.gaps[0] = NOTHING
    for j in range(1, s.movers):
        if abs(s.x[j] - s.x[0]) < 50.0 and abs(s.y[j] - s.y[0]) < 50.0:
            s.gaps[0] = min(s.gaps[0], gap_ahead(p, s, s.x[j], s.y[j], 2.0, 50.0) - 2.0 * half)
    s.gaps[1] = min(walker_distance(p, s, 0), NOTHING)
    s.gaps[2] = min(line_distance(p, p.signal, s, 0, s.clock), NOTHING)


@kernel
def rectangles_touch(right, down, cosine, sine, other_cosine, other_sine, length, width):
    """Whether two equal rectangles touch: the place of the second from the first, the directions of both, the size."""
    turn_cosine = cosine * other_cosine + sine * other_sine
    turn_sine = cosine * other_sine - sine * other_cosine
    long = 0.5 * (length + length * abs(turn_cosine) + width * abs(turn_sine))
    wide = 0.5 * (width + width * abs(turn_cosine) + length * abs(turn_sine))
    ahead, aside = right * cosine + down * sine, down * cosine - right * sine
    if abs(ahead) > long or abs(aside) > wide:
        return False
    other_ahead = ahead * turn_cosine + aside * turn_sine
    other_aside = aside * turn_cosine - ahead * turn_sine
    return abs(other_ahead) <= long and abs(other_aside) <= wide


@kernel
def collision_time(p, s):
    """When, of the moments that are foreseen at constant velocities, the ego car first touches somebody; NEVER for
    none, and for a car that stands."""
    speed, cosine, sine = s.speed[0], s.cosine[0], s.sine[0]
    if abs(speed) < 0.1:
        return NEVER
    soonest = NEVER
    for j in range(1, s.movers):
        right, down = s.x[j] - s.x[0], s.y[j] - s.y[0]
        if abs(right) > 45.0 or abs(down) > 45.0:
            continue
        pace_x = s.speed[j] * s.cosine[j] - speed * cosine
        pace_y = s.speed[j] * s.sine[j] - speed * sine
        for time in p.foreseen:
            if time >= soonest:
                break
            u, v = right + pace_x * time, down + pace_y * time
            if rectangles_touch(u, v, cosine, sine, s.cosine[j], s.sine[j], CAR_LENGTH, CAR_WIDTH):
                soonest = time
    for n in range(s.walker_at.size):
        right, down = s.walker_x[n] - s.x[0], s.walker_y[n] - s.y[0]
        if abs(right) > 30.0 or abs(down) > 30.0:
            continue
        pace_x, pace_y = walker_pace(p, s, n)
        for time in p.foreseen:
            if time >= soonest:
                break
            u, v = right + (pace_x - speed * cosine) * time, down + (pace_y - speed * sine) * time
            ahead, aside = abs(u * cosine + v * sine), abs(v * cosine - u * sine)
            if ahead < 0.5 * CAR_LENGTH + RADIUS and aside < 0.5 * CAR_WIDTH + RADIUS:
                soonest = time
    return soonest


@kernel
def walker_pace(p, s, n):
    """The velocity [m/s] of a pedestrian."""
    k, way = s.walker_crossing[n], s.walker_way[n] * s.walker_speed[n]
    right, down = p.crossing[k, 2] - p.crossing[k, 0], p.crossing[k, 3] - p.crossing[k, 1]
    length = max(math.sqrt(right * right + down * down), 1e-6)
    return way * right / length, way * down / length


# --- soft factors -----------------------------------------------------------------------------------------------------


@kernel
def remember(s, before):
    """Add what the ego car does now to its history; `before` was its speed."""
    for which in range(5):
        for n in range(LONG - 1):
            s.history[which, n] = s.history[which, n + 1]
    last = LONG - 1
    ahead = (s.speed[0] - before) / DT
    across = before * before * s.slip[0] / (0.5 * CAR_LENGTH)
    s.history[ALONG, last], s.history[ACROSS, last] = ahead, across
    s.history[TOTAL, last] = math.sqrt(ahead * ahead + across * across)
    s.history[HEADING, last], s.history[ASIDE, last] = s.heading[0], s.aside_of_way


@kernel
def filtered(p, s, weights, which):
    """A row of the history under a filter. What all samples have in common changes nothing but the value itself."""
    total = 0.0
    base = s.history[which, LONG - 1]
    for n in range(LONG):
        total += p.smooth[weights, n] * (s.history[which, n] - base)
    return total + (base if weights == 0 else 0.0)


@kernel
def check_comfort(p, s):
    """Which of the six readings are beyond their limits now; held for some time."""
    ahead = filtered(p, s, 0, ALONG)
    hard = abs(filtered(p, s, 0, ACROSS)) > p.comfort[2]
    hold(p, s, 0, ahead > p.comfort[0] or ahead < -p.comfort[1])
    hold(p, s, 1, hard)
    hold(p, s, 2, abs(filtered(p, s, 1, TOTAL)) > p.comfort[3])
    hold(p, s, 3, abs(filtered(p, s, 1, ALONG)) > p.comfort[4])
    hold(p, s, 4, abs(filtered(p, s, 2, HEADING)) > p.comfort[5])
    hold(p, s, 5, abs(filtered(p, s, 3, HEADING)) > p.comfort[6])


@kernel
def hold(p, s, n, broken):
    """Count down how long a reading still counts as uncomfortable."""
    s.comfort_held[n] = p.held if broken else max(s.comfort_held[n] - 1, 0)


@kernel
def centred(aside, width, grace, softener):
    """The factor of the lane's centre."""
    off = (abs(aside) - grace) / max(0.5 * width - grace, 1e-6)
    return 1.0 - min(max(off, 0.0), 1.0) * softener


@kernel
def soften(p, s):
    """Fill the soft factors; their product."""
    k = s.way[s.leg]
    s.factors[SPEEDING] = min(max(1.0 - (s.speed[0] - p.lane[k, LIMIT]) / EXCESS, 0.0), 1.0)
    s.close_held = p.held if s.time_left < NEVER else max(s.close_held - 1, 0)
    s.factors[COLLISION_TIME] = TOO_CLOSE if s.close_held > 0 else 1.0
    check_comfort(p, s)
    broken = 0
    for n in range(READINGS):
        if s.comfort_held[n] > 0:
            broken += 1
    s.factors[COMFORT] = 1.0 - UNCALM * broken / READINGS
    s.factors[CENTRE] = 1.0
    if p.street[k] == 1:
        s.factors[CENTRE] = centred(s.aside_of_way, p.lane[k, WIDTH], p.grace, p.softener)
    return s.factors[0] * s.factors[1] * s.factors[2] * s.factors[3]


# --- the other rewards ------------------------------------------------------------------------------------------------


@kernel
def wanted_speed(s):
    """Of `shaped`: it falls to 0 before a car, a pedestrian and a line. Distances are from the car's middle; those to
    cars from middle to middle."""
    half, wanted = 0.5 * CAR_LENGTH, CRUISE
    for n in range(3):
        far = s.gaps[n] + (2.0 * half if n == 0 else half)
        wanted = min(wanted, CRUISE * min(max((far - HALT[n]) / RAMP, 0.0), 1.0))
    return wanted


@kernel
def angle_to_way(p, s):
    """Between the ego car and its lane, in [-pi, pi)."""
    return wrapped(s.heading[0] - heading_on(p, s.way[s.leg], s.along))


@kernel
def no_risk(s):
    """1 minus the score of risk, in [0, 1]: from what lies on the way, and from collisions that are foreseen."""
    nearest = min(min(s.gaps[0], s.gaps[1]), s.gaps[2])
    calm = min(max((nearest - ROOM) / (CLEAR * TOP), 0.0), 1.0)
    return min(calm, min(s.time_left, 1.0))


@kernel
def spread(s):
    """Standard deviation [m] of the distance from the lane's middle, over the history."""
    mean, square = 0.0, 0.0
    for n in range(LONG):
        mean += s.history[ASIDE, n] / LONG
    for n in range(LONG):
        off = s.history[ASIDE, n] - mean
        square += off * off / LONG
    return math.sqrt(square)


@kernel
def synthesis(p, s):
    """VLM-RL's: how near the speed is to the one that the risk allows, times centring, angle and steadiness."""
    pace = max(1.0 - abs(s.speed[0] - no_risk(s) * TOP) / TOP, 0.0)
    centring = max(1.0 - abs(s.aside_of_way) / OFF, 0.0)
    angle = max(1.0 - abs(angle_to_way(p, s)) / ASKEW, 0.0)
    return pace * centring * angle * max(1.0 - spread(s) / UNSTEADY, 0.0)


@kernel
def is_beyond(p, s):
    """Whether one of VLM-RL's ends is reached, which only `composed` has."""
    return p.reward == COMPOSED and (abs(s.aside_of_way) > OFF or s.speed[0] > OVER)


# --- all terms of a step ----------------------------------------------------------------------------------------------


@kernel
def has_fault(r):
    """Whether there was an infraction in this step."""
    return r.red_light + r.stop_sign + r.collision + r.pedestrian + r.offroad + r.blocked + r.deviation > 0.0


@kernel
def fill_terms(p, s, r, old):
    """All terms; `old` is the steering of the step before."""
    soft = soften(p, s)
    fault = has_fault(r)
    made = min(s.behind + s.along, p.route_length)
    if made > s.made:
        if abs(s.aside_of_way) <= 0.5 * p.lane[s.way[s.leg], WIDTH] and not fault:
            r.completion = min(soft * 100.0 * (made - s.made) / p.route_length, 1.0)
        s.made = made
    hit = r.collision + r.pedestrian > 0.0
    if hit or r.red_light > 0.0:
        r.crash = -1.0
    speed = s.speed[0]
    r.pace = 1.0 - abs(speed - wanted_speed(s)) / CRUISE
    r.offset = max(-0.5 * abs(s.aside_of_way), -15.0)
    r.angle = -abs(angle_to_way(p, s))
    r.turn = -0.1 if abs(s.steering - old) > TURN else 0.0
    if fault:
        fast = hit or r.red_light + r.stop_sign > 0.0
        r.end = -1.0 - (abs(speed) if fast else 0.0)
    r.synthesis = -PENALTY if fault or is_beyond(p, s) else synthesis(p, s)
