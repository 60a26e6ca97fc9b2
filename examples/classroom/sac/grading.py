import numpy as np

from rlenvs.classroom.exercise import Exercise, Failed, array_like, close, credit

exercise = Exercise("sac", "Soft actor-critic", minutes=2, seconds=60.0)


def parts(found, count, what):
    """What a function returns, if it is so many things."""
    if not isinstance(found, list) or len(found) != count:
        raise Failed(f"{what} is to return {count} things, not {str(found)[:60]}")
    return found


def log_density(u, means, deviations):
    """By definition; for moderate u."""
    normal = np.exp(-0.5 * ((u - means) / deviations) ** 2) / deviations / np.sqrt(2 * np.pi)
    return np.log(normal / (1 - np.tanh(u) ** 2)).sum(axis=1)


def paid(actions, place, width):
    return np.exp(-0.5 * ((actions - place) / width) ** 2) + np.exp(-0.5 * ((actions + place) / width) ** 2)


def soft_value(mean, log_deviation, place, width, alpha):
    """Expected reward and alpha times the entropy, by the midpoint rule over +-8 deviations."""
    edges = np.linspace(-8.0, 8.0, 4001)
    noise = (edges[1:] + edges[:-1]) / 2
    weights = np.exp(-0.5 * noise**2)
    u = mean + np.exp(log_deviation) * noise
    logs = -0.5 * noise**2 - log_deviation - 0.5 * np.log(2 * np.pi) + 2 * np.logaddexp(u, -u) - 2 * np.log(2)
    return float(weights @ (paid(np.tanh(u), place, width) - alpha * logs) / weights.sum())


@exercise.test("squash one action", 1)
def one_action(submission, draws):
    actions, logs = parts(
        submission.call("squash", np.zeros((1, 1)), np.zeros((1, 1)), np.full((1, 1), 0.5)), 2, "squash"
    )
    close(actions, [[np.tanh(0.5)]], "the action")
    close(logs, log_density(np.full((1, 1), 0.5), 0.0, 1.0), "the log-probability")


@exercise.test("soft_targets without ends", 1)
def without_ends(submission, draws):
    ahead = np.array([1.0, 4.0]), np.array([2.0, 3.0]), np.array([-1.0, 1.0])
    found = submission.call("soft_targets", np.ones(2), *ahead, np.zeros(2, bool), 0.5, 0.9)
    close(found, [1 + 0.9 * 1.5, 1 + 0.9 * 2.5], "soft_targets")


@exercise.test("polyak", 1)
def slow_copy(submission, draws):
    slow, fast = [np.ones((2, 2)), np.zeros(3)], [np.zeros((2, 2)), np.ones(3)]
    found = parts(submission.call("polyak", slow, fast, 0.25), 2, "polyak")
    for each, right in zip(found, (np.full((2, 2), 0.75), np.full(3, 0.25)), strict=True):
        close(each, right, "polyak")


@exercise.test("squash: many actions, and the density integrates to 1", 2, hidden=True)
def many_actions(submission, draws):
    means, logs = draws.rng.normal(size=(2, 30, 3)) * 0.5
    noise = draws.rng.normal(size=(30, 3))
    actions, found = parts(submission.call("squash", means, logs, noise), 2, "squash")
    u = means + np.exp(logs) * noise
    close(actions, np.tanh(u), "the actions")
    close(found, log_density(u, means, np.exp(logs)), "the log-probabilities", 1e-5)
    mean, log_deviation = draws.rng.uniform(-0.5, 0.5), draws.rng.uniform(-1.5, 0.0)
    edges = np.linspace(-1, 1, 20_001)
    middle = (edges[1:] + edges[:-1]) / 2
    noise = ((np.arctanh(middle) - mean) / np.exp(log_deviation))[:, None]
    same = np.full((len(middle), 1), mean), np.full((len(middle), 1), log_deviation)
    logs = array_like(parts(submission.call("squash", *same, noise), 2, "squash")[1], (len(middle),), "squash")
    close(np.exp(logs).mean() * 2, 1.0, "the integral of the density over (-1, 1)", 1e-3)


@exercise.test("squash: far out", 1, hidden=True)
def far_out(submission, draws):
    """1 - tanh^2 u is 4 exp(-2 |u|) there."""
    means = draws.rng.choice([-1.0, 1.0], (6, 1)) * draws.rng.uniform(20.0, 60.0, (6, 1))
    logs, noise = draws.rng.uniform(-1.0, 0.0, (6, 1)), draws.rng.normal(size=(6, 1))
    u = means + np.exp(logs) * noise
    wanted = -0.5 * noise**2 - logs - 0.5 * np.log(2 * np.pi) - np.log(4) + 2 * np.abs(u)
    found = parts(submission.call("squash", means, logs, noise), 2, "squash")[1]
    close(found, wanted[:, 0], "the log-probabilities of actions near the bounds")


@exercise.test("soft_targets", 1, hidden=True)
def with_ends(submission, draws):
    rewards, first, second, logs = draws.rng.normal(size=(4, 30))
    ends, alpha, gamma = draws.rng.random(30) < 0.3, draws.rng.uniform(0.1, 1.0), draws.rng.uniform(0.8, 0.99)
    wanted = [
        r + (0.0 if end else gamma * (min(a, b) - alpha * log))
        for r, a, b, log, end in zip(rewards, first, second, logs, ends, strict=True)
    ]
    found = submission.call("soft_targets", rewards, first, second, logs, ends, alpha, gamma)
    close(found, wanted, "soft_targets")


@exercise.test("actor_gradient beside finite differences", 3, hidden=True)
def slopes(submission, draws):
    """The critic is a sum of sines, so that its slopes are known."""
    for _ in range(3):
        point, noise = draws.rng.normal(size=(2, 2)) * 0.5, draws.rng.normal(size=(20, 2))
        speed, alpha = draws.rng.uniform(1.0, 3.0, 2), draws.rng.uniform(0.1, 1.0)

        def loss(point, noise=noise, speed=speed, alpha=alpha):
            u = point[0] + np.exp(point[1]) * noise
            logs = log_density(u, point[0], np.exp(point[1]))
            return float(np.mean(alpha * logs - np.sin(speed * np.tanh(u)).sum(axis=1)))

        wanted = np.zeros((2, 2))
        for place in np.ndindex(2, 2):
            shift = np.zeros((2, 2))
            shift[place] = 1e-5
            wanted[place] = (loss(point + shift) - loss(point - shift)) / 2e-5
        actions = np.tanh(point[0] + np.exp(point[1]) * noise)
        found = submission.call("actor_gradient", *point, noise, speed * np.cos(speed * actions), alpha)
        close(parts(found, 2, "actor_gradient")[0], wanted[0], "the gradient by the mean", 1e-5)
        close(found[1], wanted[1], "the gradient by the log deviation", 1e-5)


@exercise.test("temperature_step", 1, hidden=True)
def temperature(submission, draws):
    """Beside finite differences of its loss."""
    logs, log_alpha = draws.rng.normal(size=40), draws.rng.normal()
    target, rate = draws.rng.normal(), draws.rng.uniform(0.01, 0.1)
    higher, lower = (-(log_alpha + shift) * np.mean(logs + target) for shift in (1e-3, -1e-3))
    found = submission.call("temperature_step", log_alpha, logs, target, rate)
    close(found, log_alpha - rate * (higher - lower) / 2e-3, "temperature_step")


@exercise.test("fit: soft value, of what can be gained over a fixed policy (the worst of 5 problems)", 4, hidden=True)
def fitted(submission, draws):
    worst = 1.0
    for _ in range(5):
        place, width = draws.rng.uniform(0.6, 0.9), draws.rng.uniform(0.1, 0.2)
        alpha = np.exp(draws.rng.uniform(np.log(0.05), np.log(1.0)))
        problem = place, width, alpha
        best = max(soft_value(m, s, *problem) for m in np.linspace(0, 2, 41) for s in np.linspace(-3, 1, 41))
        fixed = soft_value(0.0, -1.0, *problem)
        mean, log_deviation = np.clip(array_like(submission.call("fit", *problem), (2,), "fit"), -20, 20)
        worst = min(worst, (soft_value(mean, min(log_deviation, 5), *problem) - fixed) / (best - fixed))
    return credit(worst, none=0.3, full=0.95)
