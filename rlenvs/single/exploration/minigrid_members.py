"""The members of the MiniGrid kind: what each is."""

from typing import Any

MEMBERS: dict[str, dict[str, Any]] = {}
RANDOM: dict[str, Any] = {"same_start": False, "starts": 0}
RECALL = {"recall": {"recall": True}}
CORNER = "Empty room of {0} x {0} cells: go to the green goal in the opposite corner."


def member(name: str, summary: str, **changes: Any) -> None:
    """One more row, for `SPEC.member`."""
    MEMBERS[name] = {"summary": summary, **changes}


member(
    "MiniGridEmpty5x5-v0",
    CORNER.format(5),
    grid_size=5,
)
member(
    "MiniGridEmptyRandom5x5-v0",
    "Empty room of 5 x 5 cells with a random start.",
    grid_size=5,
    random_start=True,
    **RANDOM,
)
member(
    "MiniGridEmpty6x6-v0",
    CORNER.format(6),
    grid_size=6,
)
member(
    "MiniGridEmptyRandom6x6-v0",
    "Empty room of 6 x 6 cells with a random start.",
    grid_size=6,
    random_start=True,
    **RANDOM,
)
member(
    "MiniGridEmpty16x16-v0",
    CORNER.format(16),
    grid_size=16,
)
member(
    "MiniGridFourRooms-v0",
    "Four rooms, joined by gaps: reach a goal somewhere in them.",
    task="four_rooms",
    grid_size=19,
    **RANDOM,
)
member(
    "MiniGridDoorKey5x5-v0",
    "Door and key, 5 x 5 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=5,
    **RANDOM,
)
member(
    "MiniGridDoorKey6x6-v0",
    "Door and key, 6 x 6 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=6,
    **RANDOM,
)
member(
    "MiniGridDoorKey8x8-v0",
    "Door and key, 8 x 8 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=8,
    **RANDOM,
)
member(
    "MiniGridDoorKey16x16-v0",
    "Door and key, 16 x 16 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=16,
    **RANDOM,
)
member(
    "MiniGridMultiRoomN2S4-v0",
    "Two small rooms with a door between them, and a goal in the second.",
    task="multi_room",
    grid_size=25,
    rooms=2,
    largest_room=4,
    **RANDOM,
)
member(
    "MiniGridMultiRoomN4S5-v0",
    "Four small rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=4,
    largest_room=5,
    **RANDOM,
)
member(
    "MiniGridMultiRoomN6-v0",
    "Six rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=6,
    **RANDOM,
)
member(
    "MiniGridUnlockPickup-v0",
    "Unlock and pick up: fetch the key, unlock the door, take the box behind it.",
    task="unlock_pickup",
    **RANDOM,
)
member(
    "MiniGridObstructedMaze1Dl-v0",
    "Obstructed maze with one locked door: fetch the key, take the blue ball.",
    task="obstructed_maze",
    **RANDOM,
)
member(
    "MiniGridObstructedMaze1Dlh-v0",
    "Obstructed maze with one locked door, whose key is hidden in a box.",
    task="obstructed_maze",
    key_in_box=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze1Dlhb-v0",
    "Obstructed maze with one locked door, its key in a box, and a ball in front of it.",
    task="obstructed_maze",
    key_in_box=True,
    blocked=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze2Dl-v0",
    "Obstructed maze with two locked doors: fetch the key of the right one, take the blue ball.",
    task="obstructed_maze",
    quarters=1,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze2Dlh-v0",
    "Obstructed maze with two locked doors, whose keys are hidden in boxes.",
    task="obstructed_maze",
    quarters=1,
    key_in_box=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze2Dlhb-v0",
    "Obstructed maze with two locked doors, their keys in boxes, and a ball in front of each.",
    task="obstructed_maze",
    quarters=1,
    key_in_box=True,
    blocked=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze1Q-v0",
    "Obstructed maze of nine rooms, one quarter of them with doors: three rooms and two locked doors.",
    task="obstructed_maze",
    quarters=1,
    start_in_middle=True,
    key_in_box=True,
    blocked=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMaze2Q-v0",
    "Obstructed maze of nine rooms, two quarters of them with doors: the ball is in one of two corners.",
    task="obstructed_maze",
    quarters=2,
    key_in_box=True,
    blocked=True,
    **RANDOM,
)
member(
    "MiniGridObstructedMazeFull-v0",
    "Obstructed maze of nine rooms, all with doors: the ball is in one of four corners.",
    task="obstructed_maze",
    quarters=4,
    start_in_middle=True,
    key_in_box=True,
    blocked=True,
    **RANDOM,
)
member(
    "MiniGridLavaCrossingS9N1-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 1 river of lava.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="lava",
    **RANDOM,
)
member(
    "MiniGridLavaCrossingS9N2-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 2 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="lava",
    **RANDOM,
)
member(
    "MiniGridLavaCrossingS9N3-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 3 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="lava",
    **RANDOM,
)
member(
    "MiniGridLavaCrossingS11N5-v0",
    "Lava crossing, 11 x 11 cells: find the gaps in 5 rivers of lava.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="lava",
    **RANDOM,
)
member(
    "MiniGridSimpleCrossingS9N1-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 1 wall.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="wall",
    **RANDOM,
)
member(
    "MiniGridSimpleCrossingS9N2-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 2 walls.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="wall",
    **RANDOM,
)
member(
    "MiniGridSimpleCrossingS9N3-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 3 walls.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="wall",
    **RANDOM,
)
member(
    "MiniGridSimpleCrossingS11N5-v0",
    "Simple crossing, 11 x 11 cells: find the gaps in 5 walls.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="wall",
    **RANDOM,
)
member(
    "MiniGridDynamicObstacles5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    **RANDOM,
)
member(
    "MiniGridDynamicObstaclesRandom5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    random_start=True,
    **RANDOM,
)
member(
    "MiniGridDynamicObstacles6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    **RANDOM,
)
member(
    "MiniGridDynamicObstaclesRandom6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    random_start=True,
    **RANDOM,
)
member(
    "MiniGridDynamicObstacles8x8-v0",
    "Dynamic obstacles, 8 x 8 cells: to the goal past 4 balls that move.",
    task="dynamic_obstacles",
    grid_size=8,
    balls=4,
    **RANDOM,
)
member(
    "MiniGridDynamicObstacles16x16-v0",
    "Dynamic obstacles, 16 x 16 cells: to the goal past 8 balls that move.",
    task="dynamic_obstacles",
    grid_size=16,
    balls=8,
    **RANDOM,
)
member(
    "MiniGridMemoryS7-v0",
    "Memory, 7 x 7 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=7,
    starts=16,
    same_start=False,
)
member(
    "MiniGridMemoryS9-v0",
    "Memory, 9 x 9 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=9,
    starts=24,
    same_start=False,
)
member(
    "MiniGridMemoryS11-v0",
    "Memory, 11 x 11 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=11,
    **RANDOM,
)
member(
    "MiniGridMemoryS13-v0",
    "Memory, 13 x 13 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=13,
    **RANDOM,
)
member(
    "MiniGridMemoryS13Random-v0",
    "Memory, 13 x 13 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=13,
    random_length=True,
    **RANDOM,
)
member(
    "MiniGridMemoryS17Random-v0",
    "Memory, 17 x 17 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=17,
    random_length=True,
    **RANDOM,
)
