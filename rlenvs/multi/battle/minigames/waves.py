"""Code shared by the two mini-games in which marines face waves of enemies from the other side of the field."""

import math

from rlenvs.core import b1, below, block, f8, i4, i8, image, kernel, term, uniform, world
from rlenvs.multi.battle.combat import squared_distance
from rlenvs.multi.battle.minigames.language import read
from rlenvs.multi.battle.minigames.render import draw_waves, order_places
from rlenvs.multi.battle.minigames.squads import (
    ALL,
    FAR,
    FIGHT_PARAMS,
    FIGHT_STATE,
    HEADINGS,
    MARINE,
    MOST_MARINES,
    SMALL_FIELD,
    SQUAD_DATA,
    SQUAD_OPTIONS,
    WEAKEST,
    all_placed,
    choice_of,
    closest,
    draw_between,
    forget_foes,
    give,
    map_steps,
    order_fighters,
    orders,
    place_foe,
    place_marine,
    point_at,
    skirmish,
    squad_data,
    squad_sizes,
    stand_by,
    steps_per_second,
    weakest_fighter,
)
from rlenvs.multi.battle.minigames.views import clear_map, list_foes, list_marines, paint_foes, paint_marines

FIRST_MARINES = 9
NEAR_SIDE, FAR_SIDE = (1.97, 5.98), (16.02, 20.04)  # where groups are placed, in x
LOWEST, HIGHEST = 5.06, 11.05  # and in y
DANGER, STEP_BACK = 5.3, 2.0  # of the expert: when and how far a marine steps back


WAVES = world(
    "Waves",
    doc=None,  # members have texts of their own
    params=FIGHT_PARAMS,
    options=SQUAD_OPTIONS,
    sizes=lambda values: squad_sizes(values, SMALL_FIELD, marines=MOST_MARINES, foes=0, verbs=2, groups=3),
    data={
        **SQUAD_DATA,
        "wave_kind": i4("foes"),  # of each enemy of a wave
        "crowd": f8,  # half the width of their group; 0 where they stand in a line
        "fresh": i8,  # marines that come with each new wave
        "worth": f8,  # of an enemy
        "enough": f8,  # a score that is a success
        "steps_back": b1,  # whether the expert saves its weakest marine
    },
    state={**FIGHT_STATE, "line_x": f8(2), "line_y": f8(2), "wave": i4},  # middles of marines and of enemies
    observation={
        "marines": block(
            *("marines", 8),
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,  # the last places are hardly ever taken
            doc="1 while standing, x, y, health, cooldown, order (0, 0.5 move, 1 attack), x and y of its goal",
        ),
        "enemies": block(
            *("foes", "foe_columns"),
            low=-1.0,
            high=1.0,
            raw=True,
            constant=True,  # the places of a wave keep their kinds
            doc="1 while standing, x, y, health; if there are two kinds, 1 for a baneling",
        ),
    },
    images={"map": image("pixel_rows", "pixel_columns", "layers", doc="marines, enemies by kind, goals of orders")},
    action=orders(
        "no order; all move, all attack, the nearest moves, the nearest attacks, each to a point",
        SMALL_FIELD,
        verbs=2,
        groups=3,
    ),
    terms={"kill": term(0.0, 1.0), "loss": term(-1.0, 0.0)},
    horizon=map_steps(120),
    fps=steps_per_second,
    levels={"coarse": {"columns": 11}},
    expert_sees="state",
)


def wave_game(name, doc, *, source, foes, worth, enough, fresh, crowd=0.0, steps_back=False):
    """A mini-game of waves.

    Args:
        name, doc, source: as for `world`.
        foes: the kinds of the enemies of a wave.
        worth, enough: of an enemy; the score that is a success.
        fresh: marines that come with each new wave.
        crowd: half the width of the enemies' group; 0 where they stand in a line.
        steps_back: whether the expert saves its weakest marine.
    """
    two = len(set(foes)) > 1
    return WAVES.member(
        name,
        doc=doc,
        source=source,
        sizes={"foes": len(foes), "units": MOST_MARINES + len(foes), "foe_columns": 4 + two, "layers": 3 + two},
        data={
            "wave_kind": foes,
            "crowd": crowd,
            "fresh": fresh,
            "worth": worth,
            "enough": enough,
            "steps_back": steps_back,
        },
        terms={
            "kill": term(0.0, len(foes), worth, "enemies killed"),
            "loss": term(-MOST_MARINES, 0.0, 1.0, "-1 for each marine lost"),
        },
    )


@WAVES.make_data
def make_data(values):
    return squad_data(values, SMALL_FIELD)


@kernel
def offset_in_line(place):
    """A line grows from its middle: 0, 1, -1, 2, -2, ..."""
    half = (place + 1) // 2
    return half if place % 2 == 1 else -half


@kernel
def choose_sides(s, rng):
    """Where the middles of the two groups are: s.line_x, s.line_y of marines (0) and enemies (1)."""
    left = below(rng, 2)
    for side in range(2):
        near = side == left
        s.line_x[side] = uniform(rng, NEAR_SIDE[0], NEAR_SIDE[1]) if near else uniform(rng, FAR_SIDE[0], FAR_SIDE[1])
        s.line_y[side] = uniform(rng, LOWEST, HIGHEST)


@kernel
def line_up(p, s, rng, fresh):
    """The marines that stand and `fresh` new ones in a line, without orders."""
    choose_sides(s, rng)
    place = 0
    for i in range(s.order.size):
        if s.standing[i] or fresh > 0:
            if not s.standing[i]:
                place_marine(p, s, i, 0.0, 0.0)
                fresh -= 1
            s.x[i] = s.line_x[0]
            s.y[i] = min(max(s.line_y[0] + offset_in_line(place), 0.0), p.height)
            s.cooldown[i] = 0.0
            stand_by(s, i)
            place += 1
    forget_foes(s)
    s.wave += 1


@kernel
def is_target(s, i):
    """Whether an enemy aims at marine i."""
    aiming = 0
    for j in range(s.order.size, s.x.size):
        aiming += s.standing[j] and s.aim[j] == i
    return aiming > 0


@kernel
def step_back(p, s, a):
    """The weakest marine gets away from the enemy that hurts it, if that can help. Returns whether it is the order."""
    i = weakest_fighter(s)
    if i < 0 or s.marines_left == 1 or s.health[i] == p.unit_health[MARINE] or not is_target(s, i):
        return False
    j = closest(s, i, s.order.size, s.x.size, DANGER)
    if j < 0:
        return False
    share = STEP_BACK / max(math.sqrt(squared_distance(s, i, j)), 0.1)
    x, y = s.x[i] + share * (s.x[i] - s.x[j]), s.y[i] + share * (s.y[i] - s.y[j])
    give(p, s, a, choice_of(p, 0, 2, WEAKEST, point_at(p, x, y)), 2)
    return True


@kernel
def focus(p, s, a):
    """All marines on the enemy nearest to their middle, until it falls."""
    x, y = 0.0, 0.0
    for i in range(s.order.size):
        if s.standing[i]:
            x += s.x[i] / s.marines_left
            y += s.y[i] / s.marines_left
            if s.quarry[i] >= 0 and s.standing[s.quarry[i]]:
                give(p, s, a, 0, 2)
                return
    target, least = s.order.size, FAR
    for j in range(s.order.size, s.x.size):
        distance = (s.x[j] - x) ** 2 + (s.y[j] - y) ** 2
        if s.standing[j] and distance < least:
            target, least = j, distance
    give(p, s, a, choice_of(p, 1, 2, ALL, point_at(p, s.x[target], s.y[target])), 2)


@kernel
def next_wave(p, s, rng, fresh):
    line_up(p, s, rng, fresh)
    count = p.wave_kind.size
    for k in range(count):
        x, y = s.line_x[1], s.line_y[1] + k - 0.5 * (count - 1)
        if p.crowd > 0.0:
            x, y = draw_between(rng, s.line_x[1], p.crowd), draw_between(rng, s.line_y[1], p.crowd)
        place_foe(p, s, k, p.wave_kind[k], x, y)
    all_placed(s)


@WAVES.reset
def reset(p, s, rng):
    next_wave(p, s, rng, FIRST_MARINES)


@WAVES.step
def step(p, s, a, rng, r):
    order_fighters(p, s, a)
    for _ in range(p.step_mul):
        skirmish(p, s, rng, r)
        if s.marines_left == 0:
            r.terminated = True
            break
        if s.foes_left == 0:
            next_wave(p, s, rng, p.fresh)
    s.score += p.worth * r.kill + r.loss
    r.success = s.score >= p.enough


@WAVES.observe
def observe(p, s, o):
    list_marines(p, s, o.marines)
    list_foes(p, s, o.enemies, False)


@WAVES.observe_images
def observe_images(p, s, i):
    clear_map(i.map)
    paint_foes(p, s, i.map, False)
    paint_marines(p, s, i.map)


@WAVES.expert
def expert(p, s, a):
    """Focused fire on one enemy after the other; where that pays, the weakest marine steps back when it is shot at."""
    if not (p.steps_back and p.orders != HEADINGS and step_back(p, s, a)):
        focus(p, s, a)


@WAVES.draw
def draw(canvas, p, s):
    draw_waves(canvas, p, s)


@WAVES.places
def places(canvas, p, s):
    return order_places(canvas, p, 6)


@WAVES.parse_action
def parse_action(text, p, s, k):
    return read(text, p, s, 2, 3)
