"""Steps of one of mpe2's worlds behind PettingZoo's parallel API, with random actions; agent-steps.

Installed as: mpe2 1.1.1 from the registry, with pettingzoo 1.27 and numpy 2.4, Python 3.11.
"""

import argparse
import importlib

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random joint actions for it."""
    return worker.team(importlib.import_module(f"mpe2.{options.name}").parallel_env())


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--name", default="simple_spread_v3")
    worker.serve(build, parser.parse_args())
