"""The MiniGrid environments: what each is."""

from dataclasses import replace
from typing import Any

from rlenvs.core import cost

DANGER = cost(
    0.0, doc="1 for lava, and for collisions in tasks with moving balls", occurs=False
)  # not in tasks with neither
DANGEROUS = {"costs": {"danger": replace(DANGER, occurs=True)}}

RANDOM: dict[str, Any] = {"same_start": False, "starts": 0}
RECALL = {"levels": {"recall": {"recall": True}}}
BOXED: dict[str, Any] = {"key_in_box": True}
BLOCKED = {"blocked": True} | BOXED
INSIDE = {"start_in_middle": True} | BLOCKED
ONE, TWO, FOUR = ({"quarters": count} for count in (1, 2, 4))
ANYWHERE = {"random_start": True} | RANDOM
MOVING, ROAMING = DANGEROUS | RANDOM, DANGEROUS | ANYWHERE  # balls; in the second from a random start
LONG = {"random_length": True} | RANDOM | RECALL

CORNER = "Empty room of {grid_size} x {grid_size} cells: go to the green goal in the opposite corner."
FROM_ANYWHERE = "Empty room of {grid_size} x {grid_size} cells: go to the green goal from a random start."
DOOR_KEY = "Door and key, {grid_size} x {grid_size} cells: fetch the key, unlock the door, go to the goal."
SMALL, CHAIN = {"largest_room": 4}, " connected by doors in a chain: reach the goal in the last."
MAZE = "Obstructed maze with "
QUARTERS = "Obstructed maze of nine rooms, "
RIVER = "Lava crossing, {grid_size} x {grid_size} cells: find the gaps in 1 river of lava."
RIVERS = "Lava crossing, {grid_size} x {grid_size} cells: find the gaps in {crossings} rivers of lava."
WALL = "Simple crossing, {grid_size} x {grid_size} cells: find the gaps in 1 wall."
WALLS = "Simple crossing, {grid_size} x {grid_size} cells: find the gaps in {crossings} walls."
BALLS = "Dynamic obstacles, {grid_size} x {grid_size} cells: reach the goal past {balls} moving balls"
MEMORY = "Memory, {grid_size} x {grid_size} cells: at the end of the hallway"
CHOOSE = ", choose the object seen at its beginning."

# by task: id between MiniGrid and -v0, summary, what differs from the kind's options
TABLE: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "empty": [
        ("Empty5x5", CORNER, {"grid_size": 5}),
        ("EmptyRandom5x5", FROM_ANYWHERE, {"grid_size": 5, **ANYWHERE}),
        ("Empty6x6", CORNER, {"grid_size": 6}),
        ("EmptyRandom6x6", FROM_ANYWHERE, {"grid_size": 6, **ANYWHERE}),
        ("Empty16x16", CORNER, {"grid_size": 16}),
    ],
    "four_rooms": [
        ("FourRooms", "Four rooms connected by gaps: reach a goal at a random place.", {"grid_size": 19, **RANDOM}),
    ],
    "door_key": [(f"DoorKey{n}x{n}", DOOR_KEY, {"grid_size": n, **RANDOM}) for n in (5, 6, 8, 16)],
    "multi_room": [
        (f"MultiRoom{name}", summary, {"grid_size": 25, **rooms, **RANDOM})
        for name, summary, rooms in (
            ("N2S4", "Two small rooms with a door between them: reach the goal in the second.", SMALL | {"rooms": 2}),
            ("N4S5", f"Four small rooms{CHAIN}", {"rooms": 4, "largest_room": 5}),
            ("N6", f"Six rooms{CHAIN}", {"rooms": 6}),
        )
    ],
    "unlock_pickup": [
        ("UnlockPickup", "Unlock and pick up: fetch the key, unlock the door, take the box behind it.", RANDOM),
    ],
    "obstructed_maze": [
        (f"ObstructedMaze{name}", summary, {**options, **RANDOM})
        for name, summary, options in (
            ("1Dl", MAZE + "one locked door: fetch the key, take the blue ball.", {}),
            ("1Dlh", MAZE + "one locked door, its key hidden in a box.", BOXED),
            ("1Dlhb", MAZE + "one locked door, its key in a box, and a ball in front of it.", BLOCKED),
            ("2Dl", MAZE + "two locked doors: fetch the key of the correct door, take the blue ball.", ONE),
            ("2Dlh", MAZE + "two locked doors, their keys hidden in boxes.", ONE | BOXED),
            ("2Dlhb", MAZE + "two locked doors, their keys in boxes, and a ball in front of each.", ONE | BLOCKED),
            ("1Q", QUARTERS + "one quarter of them with doors: three rooms and two locked doors.", ONE | INSIDE),
            ("2Q", QUARTERS + "two quarters of them with doors: the ball is in one of two corners.", TWO | BLOCKED),
            ("Full", QUARTERS + "all with doors: the ball is in one of four corners.", FOUR | INSIDE),
        )
    ],
    "crossing": [
        (f"{name}CrossingS{n}N{k}", one if k == 1 else more, {"grid_size": n, "crossings": k, **river, **RANDOM})
        for name, river, one, more in (
            ("Lava", {"river": "lava"} | DANGEROUS, RIVER, RIVERS),
            ("Simple", {"river": "wall"}, WALL, WALLS),
        )
        for n, k in ((9, 1), (9, 2), (9, 3), (11, 5))
    ],
    "dynamic_obstacles": [
        ("DynamicObstacles5x5", BALLS + ".", {"grid_size": 5, "balls": 2, **MOVING}),
        ("DynamicObstaclesRandom5x5", BALLS + ", from a random start.", {"grid_size": 5, "balls": 2, **ROAMING}),
        ("DynamicObstacles6x6", BALLS + ".", {"grid_size": 6, "balls": 3, **MOVING}),
        ("DynamicObstaclesRandom6x6", BALLS + ", from a random start.", {"grid_size": 6, "balls": 3, **ROAMING}),
        ("DynamicObstacles8x8", BALLS + ".", {"grid_size": 8, "balls": 4, **MOVING}),
        ("DynamicObstacles16x16", BALLS + ".", {"grid_size": 16, "balls": 8, **MOVING}),
    ],
    "memory": [
        ("MemoryS7", MEMORY + CHOOSE, {"grid_size": 7, "same_start": False, "starts": 16, **RECALL}),
        ("MemoryS9", MEMORY + CHOOSE, {"grid_size": 9, "same_start": False, "starts": 24, **RECALL}),
        ("MemoryS11", MEMORY + CHOOSE, {"grid_size": 11, **RANDOM, **RECALL}),
        ("MemoryS13", MEMORY + CHOOSE, {"grid_size": 13, **RANDOM, **RECALL}),
        ("MemoryS13Random", MEMORY + " of a random length" + CHOOSE, {"grid_size": 13, **LONG}),
        ("MemoryS17Random", MEMORY + " of a random length" + CHOOSE, {"grid_size": 17, **LONG}),
    ],
}  # fmt: skip
# for `SPEC.member`
MEMBERS: dict[str, dict[str, Any]] = {
    f"MiniGrid{name}-v0": {"summary": summary.format(**options), "task": task, **options}
    for task, rows in TABLE.items()
    for name, summary, options in rows
}
