"""Steps of JaxMARL's worlds: ``--num`` of them side by side under `vmap`, compiled, with auto-reset; agent-steps (in
Hanabi and the switch riddle, where one agent moves in a step, steps).

``--env HeuristicEnemySMAX --map 8m``, ``--env MPE_simple_spread_v3``, ``--env hanabi``, ``--env storm --agents 8``,
``--env overcooked_v2 --layout two_rooms``, ``--env jaxnav --agents 2``. A call is a `lax.scan` of ``--scan`` steps that
carries the observations along, since XLA would leave them out otherwise. Actions are drawn before and lie ready; with
``--legal`` they are drawn in the scan from those that the world allows. Resets are counted.

Installed as: jaxmarl 0.2.0 from the registry, with jax 0.10.2 for the CPU and flax 0.12.8, Python 3.11.
"""

import argparse

import worker

# of OvercookedV2, as its authors train on it
SETTING = {
    "agent_view_size": 2,
    "negative_rewards": True,
    "sample_recipe_on_delivery": True,
    "random_agent_positions": True,
}
GRID = {"map_id": "Grid-Rand-Poly", "map_params": {"map_size": (11, 11), "fill": 0.3}}  # of jaxnav
IN_TURN = ("hanabi", "switch_riddle")


def build(options: argparse.Namespace) -> worker.Peer:
    """A compiled scan, and random actions for it."""
    import jax
    import jaxmarl
    from jax import numpy as jnp

    if options.map:
        from jaxmarl.environments.smax import map_name_to_scenario

        env = jaxmarl.make(options.env, scenario=map_name_to_scenario(options.map))
    elif options.env == "overcooked_v2":
        env = jaxmarl.make(options.env, layout=options.layout, **SETTING)
    elif options.env == "overcooked":
        from jaxmarl.environments.overcooked.layouts import overcooked_layouts

        env = jaxmarl.make(options.env, layout=overcooked_layouts[options.layout])
    elif options.env == "jaxnav":
        env = jaxmarl.make(options.env, num_agents=options.agents, act_type="Discrete", **GRID)
    elif options.agents:
        env = jaxmarl.make(options.env, num_agents=options.agents)
    else:
        env = jaxmarl.make(options.env)
    choices = env.action_space(env.agents[0]).n
    shape = (options.scan, len(env.agents), options.num)

    def chosen(key: jax.Array, state: object, ready: jax.Array) -> dict:
        if not options.legal:
            return {agent: ready[k] for k, agent in enumerate(env.agents)}
        allowed = jax.vmap(env.get_avail_actions)(state)
        keys = jax.random.split(key, len(env.agents))
        return {
            agent: jnp.argmax(jax.random.uniform(keys[k], allowed[agent].shape) * allowed[agent], axis=1)
            for k, agent in enumerate(env.agents)
        }

    def in_floats(rewards: jax.Array) -> jax.Array:
        return jnp.asarray(rewards, float)

    def advance(carry: tuple, ready: jax.Array) -> tuple:
        key, _, state, _ = carry
        key, to_step, to_choose = jax.random.split(key, 3)
        actions = chosen(to_choose, state, ready)
        keys = jax.random.split(to_step, options.num)
        observations, state, rewards, _, _ = jax.vmap(env.step)(keys, state, actions)
        return (key, observations, state, jax.tree.map(in_floats, rewards)), None

    roll = jax.jit(lambda carry, actions: jax.lax.scan(advance, carry, actions)[0])
    key = jax.random.PRNGKey(0)
    observations, state = jax.jit(jax.vmap(env.reset))(jax.random.split(key, options.num))
    draws = [jax.random.randint(jax.random.PRNGKey(n), shape, 0, choices) for n in range(4)]

    first = {agent: draws[0][0, k] for k, agent in enumerate(env.agents)}
    keys = jax.random.split(key, options.num)
    rewards = jax.eval_shape(jax.vmap(env.step), keys, state, first)[2]
    carry = (key, observations, state, jax.tree.map(lambda reward: jnp.zeros(reward.shape), rewards))

    def step(actions: jax.Array) -> bool:
        nonlocal carry
        carry = jax.block_until_ready(roll(carry, actions))
        return False

    for actions in draws[:2]:  # compiled for the first state, and once more for what a scan returns
        step(actions)
    acting = 1 if options.env in IN_TURN else len(env.agents)
    return worker.Peer(step, lambda: None, draws, agents=options.scan * options.num * acting)


if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--env", default="HeuristicEnemySMAX")
    parser.add_argument("--map", help="an SMAX scenario")
    parser.add_argument("--layout", default="cramped_room", help="of a kitchen")
    parser.add_argument("--agents", type=int, help="where their number may be chosen")
    parser.add_argument("--num", type=int, default=1024, help="worlds")
    parser.add_argument("--scan", type=int, default=16, help="steps per call")
    parser.add_argument("--legal", action="store_true", help="draw allowed actions in the scan")
    worker.serve(build, parser.parse_args())
