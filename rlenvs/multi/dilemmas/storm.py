"""STORM: agents collect tokens on a grid, and when two meet, what they have collected plays a matrix game.

## Description
A spatial and temporal representation of matrix games (Khan et al., "Scaling opponent shaping to high dimensional
games", AAMAS 2024; Rutherford et al., "JaxMARL", NeurIPS 2024). Two to eight agents see a few cells ahead of them and
collect tokens of cooperation and of defection. Two agents that zap each other, each with at least one token, play a
game with mixed strategies: the shares x and y of both tokens among what each has, so that they get x M y' and x N y'.
By default that is the prisoner's dilemma. Then both stand still for `freeze` steps, show what they have collected, lose
it, and start again at a border.

Rules, numbers, moves, rewards and observations are those of JaxMARL 0.2.0's storm, and recorded games of it are the
same, move for move, but for what seem to be slips there: with two agents collisions and rewards are dropped; a pair is
only paid if no later pair has one of its agents, and only as many pairs as agents are looked at; who zaps an agent that
already plays stands still without playing; agents can get into one cell, and when they start again into one that is
taken; they never start with the fourth direction; an agent's direction is shown as that of the next one, or of nobody;
the last step of an episode pays nothing. Here none of this is so. Observations are those of storm_2p for two agents and
of storm for eight, without empty planes, and inventories only show of others what they tell. storm_2p, in which one zap
is enough and all tokens come back after each game, has other rules.

Scripted players: "cooperator" and "defector" collect two tokens of their kind and meet others; "tit_for_tat" does as
its last partner did.

## Action Space
Turn left, turn right, go forward, zap, or stay. A zap reaches two cells ahead, and those to the left and right of the
first.

## Observation Space
5 x 5 cells, first across, then ahead, with the agent in the middle of the near edge; of each, as 0 and 1: the agent
itself, each other agent (in the place of agent 0 where that is the agent itself), tokens of cooperation, of defection,
wall, zap, and the direction of another agent compared with the own one (same, left, opposite, right). Then the own
tokens of both kinds; who has any, oneself first; and what others show, while they stand still.

## Rewards
`game` is the payoff of a game, in the step in which it is played. `social` as in MatrixGame-v0.

## Costs
None.

## Starting State
Agents are on random free cells of 18 at the borders, in random directions. Six tokens of each kind are at fixed places,
with `random_tokens` at the same places, shuffled. When its clock of 3 to 9 steps runs out and its cell is free, a token
comes back.

## Episode End
Truncation: 152 steps. Success is not defined.

## Parameters
They matter with `reward="inequity"` only, see MatrixGame-v0.

## Reference Scores
Mean return of all agents together over seeds 0 to 99. The expert is "cooperator".

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import below, between, block, discrete, f8, flag, i1, i4, integer, json_option, kernel, term, u1, world
from rlenvs.kits.boards.drawing import pressed_move
from rlenvs.multi.dilemmas import preferences
from rlenvs.multi.dilemmas.matrix_game import CHICKEN, PRISONERS_DILEMMA, STAG_HUNT
from rlenvs.multi.dilemmas.preferences import add_social
from rlenvs.multi.dilemmas.render import draw_storm
from rlenvs.multi.dilemmas.storm_players import choose_action
from rlenvs.multi.dilemmas.storm_rules import (
    ACROSS,
    ACTIONS,
    AHEAD,
    CELLS,
    COOPERATION,
    DEFECTION,
    DOWN,
    FORWARD,
    LEFT,
    MOST_AGENTS,
    RIGHT,
    SIDE,
    SPAWNS,
    STAY,
    TOKENS,
    VIEW,
    WALL,
    ZAP,
    ZAPPED,
    cell_at,
    in_reach,
    place,
    resolve,
)
from rlenvs.multi.dilemmas.tables import LARGEST, table_of

MOST_SHOWN = 255.0
BOTH_KINDS = 2
SHORTEST, LONGEST = 3, 10  # clocks of tokens, the upper end excluded


def parse_game(value: Any) -> Any:
    """The payoffs (2, 2, 2) of both agents of a pair.

    Raises:
        ValueError: another shape than (2, 2), the own payoffs of both, or (2, 2, 2).
    """
    table = table_of(value)
    if table.choices != (2, 2):
        raise ValueError("the game of a pair has a payoff table of shape (2, 2) or (2, 2, 2)")
    own = np.array(value, np.float64)
    both = np.stack([own, own.T], axis=-1) if table.counted else own
    return tuple(tuple(map(tuple, row)) for row in both.tolist())


SPEC = world(
    "Storm-v0",
    doc=__doc__,
    source="JaxMARL 0.2.0 storm (Rutherford et al., NeurIPS 2024); Khan et al., AAMAS 2024",
    agents=True,
    params=preferences.PARAMS,
    options={
        "agents": integer(2, 2, MOST_AGENTS, "number of agents"),
        "payoffs": json_option(PRISONERS_DILEMMA, parse_game, "payoff table (2, 2) or (2, 2, 2), choice 0 cooperates"),
        "freeze": integer(5, 0, 100, "steps for which agents stand still after a game"),
        "random_tokens": flag(False, "whether tokens are shuffled in every episode"),
        "reward": preferences.REWARD,
    },
    sizes=lambda values: {"agents": values.agents, "planes": values.agents + 8, "told": 3 * values.agents},
    data={"game": f8(2, 2, 2)},
    state={
        "position": i4("agents").index_of(CELLS),
        "facing": i4("agents").within(0, 3),
        "grid": u1(CELLS).within(0, ZAPPED),
        "tokens": f8("agents", BOTH_KINDS),  # collected
        "frozen": i4("agents").within(-1, 100),  # steps to go; -1 for none
        "source": i4(BOTH_KINDS, TOKENS).index_of(CELLS),  # where tokens appear
        "clock": i4(BOTH_KINDS, TOKENS),
        "wronged": i1("agents"),  # whether the last partner had more tokens of defection
        "wanted": i4("agents"),  # scratch of steps: cells, actions, 1 + index of the partner in a game
        "action": i4("agents"),
        "partner": i1("agents"),
        "queue": i4(CELLS),  # scratch of players
        "first": i1(CELLS),
        **preferences.STATE,
    },
    scratch=("queue", "first"),
    observation={
        "cells": block(
            *(VIEW, VIEW, "planes"), low=0.0, high=1.0, doc="cells ahead of the agent", raw=True, constant=True
        ),
        "inventory": block("told", low=0.0, high=MOST_SHOWN, doc="tokens", raw=True),
    },
    action=discrete(*ACTIONS, idle=STAY),
    terms={"game": term(-LARGEST, LARGEST, 1.0, "payoff of a game"), **preferences.TERMS},
    horizon=152,
    fps=6,
    expert_sees="state",
    players=("cooperator", "tit_for_tat", "defector"),
    probe={name: {**settings, "agents": MOST_AGENTS} for name, settings in preferences.PROBE.items()},
    levels={
        "four": {"agents": 4},
        "eight": {"agents": 8},
        "stag_hunt": {"payoffs": STAG_HUNT},
        "chicken": {"payoffs": CHICKEN},
        "collective": {"reward": "collective"},
    },
)


@SPEC.state_fault
def state_fault(p, s):
    grid, position = np.asarray(s.grid), np.asarray(s.position)
    cells = np.flatnonzero((grid > 0) & (grid <= MOST_AGENTS))
    seen = grid[cells] - 1
    if (seen >= len(position)).any():
        return f"the grid shows agent {seen.max()}; there are {len(position)}"
    return "the grid shows an agent where it is not" if (position[seen] != cells).any() else ""


@SPEC.make_data
def data(values):
    return {"game": np.array(values.payoffs)}


@SPEC.reset
def reset(p, s, rng):
    for n in range(BOTH_KINDS * TOKENS):
        s.source[n % 2, n // 2] = cell_at(n)
    if p.random_tokens:
        for n in range(BOTH_KINDS * TOKENS - 1, 0, -1):
            m = below(rng, n + 1)
            kept = s.source[n % 2, n // 2]
            s.source[n % 2, n // 2] = s.source[m % 2, m // 2]
            s.source[m % 2, m // 2] = kept
    for kind in range(BOTH_KINDS):
        for n in range(TOKENS):
            s.grid[s.source[kind, n]] = COOPERATION + kind
            s.clock[kind, n] = between(rng, SHORTEST, LONGEST)
    for k in range(s.gain.size):
        start_again(s, k, rng)


@kernel
def is_free(s, cell):
    return s.grid[cell] in (0, ZAPPED)


@kernel
def start_again(s, k, rng):
    """Put agent k, without tokens, on a free cell at a border."""
    free = 0
    for n in range(SPAWNS.shape[0]):
        free += is_free(s, SPAWNS[n])
    chosen = below(rng, free)
    for n in range(SPAWNS.shape[0]):
        if is_free(s, SPAWNS[n]):
            if chosen == 0:
                s.position[k] = SPAWNS[n]
            chosen -= 1
    s.facing[k] = below(rng, 4)
    s.grid[s.position[k]] = k + 1
    s.tokens[k, 0], s.tokens[k, 1], s.frozen[k] = 0.0, 0.0, -1


@SPEC.step
def step(p, s, a, rng, r):
    agents = s.gain.size
    for k in range(agents):
        s.action[k] = STAY if s.frozen[k] > 0 else a[k]
        s.gain[k], s.partner[k] = 0.0, 0
        if s.action[k] == LEFT or s.action[k] == RIGHT:
            s.facing[k] = (s.facing[k] + (1 if s.action[k] == LEFT else 3)) % 4
        s.wanted[k] = place(s.position[k], s.facing[k], 1, 0) if s.action[k] == FORWARD else s.position[k]
        if s.wanted[k] < 0:
            s.wanted[k] = s.position[k]
    resolve(s, rng)
    for k in range(agents):
        there = s.grid[s.wanted[k]]
        if there in (COOPERATION, DEFECTION):
            s.tokens[k, there - COOPERATION] += 1.0
    show_zaps(s)
    play_games(p, s, rng)
    move_on(p, s, rng)
    grow_tokens(s, rng)
    for k in range(agents):
        r.game[k] = s.gain[k]
    add_social(p, s, r)


@kernel
def show_zaps(s):
    """Mark the empty cells that are zapped, as agents stood before this step."""
    for cell in range(CELLS):
        if s.grid[cell] == ZAPPED:
            s.grid[cell] = 0
    for k in range(s.gain.size):
        if s.action[k] == ZAP:
            for n in range(4):
                cell = place(s.position[k], s.facing[k], AHEAD[n, 0], AHEAD[n, 1])
                if cell >= 0 and s.grid[cell] == 0:
                    s.grid[cell] = ZAPPED


@kernel
def may_play(s, k, j):
    """Whether two agents zap each other, have tokens, and do not play yet."""
    ready = s.action[k] == ZAP and s.action[j] == ZAP and not s.partner[k] and not s.partner[j]
    ready = ready and s.tokens[k, 0] + s.tokens[k, 1] > 0.0 and s.tokens[j, 0] + s.tokens[j, 1] > 0.0
    return ready and in_reach(s, k, j) and in_reach(s, j, k)


@kernel
def play_games(p, s, rng):
    """Pairs that may play do so, in random order, until none is left."""
    agents = s.gain.size
    while True:
        pairs = 0
        for k in range(agents):
            for j in range(k + 1, agents):
                pairs += may_play(s, k, j)
        if pairs == 0:
            return
        chosen, first, second = below(rng, pairs), 0, 0
        for k in range(agents):
            for j in range(k + 1, agents):
                if may_play(s, k, j):
                    if chosen == 0:
                        first, second = k, j
                    chosen -= 1
        play_game(p, s, first, second)


@kernel
def play_game(p, s, k, j):
    s.partner[k], s.partner[j] = j + 1, k + 1
    of_first, of_second = s.tokens[k, 0] + s.tokens[k, 1], s.tokens[j, 0] + s.tokens[j, 1]
    for x in range(BOTH_KINDS):
        for y in range(BOTH_KINDS):
            share = s.tokens[k, x] / of_first * (s.tokens[j, y] / of_second)
            s.gain[k] += share * p.game[x, y, 0]
            s.gain[j] += share * p.game[x, y, 1]
    s.wronged[k] = 1 if s.tokens[j, 1] > s.tokens[j, 0] else 0
    s.wronged[j] = 1 if s.tokens[k, 1] > s.tokens[k, 0] else 0


@kernel
def move_on(p, s, rng):
    """Agents move, those who played stand still, and those whose time is over start again."""
    agents = s.gain.size
    for k in range(agents):
        s.grid[s.position[k]] = 0
        s.frozen[k] = p.freeze if s.partner[k] else max(s.frozen[k] - 1, -1)
    for k in range(agents):
        s.position[k] = s.wanted[k]
        if s.frozen[k] != 0:
            s.grid[s.position[k]] = k + 1
    for k in range(agents):
        if s.frozen[k] == 0:
            start_again(s, k, rng)


@kernel
def grow_tokens(s, rng):
    """Tokens whose clocks run out come back, where their cells are empty."""
    for kind in range(BOTH_KINDS):
        for n in range(TOKENS):
            s.clock[kind, n] -= 1
            if s.clock[kind, n] == 0:
                s.clock[kind, n] = between(rng, SHORTEST, LONGEST)
                if s.grid[s.source[kind, n]] == 0:
                    s.grid[s.source[kind, n]] = COOPERATION + kind


@SPEC.observe
def observe(p, s, k, o):
    view, agents, facing = o.cells, s.gain.size, s.facing[k]
    view[:] = 0.0
    row, column, left = s.position[k] // SIDE, s.position[k] % SIDE, (facing + 1) % 4
    for i in range(VIEW):
        first, second = row + (i - VIEW // 2) * DOWN[left], column + (i - VIEW // 2) * ACROSS[left]
        for j in range(VIEW):
            y, x = first + j * DOWN[facing], second + j * ACROSS[facing]
            code = s.grid[y * SIDE + x] if 0 <= y < SIDE and 0 <= x < SIDE else WALL
            if 0 < code <= MOST_AGENTS:
                other = code - 1
                view[i, j, 0 if other == k else (k if other == 0 else other)] = 1.0
                if other != k:
                    view[i, j, agents + 4 + (s.facing[other] - facing + 4) % 4] = 1.0
            elif code > 0:
                view[i, j, agents + code - COOPERATION] = 1.0
    o.inventory[0], o.inventory[1] = min(s.tokens[k, 0], MOST_SHOWN), min(s.tokens[k, 1], MOST_SHOWN)
    for n in range(agents):
        j = (k + n) % agents
        o.inventory[2 + n] = 1.0 if s.tokens[j, 0] + s.tokens[j, 1] > 0.0 else 0.0
        if n > 0:
            for kind in range(BOTH_KINDS):
                shown = s.tokens[j, kind] if s.frozen[j] >= 0 else 0.0
                o.inventory[agents + 2 * n + kind] = min(shown, MOST_SHOWN)


@SPEC.player("cooperator")
def cooperator(p, s, k, a, rng):
    """Collect tokens of cooperation, and meet others."""
    a[k] = choose_action(s, k, COOPERATION)


@SPEC.player("tit_for_tat")
def tit_for_tat(p, s, k, a, rng):
    """Do as the last partner did; cooperate at first."""
    a[k] = choose_action(s, k, DEFECTION if s.wronged[k] else COOPERATION)


@SPEC.player("defector")
def defector(p, s, k, a, rng):
    """Collect tokens of defection, and meet others."""
    a[k] = choose_action(s, k, DEFECTION)


@SPEC.draw
def draw(canvas, p, s):
    draw_storm(canvas, p, s)


@SPEC.text
def text(p, s):
    letters = np.array(list(".12345678cd#*"))
    lines = ["".join(row) for row in letters[np.asarray(s.grid)].reshape(SIDE, SIDE)]
    return "\n".join([*lines, f"facing {' '.join('>v<^'[int(way)] for way in s.facing)}"])


@SPEC.keys
def keys(pressed, values):
    move = pressed_move(pressed, (("left", "a"), ("right", "d"), ("up", "w"), ("space",)))
    return STAY if move is None else move
