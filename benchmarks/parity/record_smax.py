"""Record SMAX battles, both sides acting: states before and after every step, rewards, masks, and some observations.

Installed as: jaxmarl 0.2.0 from the registry, with jax 0.10.2 for the CPU and flax 0.12.8, Python 3.11. Units follow
the package's heuristic in two of three steps and draw any action, legal or not, in the others. The arrays are described
in tests/data/README.md.
"""

import argparse
from pathlib import Path

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
    from jaxmarl import make
    from jaxmarl.environments.smax import map_name_to_scenario
    from jaxmarl.environments.smax.heuristic_enemy import create_heuristic_policy, get_heuristic_policy_initial_state
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

SCENARIOS = ("2s3z", "5m_vs_6m", "3s5z_vs_3s6z", "smacv2_10_units")
STEPS = 30
OBSERVED = (0, 5, 10, 15, 20, 25)
FIELDS = {
    "places": "unit_positions",
    "health": "unit_health",
    "alive": "unit_alive",
    "cooldown": "unit_weapon_cooldowns",
    "kind": "unit_types",
}


def record(scenario: str, seed: int) -> dict[str, np.ndarray]:
    """One battle."""
    env = make("SMAX", scenario=map_name_to_scenario(scenario))
    key = jax.random.PRNGKey(seed)
    seen, state = env.reset(key)
    step = jax.jit(env.step_env)
    allowed = jax.jit(env.get_avail_actions)
    heuristics = [jax.jit(create_heuristic_policy(env, team)) for team in (0, 1)]
    minds = [get_heuristic_policy_initial_state() for _ in env.agents]
    dice = np.random.default_rng(seed)
    rows: dict[str, list] = {name: [] for name in (*FIELDS, "actions", "rewards")}
    views: dict[str, list] = {"observed": [], "masks": []}
    most = max(space.n for space in env.action_spaces.values())
    for t in range(STEPS):
        for name, field in FIELDS.items():
            rows[name].append(np.asarray(getattr(state, field)))
        if t in OBSERVED:
            legal = allowed(state)
            views["observed"].append([np.asarray(seen[agent]) for agent in env.agents])
            views["masks"].append([np.pad(legal[agent], (0, most - len(legal[agent]))) for agent in env.agents])
        actions = []
        for k, agent in enumerate(env.agents):
            key, chosen = jax.random.split(key)
            wise, minds[k] = heuristics[int(k >= env.num_allies)](chosen, minds[k], seen[agent])
            wild = dice.random() < 1 / 3
            actions.append(int(dice.integers(env.action_spaces[agent].n)) if wild else int(wise))
        key, to_step = jax.random.split(key)
        played = {agent: jnp.asarray(a) for agent, a in zip(env.agents, actions, strict=True)}
        seen, state, rewards, ends, _ = step(to_step, state, played)
        rows["actions"].append(actions)
        rows["rewards"].append([float(rewards[agent]) for agent in env.agents])
        if ends["__all__"]:
            break
    for name, field in FIELDS.items():
        rows[name].append(np.asarray(getattr(state, field)))
    return {name: np.array(values) for name, values in {**rows, **views}.items()}


def main() -> None:
    """Write all battles to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/smax.npz"))
    out = parser.parse_args().out
    arrays = {
        f"{scenario}_{name}": array
        for seed, scenario in enumerate(SCENARIOS)
        for name, array in record(scenario, seed).items()
    }
    np.savez_compressed(out, observed_steps=np.array(OBSERVED), scenarios=np.array(SCENARIOS), **arrays)


if __name__ == "__main__":
    main()
