"""Mystery Path on a grid: find an invisible path by turning and stepping from tile to tile.

## Description
The game of MysteryPath-v0 for an agent that turns by 90 degrees and moves from tile to tile. The page of MysteryPath-v0
has the rules and the differences from the original.

## Action Space
Turn or go forward; at the border of the screen the agent stays. After a fall the action has no effect.

## Observation Space
As in MysteryPath-v0: the screen; with `observation="vector"` numbers; with `recall=True` also what was found out about
the tiles around the agent.

## Rewards
1 for the goal, nothing on the way. The other terms have weight 0, for use with `weights=` and as measurements in
`info`.

## Costs
None.

## Starting State
On the origin, facing up.

## Episode End
Termination: at the goal (a success). Truncation: 128 steps.

## Parameters
The reset parameters of the original, under the same names, except the size of the agent, which had no effect, and
`max_steps`, which is `horizon`.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the path.

## Version History
v0: first version.
"""

from rlenvs.kits.raster.draw import transpose
from rlenvs.single.memory import mystery_rules
from rlenvs.single.memory.agent import AHEAD_X, AHEAD_Y, SCALE, TURNING, turn, way_to_turn
from rlenvs.single.memory.mystery import SIZE, TILE
from rlenvs.single.memory.mystery_rules import draw_field, go_to_tile, judge, next_place
from rlenvs.single.memory.render import draw_mystery, keys_of_turning_agent, mystery_text

SPEC = mystery_rules.game(
    "MysteryPathGrid-v0",
    turning=True,
    doc=__doc__,
    source="Memory Gym 1.0.2 MysteryPath-Grid-v0 (Pleines et al., JMLR 26(6), 2025)",
    action=TURNING,
    terms=mystery_rules.terms(progress=0.0),
    horizon=128,
    fps=3,
    levels={
        "easy": {"show_origin": True, "show_goal": True, "horizon": 256},
        "hard": {"horizon": 64},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)


@SPEC.step
def step(p, s, a, rng, r):
    if s.off:
        go_to_tile(s, int(s.path[0]))
    else:
        turn(s, a)
        column, row = s.x // TILE, s.y // TILE
        if a == 3:
            column = max(0, min(column + AHEAD_X[s.facing], SIZE - 1))
            row = max(0, min(row + AHEAD_Y[s.facing], SIZE - 1))
        go_to_tile(s, SIZE * column + row)
    judge(p, s, r)


@SPEC.observe_images
def observe_images(p, s, i):
    draw_field(p, s, i.screen, SCALE)
    if p.compat:
        transpose(i.screen)


@SPEC.expert
def expert(p, s, a):
    tile = int(s.path[0] if s.off else s.path[next_place(s)])
    a[0] = way_to_turn(s.facing, tile // SIZE - s.x // TILE, tile % SIZE - s.y // TILE)


@SPEC.draw
def draw(canvas, p, s):
    draw_mystery(canvas, s, SCALE)


@SPEC.text
def text(p, s):
    return mystery_text(s)


SPEC.keys(keys_of_turning_agent)
