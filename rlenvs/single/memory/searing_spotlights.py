"""Searing Spotlights: cross a dark room to a coin and then the exit, avoiding harmful spotlights.

## Description
One of the three games of Memory Gym (Pleines et al., ICLR 2023; JMLR 26(6), 2025). The room is bright at first and goes
dark within six steps; then only the spotlights that wander across it reveal anything. The agent loses health while a
spotlight touches it. It has to remember where the coin, the exit and it itself are: the bar at the top shows only its
actions and its health. Measured against version 1.0.2 of the original (frames, rules, random returns). In the endless
game coins appear one after another; each is visible for six steps and has to be found within 160. Different from the
original: the time limit truncates; images have rows before columns; no spotlight is skipped for a step when another one
has left (`compat=True` restores these three); a coin is not skipped when another one was collected; games without an
exit, without coins or without the display of actions do not crash; a black floor does not carry over to later episodes;
there are at most 48 spotlights; on a black floor the rim of a spotlight is visible inside others too; the bar covers a
visible exit; borders of coins from `coin_scale` 1 on differ by up to 20 pixels. As in the original: the bar shows the
action and the reward before the last, the agent faces up in the first image whatever its direction, and spotlights
appear every 40 steps although the intervals are meant to get shorter (`schedule="shrinking"` makes them do so).

## Action Space
A direction, as two choices.

## Observation Space
The screen, 84 x 84 RGB. `observation="vector"` gives numbers of what the screen shows: darkness, health, whether the
agent is hit, the last two actions that the bar shows and whether it shows a reward; then, for agent, goal (coin, or
exit once all coins are collected) and exit, whether it is visible and where; then up to 12 spotlights: position and
radius. Positions are in halves of the screen from its center, 0 for what is not visible.

`recall=True` (`level="recall"`: with numbers in place of the screen) adds, for policies without memory, what an agent
with perfect memory would know: the position of the agent and the offset from it to the goal, both in halves of the
screen. Spotlights stay as hard to see.

## Rewards
0.25 for a coin, 1 for the exit. The other terms have weight 0, for use with `weights=` and as measurements in `info`:
the true positions of agent and goal, and how long ago they were seen. The original's reset parameters
`reward_inside_spotlight`, `reward_outside_spotlight`, `reward_death`, `reward_exit`, `reward_coin` and
`reward_max_steps` (without effect there) are the weights of `inside`, `outside`, `death`, `exit`, `coin` and `timeout`.

## Costs
`damage`: the health lost in a step.

## Starting State
Agent, coins and exit are at random places, apart from each other; four spotlights are just outside the room.

## Episode End
Termination: no health is left; the exit is reached with all coins; in the endless game, no coin for 160 steps.
Truncation: 256 steps, 2,000 in the endless game. `is_success` means that the exit was reached (without an exit, that
all coins were collected; in the endless game, that ten were).

## Parameters
The reset parameters of the original, under the same names, except that `max_steps` is `horizon`. From lists, one value
is drawn uniformly in each episode. The endless game uses `spawn_interval`, the other one the three numbers that define
its schedule.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows where everything is, and where the spotlights go.

## Version History
v0: first version.
"""

from rlenvs.core import (
    at_most,
    b1,
    below,
    block,
    choice,
    cost,
    data_option,
    f8,
    flag,
    i1,
    i2,
    i4,
    image,
    integer,
    json_option,
    kernel,
    param,
    term,
    u1,
    world,
)
from rlenvs.kits.raster.draw import transpose
from rlenvs.single.memory import spotlights
from rlenvs.single.memory.agent import (
    AGENT_PARAMS,
    FREE,
    SIDE,
    keep_inside,
    middle_hit,
    move_freely,
    radius_of,
    sign_of,
)
from rlenvs.single.memory.coins import collect, find_place, goal_x, goal_y, inset, new_coin
from rlenvs.single.memory.escape import advise
from rlenvs.single.memory.lists import draw_one, drawn, screen_side
from rlenvs.single.memory.render import draw_spotlights, keys_of_free_agent
from rlenvs.single.memory.spotlights import (
    BAR,
    CENTRE,
    MOST_SPOTS,
    draw_stage,
    move_spots,
    near_light,
    spawn,
)

MOST_COINS, MOST_SEEN = 8, 12
SEEN = 17 + 3 * MOST_SEEN
WELL_DONE = 10  # coins that count as success in the endless game
FOREVER = 2_000


def parse_scale(value):
    if isinstance(value, bool) or not 0.2 <= float(value) <= 2.0:
        raise ValueError("it must be a number in [0.2, 2]")
    return float(value)


def parse_decay(value):
    if isinstance(value, bool) or not 0.0 <= float(value) <= 1.0:
        raise ValueError("it must be a number in [0, 1]")
    return float(value)


def sizes(values):
    side = int(20 * values.exit_scale)
    return {
        "side": screen_side(values),
        "seen_numbers": SEEN if values.observation == "vector" else 0,
        "recalled": 4 if values.recall else 0,
        "numbers_of_coins": len(values.num_coins),
        "intervals": max(1, values.num_spawns),
        "door_side": side,
    }


SPEC = world(
    "SearingSpotlights-v0",
    doc=__doc__,
    source="Memory Gym 1.0.2 SearingSpotlights-v0 (Pleines et al., JMLR 26(6), 2025)",
    params={
        **AGENT_PARAMS,
        "spot_min_radius": param(7.5, 1.0, 30.0, "px", "smallest radius; whole pixels from its integer part on"),
        "spot_max_radius": param(13.75, 1.0, 40.0, "px", "largest radius; its integer part is the last one drawn"),
        "spot_min_speed": param(
            0.0025, 0.0005, 0.05, "1/step", "smallest fraction of its path that a spotlight travels"
        ),
        "spot_max_speed": param(
            0.0075, 0.0005, 0.05, "1/step", "largest fraction of its path that a spotlight travels"
        ),
        "spot_damage": param(1.0, 0.0, 10.0, "", "health lost in a step in which a spotlight touches the agent"),
        "coin_scale": param(0.375, 0.2, 2.0, "", "size of a coin: its radius is 10 pixels times this, rounded down"),
    },
    constraints=(
        at_most("spot_min_radius", "spot_max_radius"),
        at_most("spot_min_speed", "spot_max_speed"),
    ),
    options={
        "observation": choice("pixels", "vector", doc="the screen, or what it shows as numbers"),
        "endless": flag(False, "coins appear one after another, and there is no exit"),
        "agent_health": integer(5, 1, 1000, "health at the start"),
        "initial_spawns": integer(4, 0, 20, "spotlights at the start"),
        "num_spawns": data_option(integer(30, 0, 1000, "further spotlights of a game with an end")),
        "initial_spawn_interval": data_option(integer(30, 1, 1000, "first interval between these, less the threshold")),
        "spawn_interval_threshold": data_option(integer(10, 0, 1000, "steps to which intervals shrink")),
        "spawn_interval_decay": data_option(json_option(0.95, parse_decay, "factor from interval to interval")),
        "schedule": data_option(choice("published", "shrinking", doc="all intervals are as the first, or they shrink")),
        "spawn_interval": integer(50, 1, 1000, "steps between spotlights of the endless game"),
        "light_dim_off_duration": integer(6, 0, 255, "steps in which the room gets dark; 0: it is dark"),
        "light_threshold": integer(255, 0, 255, "how dark it gets"),
        "num_coins": drawn([1], 0, MOST_COINS, "coins of an episode", empty=True),
        "coin_show_duration": integer(6, 0, 1000, "steps for which a new coin of the endless game is in sight"),
        "steps_per_coin": integer(160, 1, 100_000, "steps after which the endless game ends without a new coin"),
        "coins_visible": flag(False, "coins are seen in the dark"),
        "use_exit": flag(True, "there is an exit; never in the endless game"),
        "exit_scale": data_option(json_option(0.5, parse_scale, "size of the exit: 20 pixels times this")),
        "exit_visible": flag(False, "the exit is seen in the dark"),
        "agent_visible": flag(False, "the agent is seen in the dark"),
        "sample_agent_position": flag(True, "the agent starts at a random place, not in the middle"),
        "visual_feedback": flag(True, "the floor is red while a spotlight touches the agent"),
        "black_background": flag(False, "the floor is black, spotlights have a rim"),
        "hide_chessboard": data_option(flag(False, "the floor is white")),
        "show_last_action": flag(True, "the bar shows actions"),
        "show_last_positive_reward": flag(True, "the bar shows rewards"),
        "recall": flag(False, "whether the observation also gives the agent's position and the offset to the goal"),
        "compat": flag(False, "the original's order of axes, end at the time limit, and overlooked spotlights"),
    },
    sizes=sizes,
    data={
        "blue_floor": u1(SIDE, SIDE, 3),
        "red_floor": u1(SIDE, SIDE, 3),
        "door": u1("door_side", "door_side"),
        "door_rim": u1("door_side", "door_side"),
        "exit_reach": f8,
        "list_coins": i2("numbers_of_coins"),
        "list_intervals": i4("intervals"),
        "spawns": i4,
    },
    state={
        "x": i2,
        "y": i2,
        "facing": i2.within(0, 7),
        "health": f8,
        "darkness": i2,
        "hit": b1,
        "spots": i2.up_to(MOST_SPOTS),
        "radius": i2(MOST_SPOTS),
        "speed": f8(MOST_SPOTS),
        "progress": f8(MOST_SPOTS),
        "ends": f8(MOST_SPOTS, 6),  # start, target and bend
        "spot_x": f8(MOST_SPOTS),
        "spot_y": f8(MOST_SPOTS),
        "lit": b1(MOST_SPOTS),
        "spawn_timer": i4,
        "spawned": i4,
        "coins": i2.up_to(MOST_COINS),
        "coin_x": i2(MOST_COINS),
        "coin_y": i2(MOST_COINS),
        "coin_shown": b1,
        "coin_clock": i4,
        "collected": i4,
        "draft_x": i2(MOST_COINS + 2),  # places as drawn, before they are moved off the border
        "draft_y": i2(MOST_COINS + 2),
        "exit_x": i2,
        "exit_y": i2,
        "last_action": i1(2).within(0, 2),
        "seen_action": i1(2).within(0, 2),
        "last_reward": b1,
        "seen_reward": b1,
        "goal_seen": i4,  # when
        "agent_seen": i4,
    },
    observation={
        "seen": block("seen_numbers", low=-2, high=2, raw=True, doc="what the screen shows", constant=True),
        "recall": block("recalled", low=-2, high=2, raw=True, doc="the agent's position, and the offset to the goal"),
    },
    images={"screen": image("side", "side", 3, doc="the screen")},
    action=FREE,
    terms={
        "coin": term(0, MOST_COINS, 0.25, "1 for a coin collected"),
        "exit": term(0, 1, 1.0, "1 for the exit reached"),
        "inside": term(0, 1, 0.0, "1 while a spotlight touches the agent"),
        "outside": term(0, 1, 0.0, "1 while none does"),
        "death": term(0, 1, 0.0, "1 when no health is left"),
        "timeout": term(0, 1, 0.0, "1 when the time is over"),
        "agent_x": term(-1, 2, 0.0, "place of the agent / 84"),
        "agent_y": term(-1, 2, 0.0, "place of the agent / 84"),
        "goal_x": term(-1, 2, 0.0, "place of the coin, or of the exit once it is due / 84"),
        "goal_y": term(-1, 2, 0.0, "place of the coin, or of the exit once it is due / 84"),
        "memory_distance": term(0, 1e6, 0.0, "steps since the goal was last in sight"),
        "agent_unseen": term(0, 1e6, 0.0, "steps since the agent was last in sight"),
    },
    costs={"damage": cost(4, high=10, doc="health lost")},
    horizon=256,
    fps=25,
    expert_sees="state",
    levels={
        "easy": {"coins_visible": True, "exit_visible": True, "agent_visible": True},
        "hard": {"num_coins": [3], "initial_spawns": 6},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)
SPEC.member(
    "EndlessSearingSpotlights-v0",
    "Endless Searing Spotlights: collect coin after coin in a dark room, avoiding harmful spotlights.",
    source="Memory Gym 1.0.2 Endless-SearingSpotlights-v0 (Pleines et al., JMLR 26(6), 2025)",
    endless=True,
    use_exit=False,
    agent_health=10,
    initial_spawns=3,
    horizon=FOREVER,
    levels={
        "easy": {"coins_visible": True, "agent_visible": True},
        "hard": {"coin_show_duration": 2, "spawn_interval": 30},
        "recall": {"recall": True, "observation": "vector"},
        "compat": {"compat": True},
    },
)


@SPEC.make_data
def data(values):
    door, rim = spotlights.make_door(values.exit_scale)
    first, decay = values.initial_spawn_interval, values.spawn_interval_decay if values.schedule != "published" else 1.0
    count = max(1, values.num_spawns)
    return {
        "blue_floor": spotlights.make_floor(spotlights.BLUE, values.hide_chessboard),
        "red_floor": spotlights.make_floor(spotlights.RED, values.hide_chessboard),
        "door": door,
        "door_rim": rim,
        "exit_reach": 10.0 * values.exit_scale,
        "list_coins": values.num_coins,
        "list_intervals": [int(first * decay**k + values.spawn_interval_threshold) for k in range(count)],
        "spawns": values.num_spawns,
    }


# --- a new episode ----------------------------------------------------------------------------------------------------


@SPEC.reset
def reset(p, s, rng):
    s.health = p.agent_health
    s.darkness = 0 if p.light_dim_off_duration > 0 else p.light_threshold
    s.facing = below(rng, 8)
    if p.sample_agent_position:
        find_place(s, rng, 0)
        s.x, s.y = s.draft_x[0] + 2 + below(rng, 2), s.draft_y[0] + 2 + below(rng, 2)
    else:
        s.x, s.y = CENTRE, CENTRE
        s.draft_x[0], s.draft_y[0] = CENTRE, CENTRE
    for _ in range(p.initial_spawns):
        spawn(p, s, rng)
    if p.endless:
        new_coin(s, rng, 0)
        s.coin_shown = p.coin_show_duration > 0
        return
    count = draw_one(p.list_coins, rng) if p.list_coins.size > 0 else 0
    for k in range(count):
        new_coin(s, rng, k + 1)
    if p.use_exit:
        find_place(s, rng, count + 1)
        s.exit_x = inset(s.draft_x[count + 1] + 2 + below(rng, 2))
        s.exit_y = inset(s.draft_y[count + 1] + 2 + below(rng, 2))


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def dim(p, s):
    if s.darkness <= p.light_threshold:
        if p.light_dim_off_duration > 0:
            s.darkness = min(s.darkness + 255 // p.light_dim_off_duration, 255)
        else:
            s.darkness = p.light_threshold


@kernel
def spawn_in_time(p, s, rng):
    s.spawn_timer += 1
    if p.endless:
        due = s.spawn_timer >= p.spawn_interval
    else:
        due = s.spawned < p.spawns and s.spawn_timer >= p.list_intervals[min(s.spawned, p.list_intervals.size - 1)]
    if due:
        spawn(p, s, rng)
        s.spawned += 1
        s.spawn_timer = 0


@kernel
def end(p, s, r, dead):
    """Whether the game is over, and how."""
    if dead:
        r.terminated = True
    elif p.endless:
        r.terminated = s.coin_clock >= p.steps_per_coin
    elif s.coins == 0:
        done = r.exit > 0.0 if p.use_exit else s.collected > 0
        r.terminated = done
        r.success = done
    if p.endless:
        r.success = s.collected >= WELL_DONE
    if s.elapsed + 1 >= p.horizon:
        r.timeout = 1.0
        if p.compat:
            r.terminated = True


@kernel
def goal_in_sight(p, s):
    shown = (p.coins_visible or s.coin_shown) if s.coins > 0 else p.exit_visible
    return shown or s.darkness < 255 or near_light(s, goal_x(s), goal_y(s), -2)


@kernel
def agent_in_sight(p, s):
    return p.agent_visible or s.darkness < 255 or near_light(s, s.x, s.y, -2)


@kernel
def report(p, s, r):
    """Measurements, and what the bar shows later."""
    now = s.elapsed + 1
    if goal_in_sight(p, s):
        s.goal_seen = now
    if agent_in_sight(p, s):
        s.agent_seen = now
    r.agent_x, r.agent_y = s.x / SIDE, s.y / SIDE
    r.goal_x, r.goal_y = goal_x(s) / SIDE, goal_y(s) / SIDE
    r.memory_distance, r.agent_unseen = now - s.goal_seen, now - s.agent_seen
    s.seen_reward = s.last_reward
    gain = p.weights[0] * r.coin + p.weights[1] * r.exit + p.weights[2] * r.inside + p.weights[3] * r.outside
    s.last_reward = gain > 0.0


@SPEC.step
def step(p, s, a, rng, r):
    move_freely(p, s, sign_of(a[0]), sign_of(a[1]))
    keep_inside(p, s, 0, BAR, SIDE, SIDE)
    for axis in range(2):
        s.seen_action[axis] = s.last_action[axis]
        s.last_action[axis] = a[axis]
    dim(p, s)
    spawn_in_time(p, s, rng)
    s.hit = move_spots(p, s) > 0
    r.inside, r.outside = (1.0, 0.0) if s.hit else (0.0, 1.0)
    if s.hit:
        s.health -= p.spot_damage
        r.damage = p.spot_damage
    r.death = 1.0 if s.health <= 0.0 else 0.0
    collect(p, s, rng, r)
    if s.coins == 0 and p.use_exit and middle_hit(s.exit_x, s.exit_y, s.x, s.y, p.exit_reach + radius_of(p)):
        r.exit = 1.0
    if p.endless:
        s.coin_clock += 1
        s.coin_shown = s.coin_clock < p.coin_show_duration
    end(p, s, r, r.death > 0.0)
    report(p, s, r)


# --- what is seen -----------------------------------------------------------------------------------------------------


@kernel
def note_place(o, first, seen, x, y):
    """Whether something is in sight, and where."""
    o.seen[first] = 1.0 if seen else 0.0
    o.seen[first + 1] = x / CENTRE - 1.0 if seen else 0.0
    o.seen[first + 2] = y / CENTRE - 1.0 if seen else 0.0


@kernel
def recall(p, s, o):
    """Where the agent is, and how far the goal is from it."""
    o.recall[0], o.recall[1] = s.x / CENTRE - 1.0, s.y / CENTRE - 1.0
    there = s.coins > 0 or p.use_exit
    o.recall[2] = (goal_x(s) - s.x) / CENTRE if there else 0.0
    o.recall[3] = (goal_y(s) - s.y) / CENTRE if there else 0.0


@SPEC.observe
def observe(p, s, o):
    if o.recall.size > 0:
        recall(p, s, o)
    if o.seen.size == 0:
        return
    o.seen[0] = s.darkness / 255.0
    o.seen[1] = max(s.health, 0.0) / p.agent_health
    o.seen[2] = 1.0 if s.hit and p.visual_feedback else 0.0
    for axis in range(2):
        for way in range(2):
            shown = p.show_last_action and s.seen_action[axis] == way + 1
            o.seen[3 + 2 * axis + way] = 1.0 if shown else 0.0
    o.seen[7] = 1.0 if s.seen_reward and p.show_last_positive_reward else 0.0
    note_place(o, 8, agent_in_sight(p, s), s.x, s.y)
    there = s.coins > 0 or p.use_exit
    note_place(o, 11, there and goal_in_sight(p, s), goal_x(s), goal_y(s))
    exit_seen = p.exit_visible or s.darkness < 255 or near_light(s, s.exit_x, s.exit_y, -2)
    note_place(o, 14, p.use_exit and exit_seen, s.exit_x, s.exit_y)
    for k in range(MOST_SEEN):
        lit = k < s.spots and s.lit[k]
        o.seen[17 + 3 * k] = max(min(s.spot_x[k] / CENTRE - 1.0, 2.0), -2.0) if lit else 0.0
        o.seen[18 + 3 * k] = max(min(s.spot_y[k] / CENTRE - 1.0, 2.0), -2.0) if lit else 0.0
        o.seen[19 + 3 * k] = s.radius[k] / CENTRE if lit else 0.0


@SPEC.observe_images
def observe_images(p, s, i):
    draw_stage(p, s, i.screen)
    if p.compat:
        transpose(i.screen)


@SPEC.expert
def expert(p, s, a):
    advise(p, s, a, goal_x(s), goal_y(s))


@SPEC.draw
def draw(canvas, p, s):
    draw_spotlights(canvas, p, s, goal_x(s), goal_y(s))


SPEC.keys(keys_of_free_agent)
