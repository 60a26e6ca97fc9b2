"""What is played to find the loops that libraries need: all wrappers, on worlds that take them."""

import pytest

import rlenvs.wrappers
from rlenvs import loops_played
from rlenvs.core.compiler import loops
from rlenvs.core.compiler.arguments import described
from rlenvs.wrappers import Wrapper


def wrappers_of(module):
    found = (getattr(module, name) for name in module.__all__)
    return {kind for kind in found if isinstance(kind, type) and issubclass(kind, Wrapper)}


def test_all_wrappers_are_played():
    stacks = [*loops_played.EVERYWHERE, *(made for _, made, _ in loops_played.ALONE)]
    played = {rlenvs.wrappers.SnapshotReset}  # whose bank takes long to collect
    for made in stacks:
        if "collect_snapshots" not in made.__code__.co_names:
            played |= {type(each) for each in made()}
    assert wrappers_of(rlenvs.wrappers) <= played


@pytest.fixture
def watched():
    seen = []
    loops.watch.append(lambda loop, arguments, shared: seen.append((loop.__name__, described(arguments), shared)))
    yield seen
    loops.watch.clear()


def test_what_is_played_is_noted(watched):
    """Loops that are called from Python, and those that are bound; what is refused is no fault."""
    stack = next(made for made in loops_played.EVERYWHERE if "ActionCost" in made.__code__.co_names)
    form = next(loops_played.forms("Pendulum-v0", {"horizon": 4}))
    assert loops_played.play(form, stack)
    assert {"count_rows", "put_rows"} <= {name for name, _, _ in watched}
    assert all(words for _, words, _ in watched)
    assert not loops_played.play(next(loops_played.forms("CartPole-v0", {})), stack)


@pytest.mark.slow
def test_all_that_is_played_is_taken_by_some_environment():
    pytest.importorskip("mujoco")
    played = loops_played.play_all()
    assert not [name for name, count in played.items() if not count]
