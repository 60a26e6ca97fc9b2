"""Images and text of the three games for people, who may see what the agent has to remember."""

from rlenvs.single.memory.agent import AHEAD_X, AHEAD_Y, ROOT_HALF, SIDE
from rlenvs.single.memory.arena import COMMAND_X, COMMAND_Y, COMMANDS, TILE, middle_of, tile_at

SKIN, DARK, HEART = (250, 204, 153), (50, 50, 50), (186, 52, 96)


def view_screen(canvas):
    """Pixels of the screen; y of the canvas runs up."""
    canvas.view(0.0, SIDE, 0.0, SIDE)
    canvas.rectangle(0.0, 0.0, SIDE, SIDE, "black")


def box(canvas, x, y, width, height, color, width_of_line=0.0):
    """A rectangle by its upper left corner."""
    canvas.rectangle(x, SIDE - y - height, x + width, SIDE - y, color, width=width_of_line)


def draw_figure(canvas, x, y, facing, scale):
    """Body and hands."""
    scale = float(scale)
    centre = float(x), SIDE - float(y)
    length = ROOT_HALF if facing % 2 else 1.0
    ahead = AHEAD_X[facing] * length, -AHEAD_Y[facing] * length
    canvas.circle(centre, 25.0 * scale, SKIN)
    for side in (-1, 1):
        hand = (
            centre[0] + 16.0 * scale * (ahead[0] - side * ahead[1]),
            centre[1] + 16.0 * scale * (ahead[1] + side * ahead[0]),
        )
        canvas.circle(hand, 10.0 * scale, DARK)


def draw_mortar(canvas, p, s, scale):
    """The arena, the target and the command that is shown or due."""
    due = COMMANDS[s.commands[min(s.current, s.count - 1)]]
    shown = f"shown: {COMMANDS[s.cue]}" if s.cue >= 0 else f"due: {due}" if not s.cues_left else "shown: nothing"
    canvas.caption(f"command {min(s.current + 1, s.count)} of {s.count}, {shown}")
    canvas.legend(("green", "target, unseen by the agent", "ring"), ((112, 24, 36), "burning"))
    view_screen(canvas)
    first = (SIDE - TILE * p.arena_size) // 2
    for row in range(p.arena_size):
        for column in range(p.arena_size):
            burns = s.burning and (column, row) != (s.target_x, s.target_y)
            place = first + TILE * column, first + TILE * row, TILE, TILE
            box(canvas, *place, (81, 18, 26) if burns else (21, 43, 77))
            box(canvas, *place, (112, 24, 36) if burns else (29, 60, 107), 4.0)
    draw_figure(canvas, s.x, s.y, int(s.facing), scale)
    target = middle_of(p, s.target_x), SIDE - middle_of(p, s.target_y)
    canvas.circle(target, 6.5, "green", width=7.0)
    if s.cue >= 0:
        draw_command(canvas, s.cue)


def draw_command(canvas, command):
    """Its symbol in the middle of the screen."""
    middle = SIDE / 2
    if COMMAND_X[command] == COMMAND_Y[command] == 0:
        canvas.circle((middle, middle), 10.0, "white", width=8.0)
        canvas.line([(middle - 9.0, middle), (middle + 9.0, middle)], "white", width=8.0)
        return
    across, up = 10.0 * COMMAND_X[command], -10.0 * COMMAND_Y[command]
    canvas.arrow((middle - across, middle - up), (middle + across, middle + up), "white", width=8.0)


def arena_text(p, s):
    """A letter per tile: A the agent, T the target, X both, # burning."""
    rows = []
    for row in range(p.arena_size):
        cells = []
        for column in range(p.arena_size):
            agent = (tile_at(p, s.x), tile_at(p, s.y)) == (column, row)
            target = (column, row) == (s.target_x, s.target_y)
            cells.append("X" if agent and target else "A" if agent else "T" if target else "#" if s.burning else ".")
        rows.append(" ".join(cells))
    shown = COMMANDS[s.cue] if s.cue >= 0 else "-"
    return "\n".join(rows) + f"\ncommand {min(s.current + 1, s.count)} of {s.count}, shown: {shown}\n"


def keys_of_free_agent(pressed, values):
    """Arrow keys."""
    left, right, up, down = (name in pressed for name in ("left", "right", "up", "down"))
    return [1 if left else 2 if right else 0, 1 if up else 2 if down else 0]


def keys_of_turning_agent(pressed, values):
    """Left and right turn, up goes forward."""
    for action, name in ((1, "left"), (2, "right"), (3, "up")):
        if name in pressed:
            return action
    return 0


def draw_spotlights(canvas, p, s, goal_x, goal_y):
    """The room by day, with the spotlights as rings."""
    seen = "dark" if s.darkness >= 255 else "light"
    canvas.caption(f"{seen}, health {max(s.health, 0.0):g} of {p.agent_health}, {s.collected} coins")
    canvas.legend(
        ("red", "spotlight, costs health", "ring"),
        ("orange", "coin", "disc"),
        *([("green", "exit (grey: closed)")] if p.use_exit else ()),
        ("blue", "where to go next", "ring"),
        (HEART, "health: the bar on top"),
    )
    view_screen(canvas)
    for row in range(7):
        for column in range(7):
            dark = (60, 40, 45) if s.hit else (40, 45, 60)
            box(canvas, 12 * column, 12 * row, 12, 12, dark if (row + column) % 2 else (56, 60, 72))
    for k in range(s.spots):
        if s.lit[k]:
            centre = float(s.spot_x[k]), SIDE - float(s.spot_y[k])
            canvas.circle(centre, float(s.radius[k]), (230, 225, 190))
            canvas.circle(centre, float(s.radius[k]), "red", width=5.0)
    if p.use_exit:
        box(canvas, s.exit_x - 5.0, s.exit_y - 5.0, 10.0, 10.0, "grey" if s.coins else "green")
    for k in range(s.coins):
        canvas.circle((float(s.coin_x[k]), SIDE - float(s.coin_y[k])), 3.5, "orange")
    if s.coins or p.use_exit:
        canvas.circle((float(goal_x), SIDE - float(goal_y)), 8.0, "blue", width=5.0)
    draw_figure(canvas, s.x, s.y, int(s.facing), p.agent_scale)
    for left in (-SIDE, SIDE):  # spotlights that come from outside
        canvas.rectangle(left, -SIDE, left + SIDE, 2.0 * SIDE, "background")
    draw_health(canvas, max(float(s.health), 0.0), float(p.agent_health))


def draw_health(canvas, health, most):
    """A bar at the upper edge, with its number."""
    canvas.rectangle(0.0, SIDE - 5.0, SIDE, SIDE, (70, 70, 76))
    canvas.rectangle(0.0, SIDE - 5.0, SIDE * health / most, SIDE, HEART)
    canvas.text((SIDE / 2, SIDE - 2.5), f"health {health:g} of {most:g}", "white", 15, "centre")


def draw_mystery(canvas, s, scale):
    """The hidden path, origin and goal, tiles that were visited, and a fall."""
    canvas.caption(f"tile {s.place + 1} of {s.length}, {s.fails} falls")
    canvas.legend(("grey", "path, unseen by the agent"), ("white", "visited"), ("blue", "origin"), ("green", "goal"))
    view_screen(canvas)
    for k in range(s.length):
        tile = int(s.path[k])
        color = "blue" if k == 0 else "green" if k == s.length - 1 else "white" if s.visited[tile] else (90, 90, 90)
        box(canvas, 12 * (tile // 7) + 0.5, 12 * (tile % 7) + 0.5, 11, 11, color)
    draw_figure(canvas, s.x, s.y, int(s.facing), scale)
    if s.off:
        draw_cross(canvas, float(s.x), SIDE - float(s.y))


def draw_cross(canvas, x, y):
    """A fall."""
    canvas.line([(x - 5.0, y - 5.0), (x + 5.0, y + 5.0)], "red", width=12.0)
    canvas.line([(x - 5.0, y + 5.0), (x + 5.0, y - 5.0)], "red", width=12.0)


def mystery_text(s):
    """A letter per tile: A the agent, o the path, O and G its ends."""
    rows = []
    for row in range(7):
        cells = []
        for column in range(7):
            place = int(s.place_of[7 * column + row])
            mark = "." if place == 0 else "O" if place == 1 else "G" if place == s.length else "o"
            cells.append("A" if (s.x // 12, s.y // 12) == (column, row) else mark)
        rows.append(" ".join(cells))
    return "\n".join(rows) + f"\n{s.fails} falls\n"


def draw_endless_mystery(canvas, p, s, size, on_path, rewarded):
    """The hidden path around the agent, with the tiles that were visited."""
    canvas.caption(f"column {s.x // 12}, {s.tiles} tiles, {s.fails} falls, stamina {s.stamina}")
    canvas.legend(("grey", "path, unseen by the agent"), ("white", "visited"))
    view_screen(canvas)
    left = int(s.x) - 42
    for tile in range(len(s.marks)):
        x = 12 * (tile // size) - left
        if s.marks[tile] & on_path and -12 < x < SIDE:
            first, last = max(x + 0.5, 0.0), min(x + 11.5, float(SIDE))
            box(
                canvas,
                first,
                12 * (tile % size) + 0.5,
                last - first,
                11,
                "white" if s.marks[tile] & rewarded else (90, 90, 90),
            )
    draw_figure(canvas, s.x - left, s.y, int(s.facing), p.agent_scale)
    if s.off:
        draw_cross(canvas, float(s.x - left), SIDE - float(s.y))


def endless_mystery_text(s, size, columns, on_path):
    """A letter per tile of the columns around the agent: A the agent, o the path."""
    column = s.x // 12
    shown = range(max(column - 5, 0), min(max(column - 5, 0) + 16, columns))
    rows = []
    for row in range(size):
        cells = ["o" if s.marks[size * k + row] & on_path else "." for k in shown]
        if s.y // 12 == row and column in shown:
            cells[column - shown[0]] = "A"
        rows.append(" ".join(cells))
    return "\n".join(rows) + f"\ncolumn {column}, {s.fails} falls, stamina {s.stamina}\n"
