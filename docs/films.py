"""Record the films of the site: episodes of random actions, the scripted expert and the reference agent.

    python docs/films.py               the films that are missing
    python docs/films.py ID [ID...]    these environments again

Films go to docs/films/<name>.json.gz, and <name>.webp where an engine's camera makes the frames. A film shows what the
world and the agent were when it was recorded; record it again when either has changed.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import rlenvs  # noqa: F401  registers the environments
from rlenvs.agents.film import record_film, save_film
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import NAMESPACE
from rlenvs.core.declare.errors import EngineError, MissingExtraError

FILMS = Path(__file__).resolve().parent / "films"


def names() -> list[str]:
    """All environments that have a page."""
    return [row.id.removeprefix(f"{NAMESPACE}/") for row in documented()]


def has_film(name: str) -> bool:
    """Whether there is a film of it."""
    return (FILMS / f"{name}.json.gz").exists()


def remove_strays() -> None:
    """Delete films of environments that are gone."""
    for path in FILMS.glob("*-v*"):
        if path.name.partition(".")[0] not in names():
            path.unlink()


def record(name: str) -> str:
    """Record one film; returns a line about it."""
    start = time.perf_counter()
    try:
        size = save_film(record_film(name), FILMS)
    except (EngineError, MissingExtraError) as reason:
        return f"{name}: not recorded, {reason}"
    return f"{name}: {size / 1000:.1f} kB, {time.perf_counter() - start:.1f} s"


def main() -> None:
    """Record what was asked for."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ids", nargs="*", metavar="ID")
    given = [id.removeprefix(f"{NAMESPACE}/") for id in options.parse_args().ids]
    unknown = [name for name in given if name not in names()]
    if unknown:
        raise SystemExit(f"there is no environment {unknown[0]!r} with a page; `rlenvs list` names all")
    remove_strays()
    for name in given or [name for name in names() if not has_film(name)]:
        print(record(name), flush=True)


if __name__ == "__main__":
    main()
