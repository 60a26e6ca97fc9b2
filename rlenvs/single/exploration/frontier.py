"""Frontier planners: rovers that head for known free cells beside unknown ones.

"path" takes the shortest path over known free cells to the nearest frontier. "cost" and "utility" are the two planners
of MarsExplorer, as they were programmed: "cost" takes the move that ends nearest to a frontier cell in a straight line,
so it may get stuck between two cells; "utility" lets every frontier cell vote for the move that comes nearest to it,
and takes the move with the fewest votes, but at least one, which makes it go to and fro.
"""

from rlenvs.core import choice, kernel
from rlenvs.single.exploration.lidar import FREE, OBSTACLE, ROVER, UNSEEN
from rlenvs.single.exploration.terrain import DOWN, RIGHT

PLANNER = choice("path", "cost", "utility", doc="which frontier planner the scripted expert is")
PATH, COST, UTILITY = PLANNER.codes("path", "cost", "utility")
FAR = 1 << 40


@kernel
def find_rover(known):
    """The rover's cell on its map."""
    for cell in range(known.size):
        if known[cell] == ROVER:
            return cell
    return 0


@kernel
def is_frontier(p, known, cell):
    """Whether a cell is known to be free, and one of the eight around it is unknown."""
    if known[cell] != FREE:
        return False
    home = p.home
    for row in range(-1, 2):
        first = cell + row * p.stride
        for near in range(first - 1, first + 2):
            if known[near] == UNSEEN and home[near] == near:
                return True
    return False


@kernel
def is_open(p, known, cell):
    """Whether a cell is on the map, and no obstacle as far as is known."""
    return p.home[cell] == cell and known[cell] != OBSTACLE


@kernel
def path_move(p, known, queue, origin, start):
    """The first move of a shortest way over known free cells to a frontier; where there is none, any open move.

    `queue` and `origin` hold a number for each cell; what is in them is lost."""
    for cell in range(origin.size):
        origin[cell] = -1
    queue[0] = start
    origin[start] = 4
    head, count = 0, 1
    while head < count:
        cell = queue[head]
        head += 1
        if cell != start and is_frontier(p, known, cell):
            return origin[cell]
        for move in range(4):
            near = cell + DOWN[move] * p.stride + RIGHT[move]
            if origin[near] < 0 and known[near] != UNSEEN and is_open(p, known, near):
                origin[near] = move if cell == start else origin[cell]
                queue[count] = near
                count += 1
    for move in range(4):
        if is_open(p, known, start + DOWN[move] * p.stride + RIGHT[move]):
            return move
    return 0


@kernel
def published_move(p, known, start, vote):
    """The move of "utility" where `vote`, else of "cost"."""
    stride = p.stride
    value_0, value_1, value_2, value_3 = FAR, FAR, FAR, FAR  # nearest frontier of each move, or its votes
    if vote:
        value_0, value_1, value_2, value_3 = 0, 0, 0, 0
    for cell in range(known.size):
        if not is_frontier(p, known, cell):
            continue
        down, right = cell // stride - start // stride, cell % stride - start % stride
        here = down * down + right * right + 1
        d0, d1 = here - 2 * down, here + 2 * down  # squares of the distances after each move
        d2, d3 = here - 2 * right, here + 2 * right
        if vote:
            least = min(d0, d1, d2, d3)
            if d0 == least:
                value_0 += 1
            elif d1 == least:
                value_1 += 1
            elif d2 == least:
                value_2 += 1
            else:
                value_3 += 1
        else:
            value_0, value_1 = min(value_0, d0), min(value_1, d1)
            value_2, value_3 = min(value_2, d2), min(value_3, d3)
    best, found = FAR, 0
    for move in range(4):
        value = value_0 if move == 0 else value_1 if move == 1 else value_2 if move == 2 else value_3
        if (vote and value == 0) or not is_open(p, known, start + DOWN[move] * stride + RIGHT[move]):
            value = FAR
        if value < best:
            best, found = value, move
    return found


@kernel
def planned_move(p, known, queue, origin, start):
    """The move of the planner that is asked for."""
    if p.planner == PATH:
        return path_move(p, known, queue, origin, start)
    return published_move(p, known, start, p.planner == UTILITY)
