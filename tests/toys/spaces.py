"""Small worlds for tests of spaces: observations that are one image or one whole number, and actions of several
choices, with masks, for one agent and for two."""

from rlenvs.core import (
    b1,
    below,
    block,
    discrete,
    discrete_block,
    i8,
    image,
    kernel,
    multi_binary,
    multi_discrete,
    term,
    world,
)

CELLS = 6  # along each side of the image
SIDE = 6  # pixels of a cell: together the least that a network of 3 convolutions (Mnih et al. 2015) takes
LANE = 5  # places along a porter's way


# --- pixels alone -----------------------------------------------------------------------------------------------------


@kernel
def paint(i, row, column, channel, value):
    """Fill a cell of an image."""
    i[row * SIDE : (row + 1) * SIDE, column * SIDE : (column + 1) * SIDE, channel] = value


@kernel
def blacken(i):
    """An empty image."""
    i[:, :, :] = 0


CATCH = world(
    "Catch-v0",
    doc="Catch falling balls with a paddle; only the image shows where they are.",
    state={"row": i8, "column": i8, "paddle": i8},
    observation={},
    images={"screen": image(CELLS * SIDE, CELLS * SIDE, 1, doc="ball and paddle")},
    action=discrete("left", "stay", "right", idle=1),
    terms={"caught": term(-1.0, 1.0)},
    horizon=20,
)


@CATCH.reset
def reset_catch(p, s, rng):
    s.column = below(rng, CELLS)
    s.paddle = below(rng, CELLS)


@CATCH.step
def step_catch(p, s, a, rng, r):
    s.paddle = min(max(s.paddle + a - 1, 0), CELLS - 1)
    s.row += 1
    if s.row == CELLS - 1:
        r.success = s.paddle == s.column
        r.caught = 1.0 if s.paddle == s.column else -1.0
        s.row = 0
        s.column = below(rng, CELLS)


@CATCH.observe_images
def look_catch(p, s, i):
    blacken(i.screen)
    paint(i.screen, s.row, s.column, 0, 255)
    paint(i.screen, CELLS - 1, s.paddle, 0, 128)


@CATCH.expert
def expert_catch(p, s, a):
    a[0] = 1 + (s.column > s.paddle) - (s.column < s.paddle)


MEET = world(
    "Meet-v0",
    doc="Two agents meet on a line; each sees an image of itself in green and of the other in red.",
    agents=True,
    sizes=lambda values: {"agents": 2},
    state={"place": i8("agents")},
    observation={},
    images={"screen": image(CELLS * SIDE, CELLS * SIDE, 3, doc="all agents")},
    action=discrete("left", "stay", "right", idle=1),
    terms={"near": term(-1.0, 0.0)},
    horizon=12,
)


@MEET.reset
def reset_meet(p, s, rng):
    for k in range(2):
        s.place[k] = below(rng, CELLS)


@MEET.mask
def mask_meet(p, s, k, m):
    m[0] = s.place[k] > 0
    m[1] = 1
    m[2] = s.place[k] < CELLS - 1


@MEET.step
def step_meet(p, s, a, rng, r):
    for k in range(2):
        s.place[k] = min(max(s.place[k] + a[k] - 1, 0), CELLS - 1)
    for k in range(2):
        r.near[k] = -abs(s.place[0] - s.place[1]) / CELLS
        r.success[k] = s.place[0] == s.place[1]


@MEET.observe_images
def look_meet(p, s, k, i):
    blacken(i.screen)
    paint(i.screen, 0, s.place[k], 1, 255)
    paint(i.screen, 1, s.place[1 - k], 0, 255)


@MEET.expert
def expert_meet(p, s, a):
    a[0] = 1 + (s.place[1] > s.place[0]) - (s.place[1] < s.place[0])
    a[1] = 1


# --- several choices at once ------------------------------------------------------------------------------------------

WORK = multi_discrete(
    {"move": discrete("back", "stay", "on", idle=1), "hand": discrete("rest", "pick", "drop")},
    doc="where to go, and what to do before",
)


@kernel
def allow_work(m, place, carries, parcel):
    """What a porter may do: its way ends at both sides, and only what lies there can be picked up. Moves come first."""
    m[0] = place > 0
    m[1] = 1
    m[2] = place < LANE - 1
    m[3] = 1
    m[4] = 1 if parcel == place and not carries else 0
    m[5] = 1 if carries else 0


@kernel
def choose_work(a, place, carries, parcel):
    """Fetch the parcel, and bring it to the end of the lane."""
    goal = LANE - 1 if carries else parcel
    a[0] = 1 + (goal > place) - (goal < place)
    a[1] = 2 if carries and place == LANE - 1 else 1 if place == parcel and not carries else 0


PORTER = world(
    "Porter-v0",
    doc="Bring an parcel to the end of a lane.",
    state={"place": i8, "parcel": i8, "carries": b1},
    observation={
        "place": block(low=0.0, high=LANE - 1),
        "parcel": block(low=0.0, high=LANE - 1),
        "carries": block(low=0.0, high=1.0),
    },
    action=WORK,
    terms={"brought": term(0.0, 1.0), "time": term(-0.01, 0.0)},
    horizon=30,
)


@PORTER.reset
def reset_porter(p, s, rng):
    s.place = below(rng, LANE)
    s.parcel = below(rng, LANE - 1)


@PORTER.mask
def mask_porter(p, s, m):
    allow_work(m, s.place, s.carries, s.parcel)


@PORTER.step
def step_porter(p, s, a, rng, r):
    r.time = -0.01
    if a[1] == 1 and s.parcel == s.place:
        s.carries = True
    elif a[1] == 2 and s.carries:
        s.carries = False
        r.success = s.place == LANE - 1
        r.terminated = s.place == LANE - 1
        r.brought = 1.0 if s.place == LANE - 1 else 0.0
    s.place = min(max(s.place + a[0] - 1, 0), LANE - 1)
    if s.carries:
        s.parcel = s.place


@PORTER.observe
def observe_porter(p, s, o):
    o.place = s.place
    o.parcel = s.parcel
    o.carries = s.carries


@PORTER.expert
def expert_porter(p, s, a):
    choose_work(a, s.place, s.carries, s.parcel)


PORTERS = world(
    "Porters-v0",
    doc="Two porters, each with a lane and an parcel of its own; who is done leaves.",
    agents=True,
    sizes=lambda values: {"agents": 2},
    players=("willing", "random"),
    state={"place": i8("agents"), "parcel": i8("agents"), "carries": b1("agents")},
    observation={"lane": block(3, low=0.0, high=LANE - 1, doc="place, parcel and whether it is carried")},
    action=WORK,
    terms={"brought": term(0.0, 1.0), "time": term(-0.01, 0.0)},
    horizon=30,
)


@PORTERS.reset
def reset_porters(p, s, rng):
    for k in range(2):
        s.place[k] = below(rng, LANE)
        s.parcel[k] = below(rng, LANE - 1)


@PORTERS.mask
def mask_porters(p, s, k, m):
    allow_work(m, s.place[k], s.carries[k], s.parcel[k])


@PORTERS.step
def step_porters(p, s, a, rng, r):
    for k in range(2):
        if not s.alive[k]:
            continue
        r.time[k] = -0.01
        if a[k, 1] == 1 and s.parcel[k] == s.place[k]:
            s.carries[k] = True
        elif a[k, 1] == 2 and s.carries[k]:
            s.carries[k] = False
            r.success[k] = s.place[k] == LANE - 1
            r.terminated[k] = s.place[k] == LANE - 1
            r.brought[k] = 1.0 if s.place[k] == LANE - 1 else 0.0
        s.place[k] = min(max(s.place[k] + a[k, 0] - 1, 0), LANE - 1)
        if s.carries[k]:
            s.parcel[k] = s.place[k]


@PORTERS.observe
def observe_porters(p, s, k, o):
    o.lane[0] = s.place[k]
    o.lane[1] = s.parcel[k]
    o.lane[2] = s.carries[k]


@PORTERS.player("willing")
def willing(p, s, k, a, rng):
    choose_work(a[k], s.place[k], s.carries[k], s.parcel[k])


@PORTERS.player("random")
def at_random(p, s, k, a, rng):
    a[k, 0] = 2 if s.place[k] == 0 else 0
    if below(rng, 2) == 0:
        a[k, 0] = 1
    a[k, 1] = 0


LIGHTS = world(
    "Lights-v0",
    doc="Switch the lights of a row until all are on.",
    state={"on": b1(6)},
    observation={"on": block(6, low=0.0, high=1.0, raw=True)},
    action=multi_binary(size=6, doc="which lights to switch"),
    terms={"lit": term(0.0, 1.0)},
    horizon=10,
)


@LIGHTS.reset
def reset_lights(p, s, rng):
    for j in range(6):
        s.on[j] = below(rng, 2) == 1


@LIGHTS.step
def step_lights(p, s, a, rng, r):
    lit = 0
    for j in range(6):
        if a[j] == 1:
            s.on[j] = not s.on[j]
        lit += s.on[j]
    r.lit = lit / 6.0
    r.success = lit == 6


@LIGHTS.observe
def observe_lights(p, s, o):
    for j in range(6):
        o.on[j] = s.on[j]


@LIGHTS.expert
def expert_lights(p, s, a):
    for j in range(6):
        a[j] = 0 if s.on[j] else 1


# --- one whole number as observation ----------------------------------------------------------------------------------

WALK = world(
    "Walk-v0",
    doc="Walk to the end of a line.",
    state={"cell": i8},
    observation={"cell": discrete_block(7, doc="where one is")},
    action=discrete("back", "on"),
    terms={"time": term(-1.0, 0.0)},
    horizon=15,
    starts=6,
)


@WALK.reset
def reset_walk(p, s, rng):
    s.cell = below(rng, 6)


@WALK.step
def step_walk(p, s, a, rng, r):
    s.cell = max(s.cell + 2 * a - 1, 0)
    r.time = -1.0
    r.success = s.cell == 6
    r.terminated = s.cell == 6


@WALK.observe
def observe_walk(p, s, o):
    o.cell = s.cell


@WALK.expert
def expert_walk(p, s, a):
    a[0] = 1


WALKS = world(
    "Walks-v0",
    doc="Two agents walk to the end of a line; each sees the cell of the other.",
    agents=True,
    sizes=lambda values: {"agents": 2},
    state={"cell": i8("agents")},
    observation={"cell": discrete_block(lambda values: 7, doc="where the other one is")},
    expert_sees="state",
    action=discrete("back", "on"),
    terms={"time": term(-1.0, 0.0)},
    horizon=15,
)


@WALKS.reset
def reset_walks(p, s, rng):
    for k in range(2):
        s.cell[k] = below(rng, 6)


@WALKS.step
def step_walks(p, s, a, rng, r):
    for k in range(2):
        s.cell[k] = min(max(s.cell[k] + 2 * a[k] - 1, 0), 6)
        r.time[k] = -1.0 if s.cell[k] < 6 else 0.0
        r.success[k] = s.cell[k] == 6


@WALKS.observe
def observe_walks(p, s, k, o):
    o.cell = s.cell[1 - k]


@WALKS.expert
def expert_walks(p, s, a):
    for k in range(2):
        a[k] = 1
