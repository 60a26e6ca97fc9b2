import numpy as np

from rlenvs.classroom.exercise import Exercise, close

exercise = Exercise("ppo", "The loss of PPO", minutes=1, seconds=20.0)


def objective(new, old, gains, clip):
    ratio = np.exp(new - old)
    limit = np.where(gains > 0, np.minimum(ratio, 1 + clip), np.maximum(ratio, 1 - clip))
    return float((limit * gains).mean())


@exercise.test("log_probability of one action", 1)
def one_action(submission, draws):
    found = submission.call("log_probability", np.ones((1, 1)), np.zeros((1, 1)), np.zeros(1))
    close(found, [-0.5 - 0.5 * np.log(2 * np.pi)], "log_probability")


@exercise.test("objective where nothing is clipped", 1)
def unclipped(submission, draws):
    gains = np.array([1.0, 2.0])
    close(submission.call("clipped_objective", np.zeros(2), np.zeros(2), gains, 0.2), 1.5, "clipped_objective")


@exercise.test("log_probability of many actions", 2, hidden=True)
def many_actions(submission, draws):
    actions, means = draws.rng.normal(size=(2, 30, 4))
    logs = draws.rng.uniform(-1.0, 1.0, 4)
    parts = np.exp(-0.5 * ((actions - means) / np.exp(logs)) ** 2) / np.exp(logs) / np.sqrt(2 * np.pi)
    close(submission.call("log_probability", actions, means, logs), np.log(parts.prod(axis=1)), "log_probability")


@exercise.test("clipped objective", 3, hidden=True)
def clipped(submission, draws):
    for _ in range(3):
        new, old, gains = draws.rng.normal(scale=0.5, size=(3, 50))
        clip = draws.rng.uniform(0.1, 0.3)
        close(
            submission.call("clipped_objective", new, old, gains, clip), objective(new, old, gains, clip), "objective"
        )


@exercise.test("clip fraction", 2, hidden=True)
def fraction(submission, draws):
    for _ in range(3):
        new, old = draws.rng.normal(scale=0.3, size=(2, 200))
        wanted = np.mean([not 0.8 <= np.exp(a - b) <= 1.2 for a, b in zip(new, old, strict=True)])
        close(submission.call("clip_fraction", new, old, 0.2), wanted, "clip_fraction")


@exercise.test("explained variance", 1, hidden=True)
def explained(submission, draws):
    values, noise = draws.rng.normal(size=(2, 50))
    wanted = 1 - np.var(noise) / np.var(values + noise)
    close(submission.call("explained_variance", values, values + noise), wanted, "explained_variance")
