"""Joint trajectories in the layout of Off-the-Grid MARL (Formanek et al., AAMAS 2023): a Flashbax vault.

A dataset is the folder SCENARIO.vlt/UID. `metadata.json` has the structure of the leaves, each a Zarr array (version
2) with the axes [1, time, agent, ...]: `observations`, `actions`, `rewards`, `terminals`, `truncations`,
`infos.legals`, and without the axis of agents `infos.state`. Episodes follow each other; `terminals` or `truncations`
of all agents end one. The final observation of an episode is not stored.

    python: flashbax.vault.Vault(rel_dir=folder, vault_name="3m.vlt", vault_uid="Good").read().experience
    without its packages: rlenvs.integrations.og_marl.read_vault(folder / "3m.vlt" / "Good")

Flashbax reads arrays from an OCDBT store only, which needs the package `tensorstore` also to be written. Where it is
not installed the same arrays lie in plain folders, as any reader of Zarr expects them.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.integrations.dataset_folder import NewDataset, unused
from rlenvs.integrations.minari import Episode

__all__ = ["VaultWriter", "read_vault"]

VERSION = 1.2  # of Flashbax's vaults
CHUNK = 1024  # steps
LEVEL = 5
COMPRESSOR = {"id": "gzip", "level": LEVEL}
PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
INFOS = ("state", "legals")  # of an episode, that a vault has


class VaultWriter(NewDataset):
    """Write joint trajectories, episode by episode, in a `with` block; after an error nothing is left behind.

    Args:
        name: "SCENARIO.vlt/UID", with folders before it.
        folder: of all datasets.
        about: further entries of `metadata.json`.
        plain: do not use `tensorstore`, even where it is installed.

    Raises:
        ParameterError: the name is malformed or taken, the folder cannot be written, or the disk is full.
    """

    def __init__(self, name: str, folder: Path, about: Mapping[str, Any] | None = None, *, plain: bool = False) -> None:
        super().__init__(name, folder.absolute())
        self.about, self.plain = dict(about or {}), plain
        self._rows: dict[str, list[np.ndarray]] = {}
        self._steps, self._written = 0, 0

    def check_target(self) -> Path:
        """The folder of the vault."""
        parts = self.name.split("/")
        if not all(PART.fullmatch(part) for part in parts) or len(parts) < 2 or not parts[-2].endswith(".vlt"):
            raise ParameterError(
                f"{self.name!r} is not a valid name of a vault; it needs letters, digits, '-', '_', '.' and '/', and "
                "SCENARIO.vlt/UID at the end, as in 'rlenvs/Battle-v0/3m.vlt/Good'"
            )
        if any(part.endswith(".vlt") for part in parts[:-2]):
            raise ParameterError(f"{self.name!r} would lie inside another vault; only its last folder but one is *.vlt")
        return unused(self.name, self.folder)

    def open(self, unfinished: Path) -> None:
        """Begin to write."""
        self._put, self.store = (_files(unfinished), "files") if self.plain else _store(unfinished)

    def add(self, episodes: Iterable[Episode]) -> None:
        """Append episodes of all agents: observations (T + 1, agents, ...), actions, rewards, terminated and truncated
        (T, agents, ...), infos "state" (T + 1, ...) and "legals" (T + 1, agents, choices)."""
        for episode in episodes:
            for name, rows in leaves_of(episode).items():
                self._rows.setdefault(name, []).append(rows)
            self._steps += len(episode.actions)
        while self._steps - self._written * CHUNK >= CHUNK:
            self._flush()

    def close(self) -> None:
        """Write what is left, and what the arrays are."""
        if self._steps > self._written * CHUNK:
            self._flush()
        structure: dict[str, dict[str, Any]] = {"shape": {}, "dtype": {}}
        for name, blocks in self._rows.items():
            shape, dtype = (1, self._steps, *blocks[0].shape[1:]), blocks[0].dtype
            self._put(f"{name}./.zarray", _described(shape, dtype, (1, CHUNK, *shape[2:])))
            for key, value in (("shape", str((1, CHUNK, *shape[2:]))), ("dtype", dtype.name)):
                _into(structure[key], name.split("."), value)
        self._put("vault_index/.zarray", _described((1,), np.dtype(np.int32), (1,)))
        self._put("vault_index/0", gzip.compress(np.array([self._steps], "<i4").tobytes(), LEVEL, mtime=0))
        told = {"version": VERSION, "structure_shape": structure["shape"], "structure_dtype": structure["dtype"]}
        text = json.dumps({**told, "store": self.store, **self.about}, indent=1)
        (self.unfinished / "metadata.json").write_text(text, encoding="utf-8")

    def _flush(self) -> None:
        """Write the next chunk of every leaf."""
        for name, blocks in self._rows.items():
            rows = np.concatenate(blocks)
            whole = np.zeros((CHUNK, *rows.shape[1:]), rows.dtype)
            whole[: len(rows[:CHUNK])] = rows[:CHUNK]
            data = gzip.compress(whole.tobytes(), LEVEL, mtime=0)
            self.check_room(len(data))
            place = ".".join(["0", str(self._written), *["0"] * (rows.ndim - 1)])
            self._put(f"{name}./{place}", data)
            self._rows[name] = [rows[CHUNK:]]
        self._written += 1


def leaves_of(episode: Episode) -> dict[str, np.ndarray]:
    """The leaves of a vault from an episode of all agents: little-endian arrays of T rows by name."""
    if isinstance(episode.observations, dict):
        raise ParameterError("a vault holds observations that are one array; choose options without images or masks")
    found = {
        "observations": episode.observations[:-1],
        "actions": episode.actions,
        "rewards": episode.rewards.astype(np.float32),
        "terminals": episode.terminated,
        "truncations": episode.truncated,
        **{f"infos.{name}": episode.infos[name][:-1] for name in INFOS if name in episode.infos},
    }
    return {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in found.items()}


def read_vault(path: Path | str) -> dict[str, np.ndarray]:
    """The leaves of a vault that this module wrote, by name, "infos.state" among them: arrays [1, time, ...].

    Args:
        path: the folder SCENARIO.vlt/UID.

    Raises:
        UnknownNameError: there is no vault. ParameterError: it is an OCDBT store, and `tensorstore` is not installed.
    """
    folder = Path(path)
    if not (folder / "metadata.json").is_file():
        raise UnknownNameError(f"there is no vault in {folder}: metadata.json is missing")
    about = json.loads((folder / "metadata.json").read_text(encoding="utf-8"))
    get = _reader(folder, about.get("store", "ocdbt"))
    return {name: _array(get, name) for name in _names(about["structure_dtype"])}


def _names(tree: Mapping[str, Any], front: str = "") -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _names(value, f"{front}{key}.")
        else:
            yield front + key


def _array(get: Callable[[str], bytes], name: str) -> np.ndarray:
    """One array, chunk by chunk."""
    about = json.loads(get(f"{name}./.zarray"))
    shape, chunk = about["shape"], about["chunks"]
    parts = []
    for k in range(-(-shape[1] // chunk[1])):
        place = ".".join(["0", str(k), *["0"] * (len(shape) - 2)])
        parts.append(np.frombuffer(gzip.decompress(get(f"{name}./{place}")), about["dtype"]).reshape(chunk))
    return np.concatenate(parts, axis=1)[:, : shape[1]]


def _into(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for part in path[:-1]:
        tree = tree.setdefault(part, {})
    tree[path[-1]] = value


def _described(shape: tuple[int, ...], dtype: np.dtype, chunks: tuple[int, ...]) -> bytes:
    """The description of a Zarr array."""
    told = {
        "zarr_format": 2,
        "shape": list(shape),
        "chunks": list(chunks),
        "dtype": dtype.newbyteorder("<").str,
        "compressor": COMPRESSOR,
        "fill_value": None,
        "order": "C",
        "filters": None,
        "dimension_separator": ".",
    }
    return json.dumps(told).encode()


def _files(folder: Path) -> Callable[[str, bytes], None]:
    """Values by key as files."""

    def put(key: str, value: bytes) -> None:
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(value)

    return put


def _store(folder: Path) -> tuple[Callable[[str, bytes], None], str]:
    """Values by key in the store that Flashbax reads, or as files, and which of them."""
    try:
        import tensorstore
    except ImportError:
        return _files(folder), "files"
    store = tensorstore.KvStore.open({"driver": "ocdbt", "base": f"file://{folder}/"}).result()
    return lambda key, value: store.write(key, value).result(), "ocdbt"


def _reader(folder: Path, store: str) -> Callable[[str], bytes]:
    if store == "files":
        return lambda key: (folder / key).read_bytes()
    try:
        import tensorstore
    except ImportError:
        raise ParameterError(f"{folder} is an OCDBT store; `pip install tensorstore` to read it") from None
    opened = tensorstore.KvStore.open({"driver": "ocdbt", "base": f"file://{folder}/"}).result()
    return lambda key: opened.read(key).result().value
