"""Traffic for tests: CityFlow's bundled example, and what is where."""

from rlenvs.multi.traffic.files import flows_to, network_to
from rlenvs.multi.traffic.grids import Streets, grid
from rlenvs.multi.traffic.networks import Flow, Vehicle
from rlenvs.multi.traffic.signal_grid import metrics

ROUTES = (  # of the example: where vehicles come from, and the direction of their last road
    *(("01", 0), ("21", 2), ("10", 1), ("12", 3), ("10", 0), ("01", 1)),
    *(("21", 3), ("12", 2), ("01", 3), ("12", 0), ("21", 1), ("10", 2)),
)
INWARD = {"01": 0, "10": 1, "21": 2, "12": 3}
EXAMPLE = {  # the files that come with CityFlow
    "network": network_to(grid(1, 1, 300.0, Streets(left=2, straight=3, right=2, plan=True))),
    "flows": flows_to(
        [
            Flow(Vehicle(), (f"road_{start[0]}_{start[1]}_{INWARD[start]}", f"road_1_1_{end}"), 5.0)
            for start, end in ROUTES
        ]
    ),
}
PLAN = {  # how CityFlow runs a stored plan, with its random numbers
    "arrivals": "regular",
    "spread": 0.0,
    "draws_seed": 0,
    "phases": "all",
    "yellow": 0,
    "min_green": 0,
    "decision": 5,
}


def vehicles_on(s, drivable):
    """The vehicles of a drivable, the first one ahead."""
    found, v = [], int(s.first[drivable])
    while v >= 0:
        found.append(v)
        v = int(s.behind[v])
    return found


def measured(batch, index=0):
    """The metrics of a world of a batch."""
    return metrics(*batch.records(index))
