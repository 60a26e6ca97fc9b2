import numpy as np

import rlenvs
from rlenvs.classroom.disguise import Renamed
from rlenvs.classroom.exercise import Exercise, lower_bound
from rlenvs.classroom.questions import Near, Process, Question, Trial, World, Worth

BUDGET = 20_000
exercise = Exercise("q_learning_and_sarsa", "Q-learning and SARSA", minutes=3, seconds=60.0)


exercise.trial = Trial(
    "CliffWalking-v0",
    "the policy that your learn returns",
    """
def trial(env, practice):
    policy = learn(practice, 0.99)
    for _ in range(100):
        state, _ = env.reset()
        over = False
        while not over:
            state, _, terminated, truncated, _ = env.step(int(policy[state]))
            over = terminated or truncated
""",
    practice=BUDGET,
)


def update_of(rng, name, terminated):
    Q, reward = rng.normal(size=(6, 3)), rng.normal()
    alpha, gamma = rng.uniform(0.1, 0.5), rng.uniform(0.5, 0.99)
    following = [4, 2] if name == "sarsa_update" else [4]
    ahead = Q[4, 2] if name == "sarsa_update" else Q[4].max()
    wanted = Q.copy()
    wanted[1, 0] += alpha * (reward + (0.0 if terminated else gamma * ahead) - Q[1, 0])
    return Question(name, (Q, 1, 0, reward, *following, terminated, alpha, gamma), (Near(wanted, name),))


def worth(env, gamma):
    """All points for the best way, none for one that costs twice as much."""
    model, best = env.unwrapped.model, rlenvs.solve_mdp(env, gamma=gamma).start_value
    process = Process(np.stack([matrix.toarray() for matrix in model.P]), model.R, gamma)
    return Worth(process, model.start, none=2 * best, full=best - 1e-6)


@exercise.asks("sarsa_update", 1)
def one_sarsa(draws):
    return update_of(draws.rng, "sarsa_update", terminated=False)


@exercise.asks("q_update", 1)
def one_q(draws):
    return update_of(draws.rng, "q_update", terminated=False)


@exercise.asks("learn finds the shortest way along the cliff", 2)
def cliff(draws):
    world = World("CliffWalking-v0", draws.world_seed(), BUDGET)
    return Question("learn", (world, 0.99), (worth(world.hosted().env, 0.99),))


@exercise.test("both updates at an end", 2, hidden=True)
def ends(submission, draws):
    for name in ("sarsa_update", "q_update"):
        update_of(draws.rng, name, terminated=True).share(submission)


@exercise.test("learn in shuffled cliffs (lower bound over 5)", 4, hidden=True)
def shuffled(submission, draws):
    """Actions and states have other numbers each time, so that a policy that was learnt before is of no use."""
    found = []
    for _ in range(5):
        env = draws.env("CliffWalking-v0", BUDGET)
        exact = env.env
        env.env = Renamed(exact, draws.rng)
        right = worth(exact, 0.99)
        policy = right.process.policy(submission.call("learn", env, 0.99))
        found.append(right.share(env.env.policy(policy)))
    return lower_bound(found)
