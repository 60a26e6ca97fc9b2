"""A gait for walkers under a package."""

from rlenvs.core import f8, i8, kernel
from rlenvs.multi.planar.walkers import hull_seen, leg_seen

STAY, PUT_DOWN, PUSH_OFF = 1, 2, 3  # what a walker does: stands on one leg, puts the other down, pushes off
PACE = 0.29  # in units of the observation
KNEE = 0.1  # rad, of the leg that carries

STATE = {
    "phase": i8("agents"),  # 0 before the first step
    "moving_leg": i8("agents"),
    "carrying_knee": f8("agents"),
    "hip_target": f8("agents", 2),  # rad; 0: none
    "knee_target": f8("agents", 2),
}


@kernel
def plan(p, s, k):
    pace = hull_seen(p, s, k)[2]
    moving = s.moving_leg[k]
    carrying = 1 - moving
    hip, knee = s.hip_target[k], s.knee_target[k]
    if s.phase[k] == 0:
        s.phase[k], s.carrying_knee[k] = STAY, KNEE
    for leg in range(2):
        hip[leg], knee[leg] = 0.0, 0.0
    if s.phase[k] == STAY:
        hip[moving], knee[moving] = 1.1, -0.6
        s.carrying_knee[k] += 0.06 if pace > PACE else 0.03
        s.carrying_knee[k] = min(s.carrying_knee[k], KNEE)
        knee[carrying] = s.carrying_knee[k]
        if leg_seen(p, s, k, carrying)[0] < 0.1:
            s.phase[k] = PUT_DOWN
    if s.phase[k] == PUT_DOWN:
        hip[moving], knee[moving] = 0.1, KNEE
        knee[carrying] = s.carrying_knee[k]
        if s.foot_touches[k, moving]:
            s.phase[k] = PUSH_OFF
            s.carrying_knee[k] = min(leg_seen(p, s, k, moving)[2], KNEE)
    if s.phase[k] == PUSH_OFF:
        knee[moving], knee[carrying] = s.carrying_knee[k], 1.0
        if leg_seen(p, s, k, carrying)[2] > 0.88 or pace > 1.2 * PACE:
            s.phase[k], s.moving_leg[k] = STAY, carrying


@kernel
def follow(p, s, k, leg):
    lean, turning, _, rising = hull_seen(p, s, k)
    hip_angle, hip_speed, knee_angle, knee_speed, _ = leg_seen(p, s, k, leg)
    hips, knees = 0.9 * lean + 1.5 * turning, -15.0 * rising
    if s.hip_target[k, leg] != 0.0:
        hips += 0.9 * (s.hip_target[k, leg] - hip_angle) - 0.25 * hip_speed
    if s.knee_target[k, leg] != 0.0:
        knees += 4.0 * (s.knee_target[k, leg] - knee_angle) - 0.25 * knee_speed
    return min(max(0.5 * hips, -1.0), 1.0), min(max(0.5 * knees, -1.0), 1.0)
