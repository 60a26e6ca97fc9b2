"""SameGame: remove groups of same-colored tiles; a group of n tiles scores n^2 points.

## Description
The game of Kuniaki Moribe (1985, "Chain Shot!"), for one player or for up to five who take turns. A move removes a
group of at least two tiles of one color that touch along edges. Tiles above fall down, and empty columns close up to
the left. Large groups are worth much more than small ones, so it pays to keep a color together and to remove it last.
With `reward` "individual" the points of a move go to the player who made it, with "team" to all. With several players
they move in turn: the AEC API asks only the agent whose turn it is; in the other APIs waiting agents can only choose 0,
which does nothing. Scripted players: "planner" tries up to `tries` groups, plays on from each like "tabu", and takes
the best; "tabu" takes the smallest group that is not of the most common color, which it keeps for the end; "greedy"
takes the largest group; "random".

## Action Space
row * width + column of a tile of the group; row 0 is the top. Cells that are empty or have no neighbor of their color
are masked; if chosen anyway, nothing is removed, and the turn passes.

## Observation Space
Planes, last (height, width, colors): the positions of the tiles of each color. With `planes_first=True` (colors,
height, width), for convolutional networks.

## Rewards
A term for each color, `red`, `blue`, `green`, `yellow`, `violet`: n^2 for a group of n tiles. Their sum is the reward.

## Costs
None.

## Starting State
A full board of random colors with at least one possible move.

## Episode End
Termination: no two tiles of the same color touch. Truncation: as many moves as there are cells. Success: all players
together have at least `target` points at the end; with several players and `reward` "individual", having the most
points.

## Parameters
`players`, `reward`, `height`, `width`, `colors`, `target`, `tries` and `planes_first`.

## Reference Scores
Mean return over seeds 0 to 99 of one player.

## Version History
v0: first version.
"""

from rlenvs.core import below, block, choice, data_option, discrete, flag, i8, integer, kernel, term, u1, world
from rlenvs.kits.boards.drawing import cell_names, cell_places, draw_table, draw_tile, view_board
from rlenvs.kits.boards.letters import joined

REWARD = choice("individual", "team", doc="who receives the points of a move: the player who made it, or all")
INDIVIDUAL, TEAM = REWARD.codes("individual", "team")
LARGEST, NAMES = 20, ("red", "blue", "green", "yellow", "violet")
MOST_POINTS = float(LARGEST**4)


def shown(values):
    """The shape of the observation."""
    board = values.height, values.width
    return (values.colors, *board) if values.planes_first else (*board, values.colors)


SPEC = world(
    "SameGame-v0",
    doc=__doc__,
    source='SameGame (Kuniaki Moribe, "Chain Shot!", 1985); MOMAland mo-same-game-v0 (its sizes and objectives)',
    agents=True,
    turns=True,
    options={
        "players": data_option(integer(1, 1, 5, "number of players")),
        "reward": REWARD,
        "height": data_option(integer(15, 3, LARGEST, "rows")),
        "width": data_option(integer(15, 3, LARGEST, "columns")),
        "colors": integer(5, 2, len(NAMES), "of tiles"),
        "target": integer(2000, 1, LARGEST**4, "points that count as success"),
        "tries": integer(16, 1, LARGEST * LARGEST, "number of groups that the planner tries"),
        "planes_first": flag(False, "whether planes come before rows and columns in the observation"),
    },
    sizes=lambda values: {
        "agents": values.players,
        "height": values.height,
        "width": values.width,
        "colors": values.colors,
        "cells": values.height * values.width,
        **dict(zip(("first", "second", "third"), shown(values), strict=True)),
    },
    teams=lambda values: list(range(values.players)) if values.reward == "individual" else [0] * values.players,
    players=("planner", "tabu", "greedy", "random"),
    quick={"height": 8, "width": 8},
    state={
        "turn": i8,  # the agent that is to move, -1 when the game is over
        "tile": u1("height", "width").within(0, 20),  # 1 + colour, 0 for an empty cell
        "points": i8("agents"),
        "last": i8,  # how many tiles went away last
        "trial": u1("height", "width"),  # from here on scratch
        "mark": u1("cells"),
        "queue": i8("cells"),
    },
    scratch=("trial", "mark", "queue"),
    observation={
        "tiles": block("first", "second", "third", low=0, high=1, raw=True, whole=True, doc="the tiles of each color")
    },
    action=lambda values: discrete(*cell_names(values.height, values.width), size="cells"),
    terms={name: term(0.0, MOST_POINTS, 1.0, f"n^2 for a {name} group of n tiles") for name in NAMES},
    horizon=lambda values: values.height * values.width,
    fps=3,
    levels={
        "small": {"height": 8, "width": 8, "colors": 3, "target": 400},
        "two": {"players": 2},
        "team": {"players": 5, "reward": "team"},
    },
)


# --- rules ------------------------------------------------------------------------------------------------------------


@kernel
def is_grouped(board, row, column):
    """Whether a tile touches one of its colour."""
    color = board[row, column]
    if color == 0:
        return False
    height, width = board.shape
    return (
        (row > 0 and board[row - 1, column] == color)
        or (column > 0 and board[row, column - 1] == color)
        or (row + 1 < height and board[row + 1, column] == color)
        or (column + 1 < width and board[row, column + 1] == color)
    )


@kernel
def has_group(board):
    found = False
    for row in range(board.shape[0]):
        for column in range(board.shape[1]):
            found = found or is_grouped(board, row, column)
    return found


@kernel
def gather(board, mark, queue, cell):
    """Put the cells of the group of a tile into the queue, and mark them; returns how many there are."""
    height, width = board.shape
    color = board[cell // width, cell % width]
    queue[0] = cell
    mark[cell] = 1
    head, count = 0, 1
    while head < count:
        row, column = queue[head] // width, queue[head] % width
        head += 1
        for d in range(4):
            r, c = row + (d == 0) - (d == 1), column + (d == 2) - (d == 3)
            if 0 <= r < height and 0 <= c < width and board[r, c] == color and mark[r * width + c] == 0:
                mark[r * width + c] = 1
                queue[count] = r * width + c
                count += 1
    return count


@kernel
def unmark(mark):
    for cell in range(mark.size):
        mark[cell] = 0


@kernel
def take(board, mark, queue, cell):
    """Take away the group of a tile, let the others fall and close up; returns how many tiles went."""
    height, width = board.shape
    unmark(mark)
    count = gather(board, mark, queue, cell)
    for i in range(count):
        board[queue[i] // width, queue[i] % width] = 0
    target = 0
    for column in range(width):
        free = height - 1
        for row in range(height - 1, -1, -1):
            color = board[row, column]
            if color > 0:
                board[row, column] = 0
                board[free, target] = color
                free -= 1
        if free < height - 1:
            target += 1
    return count


@SPEC.reset
def reset(p, s, rng):
    while not has_group(s.tile):
        for row in range(s.tile.shape[0]):
            for column in range(s.tile.shape[1]):
                s.tile[row, column] = 1 + below(rng, p.colors)


@SPEC.step
def step(p, s, a, rng, r):
    mover, width = max(s.turn, 0), s.tile.shape[1]
    cell = a[mover]
    row, column = cell // width, cell % width
    s.last = 0
    if is_grouped(s.tile, row, column):
        color = s.tile[row, column] - 1
        s.last = take(s.tile, s.mark, s.queue, cell)
        points = s.last * s.last
        s.points[mover] += points
        for k in range(s.alive.size):
            if k == mover or p.reward == TEAM:
                pay(r, k, color, points)
    s.turn = (mover + 1) % s.alive.size
    if not has_group(s.tile):
        s.turn = -1
        end_game(p, s, r)


@kernel
def pay(r, k, color, points):
    if color == 0:
        r.red[k] = points
    elif color == 1:
        r.blue[k] = points
    elif color == 2:
        r.green[k] = points
    elif color == 3:
        r.yellow[k] = points
    else:
        r.violet[k] = points


@kernel
def end_game(p, s, r):
    most, total = 0, 0
    for k in range(s.alive.size):
        most = max(most, s.points[k])
        total += s.points[k]
    alone = p.reward == TEAM or s.alive.size == 1
    for k in range(s.alive.size):
        r.terminated[k] = True
        r.success[k] = total >= p.target if alone else s.points[k] == most


@SPEC.mask
def mask(p, s, k, m):
    width = s.tile.shape[1]
    for cell in range(m.size):
        m[cell] = 1 if s.turn == k and is_grouped(s.tile, cell // width, cell % width) else 0
    if s.turn != k:
        m[0] = 1


@SPEC.observe
def observe(p, s, k, o):
    for row in range(s.tile.shape[0]):
        for column in range(s.tile.shape[1]):
            for color in range(p.colors):
                here = 1.0 if s.tile[row, column] == 1 + color else 0.0
                if p.planes_first:
                    o.tiles[color, row, column] = here
                else:
                    o.tiles[row, column, color] = here


# --- players ----------------------------------------------------------------------------------------------------------


@kernel
def choose_random(s, rng):
    """A tile of a group, any of them."""
    height, width = s.tile.shape
    count = 0
    for row in range(height):
        for column in range(width):
            count += is_grouped(s.tile, row, column)
    left = below(rng, max(count, 1))
    for cell in range(height * width):
        if is_grouped(s.tile, cell // width, cell % width):
            if left == 0:
                return cell
            left -= 1
    return 0


@kernel
def commonest(board):
    """The colour of the most tiles, as they lie on the board."""
    best, most = 0, -1
    for color in range(1, 6):
        count = 0
        for row in range(board.shape[0]):
            for column in range(board.shape[1]):
                count += board[row, column] == color
        if count > most:
            best, most = color, count
    return best


@kernel
def largest_group(s, board):
    """A tile of the largest group."""
    width, best, found = board.shape[1], 1, 0
    unmark(s.mark)
    for cell in range(s.mark.size):
        if s.mark[cell] == 0 and board[cell // width, cell % width] > 0:
            count = gather(board, s.mark, s.queue, cell)
            if count > best:
                best, found = count, cell
    return found


@kernel
def tabu_group(s, board, kept):
    """A tile of the smallest group that is not of the colour that is kept, the uppermost of these; where there is none,
    of the largest one; -1 where there is no group."""
    height, width = board.shape
    best, found, last, left = height * width + 1, -1, 0, -1
    unmark(s.mark)
    for cell in range(s.mark.size):
        color = board[cell // width, cell % width]
        if color == 0 or s.mark[cell] > 0 or not is_grouped(board, cell // width, cell % width):
            continue
        count = gather(board, s.mark, s.queue, cell)
        if color != kept and count < best:
            best, found = count, cell
        if color == kept and count > last:
            last, left = count, cell
    return found if found >= 0 else left


@kernel
def play_out(s, kept):
    """The points that "tabu" makes of s.trial."""
    total = 0
    while True:
        cell = tabu_group(s, s.trial, kept)
        if cell < 0:
            return total
        count = take(s.trial, s.mark, s.queue, cell)
        total += count * count


@kernel
def leads_group(s, cell):
    """Whether a tile is the first of its group, row by row."""
    unmark(s.mark)
    count = gather(s.tile, s.mark, s.queue, cell)
    for i in range(count):
        if s.queue[i] < cell:
            return False
    return count > 1


@kernel
def choose_planned(p, s):
    """Of as many groups as it may try, evenly spread over the board, the one after which a tabu player makes the most
    of the rest."""
    height, width = s.tile.shape
    kept, groups = commonest(s.tile), 0
    for cell in range(height * width):
        groups += s.tile[cell // width, cell % width] > 0 and leads_group(s, cell)
    best, found, number = -1, -1, 0
    for cell in range(height * width):
        if s.tile[cell // width, cell % width] == 0 or not leads_group(s, cell):
            continue
        number += 1
        if groups > p.tries and number * p.tries // groups == (number - 1) * p.tries // groups:
            continue
        for row in range(height):
            for column in range(width):
                s.trial[row, column] = s.tile[row, column]
        count = take(s.trial, s.mark, s.queue, cell)
        total = count * count + play_out(s, kept)
        if total > best:
            best, found = total, cell
    return max(found, 0)


@SPEC.player("planner")
def play_planner(p, s, k, a, rng):
    a[k] = choose_planned(p, s) if s.turn == k else 0


@SPEC.player("tabu")
def play_tabu(p, s, k, a, rng):
    a[k] = tabu_group(s, s.tile, commonest(s.tile)) if s.turn == k else 0


@SPEC.player("greedy")
def play_greedy(p, s, k, a, rng):
    a[k] = largest_group(s, s.tile) if s.turn == k else 0


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(s, rng) if s.turn == k else 0


# --- images -----------------------------------------------------------------------------------------------------------

COLORS = ((214, 70, 60), (52, 120, 200), (60, 160, 90), (240, 196, 52), (140, 90, 180))
SHADES = ((170, 44, 36), (30, 88, 156), (36, 122, 62), (200, 156, 20), (104, 60, 142))
GROUND = (38, 44, 54)


@SPEC.draw
def draw(canvas, p, s):
    height, width = s.tile.shape
    told = ["no group is left" if s.turn < 0 else f"player {int(s.turn) + 1} moves"] if len(s.points) > 1 else []
    canvas.caption(f"points {' : '.join(str(int(n)) for n in s.points)}", f"last group {int(s.last)}", *told)
    view_board(canvas, height, width, 0.3)
    draw_table(canvas)
    canvas.rectangle(-0.15, -height - 0.15, width + 0.15, 0.15, GROUND, rounded=0.2)
    for row in range(height):
        for column in range(width):
            color = int(s.tile[row, column])
            if color:
                draw_tile(canvas, row, column, SHADES[color - 1], 0.04, 0.2)
                draw_tile(canvas, row, column, COLORS[color - 1], 0.12, 0.2)
                draw_shape(canvas, row, column, color - 1)


def draw_shape(canvas, row, column, color):
    """A mark for each color, for eyes that see them alike."""
    x, y = column + 0.5, -row - 0.5
    if color == 0:
        canvas.circle((x, y), 0.13, "white")
    elif color == 1:
        canvas.rectangle(x - 0.12, y - 0.12, x + 0.12, y + 0.12, "white")
    elif color == 2:
        canvas.polygon([(x - 0.16, y - 0.12), (x + 0.16, y - 0.12), (x, y + 0.16)], "white")
    elif color == 3:
        canvas.polygon([(x - 0.17, y), (x, y - 0.17), (x + 0.17, y), (x, y + 0.17)], "white")
    else:
        canvas.circle((x, y), 0.15, "white", 2.0)


@SPEC.places
def places(canvas, p, s):
    return cell_places(*s.tile.shape)


@SPEC.text
def text(p, s):
    return joined(([".RBGYV"[int(color)] for color in row] for row in s.tile), " ")


@SPEC.keys
class Hand:
    """A mark that arrows move; space takes the group under it."""

    help = (("arrows", "move the mark"), ("space", "take the group under the mark"))

    def __init__(self, values):
        self.values = values
        self.begin()

    def begin(self):
        """The mark stands at the lower left."""
        self.row, self.column = self.values.height - 1, 0

    def press(self, keys, p, s):
        """The cell, where space was pressed on a group; None otherwise."""
        if s.turn != 0:
            return 0
        for key in keys:
            self.row = min(max(self.row + (key == "down") - (key == "up"), 0), self.values.height - 1)
            self.column = min(max(self.column + (key == "right") - (key == "left"), 0), self.values.width - 1)
            if key == "space" and is_grouped(s.tile, self.row, self.column):
                return self.row * self.values.width + self.column
        return None

    def draw(self, canvas, p, s):
        """The board and the mark."""
        draw(canvas, p, s)
        left, top = self.column, -self.row
        canvas.line([(left, top), (left + 1, top), (left + 1, top - 1), (left, top - 1)], "white", 3.0, closed=True)
