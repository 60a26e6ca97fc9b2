"""What the barrier filter prevents and what it costs: violations per step, interventions, the expert's return.

    python benchmarks/safety.py [--steps 1000000] [--write]

Every row plays the same number of steps without and with `BarrierFilter()`, from the same seeds. Policies: "random"
draws every action, "held" keeps one for 20 steps on average, "adversary" heads for the nearest hazard or away from the
room's axis, and "zigzag" does the latter with changing turns. The filter does not know of the disturbances: it believes
in the parameters that the environment was made with, and actions are disturbed below it. The table goes to
benchmarks/safety.md with --write.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import numpy as np

import rlenvs
from rlenvs.wrappers.actuators import Actuator
from rlenvs.wrappers.barriers import BarrierFilter
from rlenvs.wrappers.forms import wrap

TABLE = Path(__file__).parent / "safety.md"
WORLDS = 1000
POINT, DRONE = "rlenvs/SafePointGoal-v0", "rlenvs/QuadHover-v0"
FIXED = {POINT: {}, DRONE: {"action": "velocity", "reward": "original"}}
COST = {POINT: "cost_hazards", DRONE: "cost_geofence"}


def spread(share: float) -> dict[str, Any]:
    """Mass, thrust and drag of the point robot off by up to this share, anew in every episode."""
    usual = {"body_mass": 0.001 * 4.0 / 3.0 * math.pi, "thrust": 0.015, "drag": 0.01}
    return {"randomize": {name: (value * (1 - share), value * (1 + share)) for name, value in usual.items()}}


# name, keywords of the environment, standard deviation of the noise of actions, margin of the filter
EXACT: list[Any] = [("none", {}, 0.0, 0.0)]
DISTURBED = {
    POINT: [
        *[(f"mass, thrust and drag +-{round(100 * share)} %", spread(share), 0.0, 0.0) for share in (0.05, 0.2, 0.5)],
        ("mass, thrust and drag +-20 %, margin 0.02 m", spread(0.2), 0.0, 0.02),
        *[(f"noise of actions {noise:g}", {}, noise, 0.0) for noise in (0.01, 0.05)],
        ("noise of actions 0.01, margin 0.02 m", {}, 0.01, 0.02),
    ],
    DRONE: [
        *[(f"wind, gusts of {gust:g} m/s", {"wind": True, "gust": gust}, 0.0, 0.0) for gust in (0.5, 2.0, 5.0)],
        ("rotor lag, drag, ground effect", {"rotor_lag": True, "drag": True, "ground_effect": True}, 0.0, 0.0),
        *[(f"noise of actions {noise:g}", {}, noise, 0.0) for noise in (0.1, 0.5)],
    ],
}


def at_hazards(states: np.ndarray, held: np.ndarray) -> np.ndarray:
    """Full throttle at the nearest hazard, nose or tail first."""
    away = states["hazards"] - states["position"][:, None]
    near = away[np.arange(len(states)), np.argmin((away**2).sum(axis=2), axis=1)]
    error = np.arctan2(near[:, 1], near[:, 0]) - states["heading"]
    backwards = np.cos(error) < 0.0
    error = (np.where(backwards, error + math.pi, error) + math.pi) % (2.0 * math.pi) - math.pi
    return np.stack([np.where(backwards, -1.0, 1.0), np.clip(3.0 * error, -1.0, 1.0)], axis=1)


def outwards(states: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Full speed away from the axis of the room, turned by some angles."""
    way = (states["position"][:, 0, 0] + 1j * states["position"][:, 0, 1]) * np.exp(1j * turn)
    way /= np.maximum(np.abs(way), 1e-9)
    return np.stack([way.real, way.imag, np.zeros(len(way)), np.ones(len(way))], axis=1)


POLICIES = {POINT: ("random", "held", "adversary"), DRONE: ("random", "held", "adversary", "zigzag")}
ADVERSARIES = {
    (POINT, "adversary"): at_hazards,
    (DRONE, "adversary"): lambda states, held: outwards(states, np.zeros(len(states))),
    (DRONE, "zigzag"): lambda states, held: outwards(states, 1.5 * held[:, 0]),
}


def environment(env_id: str, keywords: dict[str, Any], noise: float, filter: Any, worlds: int = WORLDS) -> Any:
    env = rlenvs.make_vec(env_id, worlds, **FIXED[env_id], **keywords)
    wrappers: list[Any] = [Actuator(noise=noise)] if noise else []
    if filter:
        wrappers.append(filter)
    return wrap(env, *wrappers) if wrappers else env


def play(env: Any, env_id: str, policy: str, steps: int) -> dict[str, float]:
    """Counts over so many steps of all worlds together."""
    env.reset(seed=0)
    states, rng = env.unwrapped.batch.states, np.random.default_rng(0)
    held = rng.uniform(-1.0, 1.0, env.action_space.shape)
    counts = {"violations": 0.0, "interventions": 0.0, "infeasible": 0.0, "terminated": 0.0}
    before = np.zeros(env.num_envs)
    for _ in range(steps // env.num_envs):
        fresh = rng.random(len(held)) < (1.0 if policy == "random" else 0.05)
        held[fresh] = rng.uniform(-1.0, 1.0, held[fresh].shape)
        adversary = ADVERSARIES.get((env_id, policy))
        _, _, terminated, _, info = env.step(adversary(states, held) if adversary else held)
        counts["violations"] += info[COST[env_id]].sum()
        counts["terminated"] += terminated.sum()
        if "infeasible" in info:
            counts["interventions"] += info["intervened"].sum()
            counts["infeasible"] += (info["infeasible"] > before).sum()
            before = info["infeasible"]
    return counts


def safety_rows(steps: int) -> list[str]:
    rows: list[str] = []
    for env_id, policies in POLICIES.items():
        for name, keywords, noise, margin in [*EXACT, *DISTURBED[env_id]]:
            for policy in policies if name == "none" else policies[1:]:
                free, kept = (
                    play(environment(env_id, keywords, noise, filter), env_id, policy, steps)
                    for filter in (None, BarrierFilter(margin=margin, model={}))
                )
                world = env_id.removeprefix("rlenvs/")
                shares = " | ".join(f"{100 * kept[key] / steps:.2f}" for key in ("interventions", "infeasible"))
                rows.append(
                    f"| {world} | {name} | {policy} | {free['violations']:.0f} | {kept['violations']:.0f} | "
                    f"{1e6 * kept['violations'] / steps:.0f} | {shares} | "
                    f"{free['terminated']:.0f} / {kept['terminated']:.0f} |"
                )
                print(rows[-1], flush=True)
    return rows


def expert_return(env_id: str, filter: Any, keywords: dict[str, Any]) -> tuple[np.ndarray, float]:
    """Returns and violations of the expert over seeds 0 to 99."""
    env = environment(env_id, keywords, 0.0, filter, worlds=100)
    env.reset(seed=0)
    returns, going, violations = np.zeros(100), np.ones(100, np.bool_), 0.0
    while going.any():
        _, reward, terminated, truncated, info = env.step(env.expert_actions())
        returns += reward * going
        violations += (info[COST[env_id]] * going).sum()
        going &= ~(terminated | truncated)
    return returns, violations


def expert_rows() -> list[str]:
    rows = []
    for env_id, keywords in ((POINT, {}), (POINT, {"level": "2"}), (DRONE, {}), (DRONE, {"level": "hard"})):
        (free, before), (kept, after) = (expert_return(env_id, f, keywords) for f in (None, BarrierFilter()))
        cells = [f"{x.mean():.2f} +- {1.96 * x.std() / 10:.2f}" for x in (free, kept)]
        world = env_id.removeprefix("rlenvs/") + (f", level {keywords['level']}" if keywords else "")
        share = 100 * kept.mean() / free.mean()
        rows.append(f"| {world} | {cells[0]} | {cells[1]} | {share:.1f} | {before:.0f} | {after:.0f} |")
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    lines = [
        "# The barrier filter",
        "",
        f"`python benchmarks/safety.py --write`: {options.steps} steps a row, {WORLDS} worlds side by side; the drone",
        'with action="velocity". A violation is a step with cost (centre of the robot inside a hazard; drone more than',
        "1 m from the axis of the room). Interventions, and steps where no action met all constraints, in % of the",
        "steps. Crashes are the episodes that terminated, without / with the filter.",
        "",
        "| world | disturbance | policy | violations without | with the filter | per million steps | interventions, % "
        "| infeasible, % | crashes |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    print("\n".join(lines))
    lines += safety_rows(options.steps)
    table = [
        "",
        "The scripted expert's return over seeds 0 to 99, with its 95 % interval.",
        "",
        "| world | without | with the filter | kept, % | violations without | with |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(table))
    lines += [*table, *expert_rows()]
    if options.write:
        TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
