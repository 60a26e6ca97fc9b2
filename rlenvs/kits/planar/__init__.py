"""Rigid bodies in the plane, as kernels on the state of a world.

Convex polygons, circles, edges and chains; revolute and prismatic joints with motors and limits; friction and
restitution; sensors; contact events; continuous collision against what does not move; ray casts. After the published
descriptions of Box2D and Box2D-Lite by Erin Catto, with its constants, so that worlds made for it behave the same:
"Iterative Dynamics with Temporal Coherence" (2005), "Fast and Simple Physics using Sequential Impulses" (GDC 2006),
"Modeling and Solving Constraints" (GDC 2009), "Computing Distance" (GDC 2010), "Continuous Collision" (GDC 2013),
"Understanding Constraints" (GDC 2014). All numbers are float64, all of it is in the state; meters, kilograms, seconds.

A world declares the fields and fills them in `reset`:

    SPEC = world(..., state={**planar.fields(bodies=2, shapes=2, vertices=6, joints=0, contacts=4), "mine": f8})

    @SPEC.reset
    def reset(p, s, rng):
        ground = planar.add_body(s, planar.STATIC, 0.0, 0.0, 0.0)
        planar.add_edge(s, ground, -10.0, 0.0, 10.0, 0.0)
        box = planar.add_body(s, planar.DYNAMIC, 0.0, 3.0, 0.1)  # x, y of its origin, angle
        shape = planar.add_box(s, box, 0.5, 0.5, 1.0)  # half sides, density
        planar.set_material(s, shape, 0.3, 0.1)  # friction, restitution
        planar.set_filter(s, shape, 2, 1)  # its category; categories it collides with
        planar.prepare(s)  # when all bodies, shapes and joints are there

    @SPEC.step
    def step(p, s, a, rng, r):
        planar.push(s, 1, a[0], 0.0)
        planar.advance(s, 0.02, 0.0, -10.0, 8, 3, planar.SETTLED)  # dt, gravity, iterations of velocity and position
        for e in range(s.event_count):  # in their order: shapes, and 1 for a touch that began, -1 for one that ended
            touched = s.events[e, 0], s.events[e, 1], s.events[e, 2]

| file | what it does |
|---|---|
| `bodies.py` | fields; bodies and their mass, forces and impulses; `prepare` |
| `shapes.py` | shapes, their materials and filters, boxes around them |
| `joints.py` | `add_revolute`, `add_prismatic`, motors, limits; their constraints |
| `broad.py` | which shapes are near each other: a sweep along x, and strips of x for what stands still |
| `collide.py`, `edges.py` | where two shapes touch |
| `contacts.py` | pairs of shapes, their events; impulses at contacts |
| `distance.py`, `impact.py` | how far two shapes are apart; when they will meet |
| `step.py` | `advance`: all of it, in order; `solve_impacts` |
| `rays.py` | `cast_ray` |
| `drawing.py` | shapes on a canvas |
| `biped.py` | the two-legged walker that BipedalWalker and MultiWalker share |

What a world reads: `s.centre[b]` (of mass; `origin(s, b)` is where the body was put), `s.angle[b]`, `s.velocity[b]`,
`s.spin[b]`, `joint_angle(s, j)`, `joint_speed(s, j)`, `s.still[b]` (seconds since it moved noticeably) and
`s.position_solved`; `touching(s, shape)`. Before a step it may write `s.motor_speed[j]`, `s.motor_limit[j]`,
velocities, forces; `place(s, b, x, y, angle)` moves a body by hand, `remove_body(s, b)` takes it out.

Bodies never sleep: a world that ends at rest asks `s.still`. With `settled` above 0 the iterations of velocities stop
when no constraint has changed a velocity by more than that [m/s, rad/s], since all further ones would change nothing
that float32, in which Box2D calculates, could show; 0 runs all of them. Constraints are solved in the order in which
joints were added, then contacts, the newest first. What does not fit into `contacts` is left out, and counted in
`s.contacts_left_out`.
"""

from rlenvs.kits.planar.bodies import DYNAMIC as DYNAMIC
from rlenvs.kits.planar.bodies import KINEMATIC as KINEMATIC
from rlenvs.kits.planar.bodies import STATIC as STATIC
from rlenvs.kits.planar.bodies import add_body as add_body
from rlenvs.kits.planar.bodies import fields as fields
from rlenvs.kits.planar.bodies import fix_rotation as fix_rotation
from rlenvs.kits.planar.bodies import kick as kick
from rlenvs.kits.planar.bodies import local_velocity as local_velocity
from rlenvs.kits.planar.bodies import origin as origin
from rlenvs.kits.planar.bodies import place as place
from rlenvs.kits.planar.bodies import push as push
from rlenvs.kits.planar.bodies import push_at as push_at
from rlenvs.kits.planar.contacts import remove_body as remove_body
from rlenvs.kits.planar.contacts import touching as touching
from rlenvs.kits.planar.joints import add_prismatic as add_prismatic
from rlenvs.kits.planar.joints import add_revolute as add_revolute
from rlenvs.kits.planar.joints import joint_angle as joint_angle
from rlenvs.kits.planar.joints import joint_speed as joint_speed
from rlenvs.kits.planar.joints import set_limits as set_limits
from rlenvs.kits.planar.joints import set_motor as set_motor
from rlenvs.kits.planar.rays import cast_ray as cast_ray
from rlenvs.kits.planar.shapes import add_box as add_box
from rlenvs.kits.planar.shapes import add_box_at as add_box_at
from rlenvs.kits.planar.shapes import add_circle as add_circle
from rlenvs.kits.planar.shapes import add_edge as add_edge
from rlenvs.kits.planar.shapes import add_quad as add_quad
from rlenvs.kits.planar.shapes import finish_polygon as finish_polygon
from rlenvs.kits.planar.shapes import link_edges as link_edges
from rlenvs.kits.planar.shapes import set_filter as set_filter
from rlenvs.kits.planar.shapes import set_material as set_material
from rlenvs.kits.planar.shapes import set_sensor as set_sensor
from rlenvs.kits.planar.shapes import set_vertex as set_vertex
from rlenvs.kits.planar.shapes import start_polygon as start_polygon
from rlenvs.kits.planar.soundness import state_fault as state_fault
from rlenvs.kits.planar.step import SETTLED as SETTLED
from rlenvs.kits.planar.step import advance as advance
from rlenvs.kits.planar.step import prepare as prepare
