"""Datasets by recipe: costs, joint trajectories, pixels, windows; their cards and hashes; what is refused."""

import hashlib
import json
import math

import numpy as np
import pytest
from typer.testing import CliRunner

from rlenvs.agents.dataset_cards import Tally, arrays_of, card_text
from rlenvs.agents.datasets import make_dataset
from rlenvs.agents.joint import joint_rollouts
from rlenvs.agents.recipes import get_dataset, grid_filter, policy_of, recipes_of
from rlenvs.agents.rollouts import Played, rollouts
from rlenvs.agents.windows import bag_of_units, hyperspectral, load_windows, shrunk, starts, summary
from rlenvs.cli import app
from rlenvs.core import mixed, recipe, windows
from rlenvs.core.catalogue.make import make, make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.integrations.minari import Episode
from rlenvs.integrations.og_marl import CHUNK, VaultWriter, read_vault
from rlenvs.robotics.navigation import offline_drivers

POINT, BATTLE, CAR = "rlenvs/SafePointGoal-v0", "rlenvs/Battle-v0", "rlenvs/CarRacing-v0"
NAMES = ("Good", "Medium", "Poor")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where Minari looks, empty; and few episodes that say how good a dataset is."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    monkeypatch.setattr("rlenvs.agents.dataset_players.SCALE_SEEDS", range(2**31 - 4, 2**31))
    return tmp_path / "datasets"


def shortened(monkeypatch, id, count, **changes):
    """The recipes of a world, with so few episodes of each player."""
    sets = {}
    for name, found in recipes_of(id).items():
        episodes = dict.fromkeys(found.episodes, count)
        keywords = {**found.keywords, **changes}
        sets[name] = recipe(episodes, layout=found.layout, keywords=keywords, wrappers=found.wrappers)
    monkeypatch.setitem(world_of(id).functions, "datasets", lambda: sets)


def card_of(told):
    return json.loads((told.path / "card.json").read_text())


# --- names and sizes --------------------------------------------------------------------------------------------------


def test_names_are_those_of_the_originals():
    battle = recipes_of(BATTLE)
    scenarios = ("3m", "8m", "5m_vs_6m", "2s3z", "3s5z_vs_3s6z")
    replays = ("terran_5_vs_5", "zerg_5_vs_5", "terran_10_vs_10")
    expected = [f"{scenario}-{name}" for scenario in scenarios for name in NAMES]
    assert list(battle) == [*expected, *(f"{scenario}-Replay" for scenario in replays), "images"]
    assert all(found.layout == "joint" for name, found in battle.items() if name != "images")
    qualities = ("random", "medium_replay", "medium", "medium_expert", "expert")
    assert list(recipes_of(CAR)) == [
        f"pixels-{quality}{suffix}" for suffix in ("", "-easy", "-medium", "-hard") for quality in qualities
    ]
    assert recipes_of(CAR)["pixels-expert"].keywords == {"horizon": 500}  # V-D4RL's episodes
    degrees = [recipes_of(CAR)[f"pixels-expert-{name}"].wrappers[0]["contrast"] for name in ("easy", "medium", "hard")]
    assert degrees == [0.1, 0.2, 0.3]
    assert recipes_of(POINT)["costs"].layout == "costs"
    assert battle["images"].total == 5 * 200  # classes of 200
    shares = [player.random for player in battle["zerg_5_vs_5-Replay"].episodes]
    assert shares == sorted(shares, reverse=True)
    assert (shares[0], shares[-1]) == (1.0, 0.0)


@pytest.mark.budget(6)
def test_qualities_are_in_the_bands_of_the_paper():
    """3m: Good about 16 to 20 (the best scripted player has 15.5), Medium 9 to 13, Poor 4 to 8."""
    found = recipes_of(BATTLE)
    mean = {}
    for name in NAMES:
        (player,) = found[f"3m-{name}"].episodes
        keywords = found[f"3m-{name}"].keywords
        mean[name] = np.mean(next(iter(joint_rollouts(BATTLE, player, range(60), keywords))).returns)
    assert mean["Good"] > 14.0
    assert 9.0 <= mean["Medium"] <= 13.0
    assert 4.0 <= mean["Poor"] <= 8.0


def test_recipes_that_cannot_be():
    for arguments, match in (
        ({"layout": "row"}, "layout='row' must be"),
        ({"layout": "joint", "kept": 3}, "leave them out"),
        ({"layout": "joint", "wrappers": [{"wrapper": "CameraNoise"}]}, "leave them out"),
    ):
        with pytest.raises(ParameterError, match=match):
            recipe({"expert": 1}, **arguments)
    for share in (-0.1, 1.1, math.nan):
        with pytest.raises(ParameterError, match="must be a share"):
            mixed("expert", share)
    with pytest.raises(ParameterError, match="must not be empty"):
        windows(lambda p, s: ([], [], []), (1, 1, 0), 4, {})
    with pytest.raises(UnknownNameError, match="has no player 'kitting'"):
        next(joint_rollouts(BATTLE, "kitting", [0], {}))
    with pytest.raises(UnknownNameError, match="no player 'kiting'"):
        policy_of("kiting")


# --- hashes -----------------------------------------------------------------------------------------------------------


def digest_of(parts):
    tally = Tally()
    for part in parts:
        tally.add(part, "")
    return tally.digest


@pytest.mark.parametrize("player", ["random", mixed("expert", 0.4)])
def test_the_hash_is_that_of_the_data(monkeypatch, player):
    """It depends on neither threads nor how many episodes are played side by side, and on every number."""
    one = [
        digest_of(rollouts(POINT, policy_of(player), range(5), {"horizon": 40})),
        digest_of(joint_rollouts(BATTLE, player, range(5), {"horizon": 12})),
    ]
    monkeypatch.setattr("rlenvs.agents.rollouts.SIDE_BY_SIDE", 2)
    monkeypatch.setattr("rlenvs.agents.joint.SIDE_BY_SIDE", 2)
    assert one == [
        digest_of(rollouts(POINT, policy_of(player), range(5), {"horizon": 40, "threads": 2})),
        digest_of(joint_rollouts(BATTLE, player, range(5), {"horizon": 12, "threads": 2})),
    ]
    assert one[0] != digest_of(rollouts(POINT, policy_of(player), range(1, 6), {"horizon": 40}))


def episode_of(steps=3, **infos):
    return Episode(
        np.arange(steps + 1, dtype=np.float32)[:, None],
        np.zeros((steps, 1), np.float32),
        np.ones(steps),
        np.zeros(steps, np.bool_),
        np.arange(steps) == steps - 1,
        infos,
        0,
    )


def test_each_array_counts_in_the_hash():
    plain = episode_of()
    digest = digest_of([Played([plain], [3.0])])
    for name in ("observations", "actions", "rewards", "terminated", "truncated"):
        other = getattr(plain, name).copy()
        other.flat[0] = not other.flat[0]
        assert digest_of([Played([plain._replace(**{name: other})], [3.0])]) != digest, name
    expected = hashlib.sha256()
    for name, array in arrays_of(plain).items():
        expected.update(f"{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    assert digest == expected.hexdigest()
    big = plain._replace(observations=plain.observations.astype(">f4"))
    assert digest_of([Played([big], [3.0])]) == digest  # bytes are little-endian


# --- cards ------------------------------------------------------------------------------------------------------------


def test_the_numbers_of_a_card():
    tally = Tally(limit=2.0)
    first, second = episode_of(cost=np.array([9.0, 1.0, 0.0, 1.0])), episode_of(2, cost=np.array([0.0, 2.0, 1.0]))
    tally.add(Played([first], [3.0]), "careful")
    tally.add(Played([second], [1.0]), "bold")
    card = tally.card({"name": "mine"}, {"random": 0.0, "best": 4.0, "score": 0.5})
    assert (card["episodes"], card["steps"]) == (2, 5)
    assert card["saco"] == 0.6  # the second episode repeats two of the pairs of the first
    assert (card["tq"], card["return_of_random"], card["return_of_best"]) == (0.5, 0.0, 4.0)
    assert card["cost_and_return"] == [[2.0, 3.0], [3.0, 1.0]]  # the reset's cost does not count
    assert (card["cost"]["limit"], card["cost"]["within_limit"]) == (2.0, 0.5)
    assert card["players"]["bold"] == {"episodes": 1, "return": 1.0, "cost": 3.0}
    assert (card["return"]["mean"], card["return"]["std"]) == (2.0, 1.0)
    assert sum(card["return"]["counts"]) == 2
    assert len(card["return"]["edges"]) == 21
    text = card_text(card)
    assert "| careful | 1 | 3.0 | 2.0 |" in text
    assert "limit 2.0, 0.5 of the episodes within" in text
    assert text.count("```") == 6


# --- costs ------------------------------------------------------------------------------------------------------------


@pytest.mark.budget(4)
def test_costs_as_dsrl_has_them(monkeypatch):
    pytest.importorskip("minari")
    shortened(monkeypatch, POINT, 1, horizon=30)
    told, again = make_dataset(POINT, "costs"), make_dataset(POINT, "costs", name="again-v0")
    rows, card = get_dataset(told.name), card_of(told)
    assert (told.episodes, told.steps) == (11, 330)
    shapes = {name: (array.shape, array.dtype.name) for name, array in rows.items()}
    assert shapes == {
        "observations": ((330, 60), "float32"), "next_observations": ((330, 60), "float32"),
        "actions": ((330, 2), "float32"), "rewards": ((330,), "float32"), "costs": ((330,), "float32"),
        "terminals": ((330,), "bool"), "timeouts": ((330,), "bool"),
    }  # fmt: skip
    ends = np.flatnonzero(rows["terminals"] | rows["timeouts"])
    assert ends.tolist() == list(range(29, 330, 30))
    costs = np.add.reduceat(rows["costs"], np.r_[0, ends[:-1] + 1])
    assert [pair[0] for pair in card["cost_and_return"]] == costs.tolist()
    inside = np.setdiff1d(np.arange(330), ends)
    assert np.array_equal(rows["next_observations"][inside], rows["observations"][inside + 1])
    assert told.sha256 == again.sha256 == card["sha256"]
    different = {"name", "quality"}
    assert {k: v for k, v in card.items() if k not in different} == {
        k: v for k, v in card_of(again).items() if k not in different
    }
    assert card["cost"]["limit"] == 25.0
    assert list(card["players"])[:2] == ["expert", "expert with 0.2 of its actions random"]
    assert "'reckless'" in card["players"]


def rows_with(costs, returns, steps=2):
    """Episodes of equal length with these costs and returns, paid in the last step."""
    count = len(costs)
    rows = {name: np.zeros(count * steps, np.float32) for name in ("costs", "rewards")}
    rows |= {name: np.zeros(count * steps, bool) for name in ("terminals", "timeouts")}
    last = slice(steps - 1, None, steps)
    rows["costs"][last], rows["rewards"][last] = costs, returns
    rows["terminals"][last] = np.arange(count) % 2 == 0
    rows["timeouts"][last] = np.arange(count) % 2 == 1
    return {**rows, "observations": np.repeat(np.arange(count), steps)}


def test_the_filter_spreads_episodes_as_dsrl_does():
    # ten cells of cost and fifty of return; 2 episodes are too few for a cell, 3 are kept, and 5 of 9
    costs, returns = [0] * 2 + [10] * 3 + [20] * 9, [0] * 2 + [5] * 3 + [10] * 9
    rows = rows_with(costs, returns)
    kept = grid_filter(rows)
    assert np.bincount(kept["observations"], minlength=14).tolist()[:5] == [0, 0, 2, 2, 2]
    assert np.bincount(kept["observations"], minlength=14)[5:].sum() == 2 * 5
    assert all(len(array) == 16 for array in kept.values())
    assert (np.diff(kept["observations"]) >= 0).all()
    assert (grid_filter(rows)["observations"] == kept["observations"]).all()
    drawn = {tuple(grid_filter(rows, seed=seed)["observations"]) for seed in range(9)}
    assert len(drawn) > 1
    assert len(grid_filter(rows_with([3] * 4, [1] * 4))["costs"]) == 8  # all alike: one cell
    apart = rows_with([*range(11)], [0] * 11)  # the largest shares the last of ten cells
    assert np.unique(grid_filter(apart, least=2)["observations"]).tolist() == [9, 10]
    by_return = rows_with([0] * 51, [*range(51)])
    assert np.unique(grid_filter(by_return, least=2)["observations"]).tolist() == [49, 50]


def test_the_filter_refuses_what_makes_no_sense():
    rows = rows_with([0, 9], [0, 9])
    for wrong, message in (
        ({"cost_bins": 0}, "cost_bins=0 must be a positive integer"),
        ({"return_bins": 2.5}, "return_bins=2.5"),
        ({"most": True}, "most=True"),
        ({"most": 2, "least": 3}, "least=3 must be at most most=2"),
        ({}, "no cell has least=3 of the 2 episodes"),
        ({"seed": -1}, "seed=-1"),
    ):
        with pytest.raises(ParameterError, match=message):
            grid_filter(rows, **wrong)
    for missing in ({"costs"}, {"timeouts", "rewards"}):
        with pytest.raises(ParameterError, match="rows lack"):
            grid_filter({name: array for name, array in rows.items() if name not in missing})
    for part in (slice(0, 3), slice(0, 0)):
        with pytest.raises(ParameterError, match="whole episodes"):
            grid_filter({name: array[part] for name, array in rows.items()})
    for name, value in (("costs", np.nan), ("rewards", np.inf)):
        with pytest.raises(ParameterError, match="not finite"):
            grid_filter({**rows, name: np.full(len(rows[name]), value)}, least=1)


def test_careful_and_reckless_drivers_differ():
    """The dataset covers the plane of cost and return: the reckless are as fast, and far above the limit."""
    (*_, reckless, _, _, _, _, _) = recipes_of(POINT)["costs"].episodes
    played = {name: next(iter(rollouts(POINT, policy_of(who), range(8), {}))) for name, who in
              (("expert", "expert"), ("reckless", reckless))}  # fmt: skip
    cost = {name: np.mean([e.infos["cost"][1:].sum() for e in part.episodes]) for name, part in played.items()}
    assert cost["expert"] < 5.0 < 25.0 < cost["reckless"]
    assert np.mean(played["reckless"].returns) > np.mean(played["expert"].returns)


def test_the_reckless_driver_knows_its_robot():
    """Its constants are those of the usual parameters."""
    usual = make_batch(POINT, 1).get_params()
    assert pytest.approx(usual["body_mass"] + usual["nose_mass"], abs=1e-5) == offline_drivers.MASS
    assert (usual["drag"], usual["thrust"]) == (offline_drivers.DRAG, offline_drivers.THRUST)
    assert pytest.approx(8.0 / usual["turn_rate"]) == offline_drivers.TURN
    assert pytest.approx(2.0 * usual["saturation"]) == offline_drivers.FULL


# --- joint trajectories -----------------------------------------------------------------------------------------------


@pytest.mark.budget(4)
def test_joint_trajectories_are_written_and_replay(monkeypatch, folder):
    monkeypatch.setattr("rlenvs.integrations.og_marl.CHUNK", 16)
    shortened(monkeypatch, BATTLE, 4)
    told = make_dataset(BATTLE, "3m-Medium", seed=3)
    assert told.name == "rlenvs/Battle-v0/3m.vlt/Medium"
    assert "read_vault" in told.usage
    vault = read_vault(folder / told.name)
    steps = told.steps
    shapes = {name: array.shape for name, array in vault.items()}
    assert shapes == {
        "observations": (1, steps, 3, 30), "actions": (1, steps, 3), "rewards": (1, steps, 3),
        "terminals": (1, steps, 3), "truncations": (1, steps, 3), "infos.state": (1, steps, 48),
        "infos.legals": (1, steps, 3, 9),
    }  # fmt: skip
    over = (vault["terminals"] | vault["truncations"])[0].all(axis=-1)
    assert over.sum() == 4
    returns = np.add.reduceat(vault["rewards"][0, :, 0].astype(float), np.r_[0, np.flatnonzero(over)[:-1] + 1])
    assert returns.mean() == pytest.approx(told.mean, abs=1e-5)
    batch = make_batch(BATTLE, 1, scenario="3m", rules="smac", observation="smac")
    batch.seed([3])
    batch.reset()
    for t in range(int(np.argmax(over)) + 1):
        assert np.array_equal(batch.observations[0], vault["observations"][0, t])
        assert np.array_equal(batch.masks[0], vault["infos.legals"][0, t])
        assert np.array_equal(batch.central()[0], vault["infos.state"][0, t])
        legal = np.take_along_axis(vault["infos.legals"][0, t], vault["actions"][0, t][:, None], axis=1)
        assert legal.all()
        batch.step(vault["actions"][:, t])
    assert batch.over[0]
    assert make_dataset(BATTLE, "3m-Medium", seed=3, name="b/x.vlt/y").sha256 == told.sha256
    assert card_of(told)["saco"] > 0.9


def test_the_metadata_of_a_vault(tmp_path):
    episode = next(iter(joint_rollouts(BATTLE, "random", [0], {"horizon": 9}))).episodes[0]
    with VaultWriter("3m.vlt/Good", tmp_path, plain=True) as writer:
        writer.add([episode])
    found = json.loads((tmp_path / "3m.vlt/Good/metadata.json").read_text())
    assert found["version"] == 1.2
    assert found["store"] == "files"
    assert found["structure_dtype"]["infos"] == {"state": "float32", "legals": "int8"}
    assert found["structure_shape"]["actions"] == f"(1, {CHUNK}, 3)"
    leaf = json.loads((tmp_path / "3m.vlt/Good/actions./.zarray").read_text())
    assert (leaf["zarr_format"], leaf["shape"], leaf["dtype"]) == (2, [1, 9, 3], "<i8")
    read = read_vault(tmp_path / "3m.vlt/Good")
    assert np.array_equal(read["observations"][0], episode.observations[:-1])


def test_vaults_that_are_refused(tmp_path):
    for name in ("Good", "3m/Good", "../3m.vlt/Good", "/3m.vlt/Good", "a.vlt/3m.vlt/Good", "3m.vlt/", "3 m.vlt/Good"):
        with pytest.raises(ParameterError, match=r"not a valid name of a vault|inside another vault"):
            VaultWriter(name, tmp_path)
    with pytest.raises(ParameterError, match="more than 255 bytes"):
        VaultWriter(f"{'m' * 300}.vlt/Good", tmp_path)
    with pytest.raises(RuntimeError, match="mine"), VaultWriter("3m.vlt/Good", tmp_path, plain=True):
        raise RuntimeError("mine")
    assert list(tmp_path.iterdir()) == []
    with VaultWriter("3m.vlt/Good", tmp_path, plain=True):
        pass
    with pytest.raises(ParameterError, match="already a dataset"):
        VaultWriter("3m.vlt/Good", tmp_path)
    with pytest.raises(UnknownNameError, match="no vault"):
        read_vault(tmp_path)
    dictionary = episode_of()._replace(observations={"a": np.zeros((4, 1))})
    with pytest.raises(ParameterError, match="one array"), VaultWriter("3m.vlt/Bad", tmp_path, plain=True) as writer:
        writer.add([dictionary])


def test_flashbax_reads_its_store(tmp_path):
    """With the specification with which Flashbax opens a leaf of a vault."""
    tensorstore = pytest.importorskip("tensorstore")
    episode = next(iter(joint_rollouts(BATTLE, "random", [0], {"horizon": 9}))).episodes[0]
    with VaultWriter("3m.vlt/Good", tmp_path) as writer:
        writer.add([episode])
    for leaf, expected in (("actions.", episode.actions), ("infos.state.", episode.infos["state"][:-1])):
        store = {"driver": "ocdbt", "base": f"file://{tmp_path}/3m.vlt/Good", "path": leaf}
        found = tensorstore.open({"driver": "zarr", "kvstore": store, "metadata": {}}).result()
        assert np.array_equal(found.read().result()[0], expected)
    store["path"] = "vault_index"
    assert tensorstore.open({"driver": "zarr", "kvstore": store}).result().read().result().tolist() == [9]


# --- pixels -----------------------------------------------------------------------------------------------------------


@pytest.mark.budget(4)
def test_pixels_with_distractions(monkeypatch):
    minari = pytest.importorskip("minari")
    shortened(monkeypatch, CAR, 1, horizon=6)
    monkeypatch.setattr("rlenvs.agents.dataset_players.mean_return", lambda id, policy, keywords: 0.0)
    clear, hard = make_dataset(CAR, "pixels-expert"), make_dataset(CAR, "pixels-expert-hard")
    one, other = minari.load_dataset(clear.name)[0], minari.load_dataset(hard.name)[0]
    assert one.observations.shape == (7, 96, 96, 3)
    assert np.array_equal(one.actions, other.actions)
    assert np.mean(one.observations != other.observations) > 0.3
    env = minari.load_dataset(hard.name).recover_environment()
    observation, _ = env.reset(seed=0)
    for t, action in enumerate(other.actions):
        assert np.array_equal(observation, other.observations[t])
        observation = env.step(action)[0]
    assert "true_obs" not in other.infos
    assert card_of(hard)["wrappers"][0]["cutout"] == 30
    assert clear.sha256 != hard.sha256


# --- windows ----------------------------------------------------------------------------------------------------------


def test_a_summary_holds_the_last_times():
    states = [(np.array([0, 1]), np.array([5, 6]), np.array([t, 7])) for t in range(4)]
    image = summary(states, 3)
    assert image[0, 5, :4].tolist() == [64, 128, 192, 255]
    assert image[1, 6, 7] == 255
    assert np.count_nonzero(image) == 5
    assert [starts(n, 32) for n in (31, 32, 40, 64, 70)] == [[], [0], [0, 8], [0, 32], [0, 19, 38]]
    assert shrunk(image, 32)[2, :2].tolist() == [128, 255]
    single = np.zeros((2, 64, 64), np.uint8)
    single[1, 4, 20] = 7
    assert np.argwhere(shrunk(single, 28)).tolist() == [[1, 8]]  # floor(28 / 64 * (i + 0.5))
    assert np.argwhere(shrunk(single, 32)).tolist() == [[2, 10]]


def test_windows_of_battles(monkeypatch, folder):
    shortened(monkeypatch, BATTLE, 3)
    told = make_dataset(BATTLE, "images")
    found, card = load_windows(folder / told.name), card_of(told)
    count = len(found["label"])
    assert card["windows"] == count == len(found["rgb"]) == len(found["grey"])
    assert len(card["classes"]) == 10
    assert set(found["label"] // 2) <= set(range(5))
    assert found["layers"].tolist()[2] == 0
    image = hyperspectral(found, 0)
    first = image[: found["layers"][0]]
    assert image.max() == 255
    assert np.array_equal(found["rgb"][0, 2], shrunk(first, 32))  # the first player is blue
    assert not found["rgb"][:, 1].any()
    assert np.array_equal(found["grey"][0], shrunk(image, 28))
    ids, values = bag_of_units(found, 0)
    again = np.zeros_like(image)
    for player, bag, row, column in np.argwhere(ids):
        layer = player * found["layers"][0] + ids[player, bag, row, column] - 1
        again[layer, row, column] = values[player, bag, row, column]
    assert np.array_equal(again, image)
    for window in (-1, count):
        with pytest.raises(ParameterError, match="must be in 0"):
            hyperspectral(found, window)
    assert make_dataset(BATTLE, "images", name="other").sha256 == told.sha256
    with pytest.raises(ParameterError, match="already a dataset"):
        make_dataset(BATTLE, "images")
    with pytest.raises(ParameterError, match="no windows"):
        make_dataset(BATTLE, "images", name="short", horizon=5)
    assert not (folder / "short").exists()
    with pytest.raises(UnknownNameError, match="no windows in"):
        load_windows(folder)


@pytest.mark.budget(4)
def test_the_command(monkeypatch, folder):
    shortened(monkeypatch, BATTLE, 2)
    done = CliRunner().invoke(app, ["dataset", "Battle-v0", "--quality", "8m-Poor", "--seed", "4"])
    assert done.exit_code == 0, done.output
    assert "rlenvs/Battle-v0/8m.vlt/Poor: 2 episodes" in done.output
    assert (folder / BATTLE / "8m.vlt" / "Poor" / "card.md").is_file()
    env = make(BATTLE, scenario="8m")
    assert env.unwrapped.batch.agents == 8
