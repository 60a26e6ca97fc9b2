"""The members of the MiniGrid kind: what each is, and its reference scores."""

from typing import Any

from rlenvs.core import Score

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
    scores={
        "random": Score(0.216, 0.057, success=0.45, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.955, 0, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridEmptyRandom5x5-v0",
    "Empty room of 5 x 5 cells with a random start.",
    grid_size=5,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(0.3106, 0.07, success=0.52, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9686, 0.0022, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridEmpty6x6-v0",
    CORNER.format(6),
    grid_size=6,
    scores={
        "random": Score(0.1764, 0.051, success=0.4, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9563, 0, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridEmptyRandom6x6-v0",
    "Empty room of 6 x 6 cells with a random start.",
    grid_size=6,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(0.2474, 0.064, success=0.43, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9717, 0.002, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridEmpty16x16-v0",
    CORNER.format(16),
    grid_size=16,
    scores={
        "random": Score(0.03163, 0.025, success=0.07, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9763, 0, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridFourRooms-v0",
    "Four rooms, joined by gaps: reach a goal somewhere in them.",
    task="four_rooms",
    grid_size=19,
    **RANDOM,
    scores={
        "random": Score(0.01867, 0.019, success=0.04, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8589, 0.013, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDoorKey5x5-v0",
    "Door and key, 5 x 5 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=5,
    **RANDOM,
    scores={
        "random": Score(0.04352, 0.027, success=0.1, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9643, 0.0012, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDoorKey6x6-v0",
    "Door and key, 6 x 6 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=6,
    **RANDOM,
    scores={
        "random": Score(0.00125, 0.0024, success=0.01, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9685, 0.00094, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDoorKey8x8-v0",
    "Door and key, 8 x 8 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=8,
    **RANDOM,
    scores={
        "random": Score(0.007906, 0.011, success=0.02, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9761, 0.00081, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDoorKey16x16-v0",
    "Door and key, 16 x 16 cells: fetch the key, unlock the door, go to the goal.",
    task="door_key",
    grid_size=16,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9875, 0.0005, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMultiRoomN2S4-v0",
    "Two small rooms with a door between them, and a goal in the second.",
    task="multi_room",
    grid_size=25,
    rooms=2,
    largest_room=4,
    **RANDOM,
    scores={
        "random": Score(0.02583, 0.026, success=0.04, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8486, 0.008, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMultiRoomN4S5-v0",
    "Four small rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=4,
    largest_room=5,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.7701, 0.0061, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMultiRoomN6-v0",
    "Six rooms in a chain of doors, and a goal in the last.",
    task="multi_room",
    grid_size=25,
    rooms=6,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.6531, 0.008, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridUnlockPickup-v0",
    "Unlock and pick up: fetch the key, unlock the door, take the box behind it.",
    task="unlock_pickup",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9444, 0.0016, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze1Dl-v0",
    "Obstructed maze with one locked door: fetch the key, take the blue ball.",
    task="obstructed_maze",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.943, 0.0018, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze1Dlh-v0",
    "Obstructed maze with one locked door, whose key is hidden in a box.",
    task="obstructed_maze",
    key_in_box=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9399, 0.0018, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze1Dlhb-v0",
    "Obstructed maze with one locked door, its key in a box, and a ball in front of it.",
    task="obstructed_maze",
    key_in_box=True,
    blocked=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9159, 0.0025, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze2Dl-v0",
    "Obstructed maze with two locked doors: fetch the key of the right one, take the blue ball.",
    task="obstructed_maze",
    quarters=1,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9706, 0.001, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze2Dlh-v0",
    "Obstructed maze with two locked doors, whose keys are hidden in boxes.",
    task="obstructed_maze",
    quarters=1,
    key_in_box=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9684, 0.001, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze2Dlhb-v0",
    "Obstructed maze with two locked doors, their keys in boxes, and a ball in front of each.",
    task="obstructed_maze",
    quarters=1,
    key_in_box=True,
    blocked=True,
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9561, 0.0016, success=1, costs={"danger": 0}),
    },
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
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9544, 0.0019, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridObstructedMaze2Q-v0",
    "Obstructed maze of nine rooms, two quarters of them with doors: the ball is in one of two corners.",
    task="obstructed_maze",
    quarters=2,
    key_in_box=True,
    blocked=True,
    **RANDOM,
    scores={
        "random": Score(0.008381, 0.012, success=0.02, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9845, 0.0005, success=1, costs={"danger": 0}),
    },
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
    scores={
        "random": Score(0.009962, 0.016, success=0.02, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9878, 0.00084, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridLavaCrossingS9N1-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 1 river of lava.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 0.88}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9606, 0.00035, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridLavaCrossingS9N2-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 2 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0.006, 0.012, success=0.01, costs={"danger": 0.96}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9549, 0.0019, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridLavaCrossingS9N3-v0",
    "Lava crossing, 9 x 9 cells: find the gaps in 3 rivers of lava.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9551, 0.0016, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridLavaCrossingS11N5-v0",
    "Lava crossing, 11 x 11 cells: find the gaps in 5 rivers of lava.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="lava",
    **RANDOM,
    scores={
        "random": Score(0, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9593, 0.0014, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridSimpleCrossingS9N1-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 1 wall.",
    task="crossing",
    grid_size=9,
    crossings=1,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.01847, 0.013, success=0.08, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9606, 0.00035, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridSimpleCrossingS9N2-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 2 walls.",
    task="crossing",
    grid_size=9,
    crossings=2,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.03347, 0.026, success=0.07, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9549, 0.0019, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridSimpleCrossingS9N3-v0",
    "Simple crossing, 9 x 9 cells: find the gaps in 3 walls.",
    task="crossing",
    grid_size=9,
    crossings=3,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.006417, 0.0087, success=0.03, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9551, 0.0016, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridSimpleCrossingS11N5-v0",
    "Simple crossing, 11 x 11 cells: find the gaps in 5 walls.",
    task="crossing",
    grid_size=11,
    crossings=5,
    river="wall",
    **RANDOM,
    scores={
        "random": Score(0.004626, 0.0091, success=0.01, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9593, 0.0014, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstacles5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8824, 0.011, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstaclesRandom5x5-v0",
    "Dynamic obstacles, 5 x 5 cells: to the goal past 2 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=5,
    balls=2,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(-0.746, 0.13, success=0.13, costs={"danger": 0.87}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9429, 0.0081, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstacles6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.8929, 0.0082, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstaclesRandom6x6-v0",
    "Dynamic obstacles, 6 x 6 cells: to the goal past 3 balls that move, from a random start.",
    task="dynamic_obstacles",
    grid_size=6,
    balls=3,
    random_start=True,
    **RANDOM,
    scores={
        "random": Score(-0.8819, 0.092, success=0.06, costs={"danger": 0.94}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9412, 0.0085, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstacles8x8-v0",
    "Dynamic obstacles, 8 x 8 cells: to the goal past 4 balls that move.",
    task="dynamic_obstacles",
    grid_size=8,
    balls=4,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9324, 0.0044, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridDynamicObstacles16x16-v0",
    "Dynamic obstacles, 16 x 16 cells: to the goal past 8 balls that move.",
    task="dynamic_obstacles",
    grid_size=16,
    balls=8,
    **RANDOM,
    scores={
        "random": Score(-1, 0, success=0, costs={"danger": 1}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9677, 0.0011, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS7-v0",
    "Memory, 7 x 7 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=7,
    starts=16,
    same_start=False,
    scores={
        "random": Score(0.179, 0.063, success=0.26, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9842, 0.00077, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS9-v0",
    "Memory, 9 x 9 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=9,
    starts=24,
    same_start=False,
    scores={
        "random": Score(0.2379, 0.073, success=0.32, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9883, 0.00072, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS11-v0",
    "Memory, 11 x 11 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=11,
    **RANDOM,
    scores={
        "random": Score(0.1942, 0.071, success=0.25, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9909, 0.00065, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS13-v0",
    "Memory, 13 x 13 cells: at the end of the hallway, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=13,
    **RANDOM,
    scores={
        "random": Score(0.2153, 0.073, success=0.27, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9925, 0.00058, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS13Random-v0",
    "Memory, 13 x 13 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=13,
    random_length=True,
    **RANDOM,
    scores={
        "random": Score(0.2265, 0.073, success=0.31, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9935, 0.00044, success=1, costs={"danger": 0}),
    },
)
member(
    "MiniGridMemoryS17Random-v0",
    "Memory, 17 x 17 cells: at the end of the hallway of a random length, choose the object seen at its beginning.",
    task="memory",
    levels=RECALL,
    grid_size=17,
    random_length=True,
    **RANDOM,
    scores={
        "random": Score(0.3041, 0.077, success=0.43, costs={"danger": 0}),
        "idle": Score(0, 0, success=0, costs={"danger": 0}),
        "expert": Score(0.9955, 0.00037, success=1, costs={"danger": 0}),
    },
)
