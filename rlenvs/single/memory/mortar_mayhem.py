"""Mortar Mayhem: watch ten commands, then carry them out while tiles explode.

## Description
One of the three games of Memory Gym (Pleines et al., ICLR 2023; JMLR 26(6), 2025). Commands appear one after another,
each a direction to a neighboring tile; the agent cannot move meanwhile. Then it has to be on the tile that the
commands lead to, command by command, whenever all other tiles explode. After the commands were shown, a single image
does not tell what to do, so a policy without memory stays at the level of a random one. Measured against version 1.0.2
of the original (frames, rules, random returns). In the endless game the arena is a torus, the sequence begins with one
command and grows by one whenever it is completed, and only the new command is shown. Different from the original: the
time limit truncates; images have rows before columns; `is_success` is not set when the last command fails (the original
reports success); the endless game does not show the agent of the previous episode while commands are shown; sequences
grow to at most 128 commands. `compat=True` gives the original's order of axes and its termination at the time limit.
Symbols of diagonal commands are slightly off center, as there; in the endless game a position between two pixels is
rounded as in pygame 2.4.0, which the original requires.

## Action Space
A direction, as two choices; in the grid forms turn or go forward. Actions have no effect while commands are shown.

## Observation Space
The screen, 84 x 84 RGB. With `cue="vector"` (the B variants) commands are not shown but given as a vector next to the
image, one-hot for up to 20 commands in the order stay, right, left, up, down, right down, right up, left down, left up.
`observation="vector"` gives numbers in place of the image: position of the agent (in halves of the screen from its
center), direction in which it faces (x, y), whether tiles explode, the tile that does not (0 if none), whether commands
are shown, and the command that is shown (one-hot in the order right, down, left, up, stay, right down, right up, left
down, left up).

The index of the current command is never shown, not even in the B variants: the agent has to count explosions.
`recall=True` (`level="recall"`: with numbers instead of the image) adds, for policies without memory, what an agent
with perfect memory would know: the offset to the tile to which the commands so far lead, as tiles to the right and down
(in the endless game the shorter one around the torus); 0 while commands are shown.

## Rewards
0.1 for every command. The other terms have weight 0, for use with `weights=` and as measurements in `info`: the true
target tile, how long ago the current command was shown, what was completed. The original's reset parameters
`reward_command_success`, `reward_command_failure` and `reward_episode_success` (`reward_new_command_success` of the
endless game) are the weights of `command`, `failure` and `completion`.

## Costs
None.

## Starting State
A random tile, facing up; in the B variants and the endless game up to 2 pixels off its middle. Commands are drawn
uniformly among those that stay in the arena (in the endless game among all).

## Episode End
Termination: off the target when the tiles explode, or leaving it while they burn; all commands completed. Truncation:
never before the rules end a finite game; after 5,000 steps in the endless one. `is_success` means that all commands of
the episode were completed; in the endless game, a sequence of ten.

## Parameters
The reset parameters of the original, under the same names, except that `max_steps` is `horizon` and
`initial_command_count` is `command_count` of the endless game. From lists, one value is drawn uniformly in each
episode.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the target.

## Version History
v0: first version.
"""

import math

from rlenvs.core import kernel
from rlenvs.kits.raster.draw import transpose
from rlenvs.single.memory import mortar
from rlenvs.single.memory.agent import (
    AGENT_PARAMS,
    FREE,
    choose_way,
    facing_of,
    keep_inside,
    move_freely,
    part_of,
    radius_of,
    sign_of,
)
from rlenvs.single.memory.arena import TILE, draw_arena, first_pixel, middle_of
from rlenvs.single.memory.mortar import judge, report, see, short_way, show_next
from rlenvs.single.memory.render import arena_text, draw_mortar, keys_of_free_agent

SPEC = mortar.game(
    "MortarMayhem-v0",
    doc=__doc__,
    source="Memory Gym 1.0.2 MortarMayhem-v0 (Pleines et al., JMLR 26(6), 2025)",
    params=AGENT_PARAMS,
    options=mortar.options(delay=18, duration=6, commands=9),
    action=FREE,
    fps=25,
    levels={
        "easy": {"command_count": [3], "allowed_commands": 5},
        "hard": {"command_count": [20], "arena_size": 6},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)
SPEC.member(
    "MortarMayhemB-v0",
    "Mortar Mayhem with the commands given as a vector next to the image: only carrying them out is tested.",
    source="Memory Gym 1.0.2 MortarMayhemB-v0 (Pleines et al., JMLR 26(6), 2025)",
    cue="vector",
)
SPEC.member(
    "EndlessMortarMayhem-v0",
    "Endless Mortar Mayhem: the sequence grows by one command whenever it is completed.",
    source="Memory Gym 1.0.2 Endless-MortarMayhem-v0 (Pleines et al., JMLR 26(6), 2025)",
    endless=True,
    arena_size=6,
    command_count=[1],
    levels={
        "easy": {"allowed_commands": 5},
        "hard": {"command_count": [10]},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)


@kernel
def nearest(value):
    """The nearest whole number, of two the one away from zero, as pygame 2.4.0 places a Rect."""
    return math.floor(value + 0.5) if value >= 0.0 else math.ceil(value - 0.5)


@kernel
def wrap(p, s, dx, dy):
    """A move on the torus: places are rounded, and the edge is half a radius wide."""
    s.facing = facing_of(dx, dy, s.facing)
    part, margin = part_of(p, dx, dy), 0.5 * radius_of(p)
    left, right = float(first_pixel(p)), float(first_pixel(p) + TILE * p.arena_size)
    x, y = float(nearest(s.x + part * dx)), float(nearest(s.y + part * dy))
    x = left - margin if x > right + margin else (right + margin if x < left - margin else x)
    y = left - margin if y > right + margin else (right + margin if y < left - margin else y)
    s.x, s.y = nearest(x), nearest(y)


@SPEC.step
def step(p, s, a, rng, r):
    if s.cues_left > 0:
        show_next(p, s, s.elapsed + 1)
    else:
        s.cue = -1
        dx, dy = sign_of(a[0]), sign_of(a[1])
        if p.endless:
            wrap(p, s, dx, dy)
        else:
            move_freely(p, s, dx, dy)
            first = first_pixel(p)
            keep_inside(p, s, first, first, first + TILE * p.arena_size, first + TILE * p.arena_size)
        judge(p, s, rng, r)
    report(p, s, r)


@kernel
def around(p):
    """How long the torus is, px."""
    return TILE * p.arena_size + radius_of(p)


@SPEC.observe
def observe(p, s, o):
    see(p, s, o, around(p))


@SPEC.observe_images
def observe_images(p, s, i):
    draw_arena(p, s, i.screen, p.agent_scale)
    if p.compat:
        transpose(i.screen)


@SPEC.expert
def expert(p, s, a):
    """To the middle of the target tile."""
    dx, dy = middle_of(p, s.target_x) - s.x, middle_of(p, s.target_y) - s.y
    if p.endless:
        dx, dy = short_way(dx, around(p)), short_way(dy, around(p))
    choose_way(p, a, dx, dy)


@SPEC.draw
def draw(canvas, p, s):
    draw_mortar(canvas, p, s, p.agent_scale)


@SPEC.text
def text(p, s):
    return arena_text(p, s)


SPEC.keys(keys_of_free_agent)
