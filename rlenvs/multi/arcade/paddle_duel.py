"""PaddleDuel: move a paddle to return the ball, after the first tennis arcade game.

## Description
Each side moves a paddle up and down; letting the ball pass gives the other side a point. The ball behaves as in Atari's
Pong of 1972: a paddle has eight segments, and only the segment that was hit determines how steeply the ball leaves it,
horizontally from the two in the middle (Kent, "The Ultimate History of Video Games", 2001); after 4 and 12 hits without
a miss it moves two and three times as fast along the court, and it is served towards the side that missed (Ahl,
"Playing PONG to Win", The Best of Creative Computing 1, 1976; Falstad's simulation of the circuit). Lengths are in
pixels of that machine, of which 375 x 246 are visible, times in its frames of 1/60 s; the ball measures 4 pixels, a
paddle 16, two for each of its segments (Holden, "Atari Pong E Circuit Analysis", 2012).

Different: paddles reach the whole court (there a defect of the circuit kept them from the top) and have a maximum speed
instead of a knob, and the court looks the same from both sides. Collisions of ball, walls and paddles are computed
exactly within a frame, so nothing passes through anything at any speed, and a mirrored game is bit-identical. Paddles
are not rigid bodies: their effect on the ball is a rule, so no physics engine is used. Set by this package: the
position and speed of the paddles, the speed of a served ball in pixels per frame, the points of a game, the frames of
an action, the players. No other package has this game to compare with: PettingZoo's pong_v3 is the Pong of the Atari
2600 in an emulator, where players have to serve and lose a point if they do not.

Scripted players: "ace" computes where the ball will arrive, and aims away from the other paddle; "follower" keeps its
paddle at the height of the ball, like Atari's computer opponents; "novice" does so only when the ball is near. With an
`opponent` other than "self" there is one agent, on the left.

## Action Space
0 stay, 1 up, 2 down, for `frames` frames.

## Observation Space
Both sides see themselves on the left. The level "pixels" has images instead of numbers, 84 x 84, with the court at the
last three steps as channels, the newest first: own paddle and ball white, the other paddle gray.

## Rewards
`goal` is 1 for a point, `concede` -1 for a point of the other side, `hit` (weight 0) 1 for hitting the ball.

## Costs
`busy`: 1 in a step in which the agent moves the paddle.

## Starting State
Paddles in the middle, no points. The ball starts at the net, at a random place within half the height of the court, to
either side, in one of seven directions; after a point it starts towards the side that missed.

## Episode End
Termination: a side has `points` points. Truncation: 3000 steps (200 s). Success: more points than the other side when
the episode ends.

## Parameters
Speeds are in pixels per frame. Without `speed_up`, rallies between perfect players would never end.

## Reference Scores
Mean return over seeds 0 to 99 of two games together, one from each side, against "ace".

## Version History
v0: first version.
"""

import math

from rlenvs.core import (
    Score,
    below,
    block,
    choice,
    cost,
    discrete,
    f8,
    i8,
    image,
    integer,
    kernel,
    param,
    term,
    uniform,
    world,
)
from rlenvs.kits.raster.draw import clear
from rlenvs.multi.arcade.screen import FRAMES, SIDE, fill_box
from rlenvs.multi.arcade.sides import agents_of, judge

OPPONENT = choice("self", "ace", "follower", "novice", doc="who plays the other side; self: both are agents")
SELF, ACE, FOLLOWER = OPPONENT.codes("self", "ace", "follower")
OBSERVATION = choice("vector", "pixels", doc="numbers or images")
(PIXELS,) = OBSERVATION.codes("pixels")

LENGTH, HEIGHT = 375.0, 246.0  # px, of the court
FAR, TOP = 0.5 * LENGTH, 0.5 * HEIGHT
BALL, PADDLE = 4.0, 16.0  # px, side of the ball, length of a paddle
FACE = 130.0  # px, from the net to the front of a paddle
THICK = 4.0  # px
PARTS = 8
STEEP = (-3.0, -2.0, -1.0, 0.0, 0.0, 1.0, 2.0, 3.0)  # thirds of the steepest, by the part that was hit
FASTER, FASTEST = 4, 12  # hits after which the ball is faster
MOST_EVENTS = 64  # in a frame
STAY, UP, DOWN = range(3)
NEAR = 60.0  # px, from the net, at which the novice wakes up
NEVER = 1e18

SPEC = world(
    "PaddleDuel-v0",
    doc=__doc__,
    source="Atari Pong (Alcorn, 1972); Ahl, Creative Computing, 1976; Holden, 2012",
    agents=True,
    params={
        "ball_speed": param(1.0, 0.25, 8.0, "px/frame", "speed of a served ball along the court"),
        "speed_up": param(1.0, 0.0, 8.0, "px/frame", "added speed after 4 hits, and again after 12"),
        "steepness": param(3.0, 0.0, 12.0, "px/frame", "speed across the court, of a ball from the end of a paddle"),
        "paddle_speed": param(2.0, 0.25, 12.0, "px/frame", "of a paddle"),
        "paddle_length": param(PADDLE, 4.0, 120.0, "px", "of a paddle"),
    },
    options={
        "opponent": OPPONENT,
        "observation": OBSERVATION,
        "points": integer(5, 1, 21, "points that win a game"),
        "frames": integer(4, 1, 12, "frames for which an action is repeated"),
    },
    sizes=lambda values: {
        "agents": agents_of(values),
        "pair": 0 if values.observation == "pixels" else 2,
        "one": 0 if values.observation == "pixels" else 1,
        "side": SIDE if values.observation == "pixels" else 0,
    },
    teams=lambda values: list(range(agents_of(values))),
    players=("ace", "follower", "novice"),
    state={
        "ball": f8(2),
        "velocity": f8(2),  # px/frame
        "paddle": f8(2),
        "score": i8(2),
        "hits": i8,  # since the ball was served
        "passed": i8,  # whether the ball is behind a paddle
        "move": i8(2),  # what the sides do in this step
        "past": f8(FRAMES - 1, 4),  # ball and paddles at the steps before
    },
    observation={
        "ball": block("pair", low=-FAR - BALL, high=FAR + BALL, unit="px", doc="position of the ball"),
        "velocity": block("pair", low=-6.0, high=6.0, unit="px/frame", doc="of the ball"),
        "paddles": block(
            "pair", low=-FAR - BALL, high=FAR + BALL, unit="px", doc="height of the own paddle and of the other"
        ),
        "hits": block("one", low=0.0, high=FASTEST, doc="hits since the ball was served, up to 12"),
        "score": block("pair", low=0.0, high=lambda values: values.points, doc="own points, those of the other side"),
    },
    images={"screen": image("side", "side", FRAMES, doc="the court now and at the two steps before")},
    action=discrete("stay", "up", "down"),
    terms={
        "goal": term(0.0, 1.0, 1.0, "1 for a point"),
        "concede": term(-1.0, 0.0, 1.0, "-1 for a point of the other side"),
        "hit": term(0.0, 12.0, 0.0, "hits of the ball"),
    },
    costs={"busy": cost(1500.0, doc="1 in a step in which the agent moves the paddle")},
    horizon=3000,
    fps=15,
    levels={
        "easy": {"opponent": "novice"},
        "medium": {"opponent": "follower"},
        "hard": {"opponent": "ace"},
        "pixels": {"observation": "pixels", "opponent": "follower"},
    },
    scores={"bound": Score(10, 0, "both games won 5 to 0")},
)


# --- the game ---------------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    serve(p, s, below(rng, 2), rng)
    for _ in range(s.past.shape[0]):
        remember(s)


@kernel
def serve(p, s, side, rng):
    """A new ball from the net towards a side."""
    s.ball[0], s.ball[1] = 0.0, uniform(rng, -0.5 * TOP, 0.5 * TOP)
    s.velocity[0] = p.ball_speed if side == 1 else -p.ball_speed
    s.velocity[1] = p.steepness * (below(rng, PARTS - 1) - 3) / 3.0
    s.hits, s.passed = 0, 0


@kernel
def remember(s):
    """What the pictures of the next steps show of this one."""
    for j in range(s.past.shape[0] - 1, 0, -1):
        for n in range(4):
            s.past[j, n] = s.past[j - 1, n]
    s.past[0, 0], s.past[0, 1], s.past[0, 2], s.past[0, 3] = s.ball[0], s.ball[1], s.paddle[0], s.paddle[1]


@SPEC.step
def step(p, s, a, rng, r):
    remember(s)
    for k in range(2):
        s.move[k] = a[k] if k < s.alive.size else oppose(p, s, k)
    scorer = -1
    for k in range(s.alive.size):
        r.hit[k] = 0.0
        r.busy[k] = 1.0 if s.move[k] != STAY else 0.0
    for _ in range(p.frames):
        hitter = move_frame(p, s)
        if 0 <= hitter < s.alive.size:
            r.hit[hitter] += 1.0
        if abs(s.ball[0]) > FAR + 0.5 * BALL:
            scorer = 0 if s.ball[0] > 0.0 else 1
            serve(p, s, 1 - scorer, rng)
            break
    judge(s, r, scorer, p.points)


@kernel
def move_frame(p, s):
    """A frame. Returns the side that hit the ball, -1 for none."""
    limit = TOP - 0.5 * p.paddle_length
    start0, start1 = s.paddle[0], s.paddle[1]
    for k in range(2):
        change = p.paddle_speed if s.move[k] == UP else (-p.paddle_speed if s.move[k] == DOWN else 0.0)
        s.paddle[k] = min(max(s.paddle[k] + change, -limit), limit)
    return fly(p, s, start0, start1)


@kernel
def fly(p, s, start0, start1):
    """Move the ball for a frame in which the paddles go evenly from `start` to where they are."""
    left, hitter = 1.0, -1
    wall, face = TOP - 0.5 * BALL, FACE - 0.5 * BALL
    for _ in range(MOST_EVENTS):
        vx, vy = s.velocity[0], s.velocity[1]
        at_wall = (wall - s.ball[1] if vy > 0.0 else wall + s.ball[1]) / abs(vy) if vy != 0.0 else NEVER
        ahead = face - s.ball[0] if vx > 0.0 else face + s.ball[0]
        at_face = ahead / abs(vx) if ahead >= 0.0 and not s.passed else NEVER
        time = min(left, min(max(at_wall, 0.0), at_face))
        s.ball[0] += vx * time
        s.ball[1] += vy * time
        left -= time
        if time == at_face:
            side = 1 if vx > 0.0 else 0
            s.ball[0] = face if side == 1 else -face
            start = start1 if side == 1 else start0
            height = start + (1.0 - left) * (s.paddle[side] - start)
            if abs(s.ball[1] - height) <= 0.5 * (p.paddle_length + BALL):
                strike(p, s, side, s.ball[1] - height)
                hitter = side
            else:
                s.passed = 1
        elif time == max(at_wall, 0.0):
            s.ball[1] = wall if vy > 0.0 else -wall
            s.velocity[1] = -vy
        if left <= 0.0:
            break
    return hitter


@kernel
def part_of(p, offset):
    """The part of a paddle that is so far above its middle, from the lowest, 0, to the highest, 7."""
    return min(max(math.floor((offset / p.paddle_length + 0.5) * PARTS), 0), PARTS - 1)


@kernel
def speed_after(p, hits):
    """How fast the ball crosses the court after so many hits."""
    return p.ball_speed + p.speed_up * ((1.0 if hits >= FASTER else 0.0) + (1.0 if hits >= FASTEST else 0.0))


@kernel
def strike(p, s, side, offset):
    """A paddle sends the ball back."""
    s.hits += 1
    speed = speed_after(p, s.hits)
    s.velocity[0] = -speed if side == 1 else speed
    s.velocity[1] = p.steepness * STEEP[part_of(p, offset)] / 3.0


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def folded(y):
    """Where a ball is that would be at height y without walls."""
    wall = TOP - 0.5 * BALL
    turns = math.floor((y + wall) / (2.0 * wall))
    rest = y - 2.0 * wall * turns
    return rest if turns % 2.0 == 0.0 else -rest


@kernel
def go_to(p, s, k, height):
    """The move that brings paddle k nearest to a height."""
    near = 0.5 * p.paddle_speed * p.frames
    if s.paddle[k] < height - near:
        return UP
    return DOWN if s.paddle[k] > height + near else STAY


@kernel
def best_offset(p, s, k, arrival):
    """How far from the middle of its paddle side k should hit the ball, to send it where the other paddle is not."""
    best, most = 0.0, -1.0
    crossing = 2.0 * (FACE - 0.5 * BALL) / speed_after(p, s.hits + 1)
    for part in range(PARTS):
        offset = ((part + 0.5) / PARTS - 0.5) * p.paddle_length
        away = abs(folded(arrival + p.steepness * STEEP[part] / 3.0 * crossing) - s.paddle[1 - k])
        if away > most:
            best, most = offset, away
    return best


@kernel
def choose_ace(p, s, k):
    """Wait in the middle; go to where the ball will arrive, and aim."""
    away = s.ball[0] if k == 0 else -s.ball[0]
    coming = s.velocity[0] < 0.0 if k == 0 else s.velocity[0] > 0.0
    if not coming:
        return go_to(p, s, k, 0.0)
    time = (FACE - 0.5 * BALL + away) / abs(s.velocity[0])
    if time < 0.0:
        return STAY
    arrival = folded(s.ball[1] + s.velocity[1] * time)
    return go_to(p, s, k, arrival - best_offset(p, s, k, arrival))


@kernel
def choose_follower(p, s, k):
    return go_to(p, s, k, s.ball[1])


@kernel
def choose_novice(p, s, k):
    """As the follower, when the ball is near and comes nearer."""
    away = s.ball[0] if k == 0 else -s.ball[0]
    coming = s.velocity[0] < 0.0 if k == 0 else s.velocity[0] > 0.0
    return go_to(p, s, k, s.ball[1]) if coming and away < -NEAR else STAY


@kernel
def oppose(p, s, k):
    """The move of the opponent inside the world."""
    if p.opponent == ACE:
        return choose_ace(p, s, k)
    return choose_follower(p, s, k) if p.opponent == FOLLOWER else choose_novice(p, s, k)


@SPEC.player("ace")
def ace(p, s, k, a, rng):
    a[k] = choose_ace(p, s, k)


@SPEC.player("follower")
def follower(p, s, k, a, rng):
    a[k] = choose_follower(p, s, k)


@SPEC.player("novice")
def novice(p, s, k, a, rng):
    a[k] = choose_novice(p, s, k)


# --- what sides see ---------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, k, o):
    if p.observation == PIXELS:
        return
    sign = 1.0 if k == 0 else -1.0
    o.ball[0], o.ball[1] = sign * s.ball[0], s.ball[1]
    o.velocity[0], o.velocity[1] = sign * s.velocity[0], s.velocity[1]
    o.paddles[0], o.paddles[1] = s.paddle[k], s.paddle[1 - k]
    o.hits[0] = min(s.hits, FASTEST)
    o.score[0], o.score[1] = s.score[k], s.score[1 - k]


@SPEC.observe_images
def observe_images(p, s, k, i):
    if p.observation != PIXELS:
        return
    clear(i.screen)
    paint(p, k, i.screen, 0, s.ball[0], s.ball[1], s.paddle[0], s.paddle[1])
    for j in range(s.past.shape[0]):
        paint(p, k, i.screen, 1 + j, s.past[j, 0], s.past[j, 1], s.past[j, 2], s.past[j, 3])


@kernel
def paint(p, k, screen, c, x, y, left, right):
    """A moment of the game, as side k sees it."""
    sign = 1.0 if k == 0 else -1.0
    paint_box(screen, c, sign * x, y, BALL, BALL, 255.0)
    own, other = (left, right) if k == 0 else (right, left)
    paint_box(screen, c, -FACE - 0.5 * THICK, own, THICK, p.paddle_length, 255.0)
    paint_box(screen, c, FACE + 0.5 * THICK, other, THICK, p.paddle_length, 150.0)


@kernel
def paint_box(screen, c, x, y, width, height, grey):
    """A rectangle of the court by its middle and sides."""
    across, down = SIDE / LENGTH, SIDE / HEIGHT
    left, top = (x - 0.5 * width + FAR) * across, (TOP - y - 0.5 * height) * down
    fill_box(screen, c, left, top, left + width * across, top + height * down, grey)


# --- for people -------------------------------------------------------------------------------------------------------

CABINET, COURT, NET, SIDES = (58, 64, 76), (18, 22, 30), (96, 104, 116), ("sky", "orange")


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"{int(s.score[0])} : {int(s.score[1])}", f"{int(s.hits)} hits")
    canvas.legend((SIDES[0], "first side"), (SIDES[1], "second side"))
    high = FAR * canvas.scene[1] / canvas.scene[0]
    canvas.view(-FAR, FAR, -high, high)
    canvas.rectangle(-FAR, -high, FAR, high, CABINET)
    canvas.rectangle(-FAR, -TOP, FAR, TOP, COURT)
    for n in range(15):
        y = -TOP + (n + 0.25) * HEIGHT / 15.0
        canvas.rectangle(-1.5, y, 1.5, y + 0.5 * HEIGHT / 15.0, NET)
    for k in range(2):
        middle, half = float(s.paddle[k]), 0.5 * float(p.paddle_length)
        inner, outer = (2 * k - 1) * FACE, (2 * k - 1) * (FACE + 2.0 * THICK)
        canvas.rectangle(min(inner, outer), middle - half, max(inner, outer), middle + half, SIDES[k])
        canvas.text(((2 * k - 1) * 45.0, TOP - 26.0), f"{int(s.score[k])}", SIDES[k], 40, "centre")
    x, y = float(s.ball[0]), float(s.ball[1])
    vx, vy = float(s.velocity[0]), float(s.velocity[1])
    for n in (3, 2, 1):
        shade = (40 + 30 * (3 - n),) * 3
        back = 5.0 * n / math.hypot(vx, vy) * min(math.hypot(vx, vy), 3.0)
        canvas.circle((x - back * vx / 2.0, y - back * vy / 2.0), 3.5, shade)
    canvas.circle((x, y), 4.5, "white")


@SPEC.text
def text(p, s):
    rows = [[" "] * 48 for _ in range(17)]
    for k in range(2):
        column = 24 + (2 * k - 1) * 17
        for row in range(17):
            if abs(TOP - (row + 0.5) * HEIGHT / 17 - float(s.paddle[k])) < 0.5 * float(p.paddle_length):
                rows[row][column] = "|"
    row = min(max(int((TOP - float(s.ball[1])) / HEIGHT * 17), 0), 16)
    rows[row][min(max(int((float(s.ball[0]) + FAR) / LENGTH * 48), 0), 47)] = "o"
    head = f"{int(s.score[0])} : {int(s.score[1])}".center(48).rstrip()
    return "\n".join([head, "-" * 48, *("".join(row).rstrip() for row in rows), "-" * 48])


@SPEC.keys
def keys(pressed, values):
    up, down = pressed.intersection(("up", "w")), pressed.intersection(("down", "s"))
    return UP if up and not down else DOWN if down and not up else STAY
