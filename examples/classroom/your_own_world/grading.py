from pathlib import Path

from gymnasium.utils.seeding import np_random

from rlenvs.classroom.exercise import Exercise, Failed, close, functions_of

# the class is played by the functions of the exercise, whatever was made of them
GIVEN = functions_of(Path(__file__).with_name("exercise.py"), "told_spaces", "play", "futures")
exercise = Exercise("your_own_world", "Your own world", minutes=1, seconds=60.0, given=GIVEN)
NAMES = ("sales", "order", "storage")
PATIENCE, DAYS, MOST = 3, 28, 20


class Reference:
    """The shop, as its description says."""

    def __init__(self, generator):
        self.generator = generator

    def begin(self, stock=None):
        self.stock = int(self.generator.integers(5, 11)) if stock is None else stock
        self.day, self.short = 0, 0

    def seen(self):
        return [self.stock, self.day % 7]

    def step(self, action):
        there = min(self.stock + action, MOST)
        demand = int(self.generator.poisson(5.0 if self.day % 7 > 4 else 2.0))
        self.stock = max(there - demand, 0)
        self.short = self.short + 1 if demand > there else 0
        self.day += 1
        return [2.0 * min(there, demand), -float(action), -0.1 * self.stock]

    @property
    def closed(self):
        return self.short == PATIENCE


def played(seed, actions, stock=None, episodes=1):
    """What `play` has to give."""
    shop, found = Reference(np_random(seed)[0]), []
    for _ in range(episodes):
        shop.begin(stock)
        seen, terms = [shop.seen()], []
        for action in actions:
            terms.append(shop.step(action))
            seen.append(shop.seen())
            if shop.closed or shop.day == DAYS:
                break
        found.append({"seen": seen, "terms": terms, "terminated": shop.closed})
    return found


def episodes_of(submission, *arguments):
    """The episodes of a submission, as dictionaries."""
    found = submission.call("play", *arguments)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Failed("play gave no list of episodes; leave it as it was")
    return found


def orders(draws, least=0):
    return [int(action) for action in draws.rng.integers(least, 6, size=DAYS)]


def compare(submission, part, *arguments):
    """Whether a part of the episodes is as it has to be."""
    wanted, found = played(*arguments), episodes_of(submission, *arguments)
    if len(found) != len(wanted):
        raise Failed(f"{len(found)} episodes were played; {len(wanted)} are wanted")
    for one, other in zip(wanted, found, strict=True):
        close(other[part], one[part], part)


@exercise.test("spaces", 1)
def spaces(submission, draws):
    told = submission.call("told_spaces")
    close(told["low"], [0, 0], "the lower bounds of observations")
    close(told["high"], [MOST, 6], "the upper bounds of observations")
    if (told["type"], told["actions"]) != ("float32", 6):
        raise Failed(f"observations are {told['type']}, there are {told['actions']} actions; wanted: float32 and 6")


@exercise.test("an episode: what is seen", 1)
def seen(submission, draws):
    compare(submission, "seen", draws.seed(), orders(draws, least=2))


@exercise.test("many episodes: what is seen, in float32", 2, hidden=True)
def many(submission, draws):
    for _ in range(20):
        arguments = draws.seed(), orders(draws)
        compare(submission, "seen", *arguments)
        if set(episodes_of(submission, *arguments)[0]["types"]) != {"float32"}:
            raise Failed("an observation is not float32, as the space says")


@exercise.test("many episodes: terms, and their sum", 2, hidden=True)
def terms(submission, draws):
    for _ in range(20):
        arguments = draws.seed(), orders(draws)
        compare(submission, "terms", *arguments)
        (episode,) = episodes_of(submission, *arguments)
        close(episode["rewards"], [sum(each) for each in played(*arguments)[0]["terms"]], "rewards")


@exercise.test("ends and the time limit", 2, hidden=True)
def ends(submission, draws):
    """Shops that order nothing close; those that fill up last four weeks."""
    for actions, stock in (([0] * DAYS, 1), ([5] * DAYS, MOST)):
        for _ in range(5):
            seed = draws.seed()
            (wanted,) = played(seed, actions, stock)
            (found,) = episodes_of(submission, seed, actions, stock)
            days = len(wanted["terms"])
            if len(found["rewards"]) != days:
                raise Failed(f"an episode took {len(found['rewards'])} days; {days} are wanted")
            if (found["terminated"], found["truncated"]) != (wanted["terminated"], not wanted["terminated"]):
                flags = f"terminated={found['terminated']}, truncated={found['truncated']}"
                raise Failed(f"after {days} days {flags}")


@exercise.test("later episodes: a generator that goes on, and stocks that are given", 1, hidden=True)
def later(submission, draws):
    compare(submission, "seen", draws.seed(), orders(draws, least=2), None, 4)
    compare(submission, "seen", draws.seed(), orders(draws, least=2), int(draws.rng.integers(0, 5)), 2)


@exercise.test("snapshots", 2, hidden=True)
def snapshots(submission, draws):
    for _ in range(5):
        seed, actions, at = draws.seed(), [5] * 20, int(draws.rng.integers(3, 15))
        shop = Reference(np_random(seed)[0])
        shop.begin()
        stocks = []
        for action in actions:
            shop.step(action)
            stocks.append(shop.stock)
        first, again = submission.call("futures", seed, actions, at)
        close(first, stocks[at:], "stocks after get_state")
        close(again, stocks[at:], "stocks after set_state")
