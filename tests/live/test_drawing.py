"""Images in pages have the shapes of Python's."""

import json
import math

import numpy as np
import pytest
from support.drawn import STATIC, compare, told
from support.kernels_in_turn import in_turn, kinds
from support.node import needs_node, run_node
from support.rotation import commits

from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare import canvas as frame
from rlenvs.core.declare.canvas import Head
from rlenvs.core.forms.recorder import Recorder
from rlenvs.live.translate import TranslationError, draw_module
from rlenvs.live.translate.program import Program

pytestmark = needs_node
LABELS = ("goal", "hunter, the leader with a crown", "AVATAR 0123456789", "wall", "a much longer text than the others")
HEAD = Head("A title", "step 3 / 10", "return 1.00", "success", True)


def all_verbs(canvas, p, s):
    canvas.legend(*[((10 * k, 200, 250.0), label, frame.SHAPES[k]) for k, label in enumerate(LABELS)])
    canvas.caption("a caption", f"{math.pi:.2f} rad")
    canvas.view(-2.0, 2.0, -1.5, 1.5)
    canvas.circle((0.1, 0.2), 0.3, "blue")
    canvas.circle(np.array([0.1, 0.2]), 1e-9, frame.agent_color(9), 2.0)
    canvas.line([(0, 0), (1, 1), (0.5, 0.25)], "red", 2.5, closed=True)
    canvas.line([(0, 0)], "red")
    canvas.polygon(np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), (1, 2, 3), 1.0)
    canvas.polygon([(0, 0), (math.inf, 0), (0, 1)], "green")
    canvas.view(0, 1, 0, 1, (0.5, 0.0, 1.0, 0.5))
    canvas.view(0, 1, 0, 1, area=(0.5, 0.25, 1.0, 0.5))
    canvas.rectangle(0.1, 0.2, 0.3, 0.4, "sky", rounded=0.05)
    canvas.rectangle(*(0.1, 0.2), 0.3, 0.4, "pink", 2.0)
    canvas.arrow((0, 0), (1, 1), "black")
    canvas.text((0.5, 0.5), "text `${x}` \"'", "white", 12, "centre", ground="black")
    canvas.text((0.5, 0.5), "more", size=9)


def pasted(canvas, p, s):
    canvas.circle((0, 0), 1.0, "blue")
    canvas.paste(np.arange(12).reshape(2, 2, 3))
    canvas.circle((0, 0), 1.0, "red")


def drawn_under_node(*functions, framed=True):
    """The frames that functions draw there."""
    texts = [Program().translate(function, "draw") for function in functions]
    bodies = [
        text.rpartition("export { ")[0] + f" return {text.rpartition('export { ')[2].split()[0]};" for text in texts
    ]
    lines = [
        f'import * as {name} from "{STATIC.as_uri()}/{file}.js";' for name, file in (("py", "python"), ("np", "numpy"))
    ]
    lines += [
        f"const draws = [{', '.join(f'(() => {{ {body} }})()' for body in bodies)}];",
        f"const canvas = new Canvas(512, 512, {json.dumps(framed)});",
        "tell(draws.map(draw => { canvas.clear(); draw(canvas, {}, {}); canvas.head(given[0]);",
        "  const { scene, ground, shapes, head, captions, legend } = canvas.frame();",
        "  return { scene, ground, shapes, head, captions, legend }; }));",
    ]
    return run_node("\n".join(lines), HEAD._asdict(), imports=[("Canvas", "canvas")])


@pytest.mark.parametrize("framed", [True, False])
def test_all_verbs_are_recorded_as_in_python(framed):
    recorder = Recorder(framed=framed)
    for function, found in zip((all_verbs, pasted), drawn_under_node(all_verbs, pasted, framed=framed), strict=True):
        recorder.images.clear()
        recorder.clear()
        function(recorder, None, None)
        recorder.head(HEAD)
        assert found == json.loads(json.dumps(told(recorder)))


def test_the_frame_is_that_of_python():
    names = "COLORS, AGENT_COLORS, USUAL, HEAD, ROW, MARGIN, SWATCH"
    found = run_node(f"tell([{names}]);", imports=[(names, "frame")])
    expected = [frame.COLORS, frame.AGENT_COLORS, frame.USUAL, frame.HEAD, frame.ROW, frame.MARGIN, frame.SWATCH]
    assert found == json.loads(json.dumps(expected))


def test_texts_of_legends_are_as_wide_as_in_python():
    recorder = Recorder()
    texts = [*LABELS, "goal of agent 1", "Tasks: 70 %", "lidar: the larger, the closer", "return 0.5 (best)"]
    widths = run_node("tell(given.map(text => text_width(text, 12)));", *texts, imports=[("text_width", "frame")])
    expected = [recorder._font(12).size(text)[0] for text in texts]
    assert max(abs(own - other) for own, other in zip(widths, expected, strict=True)) <= 1


@pytest.mark.budget(30)
def test_worlds_in_turn_are_drawn_as_in_python(tmp_path):
    """Another few kinds of different families with each commit; `benchmarks/live_drawing.py` compares all."""
    for id in in_turn([name for name in kinds() if "draw" in world_of(name).functions], commits() or 0):
        found = compare(id, tmp_path, steps=60, frames=6)
        assert found.equal == found.frames, f"{id}: {found.difference}"


@pytest.mark.budget(30)
def test_all_draws_are_translated():
    refused = []
    for id in kinds():
        try:
            draw_module(world_of(id))
        except TranslationError as reason:
            refused.append(str(reason))
    assert refused == []
