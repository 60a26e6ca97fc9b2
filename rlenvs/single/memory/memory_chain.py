"""Memory length: remember one bit for a number of steps.

## Description
The memory tasks of bsuite (Osband et al., ICLR 2020). Bits are shown at the beginning, and the agent has to report one
of them at the end; actions in between have no effect. Here it is one bit for `memory_length` steps; MemorySize-v0 asks
for one of `num_bits` bits after two steps. The original tries lengths from 1 to 100 and 1 to 40 bits. Observations and
rewards are the original's: the bits are visible at the start and after the first step. Different: the observation has
no leading axis.

## Action Space
The bit.

## Observation Space
The fraction of the time that is left, the index of the bit that is asked for (shown only before the last step,
otherwise 0), and the bits, 1 or -1 (0 when they are not visible).

## Rewards
`right` is 1 for the right answer and -1 for the wrong one, in the last step.

## Costs
None.

## Starting State
Random bits, and a random one of them to be asked for.

## Episode End
Termination: after `memory_length` + 1 steps. `is_success` means that the answer was right.

## Parameters
As in the original.

## Reference Scores
Mean return over seeds 0 to 99. The expert looks the bit up.

## Version History
v0: first version.
"""

from rlenvs.core import below, block, discrete, i2, integer, term, u1, world
from rlenvs.single.memory.boxes import number_keys
from rlenvs.single.memory.pictures import draw_scale

MOST_SHOWN = 80  # bits
SEEN = (120, 204, 172)

SPEC = world(
    "MemoryLength-v0",
    doc=__doc__,
    source="bsuite memory_len (Osband et al., ICLR 2020)",
    options={
        "memory_length": integer(10, 1, 10_000, "steps until the bit is asked for"),
        "num_bits": integer(1, 1, 1000, "bits"),
    },
    sizes=lambda values: {"bits": values.num_bits},
    state={"context": u1("bits").within(0, 1), "query": i2.index_of("bits")},
    observation={
        "time": block(low=0, high=1, raw=True, doc="fraction of the time that is left"),
        "query": block(
            low=0,
            high=lambda values: values.num_bits,
            raw=True,
            constant=True,
            doc="index of the bit that is asked for",
        ),
        "context": block("bits", low=-1, high=1, raw=True, doc="the bits"),
    },
    action=discrete("0", "1"),
    terms={
        "right": term(-1, 1, 1.0, "1 for the right answer, -1 for the wrong one"),
        "memory_distance": term(0, 1e4, 0.0, "steps since the bits were visible"),
    },
    horizon=lambda values: values.memory_length + 2,
    expert_sees="state",
    starts=2,
    levels={"easy": {"memory_length": 3}, "hard": {"memory_length": 100}},
)
SPEC.member(
    "MemorySize-v0",
    "Memory size: remember several bits, then report the one that is asked for.",
    source="bsuite memory_size (Osband et al., ICLR 2020)",
    memory_length=2,
    num_bits=10,
    starts=0,
    levels={"easy": {"num_bits": 3}, "hard": {"num_bits": 40}},
)


@SPEC.reset
def reset(p, s, rng):
    for k in range(s.context.size):
        s.context[k] = below(rng, 2)
    s.query = below(rng, s.context.size)


@SPEC.step
def step(p, s, a, rng, r):
    r.memory_distance = s.elapsed
    if s.elapsed == p.memory_length:
        right = a == s.context[s.query]
        r.right = 1.0 if right else -1.0
        r.success = right
        r.terminated = True


@SPEC.observe
def observe(p, s, o):
    time = max(s.elapsed - 1, 0)  # the original's clock starts with the second step
    o.time = max(1.0 - time / p.memory_length, 0.0)
    o.query = s.query if time == p.memory_length - 1 else 0.0
    for k in range(s.context.size):
        o.context[k] = 2.0 * s.context[k] - 1.0 if time == 0 else 0.0


@SPEC.expert
def expert(p, s, a):
    a[0] = s.context[s.query]


@SPEC.draw
def draw(canvas, p, s):
    seen, asked = s.elapsed <= 1, int(p.memory_length)
    canvas.caption(f"step {s.elapsed} of {p.memory_length + 1}, bits {'in sight' if seen else 'out of sight'}")
    canvas.legend(("green", "bits in sight"), ("light", "out of sight"), ("orange", "bit that is asked for in the end"))
    high = 10.0 * canvas.scene[1] / canvas.scene[0]
    canvas.view(0.0, 10.0, 0.0, high)
    shown = min(s.context.size, MOST_SHOWN)
    columns = max(range(1, shown + 1), key=lambda n: min(9.4 / n, 4.0 / -(-shown // n)))
    side = min(9.4 / columns, 4.0 / -(-shown // columns), 2.4)
    canvas.text((5.0, high - 0.5), f"bit{'s' if shown > 1 else ''} to remember", "black", 17, "centre")
    for k in range(shown):
        row, column = divmod(k, columns)
        x, y = 5.0 + (column + 0.5 - 0.5 * columns) * side, high - 1.1 - (row + 0.5) * side
        half = 0.42 * side
        canvas.rectangle(x - half, y - half, x + half, y + half, SEEN if seen else "light", rounded=0.2 * half)
        if k == s.query:
            canvas.rectangle(x - half, y - half, x + half, y + half, "orange", 4.0, rounded=0.2 * half)
        canvas.text((x, y), str(s.context[k]), "black" if seen else "grey", max(round(22 * side), 9), "centre")
    if shown < s.context.size:
        said = f"and {s.context.size - shown} more; bit {s.query} is asked for"
        canvas.text((5.0, 3.4), said, "black", 16, "centre")
    if not seen:
        canvas.text((5.0, 2.75), "out of the agent's sight", "grey", 16, "centre")
    marks = [(0, min(1, asked), "green", "shown"), (asked, asked, "orange", "asked: 0 or 1?")]
    draw_scale(canvas, asked, int(s.elapsed), marks, 1.2)


@SPEC.text
def text(p, s):
    bits = " ".join(map(str, s.context)) if s.elapsed <= 1 else "?"
    return f"step {s.elapsed} of {p.memory_length + 1}: bits {bits}\n"


SPEC.keys(number_keys(2))
