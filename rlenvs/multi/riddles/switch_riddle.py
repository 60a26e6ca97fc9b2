"""Switch riddle: prisoners who meet only a light bulb have to tell when all of them have been in its room.

## Description
The riddle of Foerster et al. ("Learning to Communicate with Deep Multi-Agent Reinforcement Learning", NeurIPS 2016), in
the form of JaxMARL. Every day one prisoner, drawn at random, is in the room of a light bulb, and may switch it, or tell
that all have been there: if that is true all are free, otherwise all die. Only who is in the room sees the bulb.

Prisoners move in turn, by chance: the AEC API asks only the one in the room; in the other APIs the others can only
choose 0, which does nothing. An agent needs to remember whether it has been in the room, and which day it is.

The best return with three prisoners is 20/27, that is 0.7407: the chance that all are drawn within six days, since
nobody can tell the truth before; and a protocol reaches it: who is in the room for the first time switches the bulb,
and tells if the bulb shows that two others have been there. The scripted player "parity" follows it. With more
prisoners the bulb says only whether the number of those who have been there is odd, and the player tells where the day
makes it likely enough that this is all of them. That is close to the bound, but it is not proved to be the best.

| prisoners | days | the chance that all are drawn, a bound | "parity", exact |
|---|---|---|---|
| 3 | 6 | 0.7407 | 0.7407 |
| 4 | 10 | 0.7806 | 0.7697 |
| 5 | 14 | 0.7879 | 0.7775 |
| 7 | 22 | 0.7770 | 0.7566 |
| 10 | 34 | 0.7440 | 0.7205 |

## Action Space
Nothing, switch the bulb, tell. Only the action of the prisoner in the room counts.

## Observation Space
Whether one is in the room, and whether one sees the light there.

## Rewards
For all prisoners: `told` is 1 for a true telling, -1 for a false one.

## Costs
None.

## Starting State
Nobody has been in the room; the bulb is off, or on with `lit`. A random prisoner is in the room.

## Episode End
Termination: somebody tells. Truncation: after 4 * `prisoners` - 6 days. Success: a true telling.

## Parameters
`prisoners`, `lit`.

## Reference Scores
Mean return over seeds 0 to 99, summed over the prisoners; the expert is "parity".

## Version History
v0: first version.
"""

from rlenvs.core import Score, b1, below, block, data_option, discrete, flag, i8, integer, kernel, term, world

MOST = 10
NOTHING, SWITCH, TELL = range(3)
LIMITS = [0.5 + 0.02 * i for i in range(26)]  # of the chance from which parity tells, the best is taken


def days_of(values):
    """How many days there are."""
    return 4 * values.prisoners - 6


SPEC = world(
    "SwitchRiddle-v0",
    doc=__doc__,
    source="Foerster, Assael, de Freitas, Whiteson, NeurIPS 2016; JaxMARL switch_riddle",
    agents=True,
    turns=True,
    options={
        "prisoners": data_option(integer(3, 3, MOST, "number of prisoners")),
        "lit": flag(False, "whether the bulb is on at the start"),
    },
    sizes=lambda values: {"agents": values.prisoners, "days": days_of(values)},
    players=("parity", "random"),
    expert_sees="state",
    data={"tells": b1("days", 2, 2)},  # whether parity tells: by day, an odd number before, whether one has been there
    state={
        "turn": i8.index_of("agents", low=-1),  # who is in the room, -1 when the episode is over
        "bulb": b1,
        "been": b1("agents"),
    },
    observation={
        "in_room": block(low=0, high=1, raw=True, whole=True, doc="whether one is in the room"),
        "light": block(low=0, high=1, raw=True, whole=True, doc="whether one is there and the bulb is on"),
    },
    action=discrete("nothing", "switch", "tell"),
    terms={"told": term(-1.0, 1.0, 1.0, "1 for a true telling, -1 for a false one")},
    horizon=days_of,
    lanes=True,
    starts=3,
    fps=1,
    levels={
        "four": {"prisoners": 4, "starts": 4},
        "five": {"prisoners": 5, "starts": 5},
        "ten": {"prisoners": 10, "starts": 10},
    },
    scores={
        "bound": Score(20 / 9, 0, "the chance that all are drawn in six days, for each of three; parity reaches it")
    },
)


def parity_value(prisoners, days, limit):
    """What parity expects if it tells from a certain chance on, and in which situations it tells, (days, 2, 2).

    The number of prisoners who have been there is a Markov chain; a visitor knows the day, whether this number is odd,
    and whether it is one of them.
    """
    chances, value = [0.0] * (prisoners + 1), 0.0  # of these numbers, where nobody has told yet
    chances[0] = 1.0
    tells = [[[False, False], [False, False]] for _ in range(days)]
    for day in range(days):
        after = [0.0] * (prisoners + 2)
        for odd in range(2):
            for seen in range(2):
                weight = [
                    chance * (count if seen else prisoners - count) / prisoners if count % 2 == odd else 0.0
                    for count, chance in enumerate(chances)
                ]
                true = weight[prisoners] if seen else weight[prisoners - 1]
                if sum(weight) > 0.0 and true > 0.5 * sum(weight) and true >= (limit - 1e-12) * sum(weight):
                    tells[day][odd][seen] = True
                    value += 2.0 * true - sum(weight)
                else:
                    for count, chance in enumerate(weight):
                        after[count + 1 - seen] += chance
        chances = after[: prisoners + 1]
    return value, tells


@SPEC.make_data
def data(values):
    """Where parity tells."""
    found = [parity_value(values.prisoners, days_of(values), limit) for limit in LIMITS]
    return {"tells": max(found, key=lambda each: each[0])[1]}


@SPEC.reset
def reset(p, s, rng):
    s.turn = below(rng, s.been.size)
    s.bulb = p.lit == 1


@SPEC.step
def step(p, s, a, rng, r):
    action = NOTHING
    for k in range(s.been.size):  # no index, which would be read for each of several worlds
        if k == s.turn:
            action = a[k]
            s.been[k] = True
    if action == SWITCH:
        s.bulb = not s.bulb
    s.turn = below(rng, s.been.size)
    if action == TELL:
        settle(s, r)


@kernel
def settle(s, r):
    """The end, when somebody tells."""
    everybody = True
    for k in range(s.been.size):
        everybody = everybody and s.been[k]
    for k in range(s.been.size):
        r.told[k] = 1.0 if everybody else -1.0
        r.success[k] = everybody
        r.terminated[k] = True
    s.turn = -1


@SPEC.mask
def mask(p, s, k, m):
    for action in range(m.size):
        m[action] = 1 if s.turn == k or action == NOTHING else 0


@SPEC.observe
def observe(p, s, k, o):
    o.in_room = 1.0 if s.turn == k else 0.0
    o.light = 1.0 if s.turn == k and s.bulb else 0.0


@SPEC.player("parity")
def play_parity(p, s, k, a, rng):
    a[k] = NOTHING
    if s.turn == k:
        odd = 1 if s.bulb != (p.lit == 1) else 0
        seen = 1 if s.been[k] else 0
        if p.tells[min(s.elapsed, p.tells.shape[0] - 1), odd, seen]:
            a[k] = TELL
        elif seen == 0:
            a[k] = SWITCH


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = below(rng, 3) if s.turn == k else NOTHING


# --- images -----------------------------------------------------------------------------------------------------------

WALL, CLOSED, ROOM, CLOTH = (92, 98, 108), (70, 76, 86), (216, 208, 194), (236, 152, 62)
GLOW = (255, 232, 128)


@SPEC.draw
def draw(canvas, p, s):
    inside, count, viewer = int(s.turn), len(s.been), canvas.viewer
    shown = viewer is None or inside < 0 or inside == viewer  # others do not see the bulb, nor who is there
    told = f"prisoner {inside + 1} is in the room" if inside >= 0 else "somebody has told"
    canvas.caption(f"day {int(s.elapsed) + (0 if s.over else 1)}", told if shown else "another prisoner is in the room")
    canvas.legend(("green", "has been in the room", "disc"), (CLOTH, "prisoner"), (GLOW, "light on", "disc"))
    canvas.view(0.0, 10.0, 0.0, 9.0)
    canvas.rectangle(-20.0, -20.0, 30.0, 30.0, WALL)
    if shown:
        canvas.rectangle(2.6, 3.4, 7.4, 8.7, GLOW if s.bulb else ROOM, rounded=0.2)
        canvas.line([(5.0, 8.7), (5.0, 7.7)], "black", 3.0)
        canvas.circle((5.0, 7.2), 0.55, (252, 202, 40) if s.bulb else (120, 116, 108))
        canvas.circle((5.0, 7.2), 0.55, "black", 2.0)
        if inside >= 0:
            draw_prisoner(canvas, 5.0, 4.6, 1.0, inside, bool(s.been[inside]))
    else:
        canvas.rectangle(2.6, 3.4, 7.4, 8.7, CLOSED, rounded=0.2)
        canvas.text((5.0, 6.0), "?", "white", 40, "centre")
    for k in range(count):
        known = viewer is None or inside < 0 or k == viewer
        if k != inside or not shown:
            x, size = 10.0 * (k + 0.5) / count, min(0.9, 4.4 / count)
            draw_prisoner(canvas, x, 1.5, size, k, known and bool(s.been[k]))


def draw_prisoner(canvas, x, y, size, number, been):
    """A figure with its number, and a mark if it has been in the room."""
    canvas.rectangle(x - 0.55 * size, y - size, x + 0.55 * size, y + 0.45 * size, CLOTH, rounded=0.25 * size)
    canvas.circle((x, y + 0.8 * size), 0.42 * size, (242, 208, 178))
    canvas.text((x, y - 0.25 * size), str(number + 1), "black", 20, "centre")
    if been:
        canvas.circle((x + 0.55 * size, y + 0.35 * size), 0.28 * size, "green")


@SPEC.text
def text(p, s):
    been = " ".join(f"{k + 1}{'+' if seen else '-'}" for k, seen in enumerate(s.been))
    room = f"prisoner {int(s.turn) + 1} is in the room" if s.turn >= 0 else "the room is empty"
    return f"day {int(s.elapsed) + 1}: {room}, the bulb is {'on' if s.bulb else 'off'}\nbeen there: {been}"
