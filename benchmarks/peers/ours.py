"""Steps of an environment of this package, under the same protocol as the peers.

``--form single`` is `gymnasium.make` and ``parallel`` PettingZoo's parallel form, resets not counted; ``vector`` is the
native vector form without copies and ``batch`` the batch itself (several agents), both with autoreset, whose resets are
counted. ``--legal`` (``parallel`` and ``batch``): actions from those that the masks allow, chosen outside the count;
in a batch by the world's player "random". ``--living`` (``batch``): agents that are out of the game count no steps.
"""

import argparse
import json

import gymnasium
import numpy as np
import worker

import rlenvs

DRAWS = 16


def build_single(options: argparse.Namespace, keywords: dict) -> worker.Peer:
    env = gymnasium.make(f"rlenvs/{options.id}", **keywords)
    env.action_space.seed(0)
    env.reset(seed=0)
    actions = [env.action_space.sample() for _ in range(1024)]

    def step(action: object) -> bool:
        _, _, terminated, truncated, _ = env.step(action)
        return terminated or truncated

    return worker.Peer(step, env.reset, actions, over=True)


def build_parallel(options: argparse.Namespace, keywords: dict) -> worker.Peer:
    env = rlenvs.parallel_env(options.id, **keywords)
    agents = env.possible_agents
    for n, agent in enumerate(agents):
        env.action_space(agent).seed(n)
    actions = [{agent: env.action_space(agent).sample() for agent in agents} for _ in range(1024)]
    observations, _ = env.reset(seed=0)
    generator = np.random.default_rng(0)

    def step(action: dict) -> bool:
        nonlocal observations
        observations, *_ = env.step(action)
        return not env.agents

    def reset() -> None:
        nonlocal observations
        observations, _ = env.reset()

    def choose() -> dict:
        return {agent: generator.choice(observations[agent]["action_mask"].nonzero()[0]) for agent in env.agents}

    return worker.Peer(step, reset, actions, agents=len(agents), choose=choose if options.legal else None)


def build_vector(options: argparse.Namespace, keywords: dict) -> worker.Peer:
    envs = rlenvs.make_vec(options.id, options.num, copy=False, threads=options.threads, **keywords)
    envs.reset(seed=0)
    envs.action_space.seed(0)
    actions = [envs.action_space.sample() for _ in range(DRAWS)]

    def step(action: object) -> bool:
        envs.step(action)
        return False

    return worker.Peer(step, lambda: None, actions, agents=options.num, threads=options.threads or 1)


def build_batch(options: argparse.Namespace, keywords: dict) -> worker.Peer:
    batch = rlenvs.make_batch(options.id, options.num, threads=options.threads, **keywords)
    batch.seed(range(options.num))
    batch.reset()
    generator = np.random.default_rng(0)
    if batch.setup.continuous:
        actions = list(generator.uniform(-1, 1, (DRAWS, *batch.actions.shape)))
    else:
        actions = list(generator.integers(batch.setup.own_choices, size=(DRAWS, *batch.actions.shape)))

    def step(action: object) -> bool:
        batch.step(action)
        return False

    choose = (lambda: batch.player_actions("random")) if options.legal else None
    acting = 1 if batch.world.turns else batch.agents
    peer = worker.Peer(
        step, lambda: None, actions, agents=options.num * acting, choose=choose, threads=options.threads or 1
    )
    if options.living:
        peer.living = lambda: int(np.count_nonzero(batch.states["alive"] & ~batch.over[:, None]))
    return peer


FORMS = {"single": build_single, "parallel": build_parallel, "vector": build_vector, "batch": build_batch}

if __name__ == "__main__":
    parser = worker.parser(__doc__)
    parser.add_argument("--id", required=True, help="Name-v0")
    parser.add_argument("--form", choices=FORMS, default="single")
    parser.add_argument("--num", type=int, default=4096, help="environments of a batch")
    parser.add_argument("--legal", action="store_true", help="only actions that the masks allow")
    parser.add_argument("--living", action="store_true", help="count the steps of agents that are in the game alone")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--keywords", type=json.loads, default={}, help="keywords of make, as JSON")
    worker.serve(lambda options: FORMS[options.form](options, options.keywords), parser.parse_args())
