"""The rules of PushWorld as kernels: an object is an integer per row of its bounding box, with a bit per column.

With bits, testing whether two objects overlap is a single operation per row, and the state holds only positions. The
grid has at most 62 columns, so no bit is lost.
"""

from rlenvs.core import kernel

LEFT, RIGHT, UP, DOWN = range(4)
DOWNWARD, RIGHTWARD = (0, 0, -1, 1), (-1, 1, 0, 0)  # rows and columns of a move
WAITING, TOUCHED, SETTLED = range(3)  # in the push set: not, found, and all that it pushes found


@kernel
def hits(lines, shape, tall, row, column):
    """Whether an object with its corner at (row, column) would lie on one of the marked cells; `lines` are rows of
    bits."""
    for r in range(tall):  # noqa: SIM110 (a kernel)
        if (shape[r] << column) & lines[row + r]:
            return True
    return False


@kernel
def meet(shape, tall, row, column, other, other_tall, other_row, other_column):
    """Whether two objects at these places would overlap."""
    first, last = max(row, other_row), min(row + tall, other_row + other_tall)
    for r in range(first, last):  # noqa: SIM110 (a kernel)
        if (shape[r - row] << column) & (other[r - other_row] << other_column):
            return True
    return False


@kernel
def push_set(walls, agent_walls, shape, tall, at, count, pushed, action):
    """Mark in `pushed` the objects that a move of the agent would move, 0 for none of them.

    Args:
        walls, agent_walls: rows of bits.
        shape, tall: of each object.
        at: row and column of each object.
        count: of objects, the agent is the first.

    Returns:
        Whether anything moves: nothing does where one of the objects would hit a wall.
    """
    down, right = DOWNWARD[action], RIGHTWARD[action]
    for i in range(count):
        pushed[i] = WAITING
    row, column = int(at[0, 0]) + down, int(at[0, 1]) + right
    if hits(walls, shape[0], tall[0], row, column) or hits(agent_walls, shape[0], tall[0], row, column):
        return False
    pushed[0] = TOUCHED
    again = True
    while again:
        again = False
        for i in range(count):
            if pushed[i] != TOUCHED:
                continue
            pushed[i] = SETTLED
            row, column = int(at[i, 0]) + down, int(at[i, 1]) + right
            for j in range(1, count):
                if pushed[j] != WAITING:
                    continue
                beside, along = int(at[j, 0]), int(at[j, 1])
                if meet(shape[i], int(tall[i]), row, column, shape[j], int(tall[j]), beside, along):
                    if hits(walls, shape[j], tall[j], beside + down, along + right):
                        return False
                    pushed[j] = TOUCHED
                    again = True
    return True


@kernel
def move(at, pushed, count, action):
    """Move the objects of a push set by one cell."""
    for i in range(count):
        if pushed[i]:
            at[i, 0] += DOWNWARD[action]
            at[i, 1] += RIGHTWARD[action]


@kernel
def achieved(at, goal, goals):
    """How many objects are at their goals."""
    found = 0
    for k in range(goals):
        if at[k + 1, 0] == goal[k, 0] and at[k + 1, 1] == goal[k, 1]:
            found += 1
    return found
