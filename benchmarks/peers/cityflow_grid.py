"""Steps of CityFlow on one thread; agent-steps are updates of vehicles, those on the roads.

Built as `benchmarks/parity/record_cityflow.py` says. The files of a scenario are those that
`python benchmarks/traffic_speed.py --files FOLDER` writes. The simulation first runs for --warm-up seconds, uncounted.
"""

import argparse
import sys
from pathlib import Path

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The simulation after its warm-up; it runs on, so that the number of vehicles stays about the same."""
    sys.path.insert(0, str(options.module))
    import cityflow

    engine = cityflow.Engine(str(options.config), thread_num=options.threads)

    def step(action: None) -> bool:
        engine.next_step()
        return False

    for _ in range(options.warm_up):
        step(None)
    return worker.Peer(step, lambda: None, [None], living=engine.get_vehicle_count, threads=options.threads)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--module", type=Path, required=True, help="folder with the compiled module")
    parser.add_argument("--config", type=Path, required=True, help="CityFlow's config file")
    parser.add_argument("--warm-up", type=int, default=600, help="seconds")
    parser.add_argument("--threads", type=int, default=1)
    worker.serve(build, parser.parse_args())
