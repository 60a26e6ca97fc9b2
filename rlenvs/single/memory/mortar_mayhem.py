"""Mortar Mayhem: watch ten commands, then carry them out while tiles explode.

## Description
One of the three games of Memory Gym (Pleines et al., ICLR 2023; JMLR 26(6), 2025). Commands appear one after another,
each a direction to a neighbouring tile; the agent cannot move meanwhile. Then it has to be on the tile that the
commands lead to, command by command, whenever all other tiles explode. Nothing in a single image says what to do after
the commands were shown, so a policy without memory stays at the level of a random one. Measured against version 1.0.2
of the original (frames, rules, random returns). In the endless game the arena is a torus, the sequence begins with one
command and grows by one whenever it is completed, and only the new command is shown. Different from the original: the
time limit truncates; images have rows before columns; `is_success` is not set when the last command fails (the
original reports success); the endless game does not show the last episode's agent while commands are shown; sequences
grow to at most 128 commands. `compat=True` gives the original's order of axes and its end at the time limit. Symbols of
diagonal commands are a little off the centre, and diagonal moves to the upper left are a pixel longer in the endless
game, as there.

## Action Space
A direction, as two choices; in the grid forms turn or go forward. Actions have no effect while commands are shown.

## Observation Space
The screen, 84 x 84 RGB. With `cue="vector"` (the B forms) commands are not shown but stand in a vector beside the
image, one-hot for up to 20 commands in the order stay, right, left, up, down, right down, right up, left down, left
up. `observation="vector"` gives numbers in place of the image: position of the agent (in halves of the screen from its
centre), direction in which it looks (x, y), whether tiles explode, the tile that does not (0 where none does), whether
commands are shown, and the command that is shown (one-hot in the order right, down, left, up, stay, right down, right
up, left down, left up).

## Rewards
0.1 for every command. The other terms have weight 0 and are there for `weights=` and as measurements in `info`: the
true target tile, how long ago the command that is due was shown, what was completed. The original's reset parameters
`reward_command_success`, `reward_command_failure` and `reward_episode_success` (`reward_new_command_success` of the
endless game) are the weights of `command`, `failure` and `completion`.

## Costs
None.

## Starting State
A random tile, looking up; in the B forms and the endless game up to 2 pixels off its middle. Commands are drawn
uniformly among those that stay in the arena (in the endless game among all).

## Episode End
Termination: off the target when the tiles explode, or leaving it while they burn; all commands completed. Truncation:
never before the rules end a finite game; after 5,000 steps in the endless one. `is_success` says that all commands of
the episode were completed; in the endless game, that a sequence of ten was.

## Parameters
As the reset parameters of the original, of the same names; `max_steps` is `horizon`, `initial_command_count` is
`command_count` of the endless game. Lists are drawn from, uniformly, in each episode.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the target.

## Version History
v0: first version.
"""

from rlenvs.core import (
    Score,
    b1,
    below,
    block,
    choice,
    discrete,
    flag,
    i1,
    i2,
    i4,
    image,
    integer,
    kernel,
    term,
    u1,
    world,
)
from rlenvs.kits.raster import transpose
from rlenvs.single.memory import arena
from rlenvs.single.memory.agent import (
    AGENT_PARAMS,
    AHEAD_X,
    AHEAD_Y,
    FREE,
    ROOT_HALF,
    SIDE,
    TURNING,
    choose_way,
    facing_of,
    keep_inside,
    move_freely,
    part_of,
    radius_of,
    sign_of,
    turn,
    way_to_turn,
)
from rlenvs.single.memory.arena import COMMAND_X, COMMAND_Y, COMMANDS, TILE, draw_arena, first_pixel, middle_of, tile_at
from rlenvs.single.memory.lists import draw_one, drawn, screen_side
from rlenvs.single.memory.render import arena_text, draw_mortar

MOST_CODED, MOST_COMMANDS, ENDLESS_HORIZON = 20, 128, 5_000
VIEW = 8 + len(COMMANDS)
WELL_DONE = 10  # commands of a sequence that counts as success in the endless game
CODE = (1, 4, 2, 3, 0, 5, 6, 7, 8)  # place of each command in the vector of the B forms
HALF = SIDE / 2


def sizes(values):
    lists = (values.command_count, values.command_show_duration, values.command_show_delay)
    lists += values.explosion_delay, values.explosion_duration
    names = ("counts", "durations", "delays", "fuses", "fires")
    return {
        **{name: len(numbers) for name, numbers in zip(names, lists, strict=True)},
        "side": screen_side(values),
        "coded": 9 * MOST_CODED if values.cue == "vector" else 0,
        "viewed": VIEW if values.observation == "vector" else 0,
    }


def longest(values):
    """No finite game takes longer."""
    if values.endless:
        return ENDLESS_HORIZON
    count, fuse, fire = (max(v) for v in (values.command_count, values.explosion_delay, values.explosion_duration))
    shown = max(values.command_show_duration) + max(values.command_show_delay) if values.cue == "screen" else 0
    return count * (shown + fuse + fire) - fire + 1


SPEC = world(
    "MortarMayhem-v0",
    doc=__doc__,
    source="Memory Gym 1.0.2 MortarMayhem-v0 (Pleines et al., JMLR 26(6), 2025)",
    params=AGENT_PARAMS,
    options={
        "observation": choice("pixels", "vector", doc="the screen, or what it shows as numbers"),
        "cue": choice("screen", "vector", doc="commands are shown one by one, or stand in a vector beside the image"),
        "endless": flag(False, "a torus, and a sequence that grows"),
        "arena_size": integer(5, 2, 6, "tiles of a side"),
        "allowed_commands": integer(9, 4, 9, "how many kinds of commands, in the order of `arena.COMMANDS`"),
        "command_count": drawn([10], 1, MOST_CODED, "commands of an episode, of the first sequence in the endless game"),
        "command_show_duration": drawn([3], 1, 50, "steps for which a command is shown"),
        "command_show_delay": drawn([1], 0, 50, "steps without a command after each"),
        "explosion_delay": drawn([18], 1, 100, "steps for a command"),
        "explosion_duration": drawn([6], 1, 100, "steps for which tiles burn"),
        "visual_feedback": flag(True, "burning tiles are red"),
        "compat": flag(False, "the original's order of axes, and termination at the time limit"),
    },
    sizes=sizes,
    data={
        "calm": u1(SIDE, SIDE, 3),
        "burnt": u1(SIDE, SIDE, 3),
        "symbols": u1(len(COMMANDS), arena.TURNED, arena.TURNED),
        "list_counts": i2("counts"),
        "list_durations": i2("durations"),
        "list_delays": i2("delays"),
        "list_fuses": i2("fuses"),
        "list_fires": i2("fires"),
    },
    state={
        "x": i2,
        "y": i2,
        "facing": i2,
        "commands": i1(MOST_COMMANDS),
        "shown_at": i4(MOST_COMMANDS),  # when a command was last on the screen
        "count": i2,
        "current": i2,  # the command that is due
        "target_x": i2,
        "target_y": i2,
        "cue": i2,  # the command on the screen, or -1
        "cues_left": i4,  # images of commands that are still to come
        "first_cue": i2,  # the first command that is shown
        "cue_steps": i2,
        "pause_steps": i2,
        "fuse_steps": i2,
        "fire_steps": i2,
        "waited": i4,
        "burnt": i4,
        "burning": b1,
        "completed": i4,
    },
    observation={
        "commands": block("coded", low=0, high=1, raw=True, doc="the commands, one-hot"),
        "seen": block("viewed", low=-2, high=2, raw=True, doc="what the screen shows"),
    },
    images={"screen": image("side", "side", 3, doc="the screen")},
    action=FREE,
    terms={
        "command": term(0, 1, 0.1, "1 for a command completed"),
        "failure": term(0, 1, 0.0, "1 for a command failed"),
        "completion": term(0, 1, 0.0, "1 for all commands completed, in the endless game of a sequence"),
        "completed": term(0, 1e5, 0.0, "commands completed so far"),
        "target_x": term(0, 1, 0.0, "column of the target tile / 5"),
        "target_y": term(0, 1, 0.0, "row of the target tile / 5"),
        "memory_distance": term(0, 1e6, 0.0, "steps since the command that is due was shown; 0 where it is in view"),
    },
    horizon=longest,
    fps=25,
    expert_sees="state",
    levels={
        "easy": {"command_count": [3], "allowed_commands": 5},
        "hard": {"command_count": [20], "arena_size": 6},
        "compat": {"compat": True},
    },
)

GRID_VALUES = {"allowed_commands": 5, "explosion_delay": [6], "explosion_duration": [2]}
GRID = SPEC.member(
    "MortarMayhemGrid-v0",
    "Mortar Mayhem on a grid: watch ten commands, then turn and step from tile to tile.",
    source="Memory Gym 1.0.2 MortarMayhem-Grid-v0 (Pleines et al., JMLR 26(6), 2025)",
    action=TURNING,
    fps=6,
    **GRID_VALUES,
)
SPEC.member(
    "MortarMayhemB-v0",
    "Mortar Mayhem with the commands in sight: a vector beside the image holds them, so acting alone is tried.",
    source="Memory Gym 1.0.2 MortarMayhemB-v0 (Pleines et al., JMLR 26(6), 2025)",
    cue="vector",
)
GRID_B = SPEC.member(
    "MortarMayhemBGrid-v0",
    "Mortar Mayhem on a grid with the commands in sight: a vector beside the image holds them.",
    source="Memory Gym 1.0.2 MortarMayhemB-Grid-v0 (Pleines et al., JMLR 26(6), 2025)",
    action=TURNING,
    fps=6,
    cue="vector",
    **GRID_VALUES,
)
SPEC.member(
    "EndlessMortarMayhem-v0",
    "Mortar Mayhem without end: the sequence grows by a command whenever it is completed.",
    source="Memory Gym 1.0.2 Endless-MortarMayhem-v0 (Pleines et al., JMLR 26(6), 2025)",
    endless=True,
    arena_size=6,
    command_count=[1],
    levels={
        "easy": {"allowed_commands": 5},
        "hard": {"command_count": [10]},
        "compat": {"compat": True},
    },
)


@SPEC.make_data
def data(values):
    return {
        "calm": arena.make_arena(values.arena_size, (arena.BLUE, arena.LIGHT_BLUE)),
        "burnt": arena.make_arena(values.arena_size, (arena.RED, arena.LIGHT_RED)),
        "symbols": arena.make_symbols(),
        "list_counts": values.command_count,
        "list_durations": values.command_show_duration,
        "list_delays": values.command_show_delay,
        "list_fuses": values.explosion_delay,
        "list_fires": values.explosion_duration,
    }


# --- commands ---------------------------------------------------------------------------------------------------------


@kernel
def stays_inside(p, column, row):
    return 0 <= column < p.arena_size and 0 <= row < p.arena_size


@kernel
def draw_commands(p, s, rng):
    """A walk from the agent's tile; in the finite game it stays in the arena."""
    column, row = tile_at(p, s.x), tile_at(p, s.y)
    for k in range(s.count):
        possible = p.allowed_commands
        if not p.endless:
            possible = 0
            for command in range(p.allowed_commands):
                possible += int(stays_inside(p, column + COMMAND_X[command], row + COMMAND_Y[command]))
        left = below(rng, possible)
        for command in range(p.allowed_commands):
            fits = p.endless or stays_inside(p, column + COMMAND_X[command], row + COMMAND_Y[command])
            if fits and left == 0:
                s.commands[k] = command
                break
            left -= int(fits)
        column += COMMAND_X[s.commands[k]]
        row += COMMAND_Y[s.commands[k]]


@kernel
def aim(p, s):
    """Move the target by the command that is due."""
    s.target_x += COMMAND_X[s.commands[s.current]]
    s.target_y += COMMAND_Y[s.commands[s.current]]
    if p.endless:
        s.target_x = s.target_x % p.arena_size
        s.target_y = s.target_y % p.arena_size


@kernel
def show_from(p, s, first):
    """From now on the commands from `first` on are shown."""
    s.first_cue = first
    s.cues_left = (s.count - first) * (s.cue_steps + s.pause_steps) if p.cue == 0 else 0


@kernel
def show_next(p, s, now):
    """The next image of the commands: a command, or the pause after it."""
    each = s.cue_steps + s.pause_steps
    place = (s.count - s.first_cue) * each - s.cues_left
    s.cues_left -= 1
    s.cue = -1
    if place % each < s.cue_steps:
        s.cue = s.commands[s.first_cue + place // each]
        s.shown_at[s.first_cue + place // each] = now


@SPEC.reset
def reset(p, s, rng):
    s.count = draw_one(p.list_counts, rng)
    s.cue_steps, s.pause_steps = draw_one(p.list_durations, rng), draw_one(p.list_delays, rng)
    s.fuse_steps, s.fire_steps = draw_one(p.list_fuses, rng), draw_one(p.list_fires, rng)
    s.x, s.y = middle_of(p, below(rng, p.arena_size)), middle_of(p, below(rng, p.arena_size))
    draw_commands(p, s, rng)
    s.target_x, s.target_y = tile_at(p, s.x), tile_at(p, s.y)
    aim(p, s)
    s.cue = -1
    show_from(p, s, 0)
    if s.cues_left > 0:
        show_next(p, s, 0)


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def grow(p, s, rng):
    """The sequence was completed: it begins again, with one command more."""
    s.current = 0
    s.burnt = 0
    if s.count < MOST_COMMANDS:
        s.commands[s.count] = below(rng, p.allowed_commands)
        s.count += 1
        show_from(p, s, s.count - 1)


@kernel
def fail(r):
    r.failure = 1.0
    r.terminated = True


@kernel
def check_command(p, s, hit, rng, r):
    """The tiles explode."""
    s.current += 1
    s.burning = True
    s.waited = 1
    if hit:
        r.command = 1.0
        s.completed += 1
    else:
        fail(r)
    if s.current >= s.count:
        r.completion = 1.0 if hit else 0.0
        if p.endless:
            grow(p, s, rng)
        else:
            r.terminated = True
            r.success = hit


@kernel
def judge(p, s, rng, r):
    """What the agent's place leads to, once it may move."""
    hit = tile_at(p, s.x) == s.target_x and tile_at(p, s.y) == s.target_y
    if not s.burning and s.waited > 0 and s.waited % s.fuse_steps == 0:
        check_command(p, s, hit, rng, r)
    if not s.burning:
        s.waited += 1
    elif s.burnt > 0 and s.burnt % s.fire_steps == 0:
        s.burning = False
        s.burnt = 0
        if s.current < s.count:
            aim(p, s)
    else:
        s.burnt += 1
        if not hit:
            fail(r)


@kernel
def report(p, s, r):
    """Measurements, and the end of time."""
    now = s.elapsed + 1
    due = min(s.current, s.count - 1)
    r.completed = s.completed
    r.target_x = s.target_x / 5.0
    r.target_y = s.target_y / 5.0
    r.memory_distance = now - s.shown_at[due] if p.cue == 0 else 0.0
    if p.endless:
        longest_done = s.count - 1 if s.count < MOST_COMMANDS else MOST_COMMANDS
        r.success = longest_done >= WELL_DONE and s.completed >= WELL_DONE
    if p.compat and now >= p.horizon:
        r.terminated = True


@kernel
def wrap(p, s, dx, dy):
    """A move on the torus: places are cut towards zero, and the edge is half a radius wide."""
    s.facing = facing_of(dx, dy, s.facing)
    part, margin = part_of(p, dx, dy), 0.5 * radius_of(p)
    left, right = float(first_pixel(p)), float(first_pixel(p) + TILE * p.arena_size)
    x, y = float(int(s.x + part * dx)), float(int(s.y + part * dy))
    x = left - margin if x > right + margin else (right + margin if x < left - margin else x)
    y = left - margin if y > right + margin else (right + margin if y < left - margin else y)
    s.x, s.y = int(x), int(y)


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


def step_on_grid(p, s, a, rng, r):
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


# --- what is seen -----------------------------------------------------------------------------------------------------


@SPEC.observe
def observe(p, s, o):
    if o.commands.size > 0:
        for j in range(o.commands.size):
            o.commands[j] = 0.0
        for k in range(min(s.count, MOST_CODED)):
            o.commands[9 * k + CODE[s.commands[k]]] = 1.0
    if o.seen.size > 0:
        seen = o.seen
        seen[0] = s.x / HALF - 1.0
        seen[1] = s.y / HALF - 1.0
        seen[2] = AHEAD_X[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
        seen[3] = AHEAD_Y[s.facing] * (ROOT_HALF if s.facing % 2 else 1.0)
        seen[4] = 1.0 if s.burning and p.visual_feedback else 0.0
        seen[5] = seen[4] * (middle_of(p, s.target_x) / HALF - 1.0)
        seen[6] = seen[4] * (middle_of(p, s.target_y) / HALF - 1.0)
        seen[7] = 1.0 if s.cue >= 0 else 0.0
        for command in range(len(COMMANDS)):
            seen[8 + command] = 1.0 if s.cue == command else 0.0


@SPEC.observe_images
def observe_images(p, s, i):
    draw_arena(p, s, i.screen)
    if p.compat:
        transpose(i.screen)


@kernel
def short_way(p, way):
    """The shorter of two ways around the torus, px."""
    around = TILE * p.arena_size + radius_of(p)
    return way - around if way > around // 2 else (way + around if way < -(around // 2) else way)


@SPEC.expert
def expert(p, s, a):
    """To the middle of the target tile."""
    dx, dy = middle_of(p, s.target_x) - s.x, middle_of(p, s.target_y) - s.y
    if p.endless:
        dx, dy = short_way(p, dx), short_way(p, dy)
    choose_way(p, a, dx, dy)


def expert_on_grid(p, s, a):
    a[0] = way_to_turn(s.facing, s.target_x - tile_at(p, s.x), s.target_y - tile_at(p, s.y))


for grid in (GRID, GRID_B):
    grid.step(step_on_grid)
    grid.expert(expert_on_grid)


# --- for people -------------------------------------------------------------------------------------------------------


@SPEC.draw
def draw(canvas, p, s):
    draw_mortar(canvas, p, s)


@SPEC.text
def text(p, s):
    return arena_text(p, s)


@SPEC.keys
def keys(pressed, values):
    left, right, up, down = (k in pressed for k in ("left", "right", "up", "down"))
    return [1 if left else 2 if right else 0, 1 if up else 2 if down else 0]


def keys_on_grid(pressed, values):
    for action, name in ((1, "left"), (2, "right"), (3, "up")):
        if name in pressed:
            return action
    return 0


for grid in (GRID, GRID_B):
    grid.keys(keys_on_grid)
