"""Print reference scores as the text that world files hold: `python benchmarks/scores.py [ID ...] [--seeds N]`."""

import argparse

import rlenvs
from rlenvs.agents.evaluate import evaluate
from rlenvs.core.registry import entry, world_of


def row(env_id: str, policy: str, seeds: int) -> str:
    result = evaluate(env_id, policy, seeds)
    half_width = result.half_width if result.half_width > 1e-9 else 0.0
    note = f"success {100 * result.success_rate:.0f} %"
    return f'        "{policy}": Score({result.mean:.4g}, {half_width:.2g}, "{note}"),'


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("ids", nargs="*", help="environments; all by default")
    options.add_argument("--seeds", type=int, default=100)
    given = options.parse_args()
    for env_id in given.ids or [id for id in rlenvs.list_envs() if "/mo-" not in id]:
        policies = ["random", "expert"] if world_of(env_id).has_expert else ["random"]
        rows = [row(env_id, policy, given.seeds) for policy in policies]
        print("\n".join([f"# {entry(env_id).id}", "    scores={", *rows, "    },"]), flush=True)


if __name__ == "__main__":
    main()
