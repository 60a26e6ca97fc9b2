"""Steps of one of PettingZoo's own worlds behind its parallel API, with random actions; agent-steps.

Installed as: pettingzoo[sisl,butterfly] 1.27.0 from the registry, with box2d 2.3.10, pymunk 7.3.1, Python 3.11.
"""

import argparse
import importlib

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """The environment and random joint actions for it."""
    return worker.team(importlib.import_module(f"pettingzoo.{options.name}").parallel_env())


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--name", default="sisl.multiwalker_v9")
    worker.serve(build, parser.parse_args())
