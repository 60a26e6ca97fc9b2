"""Videos keep the colours of small things, and time."""

import numpy as np
import pytest
from PIL import Image

import rlenvs
from benchmarks.videos import SHARE, images_of, kept, to_lab, worst
from rlenvs.agents.video import check_file, pace, save
from rlenvs.core.declare.canvas import COLORS
from rlenvs.core.declare.errors import MissingExtraError, ParameterError

IDS = [id.split("/")[1] for id in rlenvs.list_envs() if "/mo-" not in id]


def busy_images(count=6):
    """Thousands of shades of grey and beige, as of a lit scene, and small things in colours that move across it."""
    rows, columns = np.mgrid[0:256, 0:256]
    light = 60.0 + 0.7 * np.hypot(rows - 80, columns - 150)
    for t in range(count):
        scene = np.stack([light, light * 0.99 + 0.02 * columns, light * 0.96 + 0.03 * rows], axis=2)
        for k, name in enumerate(("green", "orange", "blue", "red", "pink", "sky", "yellow")):
            shade = 0.7 + 0.3 * np.cos(0.2 * (rows + columns))[..., None]
            near = np.hypot(rows - 20 - 30 * k, columns - 20 - 7 * t) < 7
            scene = np.where(near[..., None], shade * COLORS[name], scene)
        yield scene.clip(0, 255).astype(np.uint8)


def test_lab_of_known_colours():
    """By the formulas of CIE 15, as colour calculators give them."""
    np.testing.assert_allclose(to_lab(np.uint8([[255, 0, 0]])), [[53.24, 80.09, 67.20]], atol=0.02)
    np.testing.assert_allclose(to_lab(np.uint8([[255, 255, 255]])), [[100.0, 0.0, 0.0]], atol=0.02)
    np.testing.assert_allclose(to_lab(np.uint8([[0, 0, 255]])), [[32.30, 79.19, -107.86]], atol=0.02)


def test_kept_counts_saturated_pixels_alone():
    image = np.full((10, 10, 3), 128, np.uint8)
    assert kept(image, 255 - image) == 1.0
    image[:2] = COLORS["green"]
    grey = np.full_like(image, 128)
    assert kept(image, grey) == 0.0
    grey[0] = COLORS["green"]
    assert kept(image, grey) == 0.5


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_videos_keep_the_colours_of_small_things(tmp_path, suffix):
    assert worst(list(busy_images()), tmp_path / f"video{suffix}") >= SHARE


def test_mp4_keeps_them_too(tmp_path):
    pytest.importorskip("imageio_ffmpeg")
    assert worst(list(busy_images()), tmp_path / "video.mp4") >= SHARE


def test_webp_keeps_every_pixel(tmp_path):
    images = list(busy_images(2))
    save(tmp_path / "video.webp", images, 15.0)
    with Image.open(tmp_path / "video.webp") as video:
        assert video.n_frames == 2
        video.seek(1)
        np.testing.assert_array_equal(np.asarray(video.convert("RGB")), images[1])


def test_gifs_keep_time(tmp_path):
    """GIF counts in hundredths of a second; 15 images per second are 6 or 7 each."""
    images = list(busy_images(12))
    save(tmp_path / "video.gif", images, 15.0)
    with Image.open(tmp_path / "video.gif") as video:
        durations = []
        for number in range(video.n_frames):
            video.seek(number)
            durations.append(video.info["duration"])
    assert len(durations) == 12
    assert sum(durations) == 800


def test_the_suffix_decides(tmp_path, monkeypatch):
    from pathlib import Path

    with pytest.raises(ParameterError, match=r"'a.avi' must end in .gif, .webp or .mp4"):
        check_file(Path("a.avi"))
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[video\]"):
        check_file(Path("a.mp4"))
    assert pace(Path("a.gif"), 30.0) == pace(Path("a.webp"), 30.0) == (2, 15.0)
    assert pace(Path("a.mp4"), 30.0) == (1, 30.0)


def test_videos_of_a_world_keep_the_colours(tmp_path):
    assert worst(images_of("QuadHover-v0", 2.0, "python"), tmp_path / "video.gif") >= SHARE


@pytest.mark.slow
@pytest.mark.parametrize("id", IDS)
def test_videos_of_all_worlds_keep_the_colours(tmp_path, id):
    assert worst(images_of(id, 2.0, "python"), tmp_path / "video.gif") >= SHARE
