"""What the tests of worlds given as tables share."""

import rlenvs

PLAYED = [
    f"rlenvs/{name}-v0" for name in ("FrozenLake", "FrozenLake8x8", "CliffWalking", "Taxi", "Chain", "RandomWalk")
]
PLAYED += [f"rlenvs/{name}-v0" for name in ("Gambler", "FourRooms", "TwoStates", "Blackjack")]
EXACT = [*PLAYED, "rlenvs/CarRental-v0"]


def model(id, **options):
    return rlenvs.make(id, **options).unwrapped.model
