"""A small world for tests whose agents differ: a hunter and two hares on a line, with players, sides and a central
state."""

from rlenvs.core import below, block, discrete, f8, param, role, term, uniform, world

SPEC = world(
    "Pursuit-v0",
    doc=__doc__,
    agents=True,
    params={"stride": param(1.0, 0.5, 2.0, "m", "length of a hunter's step")},
    sizes=lambda values: {"agents": 3},
    teams=lambda values: [0, 1, 1],
    roles=lambda values: [role("hunter", 3, 2), role("hare_0", 2, 3), role("hare_1", 2, 3)],
    players=("greedy", "fickle"),
    expert_sees="state",
    central={"places": block("agents", low=-50.0, high=50.0, unit="m")},
    state={"place": f8("agents")},
    observation={"places": block(3, low=-100.0, high=100.0, raw=True, doc="own place and the distances to others")},
    action=discrete("left", "right", "stay"),
    terms={"distance": term(-100.0, 100.0)},
    horizon=10,
)


@SPEC.reset
def reset(p, s, rng):
    for k in range(3):
        s.place[k] = uniform(rng, -10.0, 10.0)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(3):
        stride = p.stride if k == 0 else 0.9
        s.place[k] += (0.0 if a[k] == 2 else 2.0 * a[k] - 1.0) * stride
    for k in range(3):
        nearest = min(abs(s.place[0] - s.place[1]), abs(s.place[0] - s.place[2]))
        r.distance[k] = -nearest if k == 0 else nearest
        r.success[k] = (nearest < 1.0) == (k == 0)


@SPEC.observe
def observe(p, s, k, o):
    o.places[0] = s.place[k]
    o.places[1] = s.place[(k + 1) % 3] - s.place[k]
    if k == 0:
        o.places[2] = s.place[2] - s.place[0]


@SPEC.central_state
def central_state(p, s, o):
    for k in range(3):
        o.places[k] = s.place[k]


@SPEC.player("greedy")
def greedy(p, s, k, a, rng):
    to_prey = s.place[1] - s.place[0]
    a[k] = 1 if to_prey > 0.0 else 0


@SPEC.player("fickle")
def fickle(p, s, k, a, rng):
    a[k] = below(rng, 2)
