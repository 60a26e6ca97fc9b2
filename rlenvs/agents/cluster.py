"""Work in pieces, over a Ray cluster: a piece is a call of a function, on the node that Ray chooses.

Pieces are the same with and without a cluster, and a piece computes with as many threads as its caller would
(`OMP_NUM_THREADS`, or the caller's processors), so results are equal to the last bit where processors are of one type.
A piece whose worker dies is computed again by another one; the others are not.
"""

from __future__ import annotations

import io
import os
import tarfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rlenvs.core.batch.loops import cores
from rlenvs.core.declare.errors import ClusterError, MissingExtraError
from rlenvs.version import __version__

__all__ = ["packed", "spread", "unpack"]

RETRIES = 5  # of a piece whose worker died


def spread(function: Callable[..., Any], pieces: Iterable[tuple[Any, ...]], ray: str | None = None) -> Iterator[Any]:
    """Yield `function(*piece)` for every piece, in their order.

    Args:
        function: called in other processes too: all that it needs are its arguments.
        pieces: the arguments of each call.
        ray: the address of a Ray cluster, as `ray.init` takes it ("auto", "host:6379", "ray://host:10001"; "local"
            starts one on this machine); None: here, one after the other. All nodes need the same installation.

    Raises:
        MissingExtraError: Ray is not installed.
        ClusterError: there is no cluster at the address, or a piece is lost although it was tried again.
        And what the function raises.
    """
    if ray is None:
        for piece in pieces:
            yield function(*piece)
        return
    with connected(ray) as module:
        remote = module.remote(num_cpus=1, max_retries=RETRIES)(_piece)
        for result in [remote.remote(function, piece, __version__) for piece in pieces]:
            yield _result(module, result)


def packed(folder: Path) -> bytes:
    """The files of a folder, as a tar archive; one that does not exist is empty."""
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.add(path, path.relative_to(folder))
    return data.getvalue()


def unpack(data: bytes, folder: Path) -> None:
    """Write the files of `packed` into a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        archive.extractall(folder, filter="data")


def _piece(function: Callable[..., Any], arguments: tuple[Any, ...], version: str) -> Any:
    """A piece, on a node."""
    if version != __version__:
        raise ClusterError(f"a node of the cluster has rlenvs {__version__}, and this machine {version}")
    return function(*arguments)


def _result(module: Any, reference: Any) -> Any:
    try:
        return module.get(reference)
    except module.exceptions.RayError as error:
        cause = getattr(error, "cause", error)  # of the function, or of Ray
        if isinstance(cause, module.exceptions.RayError):
            raise ClusterError(f"Ray lost a piece of work: {cause}") from error
        raise cause from None


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Ray, connected to a cluster; where the process is connected already, that connection is used, and stays.

    Raises:
        as `spread` does.
    """
    try:
        import ray
    except ImportError:
        raise MissingExtraError("A Ray cluster", "ray") from None
    if ray.is_initialized():
        yield ray
        return
    threads = os.environ.get("OMP_NUM_THREADS", str(cores()))
    try:
        ray.init(
            address,
            runtime_env={"env_vars": {"OMP_NUM_THREADS": threads}},
            logging_level="ERROR",
            log_to_driver=False,
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise ClusterError(f"there is no Ray cluster at {address!r}: {error}") from error
    try:
        yield ray
    finally:
        ray.shutdown()
