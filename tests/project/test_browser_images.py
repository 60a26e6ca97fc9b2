"""Images that a page paints look like those of Python."""

import base64
import io
import json

import numpy as np
import pytest
from PIL import Image

from rlenvs.core.declare.canvas import Canvas, Head
from rlenvs.live.export import write_static
from rlenvs.live.server import served
from rlenvs.live.translate.program import Program

pytestmark = pytest.mark.browser
HEAD = Head("A title", "step 3 / 10", "return 1.00", "success", True)
NEAR = 4.0  # of 255, the mean difference; edges of letters and lines are smoothed in other ways
PAGE = """<!doctype html><title>images</title><link rel="icon" href="data:,"><canvas width="512" height="512"></canvas>
<script type="module">
import * as py from "./static/python.js";
import { Canvas } from "./static/canvas.js";
import { paint } from "./static/image.js";
%s
const canvas = new Canvas();
draw$(canvas);
canvas.head(%s);
paint(canvas.frame(), document.querySelector("canvas").getContext("2d"));
document.title = "painted";
</script>"""


def draw(canvas):
    canvas.legend(
        ("blue", "a disc", "disc"), ("red", "a ring", "ring"), ("light", "a square"), ("sky", "a line", "line")
    )
    canvas.caption("a caption", "of two parts")
    canvas.view(-2.0, 2.0, -2.0, 2.0)
    for k in range(4):
        canvas.rectangle(-2.0 + k, -2.0, -1.0 + k, -1.0, "green" if k % 2 else (120, 180, 90))
    canvas.circle((-1.0, 0.5), 0.5, "blue")
    canvas.circle((-1.0, 0.5), 0.7, "red", 6.0)
    canvas.line([(-1.8, 1.8), (1.8, 1.5), (1.0, 1.0)], "black", 3.0)
    canvas.polygon([(0.2, 0.0), (1.4, 0.1), (0.6, 1.0)], "orange")
    canvas.rectangle(1.0, -0.6, 1.8, 0.0, "sky", 3.0, rounded=0.1)
    canvas.arrow((-1.8, -0.6), (0.5, -0.3), "pink", 4.0)
    canvas.text((0.0, -0.8), "some text", "white", 16, "centre", ground="black")


def test_an_image_looks_like_that_of_python(tmp_path, browse):
    write_static(tmp_path)
    text = Program().translate(draw, "draw").rpartition("export {")[0]
    (tmp_path / "index.html").write_text(PAGE % (text, json.dumps(HEAD._asdict())), encoding="utf-8")
    page = browse(viewport={"width": 600, "height": 600})
    with served(tmp_path) as address:
        page.goto(f"{address}/index.html")
        for _ in range(200):
            if page.title() == "painted":
                break
            page.wait_for_timeout(20)
        packed = page.evaluate("document.querySelector('canvas').toDataURL('image/png').split(',')[1]")
    found = np.asarray(Image.open(io.BytesIO(base64.b64decode(packed))).convert("RGB"), float)
    canvas = Canvas()
    draw(canvas)
    canvas.head(HEAD)
    expected = canvas.pixels().astype(float)
    assert np.abs(found - expected).mean() < NEAR
    # no part of the image is missing or in another place
    blocks = np.abs(found - expected).reshape(16, 32, 16, 32, 3).mean(axis=(1, 3, 4))
    assert blocks.max() < 12 * NEAR, np.argwhere(blocks > 12 * NEAR).tolist()
    for row, column in ((502, 15), (502, 500), (4, 256), (40, 250)):  # a swatch, legend, head
        assert np.abs(found[row, column] - expected[row, column]).max() < 12, (row, column)
