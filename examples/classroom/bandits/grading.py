import gymnasium
import numpy as np

from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit, lower_bound
from rlenvs.classroom.hosted import HostedEnv
from rlenvs.classroom.questions import Near, Question, Trial

STEPS = 500
exercise = Exercise("bandits", "Bandits: explore or exploit?", minutes=2, seconds=60.0)


exercise.trial = Trial(
    "Bandit-v0",
    "your play, on 100 machines of 1000 pulls each",
    """
def trial(env, practice):
    for _ in range(100):
        play(env, 1000)
""",
)


class Machine(HostedEnv):
    """A machine that remembers what its arms' means are, to tell the regret."""

    def __init__(self, seed):
        super().__init__(gymnasium.make("rlenvs/Bandit-v0"), seed, STEPS, resets=1)
        self.pulled = []

    def step(self, action):
        answer = super().step(action)
        self.pulled.append(int(action))
        return answer

    def kept(self):
        """Share of what chance loses against the best arm that was not lost."""
        twin = gymnasium.make("rlenvs/Bandit-v0", noise=0.0)
        twin.reset(seed=self.seed - 1)
        means = np.array([twin.step(arm)[1] for arm in range(10)])
        return 1.0 - (means.max() - means[self.pulled].mean()) / (means.max() - means.mean())


def kept(submission, draws, machines):
    """Shares that were kept on several machines."""
    found = []
    for _ in range(machines):
        machine = Machine(draws.world_seed())
        submission.call("play", machine, STEPS)
        if machine.steps < STEPS or len(machine.pulled) != STEPS:
            raise Failed(f"play took {machine.steps} of {STEPS} steps")
        found.append(machine.kept())
    return found


@exercise.asks("update", 1)
def first_update(draws):
    right = Near([1, 4], "the counts"), Near([0.5, 2.5], "the means")
    return Question("update", (np.array([1, 3]), np.array([0.5, 2.0]), 1, 4.0), right)


@exercise.asks("epsilon_greedy", 1)
def first_choice(draws):
    return Question("epsilon_greedy", (np.array([0.0, 1.0]), 0.2), (Near([0.1, 0.9], "epsilon_greedy"),))


@exercise.asks("ucb pulls every arm once", 1)
def all_arms(draws):
    return Question("ucb", (np.array([4, 0, 0]), np.array([9.0, 0.0, 0.0]), 1.0), (Near(1, "ucb"),))


@exercise.test("many updates", 1, hidden=True)
def many_updates(submission, draws):
    counts, means = np.zeros(4, np.int64), np.zeros(4)
    arms, rewards = draws.rng.integers(0, 4, 40), draws.rng.normal(size=40)
    for arm, reward in zip(arms, rewards, strict=True):
        counts, means = submission.call("update", counts, means, arm, reward)
    close(counts, np.bincount(arms, minlength=4), "the counts")
    wanted = [rewards[arms == arm].mean() if (arms == arm).any() else 0.0 for arm in range(4)]
    close(means, wanted, "the means after 40 pulls", 1e-9)


@exercise.test("epsilon_greedy with ties", 1, hidden=True)
def ties(submission, draws):
    for _ in range(5):
        means = draws.rng.integers(0, 3, 6).astype(float)
        epsilon, best = draws.rng.uniform(0.05, 0.5), means == means.max()
        wanted = epsilon / 6 + (1 - epsilon) * best / best.sum()
        close(submission.call("epsilon_greedy", means, epsilon), wanted, "epsilon_greedy")


@exercise.test("ucb on random counts", 1, hidden=True)
def random_counts(submission, draws):
    for _ in range(10):
        counts, means = draws.rng.integers(1, 30, 5), draws.rng.normal(size=5)
        c = draws.rng.uniform(0.2, 3.0)
        wanted = np.argmax(means + c * np.sqrt(np.log(counts.sum()) / counts))
        found = array_like(submission.call("ucb", counts, means, c), (), "ucb")
        close(found, wanted, "the arm of ucb")


@exercise.test("play: how much of what chance loses is kept (lower bound over 20 machines)", 4, hidden=True)
def played(submission, draws):
    """Chance keeps 0 of it, who knows the best arm from the start 1."""
    return credit(lower_bound(kept(submission, draws, 20)), none=0.5, full=0.78)
