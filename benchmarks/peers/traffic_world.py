"""Steps of SignalGrid under stored plans, on files of CityFlow; agent-steps are updates of vehicles on the roads.

A step is `DECISION` seconds. The simulation first runs for --warm-up seconds, uncounted; then it runs on, so that the
number of vehicles stays about the same. The actions, which follow the plan, are chosen outside the count.
"""

import argparse
from pathlib import Path

import worker

import rlenvs

DECISION = 5  # s; all phases of the plans last for a multiple of it


def build(options: argparse.Namespace) -> worker.Peer:
    """A batch of equal worlds after their warm-up."""
    keywords = {
        "network": str(options.folder / "roadnet.json"),
        "flows": str(options.folder / "flow.json"),
        "phases": "all",
        "decision": DECISION,
        "yellow": 0,
        "min_green": 0,
        "arrivals": "regular",
        "spread": 0.0,
        "draws_seed": 0,
        "vehicles": options.vehicles,
        "horizon": 1_000_000,
    }
    batch = rlenvs.make_batch("SignalGrid-v0", options.num, threads=options.threads, **keywords)
    batch.seed(range(options.num))
    batch.reset()

    def step(action: object) -> bool:
        batch.step(action)
        return False

    def choose() -> object:
        return batch.player_actions("fixed")

    for _ in range(options.warm_up // DECISION):
        step(choose())

    def living() -> int:
        return DECISION * int(batch.states["running"].sum())

    return worker.Peer(step, lambda: None, choose=choose, living=living, over=False, threads=options.threads)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="with roadnet.json and flow.json")
    parser.add_argument("--warm-up", type=int, default=600, help="seconds")
    parser.add_argument("--num", type=int, default=1, help="worlds of the batch")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--vehicles", type=int, default=0, help="most vehicles at a time; 0: by length of lanes")
    worker.serve(build, parser.parse_args())
