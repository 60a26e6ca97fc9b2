"""Images drawn in Python and by translated code under node, compared frame by frame."""

from __future__ import annotations

import base64
import json
import subprocess
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.agents.evaluate import begin_episode
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import EpisodeTotals, compose
from rlenvs.live.translate import draw_module
from support.node import NODE, STATIC

SCRIPT = Path(__file__).with_suffix(".mjs")
TURN = 20  # steps of one policy


class Comparison(NamedTuple):
    """How translated code draws.

    Attributes:
        frames: compared. equal: of them. difference: the first one, "" if none.
        python, node: milliseconds of the processor that a frame takes. size: bytes of the module.
    """

    frames: int
    equal: int
    difference: str
    python: float
    node: float
    size: int


def fields_of(dtype: np.dtype) -> dict[str, tuple[str, int, list[int]]]:
    """The fields of a record: code, place, shape."""
    assert dtype.fields is not None
    return {
        name: (dtype[name].base.str[1:], place[1], list(dtype[name].shape))
        for name, place in dtype.fields.items()
        if not name.startswith("_gap")
    }


def packed(record: Any) -> str:
    """The bytes of a record."""
    return base64.b64encode(record.tobytes()).decode()


def recorded(batch: KernelBatch, steps: int, frames: int, seed: int) -> tuple[dict[str, Any], float]:
    """States of an episode with what Python draws of them, and the milliseconds that a frame takes there."""
    recorder, drawn, took, before = Recorder(), [], 0.0, ""
    # random actions in some steps, so that there are collisions too
    policies = ("random", "expert") if batch.world.has_expert else ("random",)
    batch.totals = EpisodeTotals(batch)
    choose = [begin_episode(batch, policy, seed) for policy in policies]
    for step in range(steps):
        if step % max(steps // frames, 1) == 0:
            params, state = batch.records(0)
            began = time.process_time()
            compose(batch, 0, recorder)
            took += time.process_time() - began
            own = packed(params)
            drawn.append({"params": own if own != before else "", "state": packed(state), "image": told(recorder)})
            before = own
        batch.step(choose[(step // TURN) % len(choose)]())
    params, state = batch.records(0)
    case = {"params": fields_of(params.dtype), "state": fields_of(state.dtype), "frames": drawn, "timed": 0}
    return case, 1000.0 * took / len(drawn)


def told(recorder: Recorder) -> dict[str, Any]:
    """What a recorder has, as JavaScript tells it."""
    frame = recorder.frame()
    return {
        "scene": frame.scene,
        "ground": frame.ground,
        "shapes": [[_plain(shape.style), shape.numbers] for shape in frame.shapes],
        "head": frame.head._asdict(),
        "captions": frame.captions,
        "legend": frame.legend,
    }


def _plain(style: Any) -> list[Any]:
    """Numbers as JSON writes them, whole ones without a point as JavaScript does."""
    values = [part.item() if isinstance(part, np.generic) else part for part in style]
    return [int(part) if isinstance(part, (float, bool)) and part == int(part) else part for part in values]


def compare(
    id: str, folder: Path, steps: int = 100, frames: int = 10, seed: int = 1, timed: int = 0, **keywords: Any
) -> Comparison:
    """Play some steps, and compare the images.

    Args:
        id: of the environment. folder: for the module and the states.
        steps: of the episode, with experts and random actions in turn. frames: of it that are compared.
        timed: frames to draw for the time under node. keywords: of `rlenvs.make_batch`.
    """
    module = folder / "draw.mjs"
    module.write_text(draw_module(world_of(id), f"{STATIC.as_uri()}/"), encoding="utf-8")
    batch = rlenvs.make_batch(id, 1, autoreset=AutoresetMode.NEXT_STEP, **keywords)
    case, python = recorded(batch, steps, frames, seed)
    batch.close()
    path = folder / "case.json"
    path.write_text(json.dumps({**case, "timed": timed}), encoding="utf-8")
    assert NODE is not None
    command = [NODE, str(SCRIPT), str(path), str(module), str(STATIC)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if done.returncode:
        return Comparison(len(case["frames"]), 0, done.stderr.strip()[-600:], python, 0.0, module.stat().st_size)
    result = json.loads(done.stdout)
    size = module.stat().st_size
    return Comparison(result["frames"], result["equal"], result["difference"], python, result["milliseconds"], size)
