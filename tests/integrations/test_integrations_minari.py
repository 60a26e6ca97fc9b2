"""Minari: datasets of every quality, read back with the real library, and replayed in the recovered environment."""

import subprocess
import sys
import textwrap

import gymnasium
import numpy as np
import pytest
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.datasets import QUALITIES, make_dataset
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.cli import app
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError, ParameterError, UnknownNameError
from rlenvs.integrations.minari import DatasetWriter, Episode, _bytes_of

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

HOVER = "rlenvs/QuadHover-v0"
SEA = "rlenvs/DeepSeaTreasure-v0"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Where Minari looks, empty."""
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "datasets"))
    return tmp_path / "datasets"


def same(a, b):
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)
    return np.array_equal(a, b)


def row(found, index):
    return {name: array[index] for name, array in found.items()} if isinstance(found, dict) else found[index]


def check_replay(dataset, index, seeded=True):
    """An episode's seed and actions give its observations, rewards, ends and infos again."""
    env, episode = dataset.recover_environment(), dataset[index]
    seed = next(iter(dataset.storage.get_episode_metadata([index]))).get("seed")
    assert (seed is not None) is seeded
    observation, info = env.reset(seed=seed)
    for t, action in enumerate(episode.actions):
        assert same(observation, row(episode.observations, t)), t
        assert env.action_space.contains(action)
        observation, reward, terminated, truncated, info = env.step(action)
        assert np.array_equal(reward, episode.rewards[t])
        assert (terminated, truncated) == (episode.terminations[t], episode.truncations[t])
        for name in episode.infos:
            assert np.array_equal(info[name], episode.infos[name][t + 1]), name
    assert same(observation, row(episode.observations, len(episode.actions)))
    assert terminated or truncated
    env.close()


def read_back(dataset):
    """The episodes in the form in which they were written."""
    for episode in dataset:
        parts = {name: getattr(episode, name) for name in ("observations", "actions", "rewards", "infos")}
        yield Episode(**parts, terminated=episode.terminations, truncated=episode.truncations, seed=None)


CASES = [
    (HOVER, {"level": "easy", "horizon": 60, "mass": 0.03}),
    (SEA, {}),  # choices, with masks
    ("rlenvs/mo-DeepSeaTreasure-v0", {}),
    ("rlenvs/ParticleSpread-v0", {"horizon": 20}),  # one agent of a team
    (HOVER, {"camera": "rgb", "camera_width": 32, "camera_height": 32, "horizon": 5}),  # dictionaries, and images
]


@pytest.mark.parametrize("quality", ["random", "medium", "expert"])
@pytest.mark.parametrize(("id", "keywords"), CASES, ids=[f"{id[7:]} {' '.join(keywords)}" for id, keywords in CASES])
def test_a_dataset_is_read_back_and_replays_to_the_bit(id, keywords, quality):
    told = make_dataset(id, quality, 7, seed=3, **keywords)
    dataset = minari.load_dataset(f"{id}/{quality}-v0")
    assert (told.name, told.episodes, told.steps) == (dataset.id, len(dataset), dataset.total_steps)
    assert dataset.env_spec.id == id
    for index in (0, 6):
        check_replay(dataset, index)
    assert told.megabytes * 1e6 < sum(map(_bytes_of, read_back(dataset))) + 4096, (
        "the room that is asked for is too small"
    )
    if not id.startswith("rlenvs/mo-"):
        returns = [episode.rewards.sum() for episode in dataset]
        assert told.mean == pytest.approx(np.mean(returns), abs=1e-6)
        assert minari.get_normalized_score(dataset, told.mean) == pytest.approx(told.score)


@pytest.mark.slow
@pytest.mark.parametrize("id", [id for id in rlenvs.list_envs() if "/mo-" not in id])
def test_every_id(id):
    for quality in ("random", "expert") if world_of(id).has_expert else ("random",):
        make_dataset(id, quality, 2)
        check_replay(minari.load_dataset(f"{id}/{quality}-v0"), 1)


def test_qualities_are_in_order():
    scores = {
        quality: make_dataset(HOVER, quality, 60, horizon=120).score for quality in ("random", "medium", "expert")
    }
    assert abs(scores["random"]) < 0.05
    assert 0.3 < scores["medium"] < 0.7
    assert scores["expert"] > 0.95


@pytest.fixture
def short_training(monkeypatch):
    """Rollouts of 8 x 32 steps, and one pass over them."""
    pytest.importorskip("stable_baselines3")
    pytest.importorskip("sb3_contrib")
    small = {"n_steps": 32, "batch_size": 64, "n_epochs": 1}
    few = lambda *given, **changes: settings_for(*given, num_envs=8, hyperparameters=small, **changes)  # noqa: E731
    monkeypatch.setattr("rlenvs.agents.datasets.settings_for", few)


@pytest.mark.usefixtures("short_training")
@pytest.mark.parametrize("id", [SEA, HOVER])
def test_replay_is_what_a_training_run_saw(id):
    told = make_dataset(id, "replay", 30, steps=1024, horizon=25)
    dataset = minari.load_dataset(told.name)
    assert told.episodes == len(dataset) == 30
    for index in (0, 29):
        episode = dataset[index]
        assert len(episode.observations) == len(episode.actions) + 1
        assert not np.any((episode.terminations | episode.truncations)[:-1])
        assert len(episode.infos["is_success"]) == len(episode.actions) + 1
        if id == SEA:  # every episode begins alike there
            check_replay(dataset, index, seeded=False)
    vector = dataset[0].infos["reward_vector"]
    batch = rlenvs.make_batch(id)
    weights = [term.weight for term in world_of(id).terms.values()]
    assert dataset[0].rewards == pytest.approx(vector[1:] @ np.array(weights), abs=1e-4)
    batch.close()


@pytest.mark.usefixtures("short_training")
def test_replay_keeps_all_where_it_saw_fewer():
    told = make_dataset(HOVER, "replay", 10_000, steps=512, horizon=10)
    assert 48 <= told.episodes < 500


def test_the_same_seed_gives_the_same_data():
    for version in (0, 1):
        make_dataset(HOVER, "medium", 4, name=f"mine-v{version}", seed=7, horizon=30)
    one, other = minari.load_dataset("mine-v0"), minari.load_dataset("mine-v1")
    assert all(np.array_equal(a.actions, b.actions) for a, b in zip(one, other, strict=True))
    make_dataset(HOVER, "medium", 2, name="mine-v2", seed=9, horizon=30)
    assert np.array_equal(minari.load_dataset("mine-v2")[0].actions, one[2].actions), "an episode depends on the others"


def test_many_episodes_are_played_in_parts(monkeypatch):
    monkeypatch.setattr("rlenvs.agents.rollouts.SIDE_BY_SIDE", 3)
    make_dataset(SEA, "random", 8, horizon=12)
    dataset = minari.load_dataset(f"{SEA}/random-v0")
    assert [int(m["seed"]) for m in dataset.storage.get_episode_metadata(range(8))] == list(range(8))
    check_replay(dataset, 7)


def test_a_function_plays():
    def still(observations):
        return np.ones((len(observations), 4))

    told = make_dataset(HOVER, "expert", 3, agent=still, horizon=10)
    assert "still" in told.policy
    assert np.all(minari.load_dataset(told.name)[0].actions == 1)
    with pytest.raises(ParameterError, match=r"actions are float64 \(2,\); needed are float32 \(1, 4\)"):
        make_dataset(HOVER, "expert", 1, name="bad-v0", agent=lambda o: np.zeros(2), horizon=10)
    with pytest.raises(ParameterError, match="normalized score of"):
        make_dataset(HOVER, "medium", 1, name="bad-v0", agent=still)
    with pytest.raises(ParameterError, match="an agent, its file, or a function"):
        make_dataset(HOVER, "expert", 1, name="bad-v0", agent=3)


def test_the_command_of_a_fresh_process(folder):
    """Who has not imported rlenvs gets the environment nonetheless."""
    make_dataset(HOVER, "expert", 1, horizon=5, mass=0.03)
    code = f"""
        import minari
        env = minari.load_dataset("{HOVER}/expert-v0").recover_environment()
        env.reset(seed=0)
        print(env.unwrapped.batch.setup.horizon, env.unwrapped.batch.get_params()["mass"])
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["5", "0.03"]


# --- what goes wrong --------------------------------------------------------------------------------------------------


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_an_existing_dataset_is_kept(folder):
    make_dataset(SEA, "random", 2, horizon=5)
    before = files(folder)
    with pytest.raises(ParameterError, match="already a dataset 'rlenvs/DeepSeaTreasure-v0/random-v0'"):
        make_dataset(SEA, "random", 3, horizon=5)
    with pytest.raises(ParameterError, match="would lie inside the dataset"):
        make_dataset(SEA, "random", 3, name="rlenvs/DeepSeaTreasure-v0/random-v0/mine-v0")
    assert files(folder) == before


def test_an_error_while_writing_leaves_nothing(folder, monkeypatch):
    make_dataset(SEA, "random", 1, horizon=5)
    before = files(folder)

    calls = []

    def fails(observations):
        calls.append(1)
        if len(calls) > 30:
            raise RuntimeError("mine")
        return np.zeros(len(observations), int)

    monkeypatch.setattr("rlenvs.agents.rollouts.SIDE_BY_SIDE", 2)
    with pytest.raises(RuntimeError, match="mine"):
        make_dataset(SEA, "expert", 100, agent=fails, name="mine-v0", horizon=2)
    assert len(calls) == 31
    assert files(folder) == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_two_writers_of_one_name(folder):
    """The slower one is refused, and the faster one's data are kept."""
    env = gymnasium.make(SEA, horizon=5)
    with pytest.raises(ParameterError, match="already a dataset"), DatasetWriter("mine-v0", env):
        make_dataset(SEA, "random", 2, name="mine-v0", horizon=5)
    assert len(minari.load_dataset("mine-v0")) == 2
    assert sorted(path.name for path in folder.iterdir()) == ["mine-v0"]


def test_a_full_disk(folder):
    """A limit on the size of files stands for it."""
    make_dataset(SEA, "random", 1, horizon=5)
    before = files(folder)
    code = f"""
        import resource
        from rlenvs.agents.datasets import make_dataset
        from rlenvs.core.declare.errors import ParameterError
        rlenvs_id = "{HOVER}"
        make_dataset(rlenvs_id, "random", 1, name="warm-v0", horizon=5)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            make_dataset(rlenvs_id, "expert", 50)
        except ParameterError as error:
            print(error)
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert "cannot be written" in out.stdout, out.stderr[-2000:]
    assert {path: data for path, data in files(folder).items() if "warm-v0" not in str(path)} == before
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_relative_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = make_dataset(SEA, "random", 2, folder="here", horizon=5)
    assert found.folder == tmp_path / "here"
    assert (tmp_path / "here" / found.name / "data").is_dir()


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(ParameterError, match=r"cannot be written to .*file: Not a directory"):
        make_dataset(SEA, "random", 1, folder=tmp_path / "file", horizon=5)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("name", ["", "mine", "mine-v", "../mine-v0", "/tmp/mine-v0", "a//b-v0", "my set-v0", "a/"])
def test_bad_names(name, folder):
    with pytest.raises(ParameterError, match="is not a valid dataset name"):
        DatasetWriter(name, gymnasium.make(SEA))
    assert not folder.exists()


def test_a_name_that_is_too_long(folder):
    with pytest.raises(ParameterError, match="more than 255 bytes"):
        DatasetWriter(f"{'a' * 300}-v0", gymnasium.make(SEA))


def test_the_package_that_a_dataset_asks_for_is_this_one(folder):
    """`rlenvs` is another project's package."""
    make_dataset(SEA, "random", 1, horizon=5)
    metadata = minari.load_dataset(f"{SEA}/random-v0").storage.metadata
    assert metadata["requirements"] == [f"rlenvs-suite>={rlenvs.__version__}"]


def test_bad_numbers_and_names():
    with pytest.raises(UnknownNameError, match=r"no quality 'exprt'\. Did you mean 'expert'"):
        make_dataset(SEA, "exprt")
    assert set(QUALITIES) == {"random", "medium", "expert", "replay"}
    for bad in (0, -1, 2.5, True, "9"):
        with pytest.raises(ParameterError, match=f"episodes={bad!r} must be a positive integer"):
            make_dataset(SEA, "random", bad)
    with pytest.raises(ParameterError, match="seed=-1 must be"):
        make_dataset(SEA, "random", 1, seed=-1)
    with pytest.raises(ParameterError, match="too large"):
        make_dataset(SEA, "random", 1, seed=2**31)
    with pytest.raises(UnknownNameError, match="DeepSeaTreasure"):
        make_dataset("DeepSeaTreasur-v0")
    with pytest.raises(UnknownNameError, match="horizn"):
        make_dataset(SEA, "random", 1, horizn=5)


@pytest.mark.usefixtures("short_training")
def test_replay_refuses_what_it_cannot_record():
    with pytest.raises(ParameterError, match="without 'mo-'"):
        make_dataset("rlenvs/mo-DeepSeaTreasure-v0", "replay", 1)
    with pytest.raises(ParameterError, match="is for one agent"):
        make_dataset("rlenvs/ParticleSpread-v0", "replay", 1)
    with pytest.raises(ParameterError, match="do not fit into"):
        make_dataset(HOVER, "replay", 1, steps=10**10)
    with pytest.raises(ParameterError, match="no episode ended within 32 steps"):
        make_dataset("SafePointGoal-v0", "replay", 1, steps=32, horizon=5000)


def test_an_environment_that_cannot_be_recovered():
    env = rlenvs.make(SEA).unwrapped
    env.spec = None
    with pytest.raises(ParameterError, match=r"not made by gymnasium\.make"):
        DatasetWriter("mine-v0", env)
    env = gymnasium.make(HOVER, randomize={"mass": (np.float32(0.02), np.float32(0.03))})
    with pytest.raises(ParameterError, match="cannot be written as JSON"):
        DatasetWriter("mine-v0", env)


def test_the_command(tmp_path):
    def run(*arguments):
        result = CliRunner().invoke(app, ["dataset", *arguments], env={"COLUMNS": "120", "NO_COLOR": "1"})
        return result.exit_code, result.output

    options = ["--quality", "random", "--episodes", "3", "--set", "horizon=8", "-o", str(tmp_path), "--seed", "5"]
    code, out = run(SEA, *options)
    assert code == 0, out
    assert f"{SEA}/random-v0: 3 episodes" in out
    assert f"MINARI_DATASETS_PATH={tmp_path}" in out
    dataset = minari.MinariDataset(tmp_path / SEA / "random-v0" / "data")
    check_replay(dataset, 2)
    assert [int(m["seed"]) for m in dataset.storage.get_episode_metadata(range(3))] == [5, 6, 7]
    code, out = run(SEA, *options)
    assert (code, out.strip().startswith("there is already a dataset")) == (2, True)


def test_without_minari_there_is_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "minari", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'rlenvs-suite\[minari\]'"):
        make_dataset(SEA, "random", 1)
