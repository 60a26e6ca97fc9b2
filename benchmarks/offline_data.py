"""OfflineRacer's six data sets beside what is known of OfflineMania's: `python benchmarks/offline_data.py [--write]`.

Makes all six (40 s, 200 MB, in a folder that is removed) and measures them as `parity/record_offlinemania.py` measured
the original's two small ones.
"""

import argparse
import json
import tempfile
from pathlib import Path

from parity.record_offlinemania import OUT, figures

from rlenvs.agents.datasets import make_dataset
from rlenvs.agents.recipes import get_dataset, recipes_of

ID = "OfflineRacer-v0"
HEAD = """| data set | steps | reward per step | OfflineMania | standing | OfflineMania | median speed, moving | OfflineMania | steps with contact | OfflineMania |
|---|---|---|---|---|---|---|---|---|---|
"""  # noqa: E501


def row(name: str, ours: dict, theirs: dict | None) -> str:
    """A line of the table."""
    cells = [name, f"{ours['rows']:,}"]
    for key, form in (
        ("mean_reward", "{:.4f}"),
        ("standing", "{:.1%}"),
        ("speed_of_moving", "{:.2f}"),
        ("contacts", "{:d}"),
    ):
        for found in (ours, theirs):
            value = None if found is None else found[key]
            cells.append("not known" if value is None else form.format(value[1] if isinstance(value, list) else value))
    return f"| {' | '.join(cells)} |\n"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--write", action="store_true", help="put the table into offline_data.md")
    options.add_argument("--only", nargs="*", default=list(recipes_of(ID)), help="data sets")
    options.add_argument("--horizon", type=int, default=2000)
    given = options.parse_args()
    known, table = json.loads(OUT.read_text(encoding="utf-8")), HEAD
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only:
            told = make_dataset(ID, name, folder=folder, horizon=given.horizon)
            table += row(name, figures(get_dataset(told.name, folder)), known.get(name))
    print(table)
    if given.write:
        path = Path(__file__).with_suffix(".md")
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        path.write_text(text.partition("| data set")[0] + table, encoding="utf-8")


if __name__ == "__main__":
    main()
