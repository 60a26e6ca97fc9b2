"""What a player sees of a mini-game: lists of units and feature maps."""

from rlenvs.core import kernel
from rlenvs.multi.battle.minigames.squads import BANELING, IDLE, MARINE, seen


@kernel
def across(p, x):
    """A coordinate on the field, from -1 (left) to 1 (right)."""
    return min(max(2.0 * x / p.width - 1.0, -1.0), 1.0)


@kernel
def upward(p, y):
    return min(max(2.0 * y / p.height - 1.0, -1.0), 1.0)


@kernel
def list_walkers(p, s, rows):
    """A row per marine: place and goal."""
    for i in range(rows.shape[0]):
        rows[i, 0] = across(p, s.x[i])
        rows[i, 1] = upward(p, s.y[i])
        rows[i, 2] = across(p, s.goal_x[i])
        rows[i, 3] = upward(p, s.goal_y[i])


@kernel
def list_marines(p, s, rows):
    """A row per marine: standing, place, health, cooldown, order, goal; zeros for the fallen."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[i, j] = 0.0
        if s.standing[i]:
            rows[i, 0] = 1.0
            rows[i, 1] = across(p, s.x[i])
            rows[i, 2] = upward(p, s.y[i])
            rows[i, 3] = s.health[i] / p.unit_health[MARINE]
            rows[i, 4] = min(max(s.cooldown[i] / p.unit_cooldown[MARINE], 0.0), 1.0)
            rows[i, 5] = 0.5 * s.order[i]
            rows[i, 6] = across(p, s.goal_x[i])
            rows[i, 7] = upward(p, s.goal_y[i])


@kernel
def list_foes(p, s, rows, fog):
    """A row per enemy: in sight, place, health, and where there are two kinds whether it is a baneling."""
    first = s.order.size
    for k in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[k, j] = 0.0
        i = first + k
        if s.standing[i] and (not fog or seen(p, s, i)):
            rows[k, 0] = 1.0
            rows[k, 1] = across(p, s.x[i])
            rows[k, 2] = upward(p, s.y[i])
            rows[k, 3] = s.health[i] / p.unit_health[s.kind[i]]
            if rows.shape[1] > 4:
                rows[k, 4] = 1.0 if s.kind[i] == BANELING else 0.0


@kernel
def show_offset(p, row, dx, dy):
    """Where a thing is as seen from a marine or a squad: 1, and its offset in half sides of the field; at most 1."""
    row[0] = 1.0
    row[1] = min(max(2.0 * dx / p.width, -1.0), 1.0)
    row[2] = min(max(2.0 * dy / p.height, -1.0), 1.0)


@kernel
def comes_next(distance, k, least, after, last):
    """Whether thing k follows thing `last`, at the distance `after`, and lies nearer than what is at `least`."""
    return distance < least and (distance > after or (distance == after and k > last))


@kernel
def clear_rows(rows):
    for n in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            rows[n, j] = 0.0


@kernel
def clear_map(pixels):
    for row in range(pixels.shape[0]):
        for column in range(pixels.shape[1]):
            for layer in range(pixels.shape[2]):
                pixels[row, column, layer] = 0


@kernel
def paint(p, pixels, layer, x, y, radius, value):
    """A disc in one layer of a feature map whose first row is the lowest of the field, like that of the points."""
    scale = pixels.shape[1] / p.width
    low = y * scale
    left = x * scale
    size = radius * scale
    here_row = min(max(int(low), 0), pixels.shape[0] - 1)
    here_column = min(max(int(left), 0), pixels.shape[1] - 1)
    reach = int(size) + 1
    for row in range(max(here_row - reach, 0), min(here_row + reach + 1, pixels.shape[0])):
        for column in range(max(here_column - reach, 0), min(here_column + reach + 1, pixels.shape[1])):
            inside = (row + 0.5 - low) ** 2 + (column + 0.5 - left) ** 2 <= size * size
            if inside or (row == here_row and column == here_column):
                pixels[row, column, layer] = value


@kernel
def paint_marines(p, s, pixels):
    """Marines into the first layer, as bright as they are healthy, and where they were ordered to into the last."""
    for i in range(s.order.size):
        if s.standing[i]:
            value = max(255.0 * s.health[i] / p.unit_health[MARINE], 1.0)
            paint(p, pixels, 0, s.x[i], s.y[i], p.unit_radius[MARINE], int(value))
            if s.order[i] != IDLE:
                paint(p, pixels, pixels.shape[2] - 1, s.goal_x[i], s.goal_y[i], 0.0, 255)


@kernel
def paint_foes(p, s, pixels, fog):
    """Enemies into the second layer, banelings into the third."""
    for i in range(s.order.size, s.x.size):
        if s.standing[i] and (not fog or seen(p, s, i)):
            kind = s.kind[i]
            value = max(255.0 * s.health[i] / p.unit_health[kind], 1.0)
            paint(p, pixels, 2 if kind == BANELING else 1, s.x[i], s.y[i], p.unit_radius[kind], int(value))
