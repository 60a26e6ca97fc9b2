"""A gait for walkers under a package: the phases of Gymnasium's walking controller, its numbers found anew by a search
(cross-entropy, on the return of three walkers), since a package lies on the hulls and the lean of one moves the others.

One leg carries while the other swings forwards; when the carrying leg is behind, the other comes down, and the first
pushes off. Each walker goes by itself.
"""

from rlenvs.core import f8, i8, kernel
from rlenvs.multi.planar.walkers import hull_seen, leg_seen

STAY, PUT_DOWN, PUSH_OFF = 1, 2, 3
PACE, FASTEST = 0.372, 0.478  # of the hull, as it is seen: above them the knee stretches faster, the push ends
SWING_HIP, SWING_KNEE, DOWN_HIP = 1.217, -0.477, 0.125  # rad, of the moving leg
CARRY_KNEE, PUSH_KNEE, PUSHED = 0.147, 1.0, 0.741  # rad, of the carrying leg; where it has pushed enough
BEHIND = -0.06  # rad, of the hip of a leg that has carried long enough
LIFT = 0.022  # rad per step, by which the carrying knee stretches
HIP_GAIN, HIP_DAMPING, KNEE_GAIN, KNEE_DAMPING = 0.408, 0.116, 1.821, 0.183
LEAN_GAIN, TURN_GAIN, RISE_GAIN = 0.862, 1.023, 7.812
LEVEL = 0.042  # rad, the lean of the hull that is sought

STATE = {
    "phase": i8("agents"),  # 0 before the first step
    "moving_leg": i8("agents"),
    "carrying_knee": f8("agents"),
    "hip_target": f8("agents", 2),  # rad; 0: none
    "knee_target": f8("agents", 2),
}


@kernel
def plan(p, s, k):
    """What the joints of walker k are to do next."""
    pace = hull_seen(p, s, k)[2]
    moving = s.moving_leg[k]
    carrying = 1 - moving
    hip, knee = s.hip_target[k], s.knee_target[k]
    if s.phase[k] == 0:
        s.phase[k], s.carrying_knee[k] = STAY, CARRY_KNEE
    for leg in range(2):
        hip[leg], knee[leg] = 0.0, 0.0
    if s.phase[k] == STAY:
        hip[moving], knee[moving] = SWING_HIP, SWING_KNEE
        s.carrying_knee[k] = min(s.carrying_knee[k] + (2.0 * LIFT if pace > PACE else LIFT), CARRY_KNEE)
        knee[carrying] = s.carrying_knee[k]
        if leg_seen(p, s, k, carrying)[0] < BEHIND:
            s.phase[k] = PUT_DOWN
    if s.phase[k] == PUT_DOWN:
        hip[moving], knee[moving] = DOWN_HIP, CARRY_KNEE
        knee[carrying] = s.carrying_knee[k]
        if s.foot_touches[k, moving]:
            s.phase[k] = PUSH_OFF
            s.carrying_knee[k] = min(leg_seen(p, s, k, moving)[2], CARRY_KNEE)
    if s.phase[k] == PUSH_OFF:
        knee[moving], knee[carrying] = s.carrying_knee[k], PUSH_KNEE
        if leg_seen(p, s, k, carrying)[2] > PUSHED or pace > FASTEST:
            s.phase[k], s.moving_leg[k] = STAY, carrying


@kernel
def follow(p, s, k, leg):
    """Actions of the hip and the knee of a leg: towards their targets, the hull level, the rise slow."""
    if s.phase[k] == 0:
        return 0.0, 0.0
    lean, turning, _, rising = hull_seen(p, s, k)
    hip_angle, hip_speed, knee_angle, knee_speed, _ = leg_seen(p, s, k, leg)
    hips, knees = LEAN_GAIN * (lean - LEVEL) + TURN_GAIN * turning, -RISE_GAIN * rising
    if s.hip_target[k, leg] != 0.0:
        hips += HIP_GAIN * (s.hip_target[k, leg] - hip_angle) - HIP_DAMPING * hip_speed
    if s.knee_target[k, leg] != 0.0:
        knees += KNEE_GAIN * (s.knee_target[k, leg] - knee_angle) - KNEE_DAMPING * knee_speed
    return min(max(hips, -1.0), 1.0), min(max(knees, -1.0), 1.0)
