"""Learning curves in the layout of Open RL Benchmark, and what agents reach beside its public results.

    python benchmarks/open_rl_benchmark.py --export FOLDER      all curves: those of agents, and of benchmarks/curves/
    python benchmarks/open_rl_benchmark.py --write              the comparison; writes open_rl_benchmark.md
    python benchmarks/open_rl_benchmark.py --runs FOLDER --library cleanrl --name ppo_continuous_action \\
        --env Hopper-v4 --id Hopper-v0 --algorithm PPO          with runs that its program has fetched

`rlenvs.agents.open_rl_benchmark` describes the layout. PUBLIC has the tables of its repository that share a task with
this package.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from rlenvs.agents.open_rl_benchmark import (
    LIBRARIES,
    SECONDS,
    STEPS,
    Result,
    TrackedRun,
    read_runs,
    result_of,
    shipped_runs,
    write_runs,
)
from rlenvs.core.catalogue.docs import documented

HERE = Path(__file__).resolve().parent
TABLE = HERE / "open_rl_benchmark.md"
MILLION = 1e6  # steps of the public runs, as their images show
FOLDER = "openrlbenchmark/openrlbenchmark d67da55, static"
PUBLIC = {
    "HalfCheetah-v2": {
        "PPO, CleanRL": Result(2262.50, 1196.81),
        "PPO2, OpenAI Baselines": Result(1428.55, 62.40),
        "SAC, jaxrl": Result(10311.50, 771.90),
        "TD3, sfujim": Result(9890.35, 177.03),
    },
    "Hopper-v2": {
        "PPO, CleanRL": Result(2311.49, 440.99),
        "PPO2, OpenAI Baselines": Result(2158.65, 302.33),
        "SAC, jaxrl": Result(3018.90, 330.19),
        "TD3, sfujim": Result(3227.50, 62.19),
    },
    "Walker2d-v2": {
        "PPO, CleanRL": Result(3312.32, 429.87),
        "PPO2, OpenAI Baselines": Result(3356.49, 322.61),
        "SAC, jaxrl": Result(4386.01, 373.16),
        "TD3, sfujim": Result(3325.22, 151.42),
    },
    "Humanoid-v2": {
        "PPO, CleanRL": Result(676.34, 78.68),
        "PPO2, OpenAI Baselines": Result(673.11, 53.02),
        "SAC, jaxrl": Result(4377.57, 126.18),
    },
}
TEXT = f"""# Beside Open RL Benchmark

What agents of this package reach beside public results of Open RL Benchmark (Huang et al., arXiv 2402.03046), from the
tables baselines_vs_cleanrl_vs_jaxrl.csv and td3_vs_cleanrl.csv ({FOLDER}).

Read with care, for the two are not alike:

- the public tasks are the -v2 of mujoco-py, ours re-implement Gymnasium's -v5;
- a public figure is the mean return of the last 100 training episodes of each seed, then mean ± standard deviation over
  seeds, after 1 M steps; its table does not say how many seeds there are. Ours is the last evaluation without
  exploration, up to 1 M steps and at the end of training;
- ours have hyperparameters of their own, and many environments at a time.

Public runs themselves lie with a service (Weights & Biases). `--runs` compares with those that its program has fetched.

| task | whose | steps | seeds | return |
|---|---|---|---|---|
"""
ONE_D = {"action": "one_d_rpm", "reward": "original"}
# of benchmarks/curves: id, algorithm, how the environment was made
CURVES = {
    "hover_ppo": ("rlenvs/QuadHover-v0", "PPO", ONE_D),
    "hover_sac": ("rlenvs/QuadHover-v0", "SAC", ONE_D),
    "hover_td3": ("rlenvs/QuadHover-v0", "TD3", ONE_D),
    "hover_wild": ("rlenvs/QuadHover-v0/wild", "PPO", {"level": "wild", "reward": "original"}),
    "panda_push": ("rlenvs/PandaPush-v0", "SAC + HER", {}),
    "panda_reach": ("rlenvs/PandaReach-v0", "SAC + HER", {}),
    **{f"morl_{name}": ("", name, {}) for name in ("archive", "envelope", "pareto_q", "ppo")},
}


def benchmark_runs() -> list[TrackedRun]:
    """The curves of benchmarks/curves, a run for each seed (and world) of a file. Project-wide, a run is told by the
    name of its file."""
    found = []
    for file in sorted((HERE / "curves").glob("*.csv")):
        id, algorithm, keywords = CURVES[file.stem]
        with file.open(newline="") as lines:
            rows = list(csv.DictReader(lines))
        for world, seed in dict.fromkeys((row.get("world", ""), row["seed"]) for row in rows):
            own = [row for row in rows if (row.get("world", ""), row["seed"]) == (world, seed)]
            columns = {STEPS: "steps", SECONDS: "seconds", "eval/mean_reward": "return", "eval/success_rate": "success"}
            columns |= {"eval/hypervolume": "hypervolume", "eval/attained": "attained"}
            values = {
                name: np.array([float(row[column]) for row in own])
                for name, column in columns.items()
                if column in own[0]
            }
            config = {"env_id": id or world, "exp_name": f"{algorithm}, benchmarks/curves/{file.name}"}
            config |= {"seed": int(float(seed)), "algo": algorithm, "env_kwargs": keywords}
            found.append(TrackedRun(config, values, ("benchmarks",)))
    return found


def rows_of(env: str, public: dict[str, Result], ours: list[TrackedRun]) -> list[str]:
    """The rows of a task: the public figures, and each of our algorithms at the million and at its end."""
    rows = [(env, label, MILLION, "", f"{found.mean:.0f} ± {found.deviation:.0f}") for label, found in public.items()]
    for algorithm in sorted({run.config["exp_name"] for run in ours}):
        runs = [run for run in ours if run.config["exp_name"] == algorithm]
        logged = np.concatenate([run.columns[STEPS] for run in runs])
        for until in sorted({float(logged[logged <= MILLION].max()), float(logged.max())}):
            found = result_of(runs, LIBRARIES["rlenvs"].metric, last=1, until=until)
            spread = f" ± {found.deviation:.0f}" if found.seeds > 1 else ""
            rows.append((runs[0].config["env_id"], algorithm, until, found.seeds, f"{found.mean:.0f}{spread}"))
    return [f"| {task} | {whose} | {steps:,.0f} | {seeds} | {value} |" for task, whose, steps, seeds, value in rows]


def compared() -> str:
    """The table."""
    lines = []
    for env, public in PUBLIC.items():
        lines += rows_of(env, public, at_defaults(env.replace("-v2", "-v0")))
    return TEXT + "\n".join(lines) + "\n"


def at_defaults(id: str) -> list[TrackedRun]:
    """Our runs of an environment at its defaults."""
    return [run for run in shipped_runs([id]) if run.config["level"] is None]


def compare_fetched(options: argparse.Namespace) -> str:
    """Fetched runs beside ours, in lines."""
    library = LIBRARIES[options.library]
    metric = options.metric or library.metric
    fetched = [run for run in read_runs(options.runs) if run.is_of(library, options.env, options.name)]
    theirs = result_of(fetched, metric, options.last)
    ours = [run for run in at_defaults(options.id) if run.config["exp_name"] == options.algorithm]
    if theirs is None or not ours:
        missing = f"{options.library} run of {options.name} on {options.env} has {metric}" if theirs is None else ""
        raise SystemExit(f"no {missing or f'curve of {options.algorithm} on {options.id} is here'}")
    mine = result_of(ours, LIBRARIES["rlenvs"].metric, last=1)
    return (
        f"{options.env}, {options.library} {options.name}: {theirs}, {theirs.seeds} seeds\n"
        f"{options.id}, {options.algorithm}: {mine}, {mine.seeds} seeds"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", type=Path, metavar="FOLDER", help="write all curves below it")
    parser.add_argument("--ids", nargs="*", help="with --export: of these environments; default: of all")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    parser.add_argument("--runs", type=Path, metavar="FOLDER", help="runs that were fetched; with the options below")
    parser.add_argument("--library", choices=LIBRARIES, default="cleanrl")
    parser.add_argument("--metric", help="default: that of the library")
    parser.add_argument("--last", type=int, default=100, help="how many of its last values count")
    for name in ("--env", "--name", "--id", "--algorithm"):
        parser.add_argument(name)
    options = parser.parse_args()
    if options.export:
        ids = options.ids or [row.id for row in documented()]
        for project, runs in (("agents", shipped_runs(ids)), ("benchmarks", benchmark_runs())):
            print(f"{len(runs)} runs: {write_runs(runs, options.export, project=project)}" if runs else f"no {project}")
    elif options.runs:
        print(compare_fetched(options))
    else:
        print(compared())
        if options.write:
            TABLE.write_text(compared(), encoding="utf-8")


if __name__ == "__main__":
    main()
