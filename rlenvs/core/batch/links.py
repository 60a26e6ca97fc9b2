"""Links: the exact state of an environment as a text for the fragment of a page's address, which no browser sends.

A text is base64 (of URLs, without padding) of raw deflate of: a header of JSON, a line feed, the record of parameters,
and that of the state. The parameters are exclusive-ored with those of the level, so that what is usual takes no room.
`rlenvs/live/static/links.js` does the same in pages.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import zlib
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ParameterError, SnapshotError, shortened
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

if TYPE_CHECKING:
    from rlenvs.core.batch.kernel_batch import KernelBatch

FORMAT, MARK = 1, "#live="
LARGEST_TEXT, LARGEST_CONTENT, LARGEST_HEADER = 1 << 22, 1 << 24, 1 << 10  # letters, bytes, bytes
MOST_SEED = 1 << 53  # that pages can say
HEADER: dict[str, tuple[type, ...]] = {
    "format": (int,),
    "id": (str,),
    "level": (str,),
    "seed": (int, type(None)),
    "world": (str,),
    "checksum": (int,),
}


class Link(NamedTuple):
    """What a link says.

    id: "Name-v0". level: None for the defaults. seed: of the last reset with one; None where there was none.
    world, checksum: of the snapshot. content: records of parameters and state.
    """

    id: str
    level: str | None
    seed: int | None
    world: str
    checksum: int
    content: bytes


def link_text(batch: KernelBatch, seed: int | None) -> str:
    """The state of the first world of a batch as the text of a link.

    Args:
        seed: of the last reset, for people.

    Raises:
        ParameterError: the environment was made with options, which links do not hold.
    """
    setup, snapshot = batch.setup, batch.get_state()
    usual = usual_setup(setup.world, setup.level)
    row = np.frombuffer(bytearray(snapshot.params), batch.param_rows.dtype)
    _check_options(setup, usual, row)
    header = {
        "format": FORMAT,
        "id": setup.world.name,
        "level": setup.level or "",
        "seed": seed if seed is not None and 0 <= seed < MOST_SEED else None,
        "world": snapshot.world,
        "checksum": snapshot.checksum,
    }
    params = _changed(snapshot.params, usual)
    content = b"\n".join([json.dumps(header, separators=(",", ":")).encode(), params + snapshot.state])
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(packer.compress(content) + packer.flush()).decode().rstrip("=")


def usual_setup(world: World, level: str | None) -> Setup:
    """A world at a level, without further keywords."""
    return Setup(world.base, level=level)


def _check_options(setup: Setup, usual: Setup, row: np.ndarray) -> None:
    """ParameterError where an environment differs from its level by more than parameters, time limit and weights."""
    own, names = usual.params_row(), row.dtype.names or ()
    fixed = [name for name in names if name in {*setup.world.options, *setup.world.data} - {"scaled"}]
    if usual.fingerprint == setup.fingerprint and all(row[name].tobytes() == own[name].tobytes() for name in fixed):
        return
    options = [
        name for name in setup.world.options if getattr(setup.values, name, None) != getattr(usual.values, name, None)
    ]
    raise ParameterError(
        f"{setup.world.name}: links hold the level, parameters and the state, but no options, and the environment was "
        f"made with {', '.join(options) or 'other data'}"
    )


def _changed(params: bytes, usual: Setup) -> bytes:
    """Bytes of a record of parameters, exclusive-ored with those of a level; the same again gives them back."""
    own = np.frombuffer(usual.params_row().tobytes(), np.uint8)
    return (np.frombuffer(params, np.uint8) ^ own).tobytes()


def read_link(text: Any) -> Link:
    """What a link says, before anything is made from it.

    Args:
        text: a link, or what follows its `MARK`.

    Raises:
        SnapshotError: it is none, or is too long.
    """
    if not isinstance(text, str):
        raise SnapshotError(f"a link is a text, not a {type(text).__name__}")
    if len(text) > LARGEST_TEXT:
        raise SnapshotError(f"a link has at most {LARGEST_TEXT} letters, not {len(text)}")
    packed = text.strip().rpartition(MARK)[2]
    if not re.fullmatch(r"[A-Za-z0-9_-]+", packed):
        raise SnapshotError(f"{shortened(text)} is not a link: nothing that a link consists of follows {MARK!r}")
    try:
        content = _unpacked(base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4)))
        head, line, body = content.partition(b"\n")
        header = json.loads(head.decode()) if line and len(head) <= LARGEST_HEADER else None
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        raise SnapshotError(f"the link is damaged: {error}") from None
    return _checked(header, body)


def _unpacked(packed: bytes) -> bytes:
    unpacker = zlib.decompressobj(-zlib.MAX_WBITS)
    content = unpacker.decompress(packed, LARGEST_CONTENT)
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("it is cut off, too large, or has something behind its end")
    return content


def _checked(header: Any, body: bytes) -> Link:
    if not isinstance(header, dict) or header.keys() != HEADER.keys():
        raise SnapshotError("the link is damaged: it has no header")
    for name, types in HEADER.items():
        if type(header[name]) not in types:
            raise SnapshotError(f"the link is damaged: its {name} is {shortened(header[name])}")
    if header["format"] != FORMAT:
        raise SnapshotError(f"the link has the format {header['format']}; this version reads {FORMAT}")
    if header["seed"] is not None and not 0 <= header["seed"] < MOST_SEED:
        raise SnapshotError(f"the link is damaged: its seed is {shortened(header['seed'])}")
    return Link(
        *(header["id"], header["level"] or None, header["seed"], header["world"], header["checksum"]),
        body,
    )


def snapshot_of(link: Link, setup: Setup) -> Snapshot:
    """The snapshot in a link to an environment, to be restored by `KernelBatch.set_state`, which checks what it holds.

    Args:
        setup: of the environment with the link's level.

    Raises:
        SnapshotError: it has another size, or other data than the level has.
    """
    row = setup.params_row()
    if len(link.content) != row.nbytes + setup.dtypes["state"].itemsize:
        raise SnapshotError(f"the link does not fit {setup.world.name}: it belongs to another version of it")
    params = _changed(link.content[: row.nbytes], setup)
    found = np.frombuffer(params, row.dtype)
    for name in setup.world.data:
        if found[name].tobytes() != row[name].tobytes():
            raise SnapshotError(f"the link is damaged: it has another {name} than {setup.world.name}")
    return Snapshot(link.world, link.content[row.nbytes :], params, link.checksum)
