"""Whether videos keep the colours of what matters: of an image's pixels with a chroma above 40 (CIELAB, D65), the share
that lies within a colour difference of 15 (CIE76, the distance in CIELAB) in the video. The worst image counts.

    python benchmarks/videos.py [--file .gif] [--seconds 4] [--backend numba] [ID ...]

Videos the scripted expert, or random actions, in every environment (or those named), writes the video, reads it back
and prints a line each; fails when a share is below 0.9.
"""

import argparse
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np

CHROMA, DIFFERENCE, SHARE = 40.0, 15.0, 0.9
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])


def to_lab(colors: np.ndarray) -> np.ndarray:
    """CIELAB of sRGB colours, uint8 (..., 3), with the white of D65."""
    part = colors.astype(np.float64) / 255.0
    linear = np.where(part > 0.04045, ((part + 0.055) / 1.055) ** 2.4, part / 12.92)
    x, y, z = np.moveaxis(linear @ TO_XYZ.T / WHITE, -1, 0)
    fx, fy, fz = (np.where(v > 216 / 24389, np.cbrt(v), (24389 / 27 * v + 16) / 116) for v in (x, y, z))
    return np.stack([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)], axis=-1)


def kept(image: np.ndarray, recorded: np.ndarray) -> float:
    """The share of saturated pixels that the video keeps; 1 where there are none."""
    coloured = np.ptp(image, axis=2) > 16  # greys have no chroma; to leave them out saves most of the time
    lab = to_lab(image[coloured])
    vivid = np.hypot(lab[:, 1], lab[:, 2]) > CHROMA
    if not vivid.any():
        return 1.0
    return float((np.linalg.norm(lab[vivid] - to_lab(recorded[coloured][vivid]), axis=1) <= DIFFERENCE).mean())


def read(path: Path) -> list[np.ndarray]:
    """The images of a video, uint8 (512, 512, 3); those that are equal to the one before may be missing."""
    if path.suffix == ".mp4":
        from imageio.v2 import get_reader

        return [frame[::2, ::2] for frame in get_reader(path)]
    from PIL import Image

    with Image.open(path) as video:
        frames = []
        for number in range(getattr(video, "n_frames", 1)):
            video.seek(number)
            frames.append(np.asarray(video.convert("RGB")))
    return frames


def worst(images: Sequence[np.ndarray], path: Path, fps: float = 15.0) -> float:
    """Video images, read the file, and compare: the worst share. Equal neighbours are recorded once, as writers do."""
    from rlenvs.agents.video import save

    different = [p for k, p in enumerate(images) if k == 0 or not np.array_equal(p, images[k - 1])]
    save(path, different, fps)
    recorded = read(path)
    if len(recorded) != len(different):  # the palette has made neighbours equal
        return min(max(kept(p, f) for f in recorded) for p in different)
    return min(kept(*pair) for pair in zip(different, recorded, strict=True))


def images_of(id: str, seconds: float, backend: str, most: int = 24) -> list[np.ndarray]:
    """So many images of an environment under its expert, or random actions where it has none."""
    from rlenvs.agents.video import video
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.declare.setup import Setup

    world = world_of(id)
    policy = "expert" if world.has_expert else "random"
    every = max(1, round(seconds * Setup(world).fps / most))
    return list(video(id, policy, seconds=seconds, every=every, backend=backend))


def main() -> None:
    """Measure, and print."""
    import rlenvs

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--file", default=".gif", choices=(".gif", ".webp", ".mp4"))
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--backend", default="numba", choices=("numba", "python"))
    given = parser.parse_args()
    ids = given.ids or [id.split("/")[1] for id in rlenvs.list_envs() if "/mo-" not in id]
    warnings.filterwarnings("ignore", category=UserWarning)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for id in ids:
            images = images_of(id, given.seconds, given.backend)
            path = Path(folder, id + given.file)
            share = worst(images, path)
            print(f"{id:32} {share:6.3f}  {len(images):3} images  {path.stat().st_size / 1024:6.0f} kB", flush=True)
            failed += [id] if share < SHARE else []
    if failed:
        raise SystemExit(f"below {SHARE}: {', '.join(failed)}")


if __name__ == "__main__":
    main()
