"""Generals-v0: what a player remembers, and replays."""

import json

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from support.generals_games import DOWN, OPEN, RIGHT, game, move, play, put

import rlenvs
from rlenvs.agents.replay import Recorder, Replay
from rlenvs.core.declare.errors import EpisodeOverError, ParameterError, ReplayError
from rlenvs.multi.generals.memory import PLANES, GeneralsMemory, remember
from rlenvs.wrappers.forms import wrap

# --- memory -----------------------------------------------------------------------------------------------------------


def remembered(planes, name):
    return planes[14 + PLANES.index(name)]


def test_memory_by_hand():
    batch = game("A..1....\n........\n........\n.......B", {(0, 2): (0, 2), (1, 3): (1, 9), (0, 4): (0, 9)})
    batch.set_state(batch.get_state())
    known = remember(np.zeros((1, len(PLANES) + 4, 4, 8), np.float32), batch.observations[:, 0], None, 2)
    first = known[0]
    names = dict(zip(PLANES, first, strict=False))
    assert np.argwhere(names["cities"]).tolist() == [[0, 3]]
    assert np.argwhere(names["enemies"]).tolist() == [[1, 3]]
    assert names["armies"][1, 3] == 9
    np.testing.assert_array_equal(np.argwhere(names["watched"]), [[i, j] for i in (0, 1, 2) for j in (2, 3, 4)])
    lost = {(0, 2): (1, 5), (0, 4): (1, 5)}  # the land around is gone, and with it the sight
    put(batch, lost)
    play(batch, move(batch, 0, 0, DOWN))
    known = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 2)
    names = dict(zip(PLANES, known[0], strict=False))
    assert batch.observations[0, 0, 7, 1, 3] == 1
    assert np.argwhere(names["cities"]).tolist() == [[0, 3]]
    assert names["armies"][1, 3] == 9
    assert names["age"][1, 3] == 1
    assert names["age"][3, 3] == 1  # never seen, tick 1
    assert names["age"][0, 0] == 0
    assert not names["watched"].any()
    put(batch, {(0, 0): (0, 8)}, 1)
    play(batch, move(batch, 0, 0, RIGHT))
    planes = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 2)[0]
    assert [np.argwhere(plane).tolist() for plane in planes[-4:]] == [[[0, 0]], [[0, 1]], [[0, 0]], [[1, 0]]]


def test_memory_forgets_generals_that_are_seen_gone():
    batch = game("A......C\n........\n........\n.......B", {(0, 6): (0, 30)}, players=3)
    known = remember(np.zeros((1, len(PLANES), 4, 8), np.float32), batch.observations[:, 0], None, 0)
    assert np.argwhere(known[0, PLANES.index("generals")]).tolist() == [[0, 7]]
    play(batch, move(batch, 0, 6, RIGHT))
    later = remember(known, batch.observations[:, 0], batch.actions[:, 0, 0], 0)[0]
    assert not later[PLANES.index("generals")].any()
    assert later[PLANES.index("cities"), 0, 7] == 1


def test_memory_in_every_form_is_the_same():
    choices = {"height": 6, "width": 7, "distance": 3.0, "opponent": "expander", "horizon": 30}
    single = wrap(gymnasium.make("rlenvs/Generals-v0", **choices), GeneralsMemory(moves=2))
    vectors = {
        mode: wrap(rlenvs.make_vec("Generals-v0", 3, autoreset_mode=mode, **choices), GeneralsMemory(moves=2))
        for mode in AutoresetMode
    }
    parallel = wrap(rlenvs.parallel_env("Generals-v0", **choices), GeneralsMemory(moves=2))
    seen, info = single.reset(seed=1)
    assert single.observation_space.shape == seen.shape == (14 + 8 + 4, 6, 7)
    together, _ = parallel.reset(seed=1)
    rows = {mode: env.reset(seed=0)[0] for mode, env in vectors.items()}
    dice = np.random.default_rng(0)
    masks = {mode: np.ones((3, 1 + 8 * 42)) for mode in vectors}
    over = False
    while not over:
        np.testing.assert_array_equal(seen, together["agent_0"]["observation"])
        assert single.observation_space.contains(seen)
        assert parallel.observation_space("agent_0").contains(together["agent_0"])
        action = int(dice.choice(np.flatnonzero(info["action_mask"])))
        for mode, env in vectors.items():
            np.testing.assert_array_equal(rows[mode][1], seen)
            rows[mode], *_, infos = env.step(np.array([0, action, 0]))
            masks[mode] = infos["action_mask"]
            assert env.observation_space.contains(rows[mode])
        seen, _, terminated_now, truncated_now, info = single.step(action)
        together, *_ = parallel.step({"agent_0": action})
        over = terminated_now or truncated_now
        if over and "final_obs" in infos:
            np.testing.assert_array_equal(infos["final_obs"][1], seen)
    same_step = rows[AutoresetMode.SAME_STEP][1]
    rows[AutoresetMode.NEXT_STEP] = vectors[AutoresetMode.NEXT_STEP].step(np.zeros(3, int))[0]
    vector = vectors[AutoresetMode.DISABLED]
    rows[AutoresetMode.DISABLED] = vector.reset(options={"reset_mask": np.array([True] * 3)})[0]
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.DISABLED):
        np.testing.assert_array_equal(rows[mode][1], same_step)
    np.testing.assert_array_equal(single.reset()[0], same_step)


def test_memory_refuses_other_worlds():
    with pytest.raises(ParameterError, match="not those of Generals"):
        wrap(gymnasium.make("rlenvs/PathFinding-v0"), GeneralsMemory())
    with pytest.raises(ParameterError, match="moves=-1"):
        wrap(gymnasium.make("rlenvs/Generals-v0"), GeneralsMemory(moves=-1))


# --- replays ----------------------------------------------------------------------------------------------------------


SMALL = {"height": 6, "width": 7, "distance": 3.0, "horizon": 40}


def recorded(path=None, env=None, seed=4):
    env = Recorder(env or rlenvs.parallel_env("Generals-v0", **SMALL, vary=1, build=True))
    env.reset(seed=seed)
    while env.agents:
        env.step(env.player_actions("expander"))
    if path:
        env.replay().save(path)
    return env.replay()


def test_replays_come_back(tmp_path):
    for n, env in enumerate(
        [None, rlenvs.parallel_env("Generals-v0", board=OPEN, horizon=30, fog=False, garrison=7.0)]
    ):
        kept = recorded(tmp_path / f"{n}.json", env)
        found = Replay.load(tmp_path / f"{n}.json")
        assert (found.id, found.keywords, found.seed, found.digest) == (kept.id, kept.keywords, kept.seed, kept.digest)
        np.testing.assert_array_equal(found.actions, kept.actions)
        assert found.start.split()[0]
        frames = list(found.frames(every=8))
        assert len(frames) == len(range(0, len(found), 8)) + 1
        assert frames[0].shape == (512, 512, 3)


def test_one_player_s_games_are_recorded_too(tmp_path):
    env = Recorder(gymnasium.make("rlenvs/Generals-v0", opponent="hunter", **SMALL))
    with pytest.raises(EpisodeOverError):
        env.replay()
    for options in (None, {"params": {"garrison": 3.0, "distance": 2.0}}):
        env.reset(options=options)  # goes on with the generator
        over = False
        while not over:
            *_, terminated, truncated, _ = env.step(env.unwrapped.expert_action())
            over = terminated or truncated
        env.replay().save(tmp_path / "one.json")
        assert len(Replay.load(tmp_path / "one.json")) > 5


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.update(format="other"), "is not a replay"),
        (lambda t: t.update(version=2), "has version 2"),
        (lambda t: t.pop("actions"), "'actions' is missing"),
        (lambda t: t.update(seed=[1, 2, 3]), "two unsigned"),
        (lambda t: t.update(seed=[1, -2]), "two unsigned"),
        (lambda t: t.update(id="rlenvs/General-v0"), "Generals-v0"),
        (lambda t: t["keywords"].update(hight=6), "height"),
        (lambda t: t["keywords"].update(height=2), "height=2"),
        (lambda t: t["actions"][3].append([0]), "cannot be replayed"),
        (lambda t: t["actions"][3].__setitem__(0, [99999]), "99999"),
        (lambda t: t["actions"][3].__setitem__(0, ["up"]), "must be numbers"),
        (lambda t: t["actions"].extend(t["actions"] * 2), "episode is over"),
        (lambda t: t["actions"][3].__setitem__(0, [7]), "the end of the episode differs"),
        (lambda t: t["actions"].pop(), "the end of the episode differs"),
        (lambda t: t["keywords"].update(order="larger_first", garrison=3.0), "differs"),
        (lambda t: t["seed"].__setitem__(0, 5), "the start of the episode differs"),
        (lambda t: t.update(start="A" + t["start"]), "the start of the episode differs"),
        (lambda t: t.update(digest="0" * 16), "the end of the episode differs"),
    ],
)
def test_replays_that_were_changed_are_refused(tmp_path, change, words):
    recorded(tmp_path / "a.json")
    table = json.loads((tmp_path / "a.json").read_text())
    change(table)
    (tmp_path / "a.json").write_text(json.dumps(table))
    with pytest.raises(ReplayError, match=words):
        Replay.load(tmp_path / "a.json")


def test_files_that_are_no_replays(tmp_path):
    (tmp_path / "a.json").write_text("{")
    with pytest.raises(ReplayError, match="is not JSON"):
        Replay.load(tmp_path / "a.json")
    with pytest.raises(ReplayError, match="cannot be read"):
        Replay.load(tmp_path / "b.json")
    (tmp_path / "c.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ReplayError, match="not UTF-8 text"):
        Replay.load(tmp_path / "c.json")
    with pytest.raises(ParameterError, match="cannot be recorded"):
        Recorder(rlenvs.make_vec("Generals-v0", 2))


def test_watching(tmp_path):
    from typer.testing import CliRunner

    from rlenvs.cli import app

    recorded(tmp_path / "a.json")
    result = CliRunner().invoke(app, ["replay", str(tmp_path / "a.json"), "-o", str(tmp_path / "a.gif")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "a.gif").stat().st_size > 1000
    (tmp_path / "bad.json").write_text("{}")
    assert CliRunner().invoke(app, ["replay", str(tmp_path / "bad.json")]).exit_code == 2
