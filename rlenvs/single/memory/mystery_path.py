"""Mystery Path: find an invisible path by trial and error, and remember it.

## Description
One of the three games of Memory Gym (Pleines et al., ICLR 2023; JMLR 26(6), 2025). A path of tiles leads from one side
of a black screen to the opposite one; neither it nor its ends are shown. When the agent leaves it, a red cross appears,
and one step later the agent is back at the origin. So every tile next to the path has to be discovered by falling, and
remembered. Measured against version 1.0.2 of the original (frames, rules, lengths of paths, random returns). Different
from the original: the time limit truncates, and images have rows before columns (`compat=True` restores both); walls
that leave no path are redrawn, where the original raises an error; agents with another `agent_scale` also start in the
middle of their tile, where the original puts them their radius from its corner.

## Action Space
A direction, as two choices. After a fall the action has no effect: the agent is brought back.

## Observation Space
The screen, 84 x 84 RGB. `observation="vector"` gives numbers in place of it: position of the agent (in halves of the
screen from its center), direction in which it faces (x, y), whether it fell, and for origin and goal whether they are
shown and where (0 where not).

`recall=True` (`level="recall"`: with numbers in place of the screen) adds, for policies without memory, what an agent
with perfect memory would know of the tiles to the right, above, to the left and below (for the turning agent: ahead,
left, behind and right): 1 if the path is known to continue there, -1 if it is known not to (the agent fell there, came
from there, or it is off the screen), else 0; then the offset to the origin in the first two of these directions, in
units of 7 tiles.

## Rewards
1 for the goal, 0.1 for each new tile of the path in between. The other terms have weight 0, for use with `weights=` and
as measurements in `info`: where the path continues, how long ago the agent was there, falls. The original's reset
parameters `reward_goal`, `reward_path_progress`, `reward_fall_off` and `reward_step` are the weights of `goal`,
`progress`, `fall` and `step`.

## Costs
None.

## Starting State
On the origin, in a row or column of a side drawn from `cardinal_origin_choice`; the goal is on the opposite side.

## Episode End
Termination: at the goal (a success). Truncation: 512 steps.

## Parameters
The reset parameters of the original, under the same names, except that `max_steps` is `horizon`.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the path.

## Version History
v0: first version.
"""

from rlenvs.kits.raster.draw import transpose
from rlenvs.single.memory import mystery_rules
from rlenvs.single.memory.agent import AGENT_PARAMS, FREE, SIDE, choose_way, keep_inside, move_freely, sign_of
from rlenvs.single.memory.mystery import MIDDLE, SIZE, TILE
from rlenvs.single.memory.mystery_rules import draw_field, go_to_tile, judge, next_place
from rlenvs.single.memory.render import draw_mystery, keys_of_free_agent, mystery_text

SPEC = mystery_rules.game(
    "MysteryPath-v0",
    turning=False,
    doc=__doc__,
    source="Memory Gym 1.0.2 MysteryPath-v0 (Pleines et al., JMLR 26(6), 2025)",
    params=AGENT_PARAMS,
    action=FREE,
    terms=mystery_rules.terms(progress=0.1),
    horizon=512,
    fps=25,
    levels={
        "easy": {"show_origin": True, "show_goal": True},
        "hard": {"horizon": 256},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)


@SPEC.step
def step(p, s, a, rng, r):
    if s.off:
        go_to_tile(s, int(s.path[0]))
    else:
        move_freely(p, s, sign_of(a[0]), sign_of(a[1]))
        keep_inside(p, s, 0, 0, SIDE, SIDE)
    judge(p, s, r)


@SPEC.observe_images
def observe_images(p, s, i):
    draw_field(p, s, i.screen, p.agent_scale)
    if p.compat:
        transpose(i.screen)


@SPEC.expert
def expert(p, s, a):
    """To the middle of the next tile."""
    tile = int(s.path[0] if s.off else s.path[next_place(s)])
    choose_way(p, a, TILE * (tile // SIZE) + MIDDLE - s.x, TILE * (tile % SIZE) + MIDDLE - s.y)


@SPEC.draw
def draw(canvas, p, s):
    draw_mystery(canvas, s, p.agent_scale)


@SPEC.text
def text(p, s):
    return mystery_text(s)


SPEC.keys(keys_of_free_agent)
