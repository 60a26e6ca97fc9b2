"""Rules of Mortar Mayhem, for the free-moving and the turning agent: commands, explosions, what is seen."""

from typing import Any

from rlenvs.core import World, b1, below, block, choice, flag, i1, i2, i4, image, integer, kernel, term, u1, world
from rlenvs.single.memory import arena
from rlenvs.single.memory.agent import AHEAD_X, AHEAD_Y, ROOT_HALF, SIDE
from rlenvs.single.memory.arena import COMMAND_X, COMMAND_Y, COMMANDS, TILE, middle_of, tile_at
from rlenvs.single.memory.lists import draw_one, drawn, screen_side

MOST_CODED, MOST_COMMANDS, ENDLESS_HORIZON = 20, 128, 5_000
VIEW = 8 + len(COMMANDS)
WELL_DONE = 10  # commands of a sequence that counts as success in the endless game
CODE = (1, 4, 2, 3, 0, 5, 6, 7, 8)  # place of each command in the vector of the B forms
HALF = SIDE / 2
CUE = choice("screen", "vector", doc="commands are shown one by one, or given as a vector next to the image")
(SCREEN,) = CUE.codes("screen")


def sizes(values):
    lists = (values.command_count, values.command_show_duration, values.command_show_delay)
    lists += values.explosion_delay, values.explosion_duration
    names = ("counts", "durations", "delays", "fuses", "fires")
    return {
        **{name: len(numbers) for name, numbers in zip(names, lists, strict=True)},
        "side": screen_side(values),
        "coded": 9 * MOST_CODED if values.cue == "vector" else 0,
        "viewed": VIEW if values.observation == "vector" else 0,
        "recalled": 2 if values.recall else 0,
    }


def longest(values):
    """No finite game takes longer."""
    if values.endless:
        return ENDLESS_HORIZON
    count, fuse, fire = (max(v) for v in (values.command_count, values.explosion_delay, values.explosion_duration))
    shown = max(values.command_show_duration) + max(values.command_show_delay) if values.cue == "screen" else 0
    return count * (shown + fuse + fire) - fire + 1


def options(delay, duration, commands):
    """The options of a game with these defaults."""
    return {
        "observation": choice("pixels", "vector", doc="the screen, or what it shows as numbers"),
        "cue": CUE,
        "endless": flag(False, "a torus, and a sequence that grows"),
        "arena_size": integer(5, 2, 6, "tiles per side"),
        "allowed_commands": integer(commands, 4, 9, "how many kinds of commands, in the order of `arena.COMMANDS`"),
        "command_count": drawn(
            [10], 1, MOST_CODED, "commands of an episode, of the first sequence in the endless game"
        ),
        "command_show_duration": drawn([3], 1, 50, "steps for which a command is shown"),
        "command_show_delay": drawn([1], 0, 50, "steps without a command after each"),
        "explosion_delay": drawn([delay], 1, 100, "steps for a command"),
        "explosion_duration": drawn([duration], 1, 100, "steps for which tiles burn"),
        "visual_feedback": flag(True, "burning tiles are red"),
        "recall": flag(False, "whether the observation also gives the offset to the tile to which the commands lead"),
        "compat": flag(False, "the original's order of axes, and termination at the time limit"),
    }


DATA = {
    "calm": u1(SIDE, SIDE, 3),
    "burnt": u1(SIDE, SIDE, 3),
    "symbols": u1(len(COMMANDS), arena.TURNED, arena.TURNED),
    "list_counts": i2("counts"),
    "list_durations": i2("durations"),
    "list_delays": i2("delays"),
    "list_fuses": i2("fuses"),
    "list_fires": i2("fires"),
}
STATE = {
    "x": i2.within(-HALF, SIDE + HALF),  # on a torus the edge is half a radius of the agent wide
    "y": i2.within(-HALF, SIDE + HALF),
    "facing": i2.within(0, 7),
    "commands": i1(MOST_COMMANDS).within(0, 8),
    "shown_at": i4(MOST_COMMANDS),  # when a command was last on the screen
    "count": i2.up_to(MOST_COMMANDS),
    "current": i2.up_to(MOST_COMMANDS),  # the command that is due
    "target_x": i2.within(0, 5),
    "target_y": i2.within(0, 5),
    "cue": i2.within(-1, 8),  # the command on the screen, or -1
    "cues_left": i4,  # images of commands that are still to come
    "first_cue": i2.up_to(MOST_COMMANDS),  # the first command that is shown
    "cue_steps": i2,
    "pause_steps": i2,
    "fuse_steps": i2,
    "fire_steps": i2,
    "waited": i4,
    "burnt": i4,
    "burning": b1,
    "completed": i4,
}
OBSERVATION = {
    "commands": block("coded", low=0, high=1, raw=True, constant=True, doc="the commands, one-hot"),
    "seen": block("viewed", low=-2, high=2, raw=True, doc="what the screen shows"),
    "target": block(
        "recalled", low=-6, high=6, raw=True, unit="tiles", doc="offset to the tile to which the commands lead"
    ),
}
IMAGES = {"screen": image("side", "side", 3, doc="the screen")}
TERMS = {
    "command": term(0, 1, 0.1, "1 for a command completed"),
    "failure": term(0, 1, 0.0, "1 for a command failed"),
    "completion": term(0, 1, 0.0, "1 for all commands completed, in the endless game of a sequence"),
    "completed": term(0, 1e5, 0.0, "commands completed so far"),
    "target_x": term(0, 1, 0.0, "column of the target tile / 5"),
    "target_y": term(0, 1, 0.0, "row of the target tile / 5"),
    "memory_distance": term(0, 1e6, 0.0, "steps since the current command was shown; 0 while it is shown"),
}


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
    s.cues_left = (s.count - first) * (s.cue_steps + s.pause_steps) if p.cue == SCREEN else 0


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


@kernel
def begin(p, s, rng):
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
    r.memory_distance = now - s.shown_at[due] if p.cue == SCREEN else 0.0
    if p.endless:
        longest_done = s.count - 1 if s.count < MOST_COMMANDS else MOST_COMMANDS
        r.success = longest_done >= WELL_DONE and s.completed >= WELL_DONE
    if p.compat and now >= p.horizon:
        r.terminated = True


# --- what is seen ----------------------------------------------------------------------------------------------------


@kernel
def short_way(way, around):
    """The shorter of two ways around a torus, px."""
    return way - around if way > around // 2 else (way + around if way < -(around // 2) else way)


@kernel
def see(p, s, o, around):
    """What is seen, and told; `around` is the way around the torus of the endless game, px."""
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
    if o.target.size > 0:
        told = 1.0 if s.cues_left == 0 else 0.0
        x, y = middle_of(p, s.target_x) - s.x, middle_of(p, s.target_y) - s.y
        if p.endless:
            x, y = short_way(x, around), short_way(y, around)
        o.target[0] = told * x / TILE
        o.target[1] = told * y / TILE


def state_fault(p: Any, s: Any) -> str:
    """What is wrong with the images of commands that are still to come, for `World.state_fault`."""
    each, shown = int(s.cue_steps) + int(s.pause_steps), int(s["count"]) - int(s.first_cue)
    left = int(s.cues_left)
    return "" if each > 0 and 0 <= left <= max(shown, 0) * each else f"{left} images are to come of {shown} commands"


def game(name: str, **declared: Any) -> World:
    """A world of this game, for one of its agents; `declared` are the keywords of `world` in which they differ."""
    spec = world(
        name,
        sizes=sizes,
        data=DATA,
        state=STATE,
        observation=OBSERVATION,
        images=IMAGES,
        terms=TERMS,
        horizon=longest,
        expert_sees="state",
        **declared,
    )
    spec.make_data(data)
    spec.state_fault(state_fault)
    spec.reset(begin)
    return spec
