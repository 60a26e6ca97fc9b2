"""Whether training repeats the curves that ship: the same first evaluations, digit for digit, on the machine at hand.

    python benchmarks/repeat.py MicroRacer-v0 QuadHover-v0      # all curves of these
    python benchmarks/repeat.py --within 5                      # all whose first evaluation came within 5 s
    python benchmarks/repeat.py MicroRacer-v0 --evaluations 3

Trains with the settings and the seed of a curve until as many evaluations are there (`rlenvs train ID --algorithm NAME
--seed K` does the same, and goes on), and compares steps, return, success and cost. Versions of libraries and kinds of
processors differ in the last bit of sums, so elsewhere a curve may part from the one that ships; where the card of its
agent names another processor, the line says so.
"""

import argparse
import csv
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from rlenvs.agents.curves import Curve, curves_of, published_curve
from rlenvs.agents.export import hardware
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.agents.runs import Stop, run
from rlenvs.agents.store import own_agent, read_card
from rlenvs.core.catalogue.docs import documented
from rlenvs.core.catalogue.registry import world_of

PROCESSOR = ("cpu", "kind")  # of a card's hardware; older cards do not tell the kind
COMPARED = ("steps", "return", "half_width", "success", "cost")


def shipped(ids: Sequence[str]) -> Iterator[Curve]:
    """The curves of these environments, and of their levels."""
    for id in ids:
        for level in (None, *world_of(id).levels):
            yield from curves_of(id, level)


def trained(curve: Curve, evaluations: int, folder: Path) -> list[tuple[float, ...]]:
    """The first evaluations of the same training."""
    stop, seen = Stop(), []

    def count(found: object) -> None:
        seen.append(found)
        stop.wanted = len(seen) >= evaluations

    environment = {} if curve.level is None else {"level": curve.level}
    settings = settings_for(curve.id, algorithm=curve.algorithm, environment=environment)
    run(curve.id, settings, folder, seed=curve.seed, tensorboard=False, evaluated=count, stop=stop)
    rows = list(csv.DictReader(published_curve(folder / "progress.csv").splitlines()))
    return [tuple(float(row[name] or "nan") for name in COMPARED) for row in rows[:evaluations]]


def difference(curve: Curve, rows: Sequence[tuple[float, ...]]) -> str:
    """The first number in which a training parts from a curve; empty where it repeats it."""
    for number, row in enumerate(rows):
        for name, ours in zip(COMPARED, row, strict=True):
            there = float(curve.columns[name][number])
            if repr(ours) != repr(there):
                return f"{name} of evaluation {number + 1} is {ours:g}, of the curve {there:g}"
    return "" if rows else "it made no evaluation"


def elsewhere(curve: Curve) -> str:
    """The processor of the card of a curve's agent, where it is of another kind than the one here."""
    stem, here = own_agent(curve.id, curve.level, curve.algorithm), hardware()
    there = read_card(stem).hardware if stem else here
    told = [key for key in PROCESSOR if key in there]
    ours, theirs = (", ".join(machine[key] for key in told) for machine in (here, there))
    return f" (trained on {theirs}, this is {ours})" if ours != theirs else ""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("ids", nargs="*", help="environments, such as MicroRacer-v0; by default all")
    options.add_argument("--within", type=float, default=float("inf"), metavar="S", help="seconds to the last one")
    options.add_argument("--evaluations", type=int, default=1, metavar="N", help="of each training (default: 1)")
    given = options.parse_args()
    ids = given.ids or [row.id for row in documented()]
    last = given.evaluations - 1
    curves = [curve for curve in shipped(ids) if curve.columns["seconds"][: last + 1][-1] <= given.within]
    parted = 0
    for curve in curves:
        with tempfile.TemporaryDirectory() as folder:
            found = difference(curve, trained(curve, given.evaluations, Path(folder)))
        parted += bool(found)
        found += elsewhere(curve) if found else ""
        level = f" {curve.level}" if curve.level else ""
        print(f"{curve.id}{level} {curve.algorithm}, seed {curve.seed}: {found or 'repeated'}", flush=True)
    print(f"{len(curves)} curves, {len(curves) - parted} repeated")


if __name__ == "__main__":
    main()
