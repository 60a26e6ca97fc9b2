"""Mortar Mayhem on a grid: watch ten commands, then turn and step from tile to tile.

## Description
The game of MortarMayhem-v0 for an agent that turns by 90 degrees and moves from tile to tile. The page of
MortarMayhem-v0 has the rules and the differences from the original. There are five commands, none of them diagonal, and
less time for each.

## Action Space
Turn or go forward. Actions have no effect while commands are shown; at the border the agent stays.

## Observation Space
As in MortarMayhem-v0: the screen; with `cue="vector"` also the commands; with `observation="vector"` numbers; with
`recall=True` also the offset to the tile to which the commands lead.

## Rewards
0.1 for every command. The other terms have weight 0, for use with `weights=` and as measurements in `info`.

## Costs
None.

## Starting State
The middle of a random tile, facing up. Commands are drawn uniformly among those that stay in the arena.

## Episode End
Termination: off the target when the tiles explode, or leaving it while they burn; all commands completed. Truncation:
never before the rules end the game. `is_success` means that all commands were completed.

## Parameters
The reset parameters of the original, under the same names, except the size of the agent, which had no effect.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the target.

## Version History
v0: first version.
"""

from rlenvs.kits.raster.draw import transpose
from rlenvs.single.memory import mortar
from rlenvs.single.memory.agent import AHEAD_X, AHEAD_Y, SCALE, TURNING, turn, way_to_turn
from rlenvs.single.memory.arena import TILE, draw_arena, middle_of, tile_at
from rlenvs.single.memory.mortar import judge, report, see, show_next, stays_inside
from rlenvs.single.memory.render import arena_text, draw_mortar, keys_of_turning_agent

SPEC = mortar.game(
    "MortarMayhemGrid-v0",
    doc=__doc__,
    source="Memory Gym 1.0.2 MortarMayhem-Grid-v0 (Pleines et al., JMLR 26(6), 2025)",
    options=mortar.options(delay=6, duration=2, commands=5),
    action=TURNING,
    fps=6,
    levels={
        "easy": {"command_count": [3]},
        "hard": {"command_count": [20], "arena_size": 6, "allowed_commands": 9},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)
SPEC.member(
    "MortarMayhemBGrid-v0",
    "Mortar Mayhem on a grid with the commands given as a vector next to the image.",
    source="Memory Gym 1.0.2 MortarMayhemB-Grid-v0 (Pleines et al., JMLR 26(6), 2025)",
    cue="vector",
)


@SPEC.step
def step(p, s, a, rng, r):
    if s.cues_left > 0:
        show_next(p, s, s.elapsed + 1)
    else:
        s.cue = -1
        turn(s, a)
        if a == 3:
            column, row = tile_at(p, s.x) + AHEAD_X[s.facing], tile_at(p, s.y) + AHEAD_Y[s.facing]
            if p.endless:
                column, row = column % p.arena_size, row % p.arena_size
            if stays_inside(p, column, row):
                s.x, s.y = middle_of(p, column), middle_of(p, row)
        judge(p, s, rng, r)
    report(p, s, r)


@SPEC.observe
def observe(p, s, o):
    see(p, s, o, TILE * p.arena_size)


@SPEC.observe_images
def observe_images(p, s, i):
    draw_arena(p, s, i.screen, SCALE)
    if p.compat:
        transpose(i.screen)


@SPEC.expert
def expert(p, s, a):
    a[0] = way_to_turn(s.facing, s.target_x - tile_at(p, s.x), s.target_y - tile_at(p, s.y))


@SPEC.draw
def draw(canvas, p, s):
    draw_mortar(canvas, p, s, SCALE)


@SPEC.text
def text(p, s):
    return arena_text(p, s)


SPEC.keys(keys_of_turning_agent)
