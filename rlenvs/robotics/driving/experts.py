"""Scripted experts of driving worlds: on long roads IDM and MOBIL, at junctions the highest speed without a
conflict."""

from rlenvs.core import copied, kernel, maths
from rlenvs.kits.roads.lanes import (
    LENGTH,
    PLACE,
    ROAD,
    along,
    along_and_across,
    entered,
    heading_on,
    lane_count,
    point_on,
    reachable,
    wrapped,
)
from rlenvs.kits.traffic.cars import (
    ACCELERATION_GAIN,
    CAR_LENGTH,
    CAR_WIDTH,
    FASTER,
    IDLE,
    LANE_LEFT,
    LANE_RIGHT,
    MOST_SLIP,
    SLOWER,
    not_zero,
    speed_index,
    stage_road,
    steering_of,
)
from rlenvs.kits.traffic.drivers import gains, idm
from rlenvs.kits.traffic.lane_lists import neighbours
from rlenvs.kits.traffic.priorities import MOMENT, MOMENTS
from rlenvs.robotics.driving.crossing import planned_speed, wanted_action
from rlenvs.robotics.driving.planning import planned_action
from rlenvs.robotics.driving.steering import (
    FORCE,
    STEERING,
    decided,
    find_way,
    follow_way,
    steer,
    steers,
    write_action,
)

CALM = 1.5  # m/s^2, of braking that an expert does not mind
ROOM_AHEAD, ROOM_BESIDE = 2.0, 0.7  # m between cars in forecasts
DOUBT = 0.25  # of the speeds of others, in parts of them


@kernel
def expert(p, s, a):
    """Drives as the others do, at the highest speed: IDM for the speed, MOBIL for the lane."""
    ego = s.ego
    speed, wanted = s.speed[ego], s.target_speed[ego]
    s.target_speed[ego] = p.speeds[p.speeds.size - 1]
    calm = calm_speed(p, s)
    best = better_lane(p, s) if calm < p.speeds.size - 1 else s.target_lane[ego]
    if steers(p) and best == s.target_lane[ego]:
        best = s.lane_of[ego]
    front, _ = neighbours(p, s, ego, best)
    acceleration = idm(p, p.drivers, s, ego, ego, front)
    s.target_speed[ego] = wanted
    if steers(p):
        a[0] = min(max(acceleration / FORCE, -1.0), 1.0)
        a[1] = min(max(steering_of(calm_slip(p, s, best)) / STEERING, -1.0), 1.0)
    elif best != s.target_lane[ego]:
        a[0] = LANE_LEFT if best < s.target_lane[ego] else LANE_RIGHT
    else:
        now = speed_index(p.speeds, speed)
        aim = speed_index(p.speeds, wanted)
        a[0] = IDLE if calm == aim else FASTER if calm > now else SLOWER if calm < now else IDLE


@kernel
def planning_expert(p, s, a, lane_worth, speed_worth):
    """Plans meta-actions, which it carries out itself where actions are continuous."""
    action = planned_action(p, s, lane_worth, speed_worth)
    if not steers(p):
        for j in range(p.moves.size):
            if p.moves[j] == action:
                a[0] = j
        return
    carry_out(p, s, a, action, p.speeds[speed_index(p.speeds, s.speed[s.ego])])


@kernel
def carry_out(p, s, a, action, aim):
    """Continuous actions for a meta-action, at a speed [m/s] unless it says another."""
    c = copied(s)
    find_way(p, c)
    steer(p, c, decided(p, c, action, aim))
    write_action(c, a)


@kernel
def overtaking_expert(p, s, a):
    """Drives as fast as it can, on the right lane where that costs nothing."""
    planning_expert(p, s, a, 0.05, 1.0)


@kernel
def exit_expert(p, s, a):
    """Passes and crosses to the right."""
    planning_expert(p, s, a, 0.3, 0.2)


@kernel
def calm_speed(p, s):
    """The highest of the speeds at which IDM would not brake hard behind who is before the ego car; its number."""
    ego, best = s.ego, 0
    speed = s.speed[ego]
    front, _ = neighbours(p, s, ego, s.lane_of[ego])
    other, _ = neighbours(p, s, ego, s.target_lane[ego])
    for n in range(p.speeds.size):
        s.speed[ego] = p.speeds[n]
        acceleration = min(idm(p, p.drivers, s, ego, ego, front), idm(p, p.drivers, s, ego, ego, other))
        if acceleration >= -CALM:
            best = n
    s.speed[ego] = speed
    return best


@kernel
def better_lane(p, s):
    """The lane to which MOBIL would change, or the one that the ego car aims at."""
    ego = s.ego
    k, target = s.lane_of[ego], s.target_lane[ego]
    if not steers(p) and k != target:
        return target
    place, count = p.lane_at[k, PLACE], lane_count(p, k)
    for aside in (-1, 1):
        if 0 <= place + aside < count and reachable(p, k + aside, s.x[ego], s.y[ego]):
            front, _ = neighbours(p, s, ego, k + aside)
            free = idm(p, p.drivers, s, ego, ego, front) >= -CALM
            if free and gains(p, p.drivers, s, ego, k + aside):
                return k + aside
    return target


@kernel
def calm_slip(p, s, k):
    """The slip angle's sine that turns the ego car, until the next decision, towards the middle of a lane."""
    ego, time = s.ego, 1.0 / p.policy_hz
    speed = not_zero(s.speed[ego])
    forward, across = along_and_across(p, k, s.x[ego], s.y[ego])
    aim = min(max(-across / (3.0 * max(time, 0.2) * max(abs(speed), 5.0)), -0.3), 0.3)
    turn = wrapped(heading_on(p, k, forward + speed * time) + aim - s.heading[ego])
    return min(max(0.5 * CAR_LENGTH / speed * turn / max(time, 0.2), -MOST_SLIP), MOST_SLIP)


@kernel
def junction_expert(p, s, a):
    """Drives at the highest speed at which it foresees no meeting with anybody, and keeps its lane."""
    if steers(p):
        carry_out(p, s, a, IDLE, p.speeds[foreseen_speed(p, s)])
        return
    steer_and_reach(p, s, a, safe_speed(p, s))


@kernel
def foreseen_speed(p, s):
    """The same speed for a car that nobody leads along its route."""
    c = copied(s)
    find_way(p, c)
    ego = c.ego
    c.lane_of[ego] = follow_way(p, c)
    c.station[ego] = along(p, c.lane_of[ego], c.x[ego], c.y[ego])
    return safe_speed(p, c)


@kernel
def steer_and_reach(p, s, a, best):
    """Keep the lane, on the way to one of the speeds."""
    if steers(p):
        carry_out(p, s, a, IDLE, p.speeds[best])
        return
    wanted = wanted_action(p, s, best)
    for j in range(p.moves.size):
        if p.moves[j] == wanted:
            a[0] = j


@kernel
def crossing_expert(p, s, a):
    """Plans its speed over the junction, and keeps its lane."""
    steer_and_reach(p, s, a, planned_speed(p, s))


@kernel
def expect(p, s, i, aim):
    """Fill the forecast of car i: along the lanes of its route, its speed on the way to another."""
    k, stage, passed = s.lane_of[i], 0, 0.0
    for n in range(MOMENTS):
        time = MOMENT * (n + 1)
        way = aim * time + (s.speed[i] - aim) * (1.0 - maths.exp(-ACCELERATION_GAIN * time)) / ACCELERATION_GAIN
        far = s.station[i] + way - passed
        while far > p.lane[k, LENGTH]:
            if stage_road(s, i, stage) == p.lane_at[k, ROAD]:
                stage += 1
            road = stage_road(s, i, stage)
            if road < 0:
                break
            x, y = point_on(p, k, p.lane[k, LENGTH], 0.0)
            far -= p.lane[k, LENGTH]
            passed += p.lane[k, LENGTH]
            k = entered(p, k, road, -1, x, y)
        s.forecast[i, n, 0], s.forecast[i, n, 1] = point_on(p, k, far, 0.0)
        s.forecast[i, n, 2] = heading_on(p, k, far)


@kernel
def safe_speed(p, s):
    """The highest of the speeds at which the ego car meets nobody, as everybody drives now; its number."""
    best, latest = 0, -1
    for i in range(s.movers):
        if i != s.ego:
            expect(p, s, i, s.speed[i])
    for n in range(p.speeds.size):
        expect(p, s, s.ego, p.speeds[n])
        when = first_meeting(s)
        if when == MOMENTS or when > latest:
            best, latest = n, when
    return best


@kernel
def first_meeting(s):
    """The moment of the forecasts in which the ego car first comes near another that does not follow it.

    Seen from the other car, which may be as far ahead or behind as if it drove a quarter faster or slower.
    """
    ego = s.ego
    for n in range(MOMENTS):
        for i in range(s.movers):
            sine, cosine = maths.sin_cos(s.forecast[i, n, 2])
            right = s.forecast[ego, n, 0] - s.forecast[i, n, 0]
            down = s.forecast[ego, n, 1] - s.forecast[i, n, 1]
            ahead, aside = right * cosine + down * sine, abs(down * cosine - right * sine)
            across = abs(maths.sin(s.forecast[i, n, 2] - s.forecast[ego, n, 2]))
            follows = s.lane_of[i] == s.lane_of[ego] and s.station[i] < s.station[ego]
            wide = 0.5 * CAR_WIDTH + across * 0.5 * CAR_LENGTH + (1.0 - across) * 0.5 * CAR_WIDTH
            long = CAR_LENGTH + ROOM_AHEAD + DOUBT * abs(s.speed[i]) * MOMENT * (n + 1)
            if i != ego and not follows and abs(ahead) < long and aside < wide + ROOM_BESIDE:
                return n
    return MOMENTS
