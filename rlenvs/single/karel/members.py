"""The Karel environments: what each is."""

from typing import Any

DENSE: dict[str, Any] = {"reward": "dense"}
LARGE: dict[str, Any] = {"rows": 14, "columns": 14}
SPARSE_LEVELS = {"levels": {"dense": DENSE, "large": LARGE}}
DENSE_LEVELS = {"levels": {"sparse": {"reward": "sparse"}, "large": LARGE}}
STEPS = {"levels": {"dense": DENSE, "large": {"starts": 0, **LARGE}}}
ANYWHERE = {"levels": {**DENSE_LEVELS["levels"], "random": {"random_start": True, "same_start": False}}}
ONE_START = {"same_start": True}

# for `SPEC.member`
MEMBERS: dict[str, dict[str, Any]] = {
    f"Karel{name}-v0": {"summary": f"Karel: {summary}", "task": task, **rest}
    for name, task, summary, rest in (
        ("StairClimber", "stair_climber", "climb stairs to a marker.", STEPS | {"starts": 15}),
        (
            "FourCorners",
            "four_corners",
            "put one marker in each corner, none elsewhere.",
            {"starts": 8} | DENSE | DENSE_LEVELS,
        ),
        ("TopOff", "top_off", "put a second marker on each one in the bottom row, and go to its end.", SPARSE_LEVELS),
        (
            "CleanHouse",
            "clean_house",
            "pick ten markers that lie along the walls of a house.",
            {"levels": {"sparse": {"reward": "sparse"}}} | DENSE,
        ),
        ("Harvester", "harvester", "pick the markers of all cells.", DENSE | ANYWHERE | ONE_START),
        (
            "DoorKey",
            "door_key",
            "pick the marker that opens a door, and put it on another.",
            {"program_length": 200} | DENSE | DENSE_LEVELS,
        ),
        (
            "OneStroke",
            "one_stroke",
            "visit all cells, each of which becomes a wall.",
            {"program_length": 100} | DENSE | DENSE_LEVELS,
        ),
        ("Seeder", "seeder", "put a marker on each cell.", DENSE | ANYWHERE | ONE_START),
        ("Snake", "snake", "eat markers, and keep out of a tail that grows with each.", DENSE | ANYWHERE | ONE_START),
    )
}
