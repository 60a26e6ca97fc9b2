"""Another project's distribution has the name rlenvs in the package index; installed, its files lie among these."""

from __future__ import annotations

import sys
from pathlib import Path

from rlenvs.core.declare.errors import DependencyError
from rlenvs.version import DISTRIBUTION


def check_distribution(folder: Path) -> None:
    """See that no distribution named rlenvs is installed where this package is.

    Args:
        folder: that the package lies in.

    Raises:
        DependencyError: there is one.
    """
    for found in folder.glob("rlenvs-*.dist-info"):
        version = found.name.removeprefix("rlenvs-").removesuffix(".dist-info")
        pip = f"{sys.executable} -m pip"
        raise DependencyError(
            f"{folder} also holds the distribution 'rlenvs' {version}, which is not this package: it belongs to "
            f"another project, and its files may have replaced some of this package's. Run: {pip} uninstall -y "
            f"rlenvs; then reinstall {DISTRIBUTION} with --force-reinstall --no-deps"
        )
