"""Images that summarize windows of episodes, after StarCraftImage (Kulinski et al., CVPR 2023).

A window is a run of consecutive states; so many windows as are needed to cover an episode lie evenly spread in it, and
may overlap. An image has 64 x 64 cells and a layer for each kind of unit of each player; a
cell holds when a unit of this kind stood there last, from 1 to 255 at the end of the window, or 0 for never. Labels are
the class and the half of the episode in which the middle of the window lies, `2 * class + half`.

`windows.npz` has, of N windows: `index` (M, 4) int32, window, layer, row (from the top) and column, and `value` (M,)
uint8, all cells that are not 0 (the original's sparse images); `rgb` (N, 3, 32, 32) uint8, red for the second player,
green for neither, blue for the first; `grey` (N, 28, 28) uint8; `label`, `seed` and `start` (N,) int64; `layers` (3,)
int64. `hyperspectral` and `bag_of_units` make the other two forms.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.agents.joint import Given, joint_rollouts
from rlenvs.agents.rollouts import Played
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.parts import Recipe, Windows
from rlenvs.integrations.dataset_folder import NewDataset, unused

__all__ = ["bag_of_units", "hyperspectral", "load_windows"]

FILE = "windows.npz"
CELLS, COLOR_CELLS, GREY_CELLS = 64, 32, 28
BLUE, RED, GREEN = 2, 0, 1  # channels of the first player, the second, and neither
PATH = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*(/[A-Za-z0-9_-][A-Za-z0-9_.-]*)*")

Cells = tuple[np.ndarray, np.ndarray, np.ndarray]  # layers, rows and columns of the units of a state


class WindowWriter(NewDataset):
    """Write images, in a `with` block; after an error nothing is left behind. Arguments: see `NewDataset`."""

    arrays: dict[str, np.ndarray]

    def check_target(self) -> Path:
        """The folder of the dataset."""
        if not PATH.fullmatch(self.name):
            raise ParameterError(f"{self.name!r} is not a valid name; it needs letters, digits, '-', '_', '.' and '/'")
        return unused(self.name, self.folder)

    def open(self, unfinished: Path) -> None:
        """Nothing is written before all images are there."""

    def close(self) -> None:
        """Write the file."""
        content = io.BytesIO()
        np.savez_compressed(content, **self.arrays)  # type: ignore[arg-type]
        (self.unfinished / FILE).write_bytes(content.getvalue())


class Collector:
    """The images of all windows of a recipe, as episodes are played."""

    def __init__(self, layout: Windows) -> None:
        self.layout = layout
        self._states: list[list[Cells]] = []
        self._parts: list[tuple[np.ndarray, ...]] = []
        self._labels: list[tuple[int, int, int]] = []

    def watch(self, batch: KernelBatch, playing: np.ndarray) -> None:
        """Note the units of the worlds that play."""
        if not self._states:
            self._states = [[] for _ in range(batch.num_envs)]
        for row in np.flatnonzero(playing).tolist():
            layers, x, y = self.layout.units(*batch.records(row))
            column = np.clip(np.floor(np.asarray(x) * CELLS), 0, CELLS - 1).astype(np.int64)
            line = np.clip(np.floor((1.0 - np.asarray(y)) * CELLS), 0, CELLS - 1).astype(np.int64)
            self._states[row].append((np.asarray(layers, np.int64), line, column))

    def cut(self, place: int, seeds: list[int | None]) -> None:
        """Make images of what was noted; episodes shorter than a window have none.

        Args:
            place: the class's. seeds: of the episodes.
        """
        steps = self.layout.steps
        for states, seed in zip(self._states, seeds, strict=True):
            for start in starts(len(states), steps):
                image = summary(states[start : start + steps], sum(self.layout.layers))
                half = int(2 * start + steps > len(states))
                cells = np.argwhere(image)
                self._parts.append((cells, image[tuple(cells.T)], *_small(image, self.layout.layers)))
                self._labels.append((2 * place + half, seed or 0, start))
        self._states = []

    def arrays(self) -> dict[str, np.ndarray]:
        """The content of the file. ParameterError: no episode was as long as a window."""
        if not self._parts:
            raise ParameterError(
                f"no episode had {self.layout.steps} states, so there are no windows; play longer ones"
            )
        index = [np.c_[np.full(len(part[0]), i), part[0]] for i, part in enumerate(self._parts)]
        label, seed, start = (np.array(column, np.int64) for column in zip(*self._labels, strict=True))
        return {
            "index": np.concatenate(index).astype(np.int32),
            "value": np.concatenate([part[1] for part in self._parts]),
            "rgb": np.stack([part[2] for part in self._parts]),
            "grey": np.stack([part[3] for part in self._parts]),
            "label": label,
            "seed": seed,
            "start": start,
            "layers": np.array(self.layout.layers, np.int64),
        }


def window_rollouts(
    id: str, recipe: Recipe, seed: int, keywords: Mapping[str, Any], collector: Collector
) -> Iterator[tuple[Given, Played]]:
    """The episodes of a recipe, class by class, with their players; the collector gets the images."""
    for place, options in enumerate(collector.layout.classes.values()):
        for player, count in recipe.episodes.items():
            seeds = range(seed, seed + count)
            for found in joint_rollouts(id, player, seeds, {**options, **keywords}, collector.watch):
                collector.cut(place, [episode.seed for episode in found.episodes])
                yield player, found
            seed += count


def starts(states: int, steps: int) -> list[int]:
    """The first states of the windows of an episode; none in one that is shorter."""
    if states < steps:
        return []
    return np.linspace(0, states - steps, -(-states // steps)).round().astype(np.int64).tolist()


def summary(states: list[Cells], layers: int) -> np.ndarray:
    """uint8 (layers, 64, 64): when a unit stood in a cell last, 255 at the end of the window."""
    image = np.zeros((layers, CELLS, CELLS), np.uint8)
    for t, (layer, line, column) in enumerate(states):
        image[layer, line, column] = -(-255 * (t + 1) // len(states))
    return image


def shrunk(image: np.ndarray, size: int) -> np.ndarray:
    """The last times in a coarser grid, (size, size), of (layers, 64, 64): the largest of all that fall into a cell."""
    found = np.zeros((size, size), np.uint8)
    if len(image):
        to = np.floor(size / CELLS * (np.arange(CELLS) + 0.5)).astype(np.int64)
        np.maximum.at(found, (to[:, None], to[None, :]), image.max(axis=0))
    return found


def _small(image: np.ndarray, layers: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The colored and the grey image."""
    parts = np.split(image, np.cumsum(layers))[:3]
    colors = np.zeros((3, COLOR_CELLS, COLOR_CELLS), np.uint8)
    for channel, part in zip((BLUE, RED, GREEN), parts, strict=True):
        colors[channel] = shrunk(part, COLOR_CELLS)
    return colors, shrunk(image, GREY_CELLS)


# --- reading ----------------------------------------------------------------------------------------------------------


def load_windows(path: Path | str) -> dict[str, np.ndarray]:
    """The arrays of a dataset of windows, by name. `path`: its folder. UnknownNameError where there is none."""
    file = Path(path) / FILE
    if not file.is_file():
        raise UnknownNameError(f"there are no windows in {path}: {FILE} is missing")
    with np.load(file, allow_pickle=False) as found:
        return dict(found)


def hyperspectral(found: Mapping[str, np.ndarray], window: int) -> np.ndarray:
    """The image of a window with all layers, uint8 (layers, 64, 64).

    Args:
        found: what `load_windows` gives. window: its number; ParameterError where there is none.
    """
    count = len(found["label"])
    if not 0 <= window < count:
        raise ParameterError(f"window={window!r} must be in 0 ... {count - 1}")
    image = np.zeros((int(found["layers"].sum()), CELLS, CELLS), np.uint8)
    first, last = np.searchsorted(found["index"][:, 0], [window, window + 1])
    image[tuple(found["index"][first:last, 1:].T)] = found["value"][first:last]
    return image


def bag_of_units(found: Mapping[str, np.ndarray], window: int) -> tuple[np.ndarray, np.ndarray]:
    """The same as lists of units per cell: ids and last times, each uint8 (3, C, 64, 64) for the first player, the
    second and neither. C is the most kinds in one cell; an id is 1 plus the layer among its player's, or 0 for none."""
    image = hyperspectral(found, window)
    parts = np.split(image, np.cumsum(found["layers"]))[:3]
    most = max(1, *(int((part > 0).sum(axis=0).max(initial=0)) for part in parts))
    ids, values = (np.zeros((3, most, CELLS, CELLS), np.uint8) for _ in range(2))
    for player, part in enumerate(parts):
        for layer, line, column in np.argwhere(part):
            place = int(np.argmin(ids[player, :, line, column]))  # the first that is 0
            ids[player, place, line, column] = layer + 1
            values[player, place, line, column] = part[layer, line, column]
    return ids, values
