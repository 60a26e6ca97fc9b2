"""`python -m rlenvs.core.check`: reports, or recording."""

from __future__ import annotations

import argparse

from rlenvs.core.catalogue.registry import list_envs
from rlenvs.core.check import check_env, one_per_kind, record_golden


def main() -> None:
    """The command line: reports, or recording."""
    parser = argparse.ArgumentParser(prog="python -m rlenvs.core.check", description="Check environments of rlenvs.")
    parser.add_argument("ids", nargs="*", help="ids; all by default")
    parser.add_argument("--long", action="store_true", help="look for what is rare, too")
    parser.add_argument("--record", action="store_true", help="record the golden numbers of rule 16")
    given = parser.parse_args()
    if given.record:
        record_golden(given.ids)
        return
    passed, ids = True, given.ids or list_envs()
    whole = given.ids or one_per_kind(ids)
    for id in ids:
        report = check_env(id, whole=id in whole, long=given.long)
        print(report, end="\n\n", flush=True)
        passed &= report.passed
    if not passed:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
