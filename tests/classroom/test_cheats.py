"""No cheat earns full marks: a sample of them, and the whole when slow tests are run."""

import pytest
from support.classroom_cheats import GENERAL, SPECIFIC, cheats, mark
from support.classroom_helpers import NAMES

pytestmark = pytest.mark.usefixtures("sockets_closed")

pytest.importorskip("scipy", reason="grading uses exact models: pip install 'rlenvs-suite[classroom]'")

# that once earned full marks, or learn nothing, of exercises whose grading is quick
SAMPLE = [
    ("bandits", "reset until arm 0 pays"),
    ("td_and_monte_carlo", "the straight line"),
    ("truncation_and_bootstrapping", "the formula"),
    ("policy_gradient", "theta from home"),
    ("dqn", "weights from home"),
    ("function_approximation", "weights from home"),
    ("find_the_bug", "calls counted"),
    ("find_the_bug", "leaked order"),
    ("self_play", "one algorithm for two"),
    ("your_own_world", "snapshots played again"),
    ("sac", "endless"),
    ("mdp_by_hand", "exact model of the package"),
    ("dynamic_programming", "public answers"),
    ("multi_objective", "leaked answers"),
    ("memory", "no memory"),
    ("gae", "huge"),
    ("ppo", "equals all"),
    ("reward_design", "forged"),
    ("safe_rl", "reads answers"),
    ("statistics_of_seeds", "looks around"),
    ("sim_to_real", "NaN"),
    ("q_learning_and_sarsa", "first argument"),
]
EVERY = [(name, cheat) for name in NAMES for cheat in (*GENERAL, *SPECIFIC[name])]


def check(name, cheat, folder):
    found = mark(name, cheat, folder)
    assert found.earned < found.points, [(each.name, each.earned) for each in found.results]
    if cheat in GENERAL and "answers" not in cheat:
        assert found.share <= 0.5
    assert all("\n" not in each.reason for each in found.results)


@pytest.mark.parametrize(("name", "cheat"), SAMPLE)
def test_a_sample_of_cheats(name, cheat, tmp_path):
    check(name, cheat, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "cheat"), EVERY)
def test_every_cheat(name, cheat, tmp_path):
    check(name, cheat, tmp_path)


def test_twelve_for_each_exercise():
    assert sorted({name for name, _ in SAMPLE}) == NAMES
    assert all(len(cheats(name)) >= 12 for name in NAMES)
