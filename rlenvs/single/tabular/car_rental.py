"""Car rental: decide how many cars to move overnight between two locations.

## Description
A manager rents out cars at two places. Each day a random number of customers asks for a car at each place, and a random
number of cars is returned, available from the next day. Overnight up to five cars can be moved from one place to the
other (Jack's car rental: Sutton and Barto, "Reinforcement Learning", 2nd edition, example 4.2, and with `free_shuttle`
and `parking_price=4` exercise 4.7). `env.unwrapped.model` has the exact matrices, in which rewards are expected
rewards; `rlenvs.solve_mdp(env, gamma=0.9)` gives the policy of the book's figure.

## Action Space
The number of cars moved from the first place to the second, -5 to 5: action 0 moves five to the first. The mask allows
moving only available cars; a larger number is reduced to the available cars.

## Observation Space
One number: 21 times the cars at the first place, plus the cars at the second, in the evening. With `encoding="one_hot"`
a one-hot vector.

## Rewards
`rentals` is `credit` for each car rented out, `moves` minus `move_price` for each car moved (with `free_shuttle` the
first one from the first place is free), `parking` minus `parking_price` for each place that keeps more than 10 cars
overnight: 0 by default.

## Costs
None.

## Starting State
Ten cars at each place.

## Episode End
Truncation: 100 days. Success is not defined.

## Parameters
Customers and returns are Poisson distributed with these means, limited to the available cars and to 20 cars per place.

## Reference Scores
Mean return over seeds 0 to 99. The bound is the exact optimum within the time limit.

## Version History
v0: first version.
"""

from typing import Any

import numpy as np

from rlenvs.core import discrete, discrete_block, flag, i4, i8, kernel, maths, param, term, uniform, world
from rlenvs.kits.boards.drawing import pressed_move

MOST = 20  # cars at a place; more are sent away
MOST_MOVED = 5
COUNTS = MOST + 1
KEPT_FREE = 10  # cars that may stay overnight without a price
GAMMA = 0.9  # of the book
ENOUGH = 1e-4  # change of values that decides nothing any more
MOST_CUSTOMERS = 20.0  # the largest mean of customers and returns
MOST_PRICE = 100.0


def poisson_tail(mean: float, length: int) -> np.ndarray:
    """The probabilities of 0 ... length - 2 events, and last of all larger numbers."""
    chances = [maths.exp(-mean)]
    for number in range(1, length - 1):
        chances.append(chances[-1] * mean / number)
    return np.array([*chances, max(1.0 - sum(chances), 0.0)])


def days(requests: float, returns: float) -> tuple[np.ndarray, np.ndarray]:
    """Of one place, by the cars in the morning: the probabilities (21, 21) of those in the evening, and the expected
    number rented out (21,)."""
    to, rented = np.zeros((COUNTS, COUNTS)), np.zeros(COUNTS)
    for morning in range(COUNTS):
        out = poisson_tail(requests, morning + 1) if morning else np.ones(1)
        rented[morning] = (out * np.arange(morning + 1)).sum()
        for count, chance in enumerate(out):
            left = morning - count
            to[morning, left:] += chance * poisson_tail(returns, COUNTS - left) if left < MOST else 0.0
            if left == MOST:
                to[morning, MOST] += chance
    return to, rented


def moved(first: int, second: int, action: int) -> tuple[int, int, int]:
    """Cars at both places in the morning, and how many were moved to the second one."""
    move = min(max(action - MOST_MOVED, -second), first)
    return min(first - move, MOST), min(second + move, MOST), move


def evening_price(values: Any, first: int, second: int, move: int) -> float:
    """What a night costs, negative."""
    paid = abs(move) - (1 if values.free_shuttle and move > 0 else 0)
    kept = (first > KEPT_FREE) + (second > KEPT_FREE)
    return -values.move_price * paid - values.parking_price * kept


def matrices(values: Any) -> tuple[Any, Any, np.ndarray, np.ndarray, np.ndarray]:
    """The two places' `days`, the expected credit by the cars in the morning (21, 21), and by state and action the
    morning's state and the price of the night, (441, 11) each."""
    first, rented_first = days(values.requests_first, values.returns_first)
    second, rented_second = days(values.requests_second, values.returns_second)
    credit = values.credit * (rented_first[:, None] + rented_second)
    morning = np.zeros((COUNTS * COUNTS, 2 * MOST_MOVED + 1), np.int64)
    price = np.zeros(morning.shape)
    for state, action in np.ndindex(*morning.shape):
        a, b, move = moved(state // COUNTS, state % COUNTS, action)
        morning[state, action], price[state, action] = a * COUNTS + b, evening_price(values, a, b, move)
    return first, second, credit, morning, price


def allowed() -> np.ndarray:
    """Which moves take no more cars than there are, bool (441, 11)."""
    first, second = np.divmod(np.arange(COUNTS**2)[:, None], COUNTS)
    move = np.arange(2 * MOST_MOVED + 1) - MOST_MOVED
    return (-second <= move) & (move <= first)


def best_actions(values: Any) -> np.ndarray:
    """The book's policy: the best action (441,) for discount 0.9, by value iteration. The products are written out as
    sums, which are the same on every processor."""
    first, second, credit, morning, price = matrices(values)
    worth = np.zeros((COUNTS, COUNTS))
    while True:
        halfway = (first[:, :, None] * worth[None]).sum(axis=1)
        by_morning = credit + GAMMA * (halfway[:, None, :] * second[None]).sum(axis=2)
        q = np.where(allowed(), by_morning.ravel()[morning] + price, -np.inf)
        after = q.max(axis=1).reshape(worth.shape)
        if np.abs(after - worth).max() < ENOUGH:
            return np.argmax(q, axis=1)
        worth = after


SPEC = world(
    "CarRental-v0",
    doc=__doc__,
    source="Sutton and Barto, Reinforcement Learning, 2018",
    params={
        "requests_first": param(3.0, 0.0, MOST_CUSTOMERS, "", "mean number of customers at the first place"),
        "requests_second": param(4.0, 0.0, MOST_CUSTOMERS, "", "mean number of customers at the second place"),
        "returns_first": param(3.0, 0.0, MOST_CUSTOMERS, "", "mean number of cars returned to the first place"),
        "returns_second": param(2.0, 0.0, MOST_CUSTOMERS, "", "mean number of cars returned to the second place"),
        "credit": param(10.0, 0.0, MOST_PRICE, "", "income from renting out a car"),
        "move_price": param(2.0, 0.0, MOST_PRICE, "", "price of moving a car"),
        "parking_price": param(
            0.0, 0.0, MOST_PRICE, "", "price of keeping more than 10 cars at a place overnight; 4 in the exercise"
        ),
    },
    options={
        "free_shuttle": flag(False, "whether one car a night is moved from the first place for free"),
    },
    data={"best": i4(COUNTS * COUNTS)},
    state={"first": i8.up_to(MOST), "second": i8.up_to(MOST)},
    observation={
        "cars": discrete_block(COUNTS * COUNTS, doc="21 times the cars at the first place, plus those at the second")
    },
    action=discrete(*(f"move {abs(n)} to the {'first' if n < 0 else 'second'}" for n in range(-MOST_MOVED, 6))),
    terms={
        "rentals": term(0.0, 2 * MOST * MOST_PRICE, 1.0, "income from cars rented out"),
        "moves": term(-MOST_MOVED * MOST_PRICE, 0.0, 1.0, "price of the cars moved"),
        "parking": term(-2 * MOST_PRICE, 0.0, 1.0, "price of keeping too many cars at a place"),
    },
    horizon=100,
    fps=4,
    same_start=True,
)


@SPEC.make_data
def data(values):
    return {"best": best_actions(values)}


@SPEC.exact_model
def model(values):
    from rlenvs.kits.tables.solve import model_of_arrays  # SciPy is an extra

    first, second, credit, morning, price = matrices(values)
    by_morning = np.einsum("ik,jl->ijkl", first, second).reshape(COUNTS**2, COUNTS**2)
    start = np.zeros(COUNTS**2)
    start[10 * COUNTS + 10] = 1.0
    transitions = [by_morning[morning[:, action]] for action in range(morning.shape[1])]
    return model_of_arrays(transitions, credit.ravel()[morning] + price, start, allowed())


@kernel
def poisson(mean, most, rng):
    """A Poisson number, cut off at `most`."""
    number, product, floor = 0, uniform(rng, 0.0, 1.0), maths.exp(-mean)
    while product > floor and number < most:
        number += 1
        product *= uniform(rng, 0.0, 1.0)
    return number


@SPEC.reset
def reset(p, s, rng):
    s.first = 10
    s.second = 10


@SPEC.step
def step(p, s, a, rng, r):
    move = min(max(a - MOST_MOVED, -s.second), s.first)
    first, second = min(s.first - move, MOST), min(s.second + move, MOST)
    paid = abs(move) - int(p.free_shuttle == 1 and move > 0)
    r.moves = -p.move_price * paid
    r.parking = -p.parking_price * (int(first > KEPT_FREE) + int(second > KEPT_FREE))
    rented_first = poisson(p.requests_first, first, rng)
    rented_second = poisson(p.requests_second, second, rng)
    r.rentals = p.credit * (rented_first + rented_second)
    first -= rented_first
    second -= rented_second
    s.first = first + poisson(p.returns_first, MOST - first, rng)
    s.second = second + poisson(p.returns_second, MOST - second, rng)


@SPEC.observe
def observe(p, s, o):
    o.cars = s.first * COUNTS + s.second


@SPEC.mask
def mask(p, s, m):
    for action in range(2 * MOST_MOVED + 1):
        move = action - MOST_MOVED
        m[action] = int(-s.second <= move <= s.first)


@SPEC.expert
def expert(p, s, a):
    a[0] = p.best[s.first * COUNTS + s.second]


@SPEC.draw
def draw(canvas, p, s):
    canvas.legend(("blue", "car"), ("grey", "free place"))
    wide, tall = canvas.scene
    canvas.view(0.0, 12.0, 0.0, 12.0 * tall / wide)
    for left, name, cars in ((0.6, "first place", int(s.first)), (6.6, "second place", int(s.second))):
        canvas.text((left, 8.6), f"{name}: {cars}", "black", 18)
        for place in range(MOST):
            row, column = divmod(place, 4)
            x, y = left + 1.2 * column, 7.2 - 1.4 * row
            color = "blue" if place < cars else "grey"
            canvas.rectangle(x, y, x + 0.95, y + 0.55, color, rounded=0.12)
            if place < cars:
                for wheel in (0.22, 0.73):
                    canvas.circle((x + wheel, y), 0.14, "black")
    canvas.caption(f"{s.first} and {s.second} cars in the evening")


@SPEC.text
def text(p, s):
    return f"first place {s.first} cars, second place {s.second}"


@SPEC.keys
def keys(pressed, values):
    action = pressed_move(pressed, (("left", "a"), ("space", "s"), ("right", "d")))
    return None if action is None else MOST_MOVED + action - 1
