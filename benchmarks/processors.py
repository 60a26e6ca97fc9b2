"""Whether a seed gives the same bits on other processors: `python benchmarks/processors.py [ID ...]` (long for all).

Compiles each world for several processors, by the names and features that numba and NumPy are told of, and plays a
short rollout of four worlds one by one, which `rlenvs.check_env` has recorded, and one of 64 worlds, in lanes where the
world has them. Prints the hashes of all observations, terms and ends.

    python benchmarks/processors.py --datasets   # instead: those of a dataset of each layout, made in short episodes
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy._core._multiarray_umath as cpu

NUMPYS = [name for name in cpu.__cpu_dispatch__ if cpu.__cpu_features__[name]]  # features that its functions look for
WIDEST = [name for name in NUMPYS if name.startswith(("X86_V4", "AVX512"))]
# what numba compiles for, and what NumPy and its linear algebra take themselves to run on
TARGETS = {
    "native": {},
    "AVX2 and fused operations": {
        "NUMBA_CPU_NAME": "haswell",
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": " ".join(WIDEST),
    },
    "SSE2 alone": {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "OPENBLAS_CORETYPE": "Prescott",
        "NPY_DISABLE_CPU_FEATURES": " ".join(NUMPYS),
    },
}


DATASETS = {  # by name: the horizon of the episodes
    "CartPole-v0 medium": 100,
    "SafePointGoal-v0 costs": 60,
    "OfflineRacer-v0 basicSmall": 200,
    "CarRacing-v0 pixels-medium-hard": 40,
    "Battle-v0 3m-Poor": 20,
    "Battle-v0 images": 64,
}


def dataset_digests() -> dict[str, list[str]]:
    """Of each dataset, the first digits of its hash."""
    from rlenvs.agents.datasets import make_dataset

    found = {}
    for name, horizon in DATASETS.items():
        with tempfile.TemporaryDirectory() as folder:
            found[name] = [make_dataset(*name.split(), folder=folder, horizon=horizon).sha256[:16]]
    return found


def digests(ids: list[str]) -> dict[str, list[str]]:
    """Of each id, the hash of four worlds and that of 64."""
    import rlenvs
    from rlenvs.core.catalogue.registry import world_of
    from rlenvs.core.check import golden_digest
    from rlenvs.core.check.playing import roll
    from rlenvs.core.check.records import hash_of

    found = {}
    for id in ids:
        many = hash_of(roll(rlenvs.make_batch(id, 64), 32))
        found[id] = [str(golden_digest(world_of(id)).get("hash")), many]
    return found


def run(arguments: list[str], settings: dict[str, str]) -> dict[str, list[str]]:
    """Digests in a process that compiles for a processor."""
    command = [sys.executable, __file__, "--digests", *arguments]
    done = subprocess.run(command, env={**os.environ, **settings}, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ids", nargs="*", metavar="ID", help="default: all that no engine moves")
    parser.add_argument(
        "--digests", action="store_true", help="print those of this process's processor as JSON, and end"
    )
    parser.add_argument("--datasets", action="store_true", help="make datasets in place of playing ids")
    given = parser.parse_args()
    if given.digests:
        print(json.dumps(dataset_digests() if given.datasets else digests(given.ids)))
        return
    import rlenvs
    from rlenvs.core.catalogue.registry import world_of

    ids, arguments, targets = list(DATASETS), ["--datasets"], {"native": {}, "native, again": {}} | TARGETS
    if not given.datasets:
        ids = given.ids or [id for id in rlenvs.list_envs() if "/mo-" not in id and not world_of(id).engine]
        arguments, targets = ids, TARGETS
    columns = {name: run(arguments, settings) for name, settings in targets.items()}
    print(f"| id | {' | '.join(columns)} |\n{'|---' * (len(columns) + 1)}|")
    same = 0
    for id in ids:
        rows = [found[id] for found in columns.values()]
        same += all(row == rows[0] for row in rows)
        print(f"| {id.removeprefix('rlenvs/')} | " + " | ".join(" ".join(row) for row in rows) + " |")
    print(f"\n{same} of {len(ids)} are the same on all.")


if __name__ == "__main__":
    main()
