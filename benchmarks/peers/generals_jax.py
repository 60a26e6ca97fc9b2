"""Steps of generals-bots' JAX version on 24x24 boards: ``--num`` games side by side under `vmap`; agent-steps.

The protocol of its own bench.py: a pool of boards made before, from which a game that is over takes the next one (this
is counted), and a compiled `lax.scan` of 200 steps. Unlike there, the pool is of 2,000 boards instead of 10,000, whose
making takes minutes; the observations of both players are carried along, since XLA leaves out what nobody reads; and
the actions are random ones that lie ready. ``--tensors`` gives what learners work on, and what our step gives: the
tensor of channels and the mask of moves, made by its own functions.

Installed as: generals-bots 2.6.0 from its repository (master), with jax 0.10.2 for the CPU, Python 3.11.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """A compiled scan, and random actions for it."""
    import jax
    from generals import GeneralsEnv
    from generals.core.action import compute_valid_move_mask_obs
    from jax import numpy as jnp

    side = (options.side, options.side)
    env = GeneralsEnv(grid_dims=side, truncation=500, pool_size=options.pool)
    pool, _ = env.reset(jax.random.PRNGKey(0))
    states = jax.vmap(env.init_state)(jax.random.split(jax.random.PRNGKey(1), options.num))
    ranges = jnp.array([1, *side, 4, 2])  # never a pass

    def shown(observation: object) -> object:
        if not options.tensors:
            return observation
        tensors = jax.vmap(jax.vmap(lambda one: one.as_tensor()))(observation)
        return tensors, jax.vmap(jax.vmap(compute_valid_move_mask_obs))(observation)

    def advance(carry: tuple, actions: jax.Array) -> tuple:
        _, states = carry
        ticks, states = jax.vmap(env.step, in_axes=(0, 0, None))(states, actions, pool)
        return ((shown(ticks.observation), ticks.reward), states), None

    roll = jax.jit(lambda carry, actions: jax.lax.scan(advance, carry, actions)[0])
    shape = (options.scan, options.num, 2, 5)
    draws = [jax.random.randint(jax.random.PRNGKey(n), shape, 0, ranges) for n in range(2)]
    seen, _ = jax.vmap(env.step, in_axes=(0, 0, None))(states, draws[0][0], pool)
    carry = ((shown(seen.observation), seen.reward), states)

    def step(actions: jax.Array) -> bool:
        nonlocal carry
        carry = jax.block_until_ready(roll(carry, actions))
        return False

    for actions in draws[:2]:  # compiled for the first state, and once more for what a scan returns
        step(actions)
    return worker.Peer(step, lambda: None, draws, agents=2 * options.scan * options.num)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--side", type=int, default=24, help="side of the square board")
    parser.add_argument("--num", type=int, default=512, help="games")
    parser.add_argument("--scan", type=int, default=200, help="steps per call")
    parser.add_argument("--tensors", action="store_true", help="channels and masks, as learners want them")
    parser.add_argument("--pool", type=int, default=2_000, help="boards")
    worker.serve(build, parser.parse_args())
