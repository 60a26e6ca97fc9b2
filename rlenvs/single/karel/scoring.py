"""How far a task is done, as HPRL measures it: the published reward is the change of it."""

from rlenvs.core import kernel
from rlenvs.single.karel.rules import (
    CLEAN_HOUSE,
    DOOR_KEY,
    END_EPISODE,
    FIRST_LENGTH,
    FOUR_CORNERS,
    HARVESTER,
    MAZE,
    MEALS,
    MOVE,
    ONE_STROKE,
    SEEDER,
    SNAKE,
    STAIR_CLIMBER,
    TOP_OFF,
    act,
)

WRONG_MARKER = 0.0001  # of DoorKey's measure, for each marked cell beyond two


@kernel
def distance(s):
    """Moves from Karel to the goal, were there no walls."""
    return abs(int(s.row) - int(s.goal_row)) + abs(int(s.column) - int(s.goal_column))


@kernel
def marked_corners(s):
    """How many of the four corners have a marker."""
    low, right = s.wall.shape[0] - 2, s.wall.shape[1] - 2
    found = 0
    for row in (1, low):
        for column in (1, right):
            found += 1 if s.markers[row, column] > 0 else 0
    return found


@kernel
def topped_off(s):
    """How many columns of the bottom row, from the left up to Karel's, are as they should be; one more at the end."""
    low, right = s.wall.shape[0] - 2, s.wall.shape[1] - 2
    found = 0
    for column in range(1, s.column + 1):
        if s.markers[low, column] != 2 * s.wanted[low, column]:
            break
        found += 1
    return found + 1 if found == right and s.row == low else found


@kernel
def cleaned(s):
    """How many of the markers that lay about at the start are gone."""
    found = 0
    for row in range(s.wall.shape[0]):
        for column in range(s.wall.shape[1]):
            found += 1 if s.wanted[row, column] == 1 and s.markers[row, column] == 0 else 0
    return found


@kernel
def measure(p, s):
    """How far the task is done: 1 if it is."""
    inside = (s.wall.shape[0] - 2) * (s.wall.shape[1] - 2)
    if p.task == MAZE or p.task == STAIR_CLIMBER:
        return 1.0 - distance(s) / s.far
    if p.task == FOUR_CORNERS:
        return marked_corners(s) / 4.0
    if p.task == TOP_OFF:
        return topped_off(s) / float(s.wall.shape[1] - 1)
    if p.task == CLEAN_HOUSE:
        return cleaned(s) / float(p.litter)
    if p.task == HARVESTER:
        return (inside - s.marked) / float(inside)
    if p.task == SEEDER:
        return s.marked / float(inside)
    if p.task == ONE_STROKE:
        return s.visited / float(inside)
    if p.task == SNAKE:
        return (s.length - FIRST_LENGTH) / float(MEALS)
    key = s.markers[s.key_row, s.key_column] == 0
    value = 0.5 if key else 0.0
    if key and s.markers[s.goal_row, s.goal_column] == 2:
        value += 0.5
    return value - WRONG_MARKER * max(s.marked - 2, 0)


@kernel
def is_lost(p, s, action, failed):
    """Whether the task can no longer be done."""
    if p.task == FOUR_CORNERS:
        return s.marked > marked_corners(s)
    if p.task == SEEDER:
        return s.markers[s.row, s.column] > 1
    if p.task == ONE_STROKE:
        return failed and action == MOVE
    return p.task == SNAKE and s.bitten


@kernel
def perform(p, s, action, rng, r):
    """An action, with its rewards."""
    failed = act(p, s, action, rng)
    if p.task == DOOR_KEY and s.markers[s.key_row, s.key_column] == 0:
        for row in (2, 3):
            s.wall[row, s.wall.shape[1] // 2] = 0
    lost = is_lost(p, s, action, failed)
    done = measure(p, s)
    if p.task == SEEDER and lost:
        done -= 1.0 / ((s.wall.shape[0] - 2) * (s.wall.shape[1] - 2))  # the cell does not have exactly one
    change = done - s.progress
    s.progress = done
    if p.task == STAIR_CLIMBER and p.path[s.row, s.column] == 0:
        change = -1.0 / s.far
    if p.task == FOUR_CORNERS and lost:
        change = min(change, 0.0)
    r.progress += change
    r.crash += 1.0 if failed else 0.0
    if done >= 1.0:
        r.solved = 1.0
        r.success = True
        r.terminated = True
    elif lost or (failed and p.crash == END_EPISODE):
        r.terminated = True
