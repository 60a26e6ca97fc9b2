"""Minari datasets of recorded episodes, with the environment they came from.

    import minari
    dataset = minari.load_dataset("rlenvs/QuadHover-v0/expert-v0")
    env = dataset.recover_environment()

`rlenvs.agents.datasets.make_dataset` fills one; `DatasetWriter` takes episodes of your own. What is stored is lossless,
images included, and a dataset appears under its name when it is complete, or not at all.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlenvs.core.declare.errors import MissingExtraError, ParameterError
from rlenvs.integrations.dataset_folder import NewDataset, unused

if TYPE_CHECKING:
    import gymnasium

__all__ = ["DatasetWriter"]

NAME = "letters, digits, '-', '_' and '/', and a version at the end, as in 'rlenvs/QuadHover-v0/expert-v0'"


ROWS = "rows.h5"  # beside a data set's episodes: all steps in random order


class Episode(NamedTuple):
    """One episode of T steps.

    Attributes:
        observations: (T + 1, *observation shape), from the first to the final one; a dictionary of such arrays where
            observations are dictionaries.
        actions: (T, *action shape); what the environment was given.
        rewards: (T,), or (T, terms) where the reward is a vector.
        terminated, truncated: bool (T,).
        infos: arrays of T + 1 rows by name, the first of them from the reset; may be empty.
        seed: of the reset; None where the episode went on with a generator.
    """

    observations: Any
    actions: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    infos: dict[str, np.ndarray]
    seed: int | None


def require_minari() -> None:
    """MissingExtraError where Minari, or the library of its file format, is not installed."""
    try:
        import h5py  # noqa: F401
        import minari  # noqa: F401
    except ImportError:
        raise MissingExtraError("A Minari dataset", "minari") from None


def default_folder() -> Path:
    """Where Minari looks for datasets: $MINARI_DATASETS_PATH, or ~/.minari/datasets."""
    return Path(os.environ.get("MINARI_DATASETS_PATH") or Path.home() / ".minari" / "datasets")


def check_target(name: str, folder: Path) -> Path:
    """The folder that a dataset of this name would have.

    Raises:
        ParameterError: a name that Minari would not find again, or one that is taken.
    """
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(name)
    except (ValueError, TypeError):  # TypeError: there is no version
        raise ParameterError(f"{name!r} is not a valid dataset name; it needs {NAME}") from None
    if Path(name).as_posix() != name:
        raise ParameterError(f"{name!r} is not a valid dataset name, because a part of it is empty; it needs {NAME}")
    target = unused(name, folder)
    for above in target.relative_to(folder).parents:
        if (folder / above / "data").exists():
            raise ParameterError(f"{name!r} would lie inside the dataset {above.as_posix()!r}; choose another name")
    return target


class DatasetWriter(NewDataset):
    """Write a dataset, episode by episode, in a `with` block; after an error nothing is left behind.

        with DatasetWriter("rlenvs/Mine/first-v0", env) as writer:
            writer.add(episodes)

    Args:
        name: "(namespace/)name-vN", as Minari requires it.
        env: the environment that the episodes are from, made by `gymnasium.make` with keywords that JSON can hold.
        folder: for all datasets; `default_folder()` where it is None.
        about: further entries of the dataset's metadata; Minari knows "algorithm_name", "author", "description",
            "code_permalink", "ref_min_score", "ref_max_score" and others.

    Attributes:
        path: the folder of the dataset, there when the block has ended.

    Raises:
        MissingExtraError: Minari is not installed.
        ParameterError: the name is malformed or taken, the folder cannot be written, the environment cannot be
            described in JSON, or the disk is full.
    """

    def __init__(
        self, name: str, env: gymnasium.Env, folder: Path | None = None, about: dict[str, Any] | None = None
    ) -> None:
        require_minari()
        super().__init__(name, (folder if folder is not None else default_folder()).absolute())
        self.env, self.about = env, about or {}
        _check_spec(env)

    def check_target(self) -> Path:
        """The folder that the dataset will have; see the function of this name."""
        return check_target(self.name, self.folder)

    def open(self, unfinished: Path) -> None:
        """Begin to write."""
        self._storage = _new_storage(unfinished / "data", self.name, self.env, self.about)

    def add(self, episodes: Iterable[Episode]) -> None:
        """Append episodes.

        Raises:
            ParameterError: the disk is full. Nothing is kept of the whole dataset then.
        """
        from minari.data_collector import EpisodeBuffer

        episodes = list(episodes)
        self.check_room(sum(map(_bytes_of, episodes)))
        buffers = [
            EpisodeBuffer(
                seed=episode.seed,
                observations=episode.observations,
                actions=episode.actions,
                rewards=episode.rewards,
                terminations=episode.terminated,
                truncations=episode.truncated,
                infos=episode.infos,
            )
            for episode in episodes
        ]
        self._storage.update_episodes(buffers)

    def add_rows(self, rows: dict[str, np.ndarray]) -> None:
        """Add named arrays next to the episodes, in the file ROWS.

        Raises:
            ParameterError: the disk is full. Nothing is kept of the whole dataset then.
        """
        import h5py

        self.check_room(sum(array.nbytes for array in rows.values()) + 65536)
        with h5py.File(self.unfinished / ROWS, "w") as file:
            for name, array in rows.items():
                file.create_dataset(name, data=array, compression="gzip", compression_opts=1)

    def note(self, about: dict[str, Any]) -> None:
        """Add entries to the dataset's metadata."""
        self._storage.update_metadata(about)


def _bytes_of(episode: Episode) -> int:
    """An upper bound of what HDF5 makes of an episode: its chunks are half full at least, and its tables small."""
    parts = [episode.observations, dict(enumerate(episode[1:5])), episode.infos]
    arrays = [array for part in parts for array in (part.values() if isinstance(part, dict) else [part])]
    return 2 * sum(array.nbytes for array in arrays) + 4096 * (len(arrays) + 1)


def _check_spec(env: gymnasium.Env) -> None:
    if env.spec is None:
        raise ParameterError(f"{env} was not made by gymnasium.make, so a dataset could not recreate it")
    try:
        env.spec.to_json()
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"{env.spec.id}: its keywords cannot be written as JSON, so a dataset could not recreate it: {error}"
        ) from None


def _new_storage(path: Path, name: str, env: gymnasium.Env, about: dict[str, Any]) -> Any:
    import minari
    from minari.dataset.minari_storage import MinariStorage

    storage = MinariStorage.new(
        path,
        observation_space=env.observation_space,
        action_space=env.action_space,
        env_spec=env.spec,
        data_format="hdf5",
        jpeg_encoding=False,  # JPEG would change the images that a policy sees
    )
    storage.update_metadata({"dataset_id": name, "minari_version": minari.__version__, **about})
    return storage
