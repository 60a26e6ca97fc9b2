"""MuJoCo, imported where it is needed, in a version that has what batches need."""

from __future__ import annotations

import functools
import os
import re
from typing import Any

from rlenvs.core.declare.errors import DependencyError, EngineError, MissingExtraError
from rlenvs.version import DISTRIBUTION

OLDEST = (4, 0, 1)


def import_mujoco() -> Any:
    """The module, with its batches.

    Raises:
        MissingExtraError: mujoco is not installed.
        DependencyError: it is too old, or its parts do not fit each other.
        EngineError: it refuses the OpenGL that MUJOCO_GL asks for.
    """
    try:
        import mujoco
    except ModuleNotFoundError as error:
        raise MissingExtraError("This environment is simulated by MuJoCo, which", "mujoco") from error
    except ImportError as error:
        raise DependencyError(f"mujoco is installed, but cannot be imported: {' '.join(str(error).split())}") from error
    except Exception as error:
        wanted = os.environ.get("MUJOCO_GL", "")
        raise EngineError(f"mujoco is installed, but cannot be imported with MUJOCO_GL={wanted}: {error}") from error
    _check_version(mujoco.__version__)
    import mujoco.batch

    _write_no_log_file(mujoco)
    return mujoco


def _check_version(version: str) -> None:
    if tuple(map(int, re.findall(r"\d+", version)[:3])) < OLDEST:
        needed = ".".join(map(str, OLDEST))
        raise DependencyError(
            f"mujoco {version} is too old: versions before 3.17 have no batches, and later ones before {needed} other "
            f"states or wrong accelerations. Needed: {needed} or newer. Install it with: pip install --upgrade "
            f"'{DISTRIBUTION}[mujoco]'"
        )


@functools.cache
def _write_no_log_file(mujoco: Any) -> None:
    """Once in a process: no MUJOCO_LOG.TXT in the working directory; why a world failed is in `simulation_error`."""
    config = mujoco.MjLogConfig.get()
    config.logto_file = False
    config.set()
