"""Move the hand of a robot arm to goal after goal without entering forbidden zones.

## Description
A Panda moves its hand to a goal; when it arrives, a new goal appears. Spheres floating above the table and boxes
standing on it are forbidden zones for the whole arm, which can enter them but should not. The task follows the
published parts of Kovač and Farkaš, "Safe Reinforcement Learning in a Simulated Robotic Arm" (arXiv 2312.09468), who
added a Panda to Safety Gym: reaching goals under a constraint. Arm, control rate and goal size are panda-gym's; reward,
resampled goals, indicator costs, their limit of 25 and the horizon of 1000 steps are Safety Gym's. Sizes and numbers of
zones are ours.

## Action Space
As in PandaReach, depending on `control`: the target of the hand in world axes, the same with three rotations, seven
joints, or displacements of the hand. The target is observed only with `target`.

## Observation Space
The end effector (the point between the finger tips) and its velocity, angles and velocities of the seven joints, the
goal relative to the end effector, the nearest point of the nearest zone relative to it (zero inside, or if there is
none), then the centers of the spheres and of the boxes, also relative to it. All in world axes.

## Rewards
`progress` is the decrease of the distance to the goal in this step [m], `goal` is 1 when the goal is reached.

## Costs
`spheres`: part of the arm (a link, the hand or a finger, by their shapes) is inside a sphere; `boxes`: inside a box.
Both are indicators at the end of a step, and so is their total: two simultaneous violations cost 1. With control="hand"
there is a barrier [m] for `BarrierFilter` for every zone: the clearance of the target of the hand, as if its fingers
pointed down. It ignores the links above the forearm: with random actions held for several steps, 2 % of the steps have
a cost with the filter and 5 % without; with independent random actions 0 % and 10 %.

## Starting State
The arm is in panda-gym's neutral pose. Spheres, then boxes, are placed uniformly in a square in front of the arm,
apart from each other and from the arm; the centers of spheres are at any height up to `sphere_height`. A goal is
uniform in the same square, at least 2 cm above the table, at least 20 cm from the hand if possible, otherwise at least
10 cm. With the fingers pointing down, the arm at the goal and on its path there from above is clear of all zones.

## Episode End
Truncation: 1000 steps (40 s). Termination: the goal was reached, and 500 tries found no place for the next. Success
means that at least twenty goals were reached so far and the total cost is at most 25.

## Parameters
The parameters of arm and controller are shared by all arm tasks. Zones that leave too little room for goals are
refused.

## Reference Scores
Mean return over fixed seeds.

## Version History
v0: first version.
"""

import math

from rlenvs.core import block, cost, f8, i8, integer, kernel, param, term, uniform
from rlenvs.core.declare.errors import ParameterError
from rlenvs.kits.engines.mujoco_parts import add_goal
from rlenvs.kits.engines.overlays import Way, apart, draw_ways
from rlenvs.robotics.manipulation import arm, panda

COST_LIMIT, GOALS_WANTED = 25.0, 20
MIDDLE = -0.1  # m, x of the middle of goals and zones
LOWEST = 0.02  # m, of goals
APART, NEAREST = 0.2, 0.1  # m, of a goal from the hand: wanted, and at least
OVER = 0.36  # m, at this height the hand passes over all zones
LAYOUTS, TRIES, GOAL_TRIES = 200, 100, 500
MOST_CROWDED = 3.0  # squares that the zones, with room for the hand around them, would cover side by side
ROOM = 0.15  # of all goals have to fit
# the arm with its fingers down: the hand is a wall, SIDE to both sides and THICK; the rest is HIGH above the grip
SIDE, THICK, TIP, HIGH, FOREARM = 0.08, 0.05, 0.01, 0.14, 0.07
MARGIN = 0.02  # m, between the arm and zones
AHEAD = 0.1  # m, the expert looks
NEAR = 0.025  # m, this close over the goal the hand goes down
NUDGE = 0.002  # m, over which the barriers' slopes are taken
(HAND,) = arm.CONTROL.codes("hand")
FIRST = 2  # the first zone among the mocap bodies, behind target and goal
GREEN, ORANGE = (0.0, 0.62, 0.45, 0.6), (0.84, 0.37, 0.0, 0.45)

SPEC = arm.task(
    "PandaSafeReach-v0",
    doc=__doc__,
    source='Kovač and Farkaš, "Safe Reinforcement Learning in a Simulated Robotic Arm", arXiv 2312.09468',
    params={
        "threshold": param(0.05, 0.02, 0.09, "m", "distance at which the goal is reached"),
        "width": param(0.45, 0.42, 0.5, "m", "side of the square of goals and zones"),
        "height": param(0.2, 0.2, 0.35, "m", "height of the highest goal"),
        "sphere_radius": param(0.05, 0.02, 0.055, "m", "radius of a sphere"),
        "sphere_height": param(0.2, 0.1, 0.25, "m", "height of the highest center of a sphere"),
        "box_side": param(0.08, 0.04, 0.09, "m", "side of a box"),
        "box_height": param(0.2, 0.05, 0.25, "m", "height of a box"),
    },
    options={
        "fingers": arm.NO_FINGERS,
        "spheres": integer(2, 0, 3, "number of spheres"),
        "boxes": integer(2, 0, 3, "number of boxes"),
    },
    sizes=lambda v: {
        **arm.sizes(v),
        "spheres": v.spheres,
        "boxes": v.boxes,
        "kept_out": v.spheres + v.boxes if v.control == "hand" else 0,
    },
    barriers="kept_out",
    state={
        **arm.state(),
        "in_spheres": f8("spheres"),  # parts of the arm inside
        "in_boxes": f8("boxes"),
        "distance": f8,  # m, to the goal
        "goals": i8,  # reached in this episode
        "spent": f8,  # total cost of this episode
    },
    observation={
        **arm.ARM_BLOCKS,
        "joints": block(7, low=-3.8, high=3.8, unit="rad", doc="angles of the joints"),
        "joint_velocities": block(7, low=-3.0, high=3.0, unit="rad/s", doc="their velocities"),
        "goal": block(3, low=-1.0, high=1.0, unit="m", doc="from the end effector to the goal"),
        "nearest": block(3, low=-1.0, high=1.0, unit="m", doc="from the end effector to the nearest zone"),
        "spheres": block("spheres", 3, low=-1.0, high=1.0, unit="m", doc="from the end effector to the spheres"),
        "boxes": block("boxes", 3, low=-1.0, high=1.0, unit="m", doc="from the end effector to the boxes"),
    },
    terms={
        "progress": term(-1.0, 1.0, 1.0, "decrease of the distance to the goal in meters"),
        "goal": term(0.0, 1.0, 1.0, "1 when the goal is reached"),
    },
    costs={
        "spheres": cost(COST_LIMIT, 1.0, "1 while part of the arm is inside a sphere"),
        "boxes": cost(COST_LIMIT, 1.0, "1 while part of the arm is inside a box"),
    },
    combine_costs="max",
    horizon=1000,
    levels={
        "easy": {"spheres": 1, "boxes": 1},
        "medium": {},
        "hard": {"spheres": 3, "boxes": 3, "width": 0.5, "height": 0.25, "sphere_height": 0.25, "box_height": 0.25},
    },
)


@SPEC.model
def model(values):
    kept = [girth(values, j) + THICK + MARGIN for j in range(values.spheres + values.boxes)]
    crowd = sum(4.0 * SIDE * room + math.pi * room**2 for room in kept) / values.width**2
    if crowd > MOST_CROWDED:
        raise ParameterError(
            f"spheres={values.spheres}, boxes={values.boxes} of this size exclude {crowd:.2f} times the square of "
            f"width={values.width:g}; at most {MOST_CROWDED:g} is allowed. Use fewer or smaller ones, or more width"
        )
    spec = panda.scene(values)
    add_goal(spec, "goal", values.threshold, GREEN)
    for j in range(values.spheres):
        add_zone(spec, "spheres", j, "SPHERE", (values.sphere_radius, 0.0, 0.0))
    for j in range(values.boxes):
        half = 0.5 * values.box_side
        add_zone(spec, "boxes", j, "BOX", (half, half, 0.5 * values.box_height))
    return spec


def add_zone(spec, kind, j, shape, size):
    """A zone that the arm can enter, and its sensor: the number of shapes of the arm that are inside."""
    import mujoco

    name = f"in_{kind}/{j}"
    body = spec.worldbody.add_body(name=name, mocap=True)
    # overlaps (a distance under margin + gap) are found, but give no force: that needs a distance under the margin
    found = {"contype": panda.ARM_BITS["conaffinity"], "conaffinity": 0, "margin": -1.0, "gap": 1.0}
    body.add_geom(name=name, type=getattr(mujoco.mjtGeom, f"mjGEOM_{shape}"), size=size, rgba=ORANGE, **found)
    sensor = spec.add_sensor(name=name, objname=name, type=mujoco.mjtSensor.mjSENS_CONTACT)
    sensor.objtype = mujoco.mjtObj.mjOBJ_GEOM
    sensor.intprm[:3] = (1 << int(mujoco.mjtConDataField.mjCONDATA_FOUND), 0, 1)


# --- zones ------------------------------------------------------------------------------------------------------------


@kernel
def girth(p, j):
    """Radius of the upright cylinder around zone j."""
    return p.sphere_radius if j < p.spheres else math.sqrt(0.5) * p.box_side


@kernel
def top(p, s, j):
    """Height of the top of zone j."""
    return s.mocap_pos[FIRST + j, 2] + (p.sphere_radius if j < p.spheres else 0.5 * p.box_height)


@kernel
def aside(s, j, x0, y0, x1, y1):
    """Distance in the plane from the middle of zone j to the line between two points."""
    x, y = s.mocap_pos[FIRST + j, 0] - x0, s.mocap_pos[FIRST + j, 1] - y0
    dx, dy = x1 - x0, y1 - y0
    along = min(max((x * dx + y * dy) / max(dx * dx + dy * dy, 1e-12), 0.0), 1.0)
    return math.sqrt((x - along * dx) ** 2 + (y - along * dy) ** 2)


@kernel
def hand_room(p, s, j, x0, y0, x1, y1):
    """Room in the plane between zone j and the hand on its way between two points."""
    across_x, across_y = 0.0, SIDE
    if p.control == arm.JOINTS:  # the hand turns with the first joint
        away = math.sqrt((x1 - panda.BASE[0]) ** 2 + (y1 - panda.BASE[1]) ** 2)
        across_x, across_y = -SIDE * (y1 - panda.BASE[1]) / away, SIDE * (x1 - panda.BASE[0]) / away
    nearest = math.inf
    for i in range(-2, 3):
        x, y = 0.5 * i * across_x, 0.5 * i * across_y
        nearest = min(nearest, aside(s, j, x0 + x, y0 + y, x1 + x, y1 + y))
    return nearest - girth(p, j) - THICK - MARGIN


@kernel
def is_clear(p, s, j, x, y, z):
    """Whether the arm is clear of zone j with its fingers pointing down to a place, there and anywhere above."""
    height = top(p, s, j) + MARGIN
    if height > z - TIP and hand_room(p, s, j, x, y, x, y) < 0.0:
        return False
    arm_room = aside(s, j, panda.BASE[0], panda.BASE[1], x, y) - girth(p, j) - FOREARM - MARGIN
    return height < z + HIGH or arm_room >= 0.0


@kernel
def place_zone(p, s, rng, j):
    """Draw zone j until it is clear of the arm and of the zones before it; return whether that succeeded."""
    spot = s.mocap_pos[FIRST + j]
    for _ in range(TRIES):
        draw_place(p, rng, spot)
        spot[2] = uniform(rng, p.sphere_radius, p.sphere_height) if j < p.spheres else 0.5 * p.box_height
        free = is_clear(p, s, j, panda.NEUTRAL_GRIP[0], panda.NEUTRAL_GRIP[1], panda.NEUTRAL_GRIP[2])
        for i in range(j):
            other = s.mocap_pos[FIRST + i]
            apart = math.sqrt((spot[0] - other[0]) ** 2 + (spot[1] - other[1]) ** 2)
            free = free and apart >= girth(p, i) + girth(p, j)
        if free:
            return True
    return False


@kernel
def place_goal(p, s, rng, grip):
    """Draw the goal until it fits and is away from the hand; return whether that succeeded."""
    goal = s.mocap_pos[1]
    for i in range(GOAL_TRIES):
        apart = APART + (NEAREST - APART) * i / GOAL_TRIES  # where there is no place that far, a nearer one
        draw_goal(p, rng, goal)
        if fits(p, s, goal) and arm.distance(goal, grip) >= apart:
            s.distance = arm.distance(goal, grip)
            return True
    return False


@kernel
def fits(p, s, goal):
    """Whether a goal is within reach and clear of all zones."""
    fit = arm.stretch(goal[0], goal[1], OVER) <= arm.STRETCH
    for j in range(p.spheres + p.boxes):
        fit = fit and is_clear(p, s, j, goal[0], goal[1], goal[2])
    return fit


@kernel
def is_roomy(p, s, rng):
    """Whether enough goals fit, not only around the start, that there always is a next one."""
    found, goal = 0, s.mocap_pos[1]
    for _ in range(TRIES):
        draw_goal(p, rng, goal)
        if fits(p, s, goal) and arm.distance(goal, panda.NEUTRAL_GRIP) >= NEAREST:
            found += 1
    return found >= ROOM * TRIES


@kernel
def draw_goal(p, rng, goal):
    draw_place(p, rng, goal)
    goal[2] = uniform(rng, LOWEST, p.height)


@kernel
def draw_place(p, rng, spot):
    spot[0] = uniform(rng, MIDDLE - 0.5 * p.width, MIDDLE + 0.5 * p.width)
    spot[1] = uniform(rng, -0.5 * p.width, 0.5 * p.width)


# --- the world --------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    arm.pose(p, s, 0)
    for _ in range(LAYOUTS):
        placed_all = True
        for j in range(p.spheres + p.boxes):
            placed_all = placed_all and place_zone(p, s, rng, j)
        if placed_all and is_roomy(p, s, rng):
            break
    place_goal(p, s, rng, panda.NEUTRAL_GRIP)


@SPEC.after_reset
def after_reset(p, s, rng):
    arm.start(s, 0)


@SPEC.act
def act(p, s, a, rng):
    arm.drive(p, s, a, 0)


@SPEC.outcome
def outcome(p, s, a, rng, r):
    for j in range(p.spheres):
        if s.in_spheres[j] > 0.0:
            r.spheres = 1.0
    for j in range(p.boxes):
        if s.in_boxes[j] > 0.0:
            r.boxes = 1.0
    s.spent += max(r.spheres, r.boxes)
    before = s.distance
    s.distance = arm.distance(s.grip[0], s.mocap_pos[1])
    r.progress = before - s.distance
    if s.distance <= p.threshold:
        r.goal = 1.0
        s.goals += 1
        r.terminated = not place_goal(p, s, rng, s.grip[0])
    r.success = s.goals >= GOALS_WANTED and s.spent <= COST_LIMIT


@SPEC.observe
def observe(p, s, o):
    arm.observe_arm(p, s, 0, o)
    for j in range(7):
        o.joints[j] = s.qpos[j]
        o.joint_velocities[j] = s.qvel[j]
    for j in range(3):
        o.goal[j] = s.mocap_pos[1, j] - s.grip[0, j]
        for i in range(p.spheres):
            o.spheres[i, j] = s.mocap_pos[FIRST + i, j] - s.grip[0, j]
        for i in range(p.boxes):
            o.boxes[i, j] = s.mocap_pos[FIRST + p.spheres + i, j] - s.grip[0, j]
    observe_nearest(p, s, o)


@kernel
def observe_nearest(p, s, o):
    nearest = math.inf
    for j in range(3):
        o.nearest[j] = 0.0
    for i in range(p.spheres + p.boxes):
        x, y, z = to_zone(p, s, i)
        if x * x + y * y + z * z < nearest:
            nearest = x * x + y * y + z * z
            o.nearest[0], o.nearest[1], o.nearest[2] = x, y, z


@kernel
def to_zone(p, s, i):
    """From the end effector to the nearest point of zone i; zero inside."""
    middle, grip = s.mocap_pos[FIRST + i], s.grip[0]
    x, y, z = middle[0] - grip[0], middle[1] - grip[1], middle[2] - grip[2]
    if i < p.spheres:
        away = math.sqrt(x * x + y * y + z * z)
        share = max(away - p.sphere_radius, 0.0) / max(away, 1e-9)
        return share * x, share * y, share * z
    half, up = 0.5 * p.box_side, 0.5 * p.box_height
    return beyond(x, half), beyond(y, half), beyond(z, up)


@kernel
def beyond(x, half):
    """What of x goes beyond [-half, half]."""
    return x - min(max(x, -half), half)


@SPEC.expert
def expert(p, s, a):
    """Up over the zones that are in the way, across, and down to the goal."""
    goal, grip = s.mocap_pos[1], s.grip[0]
    height = safe_height(p, s)
    share = min(max(1.5 - (height - grip[2]) / MARGIN, 0.0), 1.0)  # of the way across, while the hand is too low
    x, y = grip[0] + share * ahead(goal[0], grip[0]), grip[1] + share * ahead(goal[1], grip[1])
    z = grip[2] + ahead(height, grip[2])
    if p.control == arm.JOINTS:
        arm.steer_joints(s, x, y, z, a)
    else:
        arm.steer(s, 0, x, y, z, a)


@kernel
def ahead(x, start):
    """A short way from `start` to x, on which joints move the hand along a line."""
    return min(max(x - start, -AHEAD), AHEAD)


@kernel
def safe_height(p, s):
    """The lowest height, from the goal's up, at which the arm passes over everything on its way to the goal."""
    goal, grip = s.mocap_pos[1], s.grip[0]
    height = goal[2]
    if (goal[0] - grip[0]) ** 2 + (goal[1] - grip[1]) ** 2 < NEAR**2:
        return height
    for j in range(p.spheres + p.boxes):
        height = max(height, top(p, s, j) + MARGIN - HIGH)
        if hand_room(p, s, j, grip[0], grip[1], goal[0], goal[1]) < 0.0:
            height = max(height, top(p, s, j) + TIP + 2.0 * MARGIN)
    return height


@kernel
def room_at(p, s, j, x, y, z):
    """Room [m] between zone j and the arm with its fingers down to a place, above the zone or beside it; negative where
    they overlap, margins included."""
    height = top(p, s, j) + MARGIN
    hand = max(z - TIP - height, hand_room(p, s, j, x, y, x, y))
    rest = aside(s, j, panda.BASE[0], panda.BASE[1], x, y) - girth(p, j) - FOREARM - MARGIN
    return min(hand, max(z + HIGH - height, rest))


@SPEC.barrier
def barrier(p, s, a, b):
    """The room around the target of the hand, which goes where actions say; the hand follows within its margin. Without
    an action the target stays, and so is safe. There are none where actions are not those of the hand's target."""
    if p.control != HAND:
        return
    x, y, z = s.mocap_pos[0, 0], s.mocap_pos[0, 1], s.mocap_pos[0, 2]
    stride = 0.5 * arm.STEP / NUDGE
    for j in range(p.spheres + p.boxes):
        b.value[j] = room_at(p, s, j, x, y, z)
        b.drift[j] = 0.0
        b.slope[j, 0] = stride * (room_at(p, s, j, x + NUDGE, y, z) - room_at(p, s, j, x - NUDGE, y, z))
        b.slope[j, 1] = stride * (room_at(p, s, j, x, y + NUDGE, z) - room_at(p, s, j, x, y - NUDGE, z))
        b.slope[j, 2] = stride * (room_at(p, s, j, x, y, z + NUDGE) - room_at(p, s, j, x, y, z - NUDGE))
    for i in range(3):
        b.brake[i] = 0.0


@SPEC.draw
def draw(canvas, p, s):
    way = Way(s.grip[0], s.mocap_pos[1], p.threshold)
    legend = [("green", "goal", "ring"), ("orange", "hand", "disc"), ("red", "not to enter")]
    inside = bool(s.in_spheres.any() or s.in_boxes.any())
    told = f"{s.goals} goals reached, next {apart(s.grip[0], s.mocap_pos[1])} away"
    draw_ways(canvas, [way], legend, *(["ARM INSIDE"] if inside else []), told, view=panda.OVERVIEW)
