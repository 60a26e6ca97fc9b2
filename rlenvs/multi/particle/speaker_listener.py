"""Speaker and listener: a speaker that cannot move tells a moving listener which landmark is the goal.

## Description
Three landmarks of different colors. The speaker sees the color of the goal and says one of three words; the listener
hears the word of the last step, sees the landmarks, but not their colors, and moves. Both are rewarded for the listener
being near the goal. It reproduces `simple_speaker_listener_v4` of mpe2 (cooperative communication of Lowe et al., 2017)
step by step, in positions, velocities, words, observations and rewards. Spaces are the original's. Different: success.

## Action Space
The speaker has three words, the listener no force or a force to the left, right, down or up. `actions="continuous"`:
for the speaker the strength of each word; for the listener an unused number, then the force to the left, right, down
and up as fractions of `acceleration`; all in [0, 1]. With `scaled=True` all are in [-1, 1], and the listener has two
numbers, to the right and upwards.

## Observation Space
In meters and meters per second, not scaled. The speaker: the color of the goal (3). The listener: its velocity (2),
the landmarks relative to itself (2 each), the word of the last step (3). In batches the speaker's observation is padded
with zeros.

## Rewards
`distance` is minus the squared distance from the listener to the goal, for both.

## Costs
None.

## Starting State
Speaker, listener and landmarks uniformly in the square from -1 to 1, at rest. The goal is one of the landmarks.

## Episode End
Truncation after 25 steps. Success: the listener is within `goal_radius` of the goal in this step.

## Parameters
`goal_radius` affects only success.

## Reference Scores
Mean return of both agents together over seeds 0 to 99.

## Version History
v0: first version.
"""

from rlenvs.core import below, choice, continuous, discrete, f8, i8, kernel, param, role, term
from rlenvs.multi.particle import physics, scenes, steering

SPEAKER, LISTENER = 0, 1
COLORS = ("red", "green", "blue")


SHARED = ("none or word 0", "left or word 1", "right or word 2", "down", "up")  # choices, or numbers


def action(values):
    if values.actions == "discrete":
        return discrete(*SHARED, doc="listener or speaker")
    if physics.motion(values) == physics.SCALED:
        return continuous("right or word 0", "up or word 1", "word 2", doc="listener or speaker")
    return continuous(*SHARED, doc="listener or speaker", low=0.0)


def roles(values):
    return [role("speaker_0", 3, 3), role("listener_0", 11, physics.motion(values))]


SPEC = physics.scenario(
    "ParticleSpeakerListener-v0",
    doc=__doc__,
    source="mpe2 simple_speaker_listener_v4 (Lowe et al., NeurIPS 2017)",
    published=physics.mpe2("simple_speaker_listener_v4"),
    params={
        "acceleration": param(5.0, 0.1, 20.0, "m/s^2", "of the listener at full force"),
        "goal_radius": param(0.1, 0.01, 1.0, "m", "distance at which the goal is reached"),
    },
    options={"actions": choice("discrete", "continuous", doc="choices, or numbers")},
    sizes=lambda values: {"agents": 2, "bodies": 2, "numbers": 11},
    roles=roles,
    state={"landmark": f8(3, 2), "goal": i8.within(0, 2), "words": f8(3)},
    action=action,
    terms={
        "distance": term(-(physics.FARTHEST**2), 0.0, 1.0, "minus the squared distance from the listener to the goal")
    },
    players=("fluent",),
)


@SPEC.reset
def reset(p, s, rng):
    s.goal = below(rng, 3)
    physics.scatter(s.position, 1.0, rng)
    physics.scatter(s.landmark, 1.0, rng)


@SPEC.step
def step(p, s, a, rng, r):
    physics.push(p, s, a, LISTENER, p.acceleration)
    physics.drift(p, s)
    physics.accelerate(p, s)
    physics.utter(a, SPEAKER, 0, s.words)
    if p.motion == physics.SCALED:  # of the scaled form, whose words share their columns with motion, in [-1, 1]
        for j in range(3):
            s.words[j] = 0.5 + 0.5 * s.words[j]
    apart = physics.distance(s.position, LISTENER, s.landmark, s.goal)
    for k in range(2):
        r.distance[k] = -apart * apart
        r.success[k] = apart < p.goal_radius


@SPEC.observe
def observe(p, s, k, o):
    seen = o.observation
    if k == SPEAKER:
        for color in range(3):
            seen[color] = 0.65 if color == s.goal else 0.15
        physics.blank(seen, 3, seen.size)
    else:
        at = physics.tell(seen, 0, s.velocity[k])
        at = physics.show(seen, at, s, k, s.landmark)
        physics.tell(seen, at, s.words)


@kernel
def spread_words(p, a, k):
    """Words as the scaled form has them, from -1 to 1."""
    if a.ndim == 1:
        return
    if p.motion == physics.SCALED:
        for j in range(3):
            a[k, j] = 2.0 * a[k, j] - 1.0


@SPEC.player("fluent")
def fluent(p, s, k, a, rng):
    """The speaker says the number of the goal; the listener goes where it is told, and waits until then."""
    if k == SPEAKER:
        steering.say(a, k, 0, s.goal, 3)
        spread_words(p, a, k)
        return
    told = steering.loudest(s.words)
    x = s.landmark[told, 0] if told >= 0 else s.position[k, 0]
    y = s.landmark[told, 1] if told >= 0 else s.position[k, 1]
    steering.stop_at(p, s, k, x, y, p.acceleration, a)


@SPEC.draw
def draw(canvas, p, s):
    scenes.draw_speaker_listener(canvas, s, p.goal_radius)
