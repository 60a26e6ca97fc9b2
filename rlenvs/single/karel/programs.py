"""A program of the Karel language for each task: the scripted experts."""

AHEAD = "WHILE c( frontIsClear c) w( move w) "
# from anywhere in an empty room: into a corner, whose walls are behind and to the right
TO_CORNER = f"{AHEAD} turnLeft {AHEAD} turnLeft "
# all cells of a room from such a corner, as long as the first cell of a pair of rows is untouched
SWEEP = (
    "WHILE c( {untouched} c) w( {do} "
    "WHILE c( frontIsClear c) w( move {do} w) turnLeft "
    "IF c( frontIsClear c) i( move turnLeft {do} "
    "WHILE c( frontIsClear c) w( move {do} w) turnRight "
    "IF c( frontIsClear c) i( move turnRight i) i) w)"
)
# along the wall to the right
FOLLOW = "IFELSE c( rightIsClear c) i( turnRight i) ELSE e( WHILE c( not c( frontIsClear c) c) w( turnLeft w) e) move "
# columns of a room down and up, {side} by {side}, from the top and facing down; ends at the bottom of the last one
COLUMNS = (
    "WHILE c( {side}IsClear c) w( WHILE c( frontIsClear c) w( {do} move w) {do} "
    f"turnLeft turnLeft {AHEAD} {{turn}} move {{turn}} w) "
    "WHILE c( frontIsClear c) w( {do} move w) {do} "
)
PICK_UP, TOP_UP = "IF c( markersPresent c) i( pickMarker i)", "IF c( markersPresent c) i( putMarker i)"
PROGRAMS = {
    "maze": f"WHILE c( noMarkersPresent c) w( {FOLLOW} w)",
    "stair_climber": "WHILE c( noMarkersPresent c) w( turnLeft move turnRight move w)",
    "four_corners": (
        "WHILE c( rightIsClear c) w( turnRight w) "
        f"WHILE c( noMarkersPresent c) w( {AHEAD} IF c( noMarkersPresent c) i( putMarker turnLeft move i) w)"
    ),
    "top_off": f"WHILE c( frontIsClear c) w( {TOP_UP} move w)",
    "clean_house": f"REPEAT R=19 r( {FOLLOW} {PICK_UP} r)",
    "harvester": SWEEP.format(untouched="markersPresent", do="pickMarker"),
    "seeder": SWEEP.format(untouched="noMarkersPresent", do="putMarker"),
    "door_key": (
        f"{AHEAD} turnLeft {AHEAD} turnLeft turnLeft "
        f"{COLUMNS.format(side='right', turn='turnLeft', do=PICK_UP)} "
        f"turnLeft turnLeft {AHEAD} turnRight {AHEAD} turnRight "
        "WHILE c( not c( leftIsClear c) c) w( move w) turnLeft move move "
        f"turnLeft {AHEAD} turnLeft turnLeft "
        f"{COLUMNS.format(side='left', turn='turnRight', do=TOP_UP)}"
    ),
    # to the wall; then, as the way there was odd or even, turning left wherever it can, or column by column
    "one_stroke": (
        "WHILE c( frontIsClear c) w( move IFELSE c( frontIsClear c) i( move i) ELSE e( "
        "REPEAT R=19 r( WHILE c( not c( frontIsClear c) c) w( turnRight w) move turnLeft r) e) w) "
        f"turnRight REPEAT R=19 r( {AHEAD} IFELSE c( leftIsClear c) i( turnLeft move turnLeft i) ELSE e( "
        "IFELSE c( rightIsClear c) i( turnRight move turnRight i) ELSE e( turnLeft turnLeft e) e) r)"
    ),
}


def snake_program(rows: int, columns: int) -> str:
    """A closed path through all cells, again and again: the top row, then down and up in pairs of columns."""
    up = "move " * (rows - 4) if rows < 6 else f"REPEAT R={rows - 4} r( move r)"
    pairs = (columns - 2) // 2 - 1
    comb = f"{AHEAD} turnRight move turnRight {up} turnLeft move turnLeft"
    return (
        f"REPEAT R=19 r( {AHEAD} turnRight REPEAT R={pairs} r( {comb} r) "
        f"{AHEAD} turnRight move turnRight {AHEAD} turnRight r)"
    )


def guide_text(task: str, rows: int, columns: int, random_start: bool) -> str:
    """The expert's program for a task on so many rows and columns."""
    text = snake_program(rows, columns) if task == "snake" else PROGRAMS[task]
    if random_start and task in ("harvester", "seeder"):
        text = TO_CORNER + text
    return " ".join(f"DEF run m( {text} m)".split())
