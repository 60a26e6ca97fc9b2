"""Scores are written where they belong."""

from pathlib import Path

import pytest

from benchmarks import scores
from rlenvs.core.catalogue.registry import world_of

ROWS = '    scores={\n        "idle": Score(1, 0),\n    },\n'
NEW = '    scores={\n        "idle": Score(2, 0),\n    },\n'
LEVEL = '    levels={\n        "far": {\n            "mass": 2.0,\n            "scores": {},\n        },\n    },\n'


def world(name, block):
    return (
        f'SPEC = world(\n    "{name}",\n{LEVEL}{block})\n\n\ndef after():\n    return {{\n        1: 2,\n    }},\n\n\n'
    )


@pytest.mark.parametrize("block", [ROWS, "    scores={},\n", "    scores={\n    },\n"])
def test_only_the_block_of_the_world_is_replaced(block):
    source = world("First-v0", ROWS) + world("Second-v0", block) + world("Third-v0", ROWS)
    expected = world("First-v0", ROWS) + world("Second-v0", NEW) + world("Third-v0", ROWS)
    assert scores.replaced(source, "Second-v0", NEW) == expected


def test_a_file_without_the_world_or_without_a_block_stays():
    assert scores.replaced(world("First-v0", ROWS), "Second-v0", NEW) is None
    assert scores.replaced(world("First-v0", ""), "First-v0", NEW) is None


def test_rows_that_are_written_again_stand_as_they_did():
    world = world_of("LogReplay-v0")
    path = Path(world.kernels["step"].__code__.co_filename)
    source = path.read_text(encoding="utf-8")
    changed = scores.replaced(source, world.name, scores.text_of(world.scores))
    assert changed != source  # rows on long lines
    assert scores.formatted(changed, path) == source
