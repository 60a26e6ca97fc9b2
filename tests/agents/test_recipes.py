"""Data sets that worlds declare: sizes, mixture, pieces, rows, and what is refused."""

import numpy as np
import pytest
from typer.testing import CliRunner

from rlenvs.agents.datasets import make_dataset
from rlenvs.agents.recipes import KEYS, get_dataset, noisy_player, piece_of, recipes_of
from rlenvs.agents.rollouts import rollouts
from rlenvs.cli import app
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.declare.parts import recipe
from rlenvs.robotics.racing.offline_drivers import basic, medium, skilled

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

ID = "rlenvs/OfflineRacer-v0"
# OfflineMania's readme: names, transitions, shares of basic, medium, expert
SETS = {
    "basic": (100_000, (1.0, 0.0, 0.0)),
    "medium": (100_000, (0.0, 1.0, 0.0)),
    "expert": (100_000, (0.0, 0.0, 1.0)),
    "mixLarge": (200_000, (0.9, 0.07, 0.03)),
    "mixSmall": (5_000, (0.9, 0.07, 0.03)),
    "basicSmall": (5_000, (1.0, 0.0, 0.0)),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where Minari looks, empty."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


@pytest.fixture
def short(monkeypatch):
    """Recipes of few episodes, of a world whose episodes are short."""
    sets = {"mixed": recipe({basic: 3, skilled: 1}), "pieces": recipe({basic: 3, "expert": 1}, kept=7)}
    monkeypatch.setitem(world_of(ID).functions, "datasets", lambda: sets)


def test_names_sizes_and_mixtures_are_those_of_offlinemania():
    found = recipes_of(ID)
    assert list(found) == [*SETS, "costs"]
    for name, (steps, shares) in SETS.items():
        each = found[name].kept or 2000
        episodes = [found[name].episodes.get(driver, 0) for driver in (basic, medium, skilled)]
        assert sum(episodes) * each == steps
        assert np.allclose(np.array(episodes) / sum(episodes), shares)


@pytest.mark.usefixtures("short")
def test_episodes_and_rows_hold_the_same_steps():
    told = make_dataset(ID, "mixed", seed=3, horizon=20)
    dataset, rows = minari.load_dataset(told.name), get_dataset(told.name)
    assert (told.episodes, told.steps, told.player if hasattr(told, "player") else "") == (4, 80, "")
    assert "3 episodes of 'basic', 1 episodes of 'skilled'" in told.policy
    assert tuple(rows) == KEYS
    assert {key: array.shape for key, array in rows.items()} == {
        "observations": (80, 33), "actions": (80, 2), "rewards": (80, 1), "terminals": (80, 1), "timeouts": (80, 1),
        "next_observations": (80, 33),
    }  # fmt: skip
    assert all(array.dtype == np.float64 for array in rows.values())
    steps = np.vstack([np.c_[e.observations[:-1], e.actions, e.rewards, e.observations[1:]] for e in dataset])
    shuffled = np.c_[rows["observations"], rows["actions"], rows["rewards"], rows["next_observations"]]
    assert sorted(map(tuple, steps)) == sorted(map(tuple, shuffled))
    assert not np.array_equal(steps, shuffled)
    follows = (rows["next_observations"][:-1] == rows["observations"][1:]).all(axis=1)
    assert follows.mean() < 0.2
    assert (rows["terminals"].sum(), rows["timeouts"].sum()) == (0, 4)
    assert told.per_step == pytest.approx(rows["rewards"].mean())
    env = dataset.recover_environment()
    observation, _ = env.reset(seed=next(iter(dataset.storage.get_episode_metadata([3])))["seed"])
    for t, action in enumerate(dataset[3].actions):
        assert np.array_equal(observation, dataset[3].observations[t])
        observation = env.step(action)[0]


@pytest.mark.usefixtures("short")
def test_pieces_are_consecutive_steps_from_a_random_place():
    told = make_dataset(ID, "pieces", horizon=20)
    dataset = minari.load_dataset(told.name)
    assert (told.episodes, told.steps, told.score) == (4, 28, None)
    (whole, *_) = next(iter(rollouts(ID, noisy_player(basic), range(3), {"horizon": 20}))).episodes
    piece = dataset[0]
    start = next(t for t in range(20) if np.array_equal(whole.observations[t], piece.observations[0]))
    assert np.array_equal(whole.observations[start : start + 8], piece.observations)
    assert np.array_equal(whole.actions[start : start + 7], piece.actions)
    assert piece.truncations.tolist() == [False] * 6 + [True]
    assert len({tuple(dataset[i].observations[0]) for i in range(4)}) == 4
    assert piece_of(whole, 0) is piece_of(whole, 20) is whole


@pytest.mark.usefixtures("short")
def test_the_same_seed_makes_the_same_rows(tmp_path):
    a, b, c = (
        get_dataset(make_dataset(ID, "mixed", folder=tmp_path / name, seed=seed, horizon=15).name, tmp_path / name)
        for name, seed in (("a", 5), ("b", 5), ("c", 6))
    )
    assert all(np.array_equal(a[key], b[key]) for key in KEYS)
    assert not np.array_equal(a["observations"], c["observations"])


@pytest.mark.usefixtures("short")
def test_one_command_makes_all(folder):
    done = CliRunner().invoke(app, ["dataset", "OfflineRacer-v0", "--quality", "all", "--set", "horizon=10"])
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in (folder / ID).iterdir()) == ["mixed-v0", "pieces-v0"]


@pytest.mark.usefixtures("short")
def test_what_is_refused():
    with pytest.raises(ParameterError, match="defines the players"):
        make_dataset(ID, "mixed", 3)
    with pytest.raises(UnknownNameError, match="mixed"):
        make_dataset(ID, "mixd")
    with pytest.raises(UnknownNameError, match="no rows"):
        get_dataset(f"{ID}/none-v0")
    with pytest.raises(ParameterError, match="steps=64 is of the quality 'replay'"):
        make_dataset("CartPole-v0", "random", 2, steps=64)
    with pytest.raises(ParameterError, match="positive"):
        recipe({})
    with pytest.raises(ParameterError, match="positive"):
        recipe({basic: 0})
    for arguments in (["QuadHover-v0", "--quality", "all"], ["OfflineRacer-v0", "--quality", "all", "--name", "x-v0"]):
        assert CliRunner().invoke(app, ["dataset", *arguments]).exit_code != 0
    assert recipes_of("QuadHover-v0") == {}


@pytest.mark.slow
def test_the_real_sets_are_as_good_as_was_said():
    per_step = {name: make_dataset(ID, name).per_step for name in SETS}
    assert per_step["basicSmall"] == pytest.approx(0.0525, abs=0.02)  # OfflineMania's, measured
    assert per_step["mixSmall"] == pytest.approx(0.0647, abs=0.02)
    assert per_step["basic"] < per_step["medium"] < per_step["expert"]
