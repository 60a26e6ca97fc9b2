"""Record games of JaxMARL's Hanabi and of its switch riddle: decks, moves, and what every agent sees before each.

Installed as: jaxmarl 0.2.0 from the registry, with jax for the CPU and flax, Python 3.11. All actions are drawn from
those that are allowed; in Hanabi hints are drawn more often, so that games last. The arrays are described in
tests/data/README.md.
"""

import argparse
from pathlib import Path

try:
    import jax
    import numpy as np
    from jax import numpy as jnp
    from jaxmarl import make
except ModuleNotFoundError as error:
    raise SystemExit(f"{error.name} is needed; the docstring of this script says how it is installed") from None

PLAYERS = (2, 2, 3, 4, 5)
RIDDLES = (3, 4, 7)  # prisoners
EPISODES = 20


def hanabi(players: int, seed: int) -> dict[str, np.ndarray]:
    """One game of random hints, plays and discards."""
    env, dice = make("hanabi", num_agents=players), np.random.default_rng(seed)
    cards = [(color, rank) for color in range(5) for rank, count in enumerate((3, 2, 2, 2, 1)) for _ in range(count)]
    deck = dice.permutation(cards)
    seen, state = env.reset_from_deck_of_pairs(jnp.asarray(deck))
    step, allowed = jax.jit(env.step_env), jax.jit(env.get_legal_moves)
    rows: dict[str, list] = {name: [] for name in ("actions", "rewards", "observed", "legal")}

    def look() -> None:
        legal = allowed(state)
        rows["observed"].append([np.asarray(seen[agent], np.float32) for agent in env.agents])
        rows["legal"].append([np.asarray(legal[agent], bool) for agent in env.agents])

    look()
    over = False
    while not over:
        mover = int(jnp.argmax(state.cur_player_idx))
        legal = np.flatnonzero(rows["legal"][-1][mover])
        hints = legal[legal >= 2 * env.hand_size]
        right = [env.hand_size + slot for slot in range(env.hand_size) if fits(state, mover, slot)]
        choices = right if right and dice.random() < 0.5 else hints if len(hints) and dice.random() < 0.6 else legal
        action = int(dice.choice(choices))
        played = {agent: jnp.asarray(action if k == mover else env.num_moves - 1) for k, agent in enumerate(env.agents)}
        seen, state, reward, ends, _ = step(jax.random.PRNGKey(0), state, played)
        rows["actions"].append(action)
        rows["rewards"].append(float(reward["agent_0"]))
        over = bool(ends["__all__"])
        look()
    return {"deck": deck[:, 0] * 5 + deck[:, 1], **{name: np.array(values) for name, values in rows.items()}}


def fits(state: object, player: int, slot: int) -> bool:
    """Whether a card can be placed."""
    card = np.asarray(state.player_hands[player, slot])
    return bool(card.any()) and int(state.fireworks[card.any(1).argmax()].sum()) == int(card.any(0).argmax())


def riddle(prisoners: int, seed: int) -> dict[str, np.ndarray]:
    """Episodes of the switch riddle, one after the other; `room` is who is in the room before each action."""
    env, key = make("switch_riddle", num_agents=prisoners), jax.random.PRNGKey(seed)
    dice, step = np.random.default_rng(seed), jax.jit(env.step_env)
    rows: dict[str, list] = {name: [] for name in ("room", "observed", "actions", "rewards", "ends", "after")}
    for _ in range(EPISODES):
        key, to_reset = jax.random.split(key)
        seen, state = env.reset(to_reset)
        over = False
        while not over:
            key, to_step = jax.random.split(key)
            actions = dice.choice(3, prisoners, p=(0.4, 0.5, 0.1))
            rows["room"].append(int(state.agent_in_room))
            rows["observed"].append([np.asarray(seen[agent]) for agent in env.agents])
            seen, state, reward, ends, _ = step(
                to_step, state, dict(zip(env.agents, jnp.asarray(actions), strict=True))
            )
            over = bool(ends["__all__"])
            rows["actions"].append(actions)
            rows["rewards"].append([float(reward[agent]) for agent in env.agents])
            rows["ends"].append(over)
            rows["after"].append([np.asarray(seen[agent]) for agent in env.agents])
    return {name: np.array(values) for name, values in rows.items()}


def main() -> None:
    """Write all games to one file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("tests/data/jaxmarl_cooperation.npz"))
    out = parser.parse_args().out
    games = {f"hanabi{n}": hanabi(players, n) for n, players in enumerate(PLAYERS)}
    games |= {f"riddle{prisoners}": riddle(prisoners, prisoners) for prisoners in RIDDLES}
    arrays = {f"{game}_{name}": array for game, made in games.items() for name, array in made.items()}
    np.savez_compressed(out, players=np.array(PLAYERS), prisoners=np.array(RIDDLES), **arrays)


if __name__ == "__main__":
    main()
