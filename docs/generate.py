"""Write the catalogue, the page of every environment, and the page of all, from the declarations.

    python docs/generate.py                catalogue and pages, and the learning curves that have changed
    python docs/generate.py --images       the image of README.md, from videos of the experts; some minutes

The catalogue, rlenvs/catalogue.json, is what the registry knows: a new world has an id when it is in there. Pages go to
docs/environments/<name>.md, the tables of all to README.md beside them, learning curves to curves/<name>.webp and,
of a level, curves/<name>-<level>.webp. An image is drawn again when its curves differ from what it shows; delete it to
have it drawn with another matplotlib.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import rlenvs  # registers the environments
from rlenvs import multi, robotics, single
from rlenvs.agents.learning import learning_section
from rlenvs.agents.plots import Panel, digest_of_image, images_of, save_for_page
from rlenvs.core.catalogue.docs import documented, gallery, page
from rlenvs.core.catalogue.registry import register_catalogue, world_of
from rlenvs.core.catalogue.rows import catalogue_text

ROOT = Path(__file__).resolve().parent.parent
PAGES = ROOT / "docs" / "environments"
CURVES = PAGES / "curves"
CATALOGUE = Path(rlenvs.__file__).with_name("catalogue.json")
FAMILIES = (single, multi, robotics)
IMAGE = ROOT / "docs" / "images" / "environments.webp"
# who plays what, how far into the episode the video begins [s], and how many seconds of it are shown
SHOWN = {
    "QuadRace-v0": ("expert", 0.5, 8.0, {}),
    "QuadMultiHover-v0": ("expert", 0.0, 5.0, {}),
    "PandaPickAndPlace-v0": ("expert", 0.0, 2.0, {}),
    "Ant-v0": ("agent", 1.0, 6.0, {}),
    "SafePointGoal-v0": ("expert", 0.0, 12.0, {}),
    "MicroRacer-v0": ("expert", 0.0, 24.0, {}),
    "Battle-v0": ("expert", 0.0, 16.0, {"scenario": "8m"}),
    "Generals-v0": ("expert", 8.0, 30.0, {}),
    "PathFinding-v0": ("expert", 0.0, 6.0, {"agents": 8}),
    "ParticleTag-v0": ("expert", 0.0, 2.5, {}),
}
COLUMNS, TILE, FRAMES, MILLISECONDS = 5, 192, 40, 120


def pages() -> dict[Path, str]:
    """The text of every page by its path, and of the page of all."""
    worlds = [world_of(row.id) for row in documented()]
    own = {PAGES / f"{world.name}.md": page(world, learning_section(world), whole=False) for world in worlds}
    guides = [path.name for path in (ROOT / "docs").glob("*.md")]
    return {PAGES / "README.md": gallery(guides), **own}


def curves() -> dict[Path, Panel]:
    """What the images of learning curves show, by their paths: of the defaults, and of every level that has some."""
    worlds = [world_of(row.id) for row in documented()]
    return {PAGES / name: panel for world in worlds for name, panel in images_of(world).items()}


def draw_curves() -> int:
    """Draw the learning curves that have changed, and delete those that are gone; returns how many were drawn."""
    wanted = curves()
    stale = {path: panel for path, panel in wanted.items() if digest_of_image(path) != panel.digest}
    for path in set(CURVES.glob("*.webp")) - set(wanted):
        path.unlink()
    for path, panel in stale.items():
        path.parent.mkdir(exist_ok=True)
        save_for_page(panel, path)
    return len(stale)


def draw_image(path: Path = IMAGE) -> int:
    """Video some environments side by side, as an animated WebP; returns its size in bytes."""
    from PIL import Image

    videos = [tile_film(name) for name in SHOWN]
    frames = [
        np.vstack([np.hstack([video[t] for video in videos[k : k + COLUMNS]]) for k in range(0, len(videos), COLUMNS)])
        for t in range(FRAMES)
    ]
    first, *others = map(Image.fromarray, frames)
    path.parent.mkdir(exist_ok=True)
    first.save(path, save_all=True, append_images=others, duration=MILLISECONDS, loop=0, quality=55, method=6)
    return path.stat().st_size


def tile_film(name: str) -> list[np.ndarray]:
    """FRAMES small images of an environment, evenly spaced in the seconds that are shown."""
    from PIL import Image

    from rlenvs.agents.files import load_agent
    from rlenvs.agents.video import video
    from rlenvs.core.declare.setup import Setup

    player, begin, seconds, keywords = SHOWN[name]
    fps = Setup(world_of(name), **keywords).fps
    wanted = np.linspace(begin * fps, (begin + seconds) * fps, FRAMES, endpoint=False).astype(int)
    policy = load_agent(name) if player == "agent" else player
    images = video(name, policy, seconds=begin + seconds + 1.0, backend="python", **keywords)
    small = {}
    for step, image in enumerate(images):
        if step in wanted:
            small[step] = np.asarray(Image.fromarray(image).resize((TILE, TILE), Image.Resampling.LANCZOS))
        if step >= wanted[-1]:
            break
    print(f"{name}: {len(small)} images", flush=True)
    return [small[step] for step in wanted]


def main() -> None:
    """Write everything; pages of environments that are gone are deleted."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--images", action="store_true", help="only the image of README.md")
    if options.parse_args().images:
        print(f"{IMAGE.relative_to(ROOT)}: {draw_image() / 1e6:.2f} MB")
        return
    CATALOGUE.write_text(catalogue_text(FAMILIES), encoding="utf-8")
    register_catalogue(CATALOGUE)
    PAGES.mkdir(exist_ok=True)
    wanted = pages()
    for path in set(PAGES.glob("*.md")) - set(wanted):
        path.unlink()
    for path, text in wanted.items():
        path.write_text(text, encoding="utf-8")
    print(f"the catalogue and {len(wanted)} pages in docs/environments")
    print(f"{draw_curves()} images of learning curves that had changed")


if __name__ == "__main__":
    main()
