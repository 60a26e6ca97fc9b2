"""A gait for the walkers of BipedalWalker and MultiWalker, with the phases of Gymnasium's own controller.

One leg carries while the other swings forwards; when the carrying leg is behind, the other comes down, and the first
pushes off. Springs with dampers hold the joints at their targets, and all of them keep the hull level. What a walker
senses of itself is all that the gait needs, and seven numbers of memory. `benchmarks/planar_gaits.py` searches
its numbers.
"""

from __future__ import annotations

from rlenvs.core import kernel

# the numbers of a gait
PACE, FASTEST = 0, 1  # of the hull: above them the carrying knee stretches twice as fast; the push ends
SWING_HIP, SWING_KNEE, DOWN_HIP = 2, 3, 4  # rad, of the leg that swings, then comes down
CARRY_KNEE, PUSH_KNEE, PUSHED = 5, 6, 7  # rad, of the leg that carries; when it pushes; where it has pushed enough
BEHIND, LIFT = 8, 9  # rad, of the hip of a leg that has carried long enough; rad per step, by which its knee stretches
HIP_GAIN, HIP_DAMPING, KNEE_GAIN, KNEE_DAMPING = 10, 11, 12, 13
LEAN_GAIN, TURN_GAIN, RISE_GAIN, LEVEL = 14, 15, 16, 17  # against lean, its rate, rising; rad, the lean that is sought
REACH = 18  # rad, by which a leg swings farther for a hull that is faster than PACE
WAIT = 19  # pace, by which PACE and FASTEST are more for a hull a metre behind its place under a load
BEAR = 20  # rad, by which the carrying knee stretches more for a load that is a metre too low
NUMBERS = 21

# of Gymnasium's controller (gymnasium/envs/box2d/bipedal_walker.py), whose sums of gains are halved
GYMNASIUM = (
    *(0.29, 1.2 * 0.29, 1.1, -0.6, 0.1, 0.1, 1.0, 0.88, 0.1, 0.03),
    *(0.45, 0.125, 2.0, 0.125, 0.45, 0.75, 7.5, 0.0, 0.0, 0.0, 0.0),
)

# the memory
PHASE, MOVING, KNEE, HIP_TARGET, KNEE_TARGET, MEMORY = 0, 1, 2, 3, 5, 7  # targets of two legs each; 0: none
STAY, PUT_DOWN, PUSH_OFF = 1.0, 2.0, 3.0  # phases; 0 before the first step


@kernel
def plan(g, m, pace, first, second, late, low):
    """What the joints are to do next.

    Args:
        g, m: numbers of the gait; its memory, which is changed.
        pace: of the hull, as it is observed.
        first, second: of the legs, as they are observed: hip, its speed, knee, its speed, whether the foot touches.
        late, low: how far the hull is behind its place under a load, and the load below its height there [m].
    """
    moving = int(m[MOVING])
    carrying = 1 - moving
    swings, carries = (first, second) if moving == 0 else (second, first)
    swing_hip, swing_knee, push_knee = HIP_TARGET + moving, KNEE_TARGET + moving, KNEE_TARGET + carrying
    most = g[CARRY_KNEE] + g[BEAR] * low
    faster = g[WAIT] * late
    reach = g[REACH] * (pace - g[PACE])
    if m[PHASE] == 0.0:
        m[PHASE], m[KNEE] = STAY, most
    for j in range(HIP_TARGET, MEMORY):
        m[j] = 0.0
    if m[PHASE] == STAY:
        m[swing_hip], m[swing_knee] = g[SWING_HIP] + reach, g[SWING_KNEE]
        m[KNEE] = min(m[KNEE] + (2.0 if pace > g[PACE] + faster else 1.0) * g[LIFT], most)
        m[push_knee] = m[KNEE]
        if carries[0] < g[BEHIND]:
            m[PHASE] = PUT_DOWN
    if m[PHASE] == PUT_DOWN:
        m[swing_hip], m[swing_knee], m[push_knee] = g[DOWN_HIP] + reach, g[CARRY_KNEE], m[KNEE]
        if swings[4] > 0.0:
            m[PHASE], m[KNEE] = PUSH_OFF, min(swings[2], g[CARRY_KNEE])
    if m[PHASE] == PUSH_OFF:
        m[swing_knee], m[push_knee] = m[KNEE], g[PUSH_KNEE]
        if carries[2] > g[PUSHED] or pace > g[FASTEST] + faster:
            m[PHASE], m[MOVING] = STAY, float(carrying)


@kernel
def follow(g, m, hull, leg, side):
    """Actions of hip and knee of a leg; `hull` and `leg` as they are observed, `side` which of the two it is."""
    if m[PHASE] == 0.0:
        return 0.0, 0.0
    hips = g[LEAN_GAIN] * (hull[0] - g[LEVEL]) + g[TURN_GAIN] * hull[1]
    knees = -g[RISE_GAIN] * hull[3]
    if m[HIP_TARGET + side] != 0.0:
        hips += g[HIP_GAIN] * (m[HIP_TARGET + side] - leg[0]) - g[HIP_DAMPING] * leg[1]
    if m[KNEE_TARGET + side] != 0.0:
        knees += g[KNEE_GAIN] * (m[KNEE_TARGET + side] - leg[2]) - g[KNEE_DAMPING] * leg[3]
    return min(max(hips, -1.0), 1.0), min(max(knees, -1.0), 1.0)
