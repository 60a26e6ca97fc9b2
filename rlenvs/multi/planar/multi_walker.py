"""MultiWalker: two-legged walkers carry a long package together without falling.

## Description
A package longer than the row of walkers rests on their hulls. Each walker has two legs and four motors. They are
rewarded for carrying the package to the right, and it must not touch the ground. PettingZoo's multiwalker_v9 (1.27;
Gupta, Egorov and Kochenderfer, 2017): its constants, spaces, rewards and terminations, simulated by this package's
rigid bodies (`rlenvs/kits/planar`) instead of Box2D. With the same start, ground and actions the motion begins like the
original's; later, contacts amplify float32 rounding, and returns agree in distribution. `rlenvs/mo-MultiWalker-v0`
returns the terms as a vector; at `level="momaland"` its first two numbers are MOMAland's mo-multiwalker-stability.
`forward_reward`, `fall_reward` and `terminate_reward` of the original are `weights={"progress": 1.0, "fall": 10.0,
"drop": 100.0}`, `n_walkers` is `agents`. Different: the time limit truncates, where the original terminates; with
`terminate_on_fall=False` a fall is penalized once, not in every later step; success; costs; solver iterations stop
early when they change nothing; no clouds. Unchanged: the same force pushes all walkers at the start; the lidar sees the
walker's own legs and the other walkers, but not the package; a foot that touches two pieces of ground counts as in the
air as soon as it leaves one of them.

## Action Space
Hip and knee of the first leg, hip and knee of the second: the sign is the direction of the motor, the absolute value
the fraction of its torque.

## Observation Space
As in the original: angle, angular velocity and velocities of the hull; for each leg angle and speed of hip and knee and
whether the foot touches something; ten lidar distances as fractions of `lidar_range`, from below to forwards; the
positions of the left and the right neighbor (zeros if there is none) and of the package, in lengths of the package, and
its angle. The last seven have noise.

## Rewards
`progress` is 130 for 30 m of the package, `lean` the change of -5 |angle of the hull|, `fall` -1 (weight 10) for a
walker whose hull touches anything except the package, `drop` -1 (weight 100) for all when the episode ends by a fall,
by the package touching anything except hulls, or left of the ground. `stability` (weight 0) is minus the angle in
radians by which the package turned in this step. With `shared_reward` each walker receives the mean over all walkers.
With `momaland`, penalties count in both `progress` and `stability`, and `lean` in neither.

## Costs
`tilt`: 1 while the package is inclined by more than `tilt_limit`.

## Starting State
The walkers stand on flat ground, ten terrain steps apart, with the package above them; a horizontal force of up to
`initial_random` newtons pushes them during the first step.

## Episode End
Termination: a walker falls; the package touches the ground or a leg, or is left of the ground; it reaches the last ten
steps of the ground (a success). With `terminate_on_fall=False` only the fallen walker is out, and with `remove_on_fall`
it is removed from the world. Truncation: 500 steps (10 s). Also a success: at the time limit the package is 5 m farther
than at the start.

## Parameters
The contexts of CARL's BipedalWalker (Benjamins et al., TMLR 2023) under its names, and the masses.

## Reference Scores
Mean return of all walkers together over seeds 0 to 99. The expert is a gait without balance control: it carries the
package about five meters, and falls before the time limit in nearly half of the episodes.

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    block,
    continuous,
    cost,
    drop_in,
    f8,
    flag,
    integer,
    kernel,
    meaning,
    param,
    published,
    same_as,
    term,
    uniform,
    world,
)
from rlenvs.kits import planar
from rlenvs.kits.planar.biped import blocks_of_leg
from rlenvs.kits.planar.gait import NUMBERS
from rlenvs.multi.planar import gait, walkers
from rlenvs.multi.planar.render import draw_team
from rlenvs.multi.planar.walkers import (
    GRASS,
    MOST,
    PACKAGE,
    RAYS,
    build,
    draw_ground,
    drive_walker,
    hull_seen,
    lean_of,
    leg_seen,
    measure,
    move,
    neighbour_seen,
    package_seen,
    take_out,
)

PER_METRE = 130.0 / 30.0  # of progress
CARRIED = 5.0  # m, of progress at the time limit that are a success


SPEC = world(
    "MultiWalker-v0",
    doc=__doc__,
    source="PettingZoo multiwalker_v9 (Gupta et al., AAMAS 2017); MOMAland mo-multiwalker-stability-v0",
    agents=True,
    drop_in=drop_in(
        {
            "n_walkers": same_as("agents"),
            "forward_reward": same_as("progress"),
            "fall_reward": meaning("`weights` of `fall`, without the sign", lambda value: {"fall": -float(value)}),
            "terminate_reward": meaning("`weights` of `drop`, without the sign", lambda value: {"drop": -float(value)}),
        }
    ),
    params={
        "gravity": param(-10.0, -20.0, 0.0, "m/s^2", "gravity, upwards"),
        "friction": param(2.5, 0.0, 10.0, "", "of the ground"),
        "package_density": param(1.0, 0.01, 100.0, "kg/m^2", "mass of the package, per area"),
        "package_friction": param(0.5, 0.0, 10.0, "", "of the package"),
        "hull_density": param(5.0, 0.1, 50.0, "kg/m^2", "mass of a hull, per area"),
        "terrain_step": param(14.0 / 30.0, 0.3, 1.0, "m", "between points of the ground"),
        "terrain_height": param(400.0 / 30.0 / 4.0, 1.0, 10.0, "m", "the ground's middle height"),
        "motors_torque": param(80.0, 0.01, 200.0, "N m", "largest torque"),
        "speed_hip": param(4.0, 0.01, 15.0, "rad/s", "speed of the hips' motors"),
        "speed_knee": param(6.0, 0.01, 15.0, "rad/s", "speed of the knees' motors"),
        "lidar_range": param(160.0 / 30.0, 0.5, 20.0, "m", "range of the lidar"),
        "initial_random": param(5.0, 0.0, 50.0, "N", "largest force of the first step"),
        "position_noise": param(
            1e-3, 0.0, 0.1, "", "standard deviation of the observed positions of others and the package"
        ),
        "angle_noise": param(1e-3, 0.0, 0.1, "rad", "standard deviation of the observed angle of the package"),
        "tilt_limit": param(0.2, 0.01, 1.5, "rad", "angle of the package above which there is a cost"),
        "fps": param(50.0, 20.0, 200.0, "1/s", "steps per second"),
    },
    options={
        "agents": integer(3, 1, MOST, "walkers"),
        "shared_reward": flag(True, "whether each walker receives the mean of all rewards instead of its own"),
        "terminate_on_fall": flag(True, "whether the episode ends when a walker falls"),
        "remove_on_fall": flag(True, "whether a walker that falls is removed"),
        "momaland": flag(False, "progress and stability with all penalties, as MOMAland's two objectives"),
        "terrain_length": integer(200, 60, 500, "points of the ground"),
        "velocity_iterations": integer(180, 1, 1000, "largest number of velocity iterations per step"),
        "position_iterations": integer(60, 1, 1000, "largest number of position iterations per step"),
    },
    sizes=walkers.sizes,
    data={"gait_numbers": f8(NUMBERS)},
    state={**walkers.STATE, **gait.STATE},
    observation={
        "angle": block(low=-math.pi, high=math.pi, unit="rad", doc="of the hull, positive backwards"),
        "spin": block(low=-5.0, high=5.0, unit="25 rad/s", doc="angular velocity of the hull"),
        "vx": block(low=-5.0, high=5.0, doc="velocity of the hull, forwards"),
        "vy": block(low=-5.0, high=5.0, doc="velocity of the hull, upwards"),
        **blocks_of_leg("first"),
        **blocks_of_leg("second"),
        "lidar": block(RAYS, low=0.0, high=1.0, doc="fractions of the lidar's range, from below to forwards"),
        "left": block(2, low=-2.0, high=2.0, doc="the left neighbor, in lengths of the package", constant=True),
        "right": block(2, low=-2.0, high=2.0, doc="the right neighbor, in lengths of the package", constant=True),
        "package": block(2, low=-2.0, high=2.0, doc="its middle, in its lengths"),
        "package_angle": block(low=-math.pi, high=math.pi, unit="rad", doc="of the package"),
    },
    action=continuous("first hip", "first knee", "second hip", "second knee"),
    terms={
        "progress": term(-200.0, 50.0, 1.0, "130 for 30 m of the package"),
        "stability": term(-200.0, 0.0, 0.0, "minus the angle by which the package turned"),
        "lean": term(-20.0, 20.0, 1.0, "change of -5 |angle of the hull|"),
        "fall": term(-1.0, 0.0, 10.0, "-1 for a fall"),
        "drop": term(-1.0, 0.0, 100.0, "-1 for all when the package is lost"),
    },
    costs={"tilt": cost(25.0, doc="1 while the package is inclined by more than `tilt_limit`")},
    published=published("PettingZoo multiwalker_v9", low=-math.inf, high=math.inf, state="joined"),
    players=("gait",),
    expert_sees="state",
    horizon=500,
    quick={"agents": 2, "velocity_iterations": 20, "position_iterations": 10},
    fps=lambda values: values.fps,
    levels={
        "pair": {"agents": 2},
        "five": {"agents": 5},
        "go-on": {"terminate_on_fall": False},
        "own-rewards": {"shared_reward": False},
        "momaland": {"momaland": True},
        "fast": {"velocity_iterations": 12, "position_iterations": 6},
    },
)


SPEC.state_fault(planar.state_fault)


@SPEC.make_data
def data(values):
    return {"gait_numbers": gait.GAIT}


@SPEC.reset
def reset(p, s, rng):
    draw_ground(p, s, rng)
    build(p, s, uniform(rng, -p.initial_random, p.initial_random))
    measure(p, s, rng)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.fallen.size):
        if not s.gone[k]:
            drive_walker(p, s, k, a[k])
    move(p, s)
    measure(p, s, rng)
    for k in range(s.fallen.size):
        gait.plan(p, s, k)
    pay(p, s, r)
    end(p, s, r)
    if p.momaland:
        merge_penalties(s, r)
    if p.shared_reward:
        share(r.lean)
        share(r.fall)
        share(r.progress)
        share(r.stability)
        share(r.drop)


@kernel
def pay(p, s, r):
    """What moved in this step."""
    place, slant = s.frame[PACKAGE, 0], s.angle[PACKAGE]
    for k in range(s.fallen.size):
        lean = lean_of(s, k)
        r.progress[k] = PER_METRE * (place - s.place)
        r.stability[k] = -abs(slant - s.slant)
        r.lean[k] = 5.0 * (s.lean[k] - lean)
        r.tilt[k] = 1.0 if abs(slant) > p.tilt_limit else 0.0
        s.lean[k] = lean
    s.place, s.slant = place, slant


@kernel
def end(p, s, r):
    """Falls, the loss of the package, the end of the ground."""
    fell, place, start = False, s.frame[PACKAGE, 0], 0.5 * p.terrain_step * (20 + 10 * (s.fallen.size - 1))
    for k in range(s.fallen.size):
        if s.fallen[k] == 1 and not s.gone[k]:
            fell = True
            r.fall[k] = -1.0
            r.terminated[k] = True
            if not p.terminate_on_fall:
                r.drop[k] = -1.0
                s.fallen[k] = 2
                if p.remove_on_fall:
                    take_out(s, k)
    lost = (fell and p.terminate_on_fall == 1) or s.dropped == 1 or place < 0.0
    there = not lost and place > (s.ground.shape[0] - GRASS) * p.terrain_step
    carried = not lost and s.elapsed + 1 >= p.horizon and place - start >= CARRIED
    for k in range(s.fallen.size):
        r.success[k] = there or carried
        r.terminated[k] = r.terminated[k] or lost or there
        if lost:
            r.drop[k] = -1.0


@kernel
def merge_penalties(s, r):
    """MOMAland's two objectives, both with the penalties."""
    for k in range(s.fallen.size):
        penalty = 10.0 * r.fall[k] + 100.0 * r.drop[k]
        r.progress[k] += penalty
        r.stability[k] += penalty
        r.lean[k], r.fall[k], r.drop[k] = 0.0, 0.0, 0.0


@kernel
def share(term):
    """The mean for all."""
    total = 0.0
    for k in range(term.size):
        total += term[k]
    for k in range(term.size):
        term[k] = total / term.size


@SPEC.observe
def observe(p, s, k, o):
    o.angle, o.spin, o.vx, o.vy = hull_seen(p, s, k)
    o.first_hip, o.first_hip_speed, o.first_knee, o.first_knee_speed, o.first_foot = leg_seen(p, s, k, 0)
    o.second_hip, o.second_hip_speed, o.second_knee, o.second_knee_speed, o.second_foot = leg_seen(p, s, k, 1)
    for i in range(RAYS):
        o.lidar[i] = s.lidar[k, i]
    o.left[0], o.left[1] = neighbour_seen(s, k, k - 1)
    o.right[0], o.right[1] = neighbour_seen(s, k, k + 1)
    o.package[0], o.package[1], o.package_angle = package_seen(s, k)


@SPEC.player("gait")
def follow(p, s, k, a, rng):
    """The gait, at a pace that keeps the walkers together."""
    a[k, 0], a[k, 1] = gait.follow(p, s, k, 0)
    a[k, 2], a[k, 3] = gait.follow(p, s, k, 1)


@SPEC.draw
def draw(canvas, p, s):
    draw_team(canvas, p, s)


@SPEC.keys
def keys(pressed, values):
    def between(less, more):
        return float(more in pressed) - float(less in pressed)

    return [between("a", "d"), between("s", "w"), between("left", "right"), between("down", "up")]
