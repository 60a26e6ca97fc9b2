"""Crypto: Alice sends Bob a secret bit over a channel on which Eve eavesdrops.

## Description
Alice and Bob share a key of one bit, drawn for each episode, and Alice has a message of one bit. In every step she says
one of four words; in the next, Bob and Eve say what they think the message is. It reproduces `simple_crypto_v3` of mpe2
(covert communication of Lowe et al., 2017) step by step, in words, observations and rewards. Agents do not move. Spaces
are the original's. Different: success; there are no positions, since nothing depends on them.

## Action Space
`actions="discrete"`: one of four words; the first two are the two values of a bit. `"continuous"`: the strength of each
of the four words, in [0, 1], with `scaled=True` in [-1, 1].

## Observation Space
Bits are encoded as words: (1, 0, 0, 0) or (0, 1, 0, 0). Eve hears Alice's words of the last step (4). Bob sees the key
(4) and hears Alice (4), Alice sees the message (4) and the key (4). In batches Eve's observation is padded with four
zeros.

## Rewards
`bob`, for Alice and Bob, is minus the squared distance of Bob's words from the message. `eve` is the squared distance
of Eve's words from the message, for Alice and Bob, and minus it for Eve. Silence (all words zero) counts as no
distance. With discrete actions, a wrong bit is a distance of 2.

## Costs
None.

## Starting State
Message and key are drawn; all agents are silent.

## Episode End
Truncation after 25 steps. Success: for Alice and Bob when Bob's loudest word is the message and Eve's is not, for Eve
when hers is.

## Parameters
None.

## Reference Scores
Mean return of all three together over seeds 0 to 99; a gain of one side is a loss of the other, and Eve's own reward
cancels half of what Alice and Bob receive.

## Version History
v0: first version.
"""

from rlenvs.core import below, block, choice, continuous, discrete, f8, i8, kernel, role, term, world
from rlenvs.multi.particle import physics, render, scenes, steering

EVE, BOB, ALICE = 0, 1, 2
NAMES = ("Eve", "Bob", "Alice")
WORDS = 4


def action(values):
    labels = [f"word {j}" for j in range(WORDS)]
    return discrete(*labels) if values.actions == "discrete" else continuous(*labels, doc="strength", low=0.0)


SPEC = world(
    "ParticleCrypto-v0",
    doc=__doc__,
    source="mpe2 simple_crypto_v3 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_crypto_v3"),
    drop_in=physics.names(),
    agents=True,
    options={"actions": choice("discrete", "continuous", doc="one of four words, or the strength of each")},
    sizes=lambda values: {"agents": 3, "numbers": 2 * WORDS},
    roles=lambda values: [
        role("eve_0", WORDS, WORDS),
        role("bob_0", 2 * WORDS, WORDS),
        role("alice_0", 2 * WORDS, WORDS),
    ],
    teams=lambda values: [0, 1, 1],
    state={"words": f8(3, WORDS), "message": i8.index_of(WORDS), "key": i8.index_of(WORDS)},
    observation={"observation": block("numbers", low=0.0, high=1.0, raw=True, constant=True, doc="see above")},
    action=action,
    terms={
        "bob": term(-WORDS, 0.0, 1.0, "for Alice and Bob: minus the squared distance of Bob's words from the message"),
        "eve": term(-WORDS, WORDS, 1.0, "squared distance of Eve's words from the message; for Eve minus it"),
    },
    horizon=25,
    fps=4,
    players=("cipher", "plain"),
    starts=4,
)


@SPEC.reset
def reset(p, s, rng):
    s.message = below(rng, 2)
    s.key = below(rng, 2)


@kernel
def error(words, message):
    """Squared distance of words from a message; none in silence."""
    total, volume = 0.0, 0.0
    for j in range(words.size):
        off = words[j] - (1.0 if j == message else 0.0)
        total += off * off
        volume += words[j]
    return total if volume > 0.0 else 0.0


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(3):
        physics.utter(a, k, 0, s.words[k])
    bob, eve = error(s.words[BOB], s.message), error(s.words[EVE], s.message)
    read, heard = steering.loudest(s.words[EVE]) == s.message, steering.loudest(s.words[BOB]) == s.message
    r.eve[EVE] = -eve
    r.success[EVE] = read
    for k in range(BOB, ALICE + 1):
        r.bob[k] = -bob
        r.eve[k] = eve
        r.success[k] = heard and not read


@kernel
def tell_bit(seen, at, bit):
    for j in range(WORDS):
        seen[at + j] = 1.0 if j == bit else 0.0
    return at + WORDS


@SPEC.observe
def observe(p, s, k, o):
    seen, at = o.observation, 0
    if k == ALICE:
        at = tell_bit(seen, at, s.message)
    if k != EVE:
        at = tell_bit(seen, at, s.key)
    if k != ALICE:
        at = physics.tell(seen, at, s.words[ALICE])
    physics.blank(seen, at, seen.size)


@SPEC.player("cipher")
def cipher(p, s, k, a, rng):
    """Alice says whether message and key differ, and Bob undoes it. Eve repeats what she hears."""
    heard = max(steering.loudest(s.words[ALICE]), 0) % 2
    if k == ALICE:
        steering.say(a, k, 0, s.message ^ s.key, WORDS)
    else:
        steering.say(a, k, 0, heard ^ s.key if k == BOB else heard, WORDS)


@SPEC.player("plain")
def plain(p, s, k, a, rng):
    """Alice says the message, Bob and Eve repeat what they hear."""
    steering.say(a, k, 0, s.message if k == ALICE else max(steering.loudest(s.words[ALICE]), 0) % 2, WORDS)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_crypto(canvas, s, [steering.loudest(s.words[EVE]), steering.loudest(s.words[BOB])])


@SPEC.text
def text(p, s):
    said = ", ".join(f"{NAMES[k]} says {render.spoken(s.words[k])}" for k in (ALICE, BOB, EVE))
    return f"message {'AB'[s.message]}, key {'AB'[s.key]}: {said}"
