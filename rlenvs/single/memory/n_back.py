"""N-back: say whether the current symbol equals the one shown n steps ago.

## Description
A standard test of human working memory (Kirchner, J. Exp. Psychol. 1958). Symbols appear one by one; the answer says
whether the current one equals the one shown `n` steps before, which is so for a third of them. `n` + 1 symbols have to
be remembered in order.

## Action Space
0: different, 1: the same.

## Observation Space
The number of the symbol.

## Rewards
`right` is 1 for a right answer and -1 for a wrong one, divided by their number in an episode, so that answering
everything correctly gives 1. The first `n` symbols need no answer.

## Costs
None.

## Starting State
A random symbol.

## Episode End
Truncation: after `length` answers, that is `length` + `n` steps. `is_success` means that there were answers so far and
all were right.

## Parameters
The symbols are drawn at random, step by step.

## Reference Scores
Mean return over seeds 0 to 99. The expert looks the symbol up. Always answering "different" is right two times out of
three.

## Version History
v0: first version.
"""

from rlenvs.core import below, discrete, discrete_block, i4, integer, kernel, term, u1, uniform, world
from rlenvs.single.memory.boxes import number_keys
from rlenvs.single.memory.pictures import LEGEND, Face, draw_recall

SAME = 1.0 / 3.0  # how often
MOST_BACK = 64
PAPERS = (  # of symbols in images
    (190, 224, 246),
    (250, 222, 160),
    (170, 222, 202),
    (246, 190, 160),
    (238, 204, 226),
    (248, 242, 160),
    (216, 216, 216),
    (164, 200, 232),
)

SPEC = world(
    "NBack-v0",
    doc=__doc__,
    source="N-back task (Kirchner, J. Exp. Psychol. 1958)",
    options={
        "n": integer(2, 1, MOST_BACK - 1, "steps back"),
        "symbols": integer(8, 2, 100, "number of symbols"),
        "length": integer(40, 1, 10_000, "answers"),
    },
    state={"recent": u1(MOST_BACK), "right": i4, "wrong": i4},
    observation={"symbol": discrete_block(lambda values: values.symbols, "in sight")},
    action=discrete("another", "same"),
    terms={
        "right": term(-1, 1, 1.0, "1 for a right answer and -1 for a wrong one, divided by their number"),
        "memory_distance": term(0, 1e4, 0.0, "steps since the symbol that was asked for was seen"),
    },
    horizon=lambda values: values.length + values.n,
    expert_sees="state",
    starts=8,
    levels={"easy": {"n": 1}, "hard": {"n": 5}},
)


@kernel
def is_same(p, s):
    """Whether the symbol in sight is that of n steps before."""
    now = s.elapsed
    return s.recent[now % MOST_BACK] == s.recent[(now - p.n) % MOST_BACK]


@kernel
def show(p, s, now, rng):
    """The symbol of a step: that of n steps before, or one of the others."""
    symbol = below(rng, p.symbols)
    if now >= p.n:
        before = int(s.recent[(now - p.n) % MOST_BACK])
        other = below(rng, p.symbols - 1)
        symbol = before if uniform(rng, 0.0, 1.0) < SAME else other + int(other >= before)
    s.recent[now % MOST_BACK] = symbol


@SPEC.reset
def reset(p, s, rng):
    show(p, s, 0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    if s.elapsed >= p.n:
        right = (a == 1) == is_same(p, s)
        r.right = (1.0 if right else -1.0) / p.length
        r.memory_distance = p.n
        s.right += int(right)
        s.wrong += int(not right)
    r.success = s.wrong == 0 and s.right > 0
    show(p, s, s.elapsed + 1, rng)


@SPEC.observe
def observe(p, s, o):
    o.symbol = s.recent[s.elapsed % MOST_BACK]


@SPEC.expert
def expert(p, s, a):
    a[0] = 1 if s.elapsed >= p.n and is_same(p, s) else 0


@SPEC.draw
def draw(canvas, p, s):
    canvas.caption(f"{p.n} back, {s.right} right, {s.wrong} wrong")
    now = int(s.elapsed)
    canvas.legend(*LEGEND)
    first = max(0, now - MOST_BACK + 1)
    symbols = [int(s.recent[k % MOST_BACK]) for k in range(first, now + 1)]
    faces = [Face(str(symbol), None, PAPERS[symbol % len(PAPERS)]) for symbol in symbols]
    draw_recall(canvas, faces, now, max(now - int(p.n), -1), f"the same as {p.n} before?", first)
    if now >= p.n:
        answer = "same" if symbols[-1] == symbols[-1 - int(p.n)] else "another"
        canvas.text((5.0, 10.0 * canvas.scene[1] / canvas.scene[0] - 3.0), answer, "black", 18, "centre")


@SPEC.text
def text(p, s):
    return f"step {s.elapsed}: symbol {s.recent[s.elapsed % MOST_BACK]}\n"


SPEC.keys(number_keys(2))
