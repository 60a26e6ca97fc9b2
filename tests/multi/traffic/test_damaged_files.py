"""Files of networks, flows and incidents with a value that nobody wrote there: refused by name, or played."""

import copy
import json
import random

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import RlenvsError
from rlenvs.core.declare.setup import Setup
from rlenvs.multi.traffic import files, grids
from rlenvs.multi.traffic.signal_grid import SPEC

FILES = {
    "network": files.network_to(grids.grid(1, 1)),
    "flows": files.flows_to(grids.generator_flows(1, 1)),
    "incidents": [{"road": "road_0_1_0", "lane": 1, "at": 90, "startTime": 3, "endTime": 100}],
}
LARGE = 10**400
VALUES = (None, True, -1, 0, 0.5, 1e-300, 1e9, 1e300, float("nan"), float("inf"), LARGE, -LARGE, "", "x", [], {}, [[]])
HOLDERS = (dict, list)


def places(value, way=()):
    """The ways to all values in a file."""
    if way:
        yield way
    if isinstance(value, HOLDERS):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*way, key))


def damaged(content, chooser):
    """The file with a value replaced, left out, or there twice; each name of a value is as likely as any other."""
    content, names = copy.deepcopy(content), {}
    for way in places(content):
        names.setdefault(tuple(key for key in way if isinstance(key, str)), []).append(way)
    *way, last = chooser.choice(names[chooser.choice(list(names))])
    part = content
    for key in way:
        part = part[key]
    kind = chooser.random()
    if kind < 0.2:
        del part[last]
    elif kind < 0.3 and isinstance(part, list):
        part.insert(last, copy.deepcopy(part[last]))
    else:
        part[last] = copy.deepcopy(chooser.choice(VALUES))
    return content


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_file_is_refused_or_played(name):
    chooser, messages, played = random.Random(0), [], 0
    for number in range(40):
        given = {**FILES, name: damaged(FILES[name], chooser)}
        texts = {key: json.dumps(value) for key, value in given.items()}
        try:
            batch = rlenvs.make_batch("SignalGrid-v0", 1, lane_change=number % 2 == 0, threads=1, **texts)
        except RlenvsError as error:
            messages.append(str(error))
            continue
        batch.reset()
        for _ in range(6):
            batch.step(batch.player_actions("max_pressure"))
            assert np.isfinite(batch.rewards).all()
        assert not any(getattr(batch, "errors", ()))
        played += 1
    assert len(messages) > 3
    assert max(map(len, messages)) < 400
    assert played > 3


def test_roads_around_the_world_have_room_for_200_000_vehicles_at_most():
    texts = {"network": files.network_to(grids.grid(1, 1, spacing=4e7)), "flows": FILES["flows"]}
    setup = Setup(SPEC, **{name: json.dumps(value) for name, value in texts.items()})
    assert setup.sizes["vehicles"] == 200_000
