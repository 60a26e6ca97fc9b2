"""Steps of Jumanji's puzzles: ``--num`` of them side by side under `vmap`, compiled, with its own auto-reset.

``--id Game2048-v1``. A call is a `lax.scan` of ``--scan`` steps that carries the observations along, since XLA would
leave them out otherwise. Actions are drawn before and lie ready. Resets are counted.

Installed as: the package jumanji from the registry, Python 3.11; JAX on the CPU.
"""

import argparse

import worker


def build(options: argparse.Namespace) -> worker.Peer:
    """A compiled scan, and random actions for it."""
    import jax
    import jumanji
    from jax import numpy as jnp
    from jumanji.wrappers import VmapAutoResetWrapper

    if options.id == "Sokoban":  # whose registered levels are downloaded
        from jumanji.environments import Sokoban
        from jumanji.environments.routing.sokoban.generator import ToyGenerator

        made = Sokoban(generator=ToyGenerator())
    else:
        made = jumanji.make(options.id)
    env = VmapAutoResetWrapper(made)
    counts = jnp.asarray(getattr(env.action_spec, "num_values", 4))
    shape = (options.scan, options.num, *counts.shape)

    def advance(carry: tuple, actions: jax.Array) -> tuple:
        state, timestep = env.step(carry[0], actions)
        return (state, timestep), None

    roll = jax.jit(lambda carry, actions: jax.lax.scan(advance, carry, actions)[0])
    carry = jax.jit(env.reset)(jax.random.split(jax.random.PRNGKey(0), options.num))
    draws = [jax.random.randint(jax.random.PRNGKey(n), shape, 0, counts) for n in range(4)]

    def step(actions: jax.Array) -> bool:
        nonlocal carry
        carry = jax.block_until_ready(roll(carry, actions))
        return False

    for actions in draws[:2]:
        step(actions)
    return worker.Peer(step, lambda: None, draws, agents=options.scan * options.num)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", default="Game2048-v1")
    parser.add_argument("--num", type=int, default=256, help="worlds")
    parser.add_argument("--scan", type=int, default=16, help="steps per call")
    worker.serve(build, parser.parse_args())
