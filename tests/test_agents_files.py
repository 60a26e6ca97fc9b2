import contextlib
import errno
import io
import json
import os
import pickle
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents import files, scores
from rlenvs.agents.evaluate import chooser, evaluate
from rlenvs.agents.files import Agent, AgentScore, Card, load_agent, save_agent
from rlenvs.agents.film import film, watch
from rlenvs.agents.network import Network, expected_tensors
from rlenvs.cli import app
from rlenvs.core.errors import AgentFileError, ParameterError, UnknownNameError
from rlenvs.core.registry import Entry, catalogue, world_of
from rlenvs.core.setup import Setup
from tests import high_numbers, tug_of_war

HOVER, MAZE, TREASURE, SPEAKER = "QuadHover-v0", "PathFinding-v0", "DeepSeaTreasure-v0", "ParticleSpeakerListener-v0"
SCORE = AgentScore(1.5, 0.25, 0.5, 0.0, 200.0, 100, 0, None, 0.5, 2.5)


def agent_for(id, seed=0, masked=False, memory=None, **keywords):
    """An agent with random weights that fits an environment; no library of learners is needed."""
    setup = Setup(world_of(id), **keywords)
    shape = list(setup.observation_space.shape)
    width = memory["units"] if memory else int(np.prod(shape))
    action = {"kind": "choice", "choices": setup.action_size, "masked": masked}
    if setup.continuous:
        bound = [1.0] * setup.action_size
        low = [-1.0] * setup.action_size
        action = {"kind": "numbers", "low": low, "high": bound, "squashed": True, "limit": None}
    architecture = {
        "observation": [{"name": None, "shape": shape, "normalised": False, "picture": False}],
        "normalisation": None,
        "convolutions": None,
        "memory": memory,
        "layers": [
            {"inputs": width, "units": 8, "activation": "tanh"},
            {"inputs": 8, "units": setup.action_size, "activation": "identity"},
        ],
        "action": action,
    }
    rng = np.random.default_rng(seed)
    tensors = {n: rng.normal(size=shape).astype(dtype) for n, shape, dtype in expected_tensors(architecture)}
    id = id if "/" in id else f"rlenvs/{id}"
    settings_ = {"n_steps": 64, "net_arch": [8]}
    found = {"cpu": "a processor", "cores": 2}
    card = Card(id, keywords, "PPO", settings_, architecture, 1000, [0], 1.5, found, {"python": "3"}, SCORE)
    return Agent(card, Network(architecture, tensors))


@pytest.fixture
def saved(tmp_path):
    """The stem of a saved agent."""
    save_agent(tmp_path / "mine", agent_for(HOVER))
    return tmp_path / "mine"


def pair(stem):
    return stem.with_name(stem.name + ".safetensors"), stem.with_name(stem.name + ".json")


def refused(stem, reason, **arguments):
    with pytest.raises(AgentFileError, match=reason):
        load_agent(stem, **arguments)


def edit(stem, **changes):
    """Change entries of a card as a forger would, with a digest that fits."""
    path = pair(stem)[1]
    table = {**json.loads(path.read_text()), **changes}
    table.pop("digest")
    path.write_text(json.dumps({**table, "digest": files._digest(table)}))


# --- round trips ------------------------------------------------------------------------------------------------------


def test_what_was_saved_is_loaded(tmp_path):
    agent = agent_for(HOVER, level="hard")
    path = save_agent(tmp_path / "mine.json", agent)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.json", "mine.safetensors"]
    for source in (path, str(path), tmp_path / "mine.json", tmp_path / "mine", str(tmp_path / "mine")):
        found = load_agent(source, id=HOVER)
        assert replace(found.card, weights="") == agent.card
        assert found.card.score.normalized == 0.5
        assert found.network.tensors.keys() == agent.network.tensors.keys()
        for name, array in agent.network.tensors.items():
            assert np.array_equal(found.network.tensors[name], array)


def test_two_saves_of_one_agent_are_equal_to_the_byte(tmp_path):
    for name in ("a", "b"):
        save_agent(tmp_path / name, agent_for(HOVER))
    for one, other in zip(pair(tmp_path / "a"), pair(tmp_path / "b"), strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_half_of_the_size(tmp_path):
    agent = agent_for(HOVER)
    whole, half = (save_agent(tmp_path / name, agent, half=name == "half") for name in ("whole", "half"))
    assert 0.4 < half.stat().st_size / whole.stat().st_size < 0.85  # a small network has much else
    found = load_agent(half).network.tensors
    for name, array in agent.network.tensors.items():
        assert found[name].dtype == array.dtype
        wanted = array.astype(np.float16).astype(np.float32) if array.ndim > 1 else array
        assert np.array_equal(found[name], wanted), name
    again = save_agent(tmp_path / "again", load_agent(half), half=True)
    assert again.read_bytes() == half.read_bytes()
    large = {**agent.network.tensors, "layers.0.weight": agent.network.tensors["layers.0.weight"] + 1e5}
    with pytest.raises(ParameterError, match=r"'layers.0.weight' holds numbers above 65504"):
        save_agent(half, Agent(agent.card, Network(agent.card.architecture, large)), half=True)
    assert load_agent(half).card.weights == load_agent(again).card.weights


def test_a_layout_of_the_card_that_says_the_same_is_fine(saved):
    path = pair(saved)[1]
    path.write_text(json.dumps(json.loads(path.read_text())).replace(", ", " ,\r\n"))
    assert load_agent(saved).card.id == "rlenvs/QuadHover-v0"


def test_a_header_whose_length_looks_like_a_pickle_is_loaded(tmp_path):
    """The first bytes of a safetensors file tell the length of its header, and 640 reads like a pickle's head."""
    from safetensors.numpy import save

    agent = agent_for(HOVER)
    save_agent(tmp_path / "a", agent)
    weights, _ = pair(tmp_path / "a")
    for padding in range(700):
        data = save(agent.network.tensors, {"padding": "x" * padding})
        if data[:2] == b"\x80\x03":
            break
    assert data[:2] == b"\x80\x03"
    weights.write_bytes(data)
    edit(tmp_path / "a", weights=files.hashlib.sha256(data).hexdigest())
    assert load_agent(tmp_path / "a").network.numbers == 4


# --- what is refused --------------------------------------------------------------------------------------------------


def test_a_missing_half(saved):
    weights, card = pair(saved)
    kept = card.read_bytes()
    card.unlink()
    refused(saved, "mine.json is missing; an agent is two files")
    card.write_bytes(kept)
    weights.unlink()
    refused(saved, "mine.safetensors is missing")
    refused(saved.with_name("folder") / "x", "x.safetensors is missing")


def test_truncated_files(saved):
    weights, card = pair(saved)
    data, text = weights.read_bytes(), card.read_text()
    for size in (0, 5, 9, 300, len(data) - 1):
        weights.write_bytes(data[:size])
        refused(saved, "cut off")
    weights.write_bytes(data)
    for size in (0, 10, len(text) - 3):
        card.write_text(text[:size])
        refused(saved, "not JSON")


def test_damaged_weights_and_mixed_pairs(saved):
    weights, _ = pair(saved)
    data = bytearray(weights.read_bytes())
    data[-3] ^= 1
    weights.write_bytes(data)
    refused(saved, "was damaged: its bytes are not those that were saved")
    save_agent(saved.with_name("other"), agent_for(HOVER, seed=1))
    weights.write_bytes(pair(saved.with_name("other"))[0].read_bytes())
    refused(saved, "is intact, but belongs to another card than mine.json")


def test_damaged_and_edited_cards(saved):
    path = pair(saved)[1]
    text = path.read_text()
    path.write_text(text.replace('"steps": 1000', '"steps": 9000'))
    refused(saved, "the card was damaged or edited")
    path.write_text(text.replace("1.5", "NaN"))
    refused(saved, "NaN is no number of JSON")
    path.write_text("[" * 100_000)
    refused(saved, "not JSON")
    path.write_text("[]")
    refused(saved, "must be an object")
    path.write_text(json.dumps({"format": "rlenvs replay"}))
    refused(saved, '"format": "rlenvs agent"')
    path.write_bytes(b" " * (files.LARGEST_CARD + 1))
    refused(saved, "more than the 1048576 bytes")


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"version": 2}, "version 2 of the format; this package reads 1"),
        ({"version": None}, "version None"),
        ({"id": "rlenvs/QuadHovr-v0"}, "not known here.*Did you mean.*QuadHover-v0"),
        ({"id": "rlenvs/QuadGate-v0"}, r"trained for observations \(15,\); those of QuadGate-v0 are \(21,\)"),
        ({"id": 3}, "id is 3; needed: a text"),
        ({"keywords": {"level": "hrd"}}, "no level 'hrd'"),
        ({"keywords": {"mass": -1.0}}, "mass=-1.0 is outside"),
        ({"keywords": {"world": 1}}, "world"),
        ({"keywords": {"self": 1}}, "self"),
        ({"keywords": []}, r"keywords is \[\]; needed: an object"),
        ({"steps": "many"}, "steps is 'many'; needed: a whole number"),
        ({"steps": -1}, "at least 0"),
        ({"seeds": ["a"]}, "seeds whole numbers"),
        ({"surplus": 1}, "it must have id, keywords"),
        ({"score": {"mean": 1.0}}, "card: score: it must have mean, half_width"),
        ({"architecture": {}}, "must have exactly the entries"),
        ({"weights": "0" * 64}, "belongs to another card"),
    ],
)
def test_cards_that_say_what_cannot_be(saved, changes, reason):
    edit(saved, **changes)
    refused(saved, reason)


def test_an_architecture_that_does_not_fit_the_weights(saved):
    found = json.loads(pair(saved)[1].read_text())["architecture"]
    found["layers"][0]["units"] = found["layers"][1]["inputs"] = 9
    edit(saved, architecture=found)
    refused(saved, r"'layers.0.weight' is float32 \(8, 15\); the architecture needs float32 \(9, 15\)")


def test_another_environment_than_asked_for(saved):
    refused(saved, "an agent for rlenvs/QuadHover-v0, not for QuadGate-v0", id="QuadGate-v0")
    assert load_agent(saved, id="rlenvs/QuadHover-v0").card.id == load_agent(saved, id="mo-QuadHover-v0").card.id
    with pytest.raises(UnknownNameError, match="QuadHover"):
        load_agent(saved, id="QuadHovr-v0")


def test_nan_in_weights(tmp_path):
    agent = agent_for(HOVER)
    agent.network.tensors["layers.0.bias"][2] = np.nan  # after the network's own check
    save_agent(tmp_path / "a", agent)
    refused(tmp_path / "a", "'layers.0.bias' holds NaN")


def test_absurd_headers(saved):
    weights, _ = pair(saved)
    data = weights.read_bytes()
    for length in (files.LARGEST_HEADER + 1, 2**63, 2**64 - 1):
        weights.write_bytes(length.to_bytes(8, "little") + data[8:])
        refused(saved, f"claim a header of {length} bytes")

    def with_header(header):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        weights.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 64)
        edit(saved, weights=files.hashlib.sha256(weights.read_bytes()).hexdigest())

    tensor = {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}
    for header in (
        b"{]",
        b"{\xff}",
        b"{" * 5000,
        {"a": 3},
        {"a": {**tensor, "data_offsets": [0, "8"]}},
        {"a": {**tensor, "data_offsets": [0, 10**30]}},
        {"a": {**tensor, "data_offsets": [-8, 8]}},
        {"a": {**tensor, "dtype": "BF16"}},
        {"a": {**tensor, "dtype": []}},
        {"a": {**tensor, "shape": [2**62, 2**62]}},
        {"a": {**tensor, "shape": [10**12]}},
        {"a": tensor, "b": tensor},
        {"__metadata__": 3, "a": tensor},
    ):
        with_header(header)
        refused(saved, "header|cut off|no sound safetensors file")


def test_very_large_files_are_not_read_to_the_end(saved):
    with open(pair(saved)[0], "r+b") as file:
        file.truncate(1 << 33)  # a hole, no real bytes
    refused(saved, "more than the 67108864 bytes")


class Payload:
    """What a pickle would do on loading."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (str(self.marker),)


def foreign_files(marker):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("data.pkl", pickle.dumps(Payload(marker)))
    yield "zip archive", buffer.getvalue()
    for protocol in range(2, 6):
        yield "Python pickle", pickle.dumps(Payload(marker), protocol)
    arrays = io.BytesIO()
    np.save(arrays, np.array([Payload(marker)], dtype=object), allow_pickle=True)
    yield "NumPy file", arrays.getvalue()
    yield "no safetensors|not JSON", pickle.dumps(Payload(marker), 0)


def test_pickles_under_an_agents_name_are_not_opened(saved, tmp_path):
    marker = tmp_path / "executed"
    pickle.loads(pickle.dumps(Payload(marker)))
    assert marker.exists()  # a pickle would have
    marker.rmdir()
    for place in pair(saved):
        kept = place.read_bytes()
        for kind, data in foreign_files(marker):
            place.write_bytes(data)
            refused(saved, kind)
        place.write_bytes(kept)
    assert not marker.exists()
    assert load_agent(saved)


def test_a_model_of_torch_is_refused(saved):
    torch = pytest.importorskip("torch")
    for kind, legacy in (("zip archive", False), ("Python pickle", True)):
        torch.save({"a": torch.zeros(2)}, pair(saved)[0], _use_new_zipfile_serialization=not legacy)
        refused(saved, kind)


# what Python does is watched by an audit hook, which cannot be taken away again, only switched off
happened: list[str] = []
watching = False


def note(event, arguments):
    if watching and event.split(".")[0] in ("exec", "compile", "import", "pickle", "marshal", "os", "subprocess"):
        happened.append(f"{event} {arguments[:1]}")


@pytest.fixture(scope="module")
def loaded_once(tmp_path_factory):
    stem = tmp_path_factory.mktemp("agents") / "mine"
    save_agent(stem, agent_for(HOVER))
    load_agent(stem)
    with pytest.raises(UnknownNameError):
        load_agent("nothing")  # all imports are done
    sys.addaudithook(note)
    return stem, [path.read_bytes() for path in pair(stem)]


@settings(max_examples=400)
@given(which=st.integers(0, 1), data=st.data())
def test_damage_of_any_kind_is_noticed_and_executes_nothing(loaded_once, which, data):
    """Bytes that are changed, cut off or put in between."""
    global watching
    stem, originals = loaded_once
    changed = bytearray(originals[which])
    kind = data.draw(st.sampled_from(["flips", "cut", "insertion"]))
    if kind == "flips":
        for place in data.draw(st.sets(st.integers(0, len(changed) - 1), min_size=1, max_size=5)):
            changed[place] ^= data.draw(st.integers(1, 255))
    elif kind == "cut":
        del changed[data.draw(st.integers(0, len(changed) - 1)) :]
    else:
        place = data.draw(st.integers(0, len(changed)))
        changed[place:place] = data.draw(st.binary(min_size=1, max_size=20))
    for path, original in zip(pair(stem), originals, strict=True):
        path.write_bytes(original)
    pair(stem)[which].write_bytes(changed)
    harmless = which == 1 and says_the_same(changed, originals[1])
    happened.clear()
    watching = True
    try:
        if harmless:
            assert load_agent(stem).card == Card.from_json(originals[1])
        else:
            with pytest.raises(AgentFileError):
                load_agent(stem)
    finally:
        watching = False
    assert not happened


def says_the_same(text, original):
    try:
        return files._digest(json.loads(text.decode())) == files._digest(json.loads(original))
    except (ValueError, RecursionError):
        return False


@settings(max_examples=60)
@given(st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(), st.lists))
@example(2**80)
def test_any_value_in_any_place_of_a_card_is_loaded_or_refused(loaded_once, value):
    stem, originals = loaded_once
    for path, original in zip(pair(stem), originals, strict=True):
        path.write_bytes(original)
    table = json.loads(originals[1])
    for name in [*table]:
        if name == "digest" or (isinstance(value, float) and not np.isfinite(value)):
            continue
        pair(stem)[1].write_bytes(originals[1])
        edit(stem, **{name: value})
        with contextlib.suppress(AgentFileError):
            load_agent(stem)


# --- saving, interrupted ----------------------------------------------------------------------------------------------


class Crash(BaseException):
    """The power goes out."""


def crash_at(monkeypatch, moment):
    """Let the process die at the so-many-th call that changes the disk; returns the calls that were counted."""
    calls = []
    for name in ("replace", "fsync"):
        original = getattr(os, name)

        def counted(*arguments, original=original, name=name):
            if len(calls) == moment:
                raise Crash
            calls.append(name)
            return original(*arguments)

        monkeypatch.setattr(os, name, counted)
    return calls


def same_agent(one, other):
    return replace(one.card, weights="") == replace(other.card, weights="") and all(
        np.array_equal(array, other.network.tensors[name]) for name, array in one.network.tensors.items()
    )


MOMENTS = ["fsync", "fsync", "replace", "fsync", "replace", "fsync"]


def test_a_crash_at_any_moment_leaves_the_old_agent_or_the_new_one(tmp_path, monkeypatch):
    first, second, third = (agent_for(HOVER, seed=seed) for seed in range(3))
    third = Agent(replace(third.card, steps=3), third.network)
    second = Agent(replace(second.card, steps=2), second.network)
    with monkeypatch.context() as patch:
        calls = crash_at(patch, 10**9)
        save_agent(tmp_path / "counted", first)
    assert calls == MOMENTS
    seen = []
    for moment in range(len(MOMENTS)):
        for later in range(len(MOMENTS) + 2):  # a second crash, in the save after the first one
            stem = tmp_path / f"{moment} {later}"
            save_agent(stem, first)
            with monkeypatch.context() as patch:
                crash_at(patch, moment)
                with pytest.raises(Crash):
                    save_agent(stem, second)
            found = load_agent(stem)
            assert same_agent(found, first) or same_agent(found, second)
            seen.append(found.card.steps)
            with monkeypatch.context() as patch, contextlib.suppress(Crash):
                crash_at(patch, later)
                save_agent(stem, third)
            last = load_agent(stem)
            assert same_agent(last, found) or same_agent(last, third)
            save_agent(stem, third)
            assert same_agent(load_agent(stem), third)
            assert not list(tmp_path.glob(".*"))
    assert set(seen) == {1000, 2}


def test_a_full_disk_leaves_the_good_pair(saved, monkeypatch):
    before = [path.read_bytes() for path in pair(saved)]

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(AgentFileError, match="cannot be written: No space left on device; what was there before"):
            save_agent(saved, agent_for(HOVER, seed=1))
    assert [path.read_bytes() for path in pair(saved)] == before
    assert sorted(path.name for path in saved.parent.iterdir()) == ["mine.json", "mine.safetensors"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of this kind are Linux's")
def test_a_real_limit_on_the_size_of_files(saved):
    """The system itself stops the write half-way."""
    code = f"""
import resource, signal
from tests.test_agents_files import HOVER, agent_for
from rlenvs.agents.files import AgentFileError, load_agent, save_agent
agent = agent_for(HOVER, seed=1)
save_agent({str(saved.with_name("warm"))!r}, agent)
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (512, 512))
try:
    save_agent({str(saved)!r}, agent)
except AgentFileError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "cannot be written: File too large; what was there before is untouched" in done.stdout
    assert same_agent(load_agent(saved), agent_for(HOVER))
    assert not list(saved.parent.glob(".*"))


def test_folders_that_cannot_be_written(tmp_path):
    with pytest.raises(AgentFileError, match="No such file or directory"):
        save_agent(tmp_path / "none" / "a", agent_for(HOVER))
    (tmp_path / "file").write_text("")
    with pytest.raises(AgentFileError, match="Not a directory"):
        save_agent(tmp_path / "file" / "a", agent_for(HOVER))


def test_what_json_does_not_know_is_named(tmp_path):
    agent = agent_for(HOVER)
    for settings_ in ({"schedule": abs}, {"rate": float("nan")}):
        with pytest.raises(ParameterError, match=r"settings=.*cannot be written as JSON"):
            save_agent(tmp_path / "a", Agent(replace(agent.card, settings=settings_), agent.network))
    assert not list(tmp_path.iterdir())


# --- playing ----------------------------------------------------------------------------------------------------------


def test_act_in_a_plain_environment_is_what_evaluate_plays():
    agent = agent_for(HOVER)
    result = rlenvs.evaluate(HOVER, agent, seeds=[4, 7])
    for row, seed in enumerate([4, 7]):
        env = rlenvs.make(HOVER)
        observation, _ = env.reset(seed=seed)
        total, over = 0.0, False
        while not over:
            action, state = agent.act(observation)
            assert state is None
            assert env.action_space.contains(action)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over = total + reward, terminated or truncated
        assert total == pytest.approx(result.returns[row], rel=1e-4)


def test_memories_begin_anew_with_every_episode():
    agent = agent_for(HOVER, memory={"layers": 2, "units": 5})
    together = evaluate(HOVER, agent, seeds=4)
    env, state, start = rlenvs.make(HOVER), None, True
    for seed in range(4):
        observation, _ = env.reset(seed=seed)
        total, over, start = 0.0, False, True
        while not over:
            action, state = agent.act(observation, state=state, start=start)
            observation, reward, terminated, truncated, _ = env.step(action)
            total, over, start = total + reward, terminated or truncated, False
        assert total == pytest.approx(together.returns[seed], rel=1e-4)
    with pytest.raises(ParameterError, match="has a memory"):
        agent(observation)


def test_memories_begin_anew_after_an_autoreset():
    agent, batch = agent_for(HOVER, memory={"layers": 1, "units": 5}), rlenvs.make_batch(HOVER, 2, horizon=3)
    batch.seed([0, 1])
    batch.reset()
    choose = chooser(batch, agent, [0, 1])
    fresh = []
    for _ in range(10):
        seen = batch.observed((slice(None), 0))
        actions = choose()
        fresh.append(np.array_equal(actions, agent.predict(seen)[0]))
        batch.step(actions)
    assert fresh == [True, False, False, False, True, False, False, False, True, False]


def test_masks_are_kept_where_the_agent_was_trained_with_them():
    batch = rlenvs.make_batch(MAZE, 20)
    batch.seed(range(20))
    batch.reset()
    for masked in (True, False):
        choose = chooser(batch, agent_for(MAZE, masked=masked), list(range(20)))
        allowed = np.take_along_axis(batch.masks, choose()[:, :, None], axis=2)
        assert allowed.all() == masked


def test_agents_with_roles_are_padded_as_in_training():
    agent = agent_for(SPEAKER, masked=True)
    result = evaluate(SPEAKER, agent, seeds=3)
    env = rlenvs.parallel_env(SPEAKER)
    observations, infos = env.reset(seed=1)
    total, sizes = 0.0, set()
    while env.agents:
        actions = {}
        for name in env.agents:
            seen = observations[name]
            mask = infos[name].get("action_mask")
            if isinstance(seen, dict):
                seen, mask = seen["observation"], seen["action_mask"]
            if mask is None:
                mask = np.ones(env.action_space(name).n, np.int8)
            sizes.add(len(seen))
            actions[name], _ = agent.act(seen, mask)
            assert env.action_space(name).contains(actions[name])
        observations, rewards, _, _, infos = env.step(actions)
        total += sum(rewards.values())
    assert len(sizes) == 2
    assert total == pytest.approx(result.returns[1], rel=1e-4)


def test_predict_is_a_drop_in_for_stable_baselines3(tmp_path):
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy

    from rlenvs.agents.export import agent_from

    envs = rlenvs.sb3_vec_env(HOVER, 4)
    model = sb3.PPO("MlpPolicy", envs, n_steps=8, batch_size=32, seed=0, device="cpu")
    facts = {"keywords": {}, "settings": {"n_steps": 8}, "steps": 32, "seeds": [0], "seconds": 0.5}
    agent = agent_from(model, HOVER, **facts)
    assert {"rlenvs", "torch", "python", "stable-baselines3"} <= set(agent.card.versions)
    assert agent.card.hardware["cores"] >= 1
    save_agent(tmp_path / "a", agent)
    agent = load_agent(tmp_path / "a")
    for observations in (envs.reset(), envs.reset()[0]):
        mine, theirs = (player.predict(observations, deterministic=True)[0] for player in (agent, model))
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(mine, theirs, atol=1e-5)
    envs.seed(0)
    mean, _ = evaluate_policy(agent, envs, n_eval_episodes=4, warn=False)
    assert mean == pytest.approx(evaluate(HOVER, agent, 4).mean, rel=1e-3)
    with pytest.raises(ParameterError, match=r"the model of PPO was trained for observations \(15,\)"):
        agent_from(model, "QuadGate-v0", **facts)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((np.zeros(14, np.float32),), r"shape \(1, 14\)"),
        ((np.zeros((3, 15), np.float32),), "for one observation"),
        (({"a": 1},), "are one array"),
        ((np.full(15, np.nan),), "NaN"),
        ((np.zeros(15), np.ones(4)), "masks are for choices"),
    ],
)
def test_bad_observations(arguments, reason):
    with pytest.raises(ParameterError, match=reason):
        agent_for(HOVER).act(*arguments)


def test_an_agent_of_another_environment_is_refused_before_it_plays():
    with pytest.raises(ParameterError, match=r"observations \(15,\); those of QuadGate-v0 are \(21,\)"):
        evaluate("QuadGate-v0", agent_for(HOVER))
    setup = Setup(world_of(TREASURE))
    setup.action_size = 3
    with pytest.raises(ParameterError, match="actions of 4 choices; those of DeepSeaTreasure-v0 have 3 choices"):
        agent_for(TREASURE).check(setup)


def test_layers_show_the_agent_what_they_make(tmp_path):
    from rlenvs.wrappers import Sensor

    agent = agent_for(HOVER)
    plain, layered = evaluate(HOVER, agent, 3), evaluate(HOVER, agent, 3, layers=[Sensor(noise=0.5)])
    assert not np.array_equal(plain.returns, layered.returns)
    same = evaluate(HOVER, agent, 3, layers=[Sensor(noise=0.0)])
    np.testing.assert_allclose(same.returns, plain.returns, rtol=1e-4)
    memory = agent_for(HOVER, memory={"layers": 1, "units": 5})
    same = evaluate(HOVER, memory, 3, layers=[Sensor(noise=0.0)])
    np.testing.assert_allclose(same.returns, evaluate(HOVER, memory, 3).returns, rtol=1e-4)


# --- two sides, tournaments -------------------------------------------------------------------------------------------

TUG = "TugOfWar-v0"


@pytest.fixture
def tug(monkeypatch):
    for name, module in ((TUG, tug_of_war), ("HighNumbers-v0", high_numbers)):
        monkeypatch.setitem(
            catalogue, f"rlenvs/{name}", Entry(f"rlenvs/{name}", f"{module.__name__}:SPEC", ("multi-agent",))
        )


def test_against_the_scripted_side(tug):
    id = "ParticleTag-v0"
    expert, agent = evaluate(id, "expert", 6), agent_for(id, masked=True)
    np.testing.assert_allclose(evaluate(id, "expert", 6, against="pursuit").returns, expert.returns)
    alone, against = evaluate(id, agent, 6), evaluate(id, agent, 6, against="pursuit")
    assert not np.allclose(alone.returns, against.returns)
    # by hand, from the side of the first agent
    batch = rlenvs.make_batch(id, 6, autoreset=rlenvs.core.batch.AutoresetMode.DISABLED)
    sides = np.array(batch.setup.sides)
    total, won = np.zeros(6), np.zeros(6)
    for side in (0, 1):
        batch.seed(range(6))
        batch.reset()
        for _ in range(batch.setup.horizon):
            own = agent.predict(batch.observed(), action_masks=batch.masks)[0]
            actions = np.where(sides == side, own, batch.play("pursuit")[:, :, 0])
            batch.step(actions)
            total += batch.rewards[:, sides == side].sum(axis=1)
        won += batch.success[:, sides == side].mean(axis=1) / 2
    assert against.successes.tolist() == won.tolist()
    np.testing.assert_allclose(total, against.returns, rtol=1e-4)
    with pytest.raises(UnknownNameError, match="no player 'hunter'"):
        evaluate(id, agent, 2, against="hunter")
    with pytest.raises(ParameterError, match="all agents are on one side"):
        evaluate(HOVER, "random", 2, against="pursuit")


def test_agents_play_tournaments(tug, tmp_path):
    agent = agent_for("HighNumbers-v0", masked=True, opponent="self")
    path = save_agent(tmp_path / "learnt", agent)
    by_file, direct = (rlenvs.tournament("HighNumbers-v0", {"a": p, "low": "low"}, games=6) for p in (path, agent))
    assert by_file.to_dict() == direct.to_dict()
    with_numbers = agent_for(TUG)
    assert rlenvs.tournament(TUG, {"a": with_numbers, "random": "random"}, games=4).games == 4
    with pytest.raises(AgentFileError, match="an agent for rlenvs/HighNumbers-v0, not for TugOfWar-v0"):
        rlenvs.tournament(TUG, {"a": path, "random": "random"}, games=4)
    with pytest.raises(ParameterError, match="the player 'a' has a memory"):
        rlenvs.tournament(TUG, {"a": agent_for(TUG, memory={"layers": 1, "units": 3}), "random": "random"}, games=4)
    output = run("tournament", "HighNumbers-v0", f"mine={path}", path, "low", "--games", 2)
    assert "mine" in output
    assert "learnt" in output


def test_agents_with_roles_play_tournaments():
    id = "ParticleTag-v0"
    result = rlenvs.tournament(id, {"a": agent_for(id, masked=True), "pursuit": "pursuit"}, games=4)
    assert (result.wins + result.wins.T + result.draws)[0, 1] == 4


# --- reference agents and scores --------------------------------------------------------------------------------------


@pytest.fixture
def references(tmp_path, monkeypatch):
    folder = tmp_path / "reference"
    folder.mkdir()
    monkeypatch.setattr(files, "REFERENCE", folder)
    return folder


def test_reference_agents_by_id_and_level(references):
    with pytest.raises(
        UnknownNameError, match=r"no reference agent for QuadHover-v0 yet; train one with: rlenvs train"
    ):
        load_agent(HOVER)
    save_agent(references / "QuadHover-v0", agent_for(HOVER))
    assert load_agent("rlenvs/QuadHover-v0").card.keywords == load_agent(HOVER, level="hard").card.keywords == {}
    save_agent(references / "QuadHover-v0-hard", agent_for(HOVER, level="hard"))
    assert load_agent(HOVER, level="hard").card.keywords == {"level": "hard"}
    assert load_agent("rlenvs:rlenvs/mo-QuadHover-v0").card.keywords == {}
    assert [stem.name for stem in files.reference_agents()] == ["QuadHover-v0", "QuadHover-v0-hard"]
    with pytest.raises(UnknownNameError, match=r"no level 'hrad'\. Did you mean 'hard'"):
        load_agent(HOVER, level="hrad")
    with pytest.raises(UnknownNameError, match="no environment and no agent file 'QuadHovr-v0'"):
        load_agent("QuadHovr-v0")
    save_agent(references / "QuadGate-v0", agent_for(HOVER))
    with pytest.raises(AgentFileError, match="not for QuadGate-v0"):
        load_agent("QuadGate-v0")


def measured(agent, seeds=8):
    return files.with_score(agent, scores.measure(agent, seeds, first_seed=5))


def test_measure_and_replay(references):
    agent = measured(agent_for(HOVER))
    own = evaluate(HOVER, agent, range(5, 13))
    score = agent.card.score
    assert (score.mean, score.half_width, score.success_rate) == (own.mean, own.half_width, own.success_rate)
    assert (score.random, score.expert) == tuple(evaluate(HOVER, p, range(5, 13)).mean for p in ("random", "expert"))
    assert (score.seeds, score.first_seed, score.against) == (8, 5, None)
    save_agent(references / "a", agent)
    found = scores.replay_agent(references / "a")
    assert (found.mean, found.seeds) == (score.mean, 8)
    assert found.holds
    assert scores.replay_agent(references / "a", seeds=3).seeds == 3
    for shift, holds in ((0.9, True), (1.1, False), (-1.1, False)):
        moved = replace(score, mean=score.mean + shift * score.half_width)
        save_agent(references / "a", files.with_score(agent, moved))
        assert scores.replay_agent(references / "a").holds == holds
    save_agent(references / "a", files.with_score(agent, None))
    with pytest.raises(ParameterError, match="a: the card holds no score"):
        scores.replay_agent(references / "a")
    with pytest.raises(ParameterError, match="at least 2"):
        scores.measure(agent, seeds=1)


def test_measure_against_the_scripted_side():
    id = "ParticlePush-v0"
    score = scores.measure(agent_for(id, masked=True), 4)
    world = world_of(id)
    assert score.against == world.players[0]
    assert score.expert == pytest.approx(evaluate(id, "expert", 4).mean)
    assert score.random == evaluate(id, "random", 4, against=score.against).mean


@pytest.mark.parametrize("stem", files.reference_agents(), ids=lambda stem: stem.name)
def test_shipped_agents_hold_their_scores_on_a_few_seeds(stem):
    assert load_agent(stem).card.score is not None
    found = scores.replay_agent(stem, seeds=4)
    assert found.holds, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("stem", files.reference_agents(), ids=lambda stem: stem.name)
def test_shipped_agents_hold_their_scores(stem):
    found = scores.replay_agent(stem)
    assert found.holds, str(found)


def test_shipped_agents_are_small_and_named_after_their_environments():
    stems = files.reference_agents()
    assert sum(path.stat().st_size for stem in stems for path in pair(stem)) < 8e6
    for stem in stems:
        card = load_agent(stem).card
        level = card.keywords.get("level")
        assert stem.name in (world_of(card.id).name, f"{world_of(card.id).name}-{level}")


# --- the command line -------------------------------------------------------------------------------------------------


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "150", "NO_COLOR": "1"})
    assert result.exit_code == code, result.output + repr(result.exception)
    return result.output


def test_eval(references, saved):
    output = run("eval", saved, "--seeds", 3, "--set", "horizon=20")
    assert "rlenvs/QuadHover-v0, horizon=20: 3 seeds from 0" in output
    rows = {line.split()[0]: line for line in output.splitlines()}
    assert {"random", "expert", "agent"} <= set(rows)
    own = evaluate(HOVER, load_agent(saved), 3, horizon=20)
    assert f"{own.mean:.4g} ± {own.half_width:.2g}" in rows["agent"]
    assert "1.000" in rows["expert"]
    assert f"{own.mean_length:.1f}" in rows["agent"]
    output = run("eval", HOVER, "--seeds", 2)
    assert "No agent: there is no reference agent for QuadHover-v0 yet" in output
    save_agent(references / "QuadHover-v0", agent_for(HOVER))
    output = run("eval", HOVER, "--seeds", 2, "--level", "hard", "--seed", 9)
    assert "level=hard: 2 seeds from 9" in output
    assert "agent" in output
    output = run("eval", "ParticlePush-v0", "--seeds", 2, "--against", "direct")
    assert "expert" in output
    assert "no level 'hrad'" in run("eval", HOVER, "--level", "hrad", code=2)
    assert "AgentFileError" not in run("eval", saved.with_name("none.safetensors"), code=2)


def test_an_agent_that_does_not_fit_the_keywords(references, saved):
    save_agent(references / "PathFinding-v0", agent_for(MAZE, masked=True))
    output = run("eval", MAZE, "--seeds", 2, "--set", "radius=3")
    assert "No agent: the reference agent was trained for observations" in output
    save_agent(references / "maze", agent_for(MAZE, masked=True))
    assert "was trained for" in run("eval", references / "maze", "--seeds", 2, "--set", "radius=3", code=2)


def test_watch(saved, tmp_path):
    run("watch", saved, "--output", tmp_path / "a.gif", "--seconds", 0.5)
    assert (tmp_path / "a.gif").read_bytes()[:3] == b"GIF"
    assert "Esc" in run("watch", saved, "--seconds", 0.1)
    assert "no environment and no agent file" in run("watch", "nothing", code=2)
    assert "must end in .gif or .mp4" in run("watch", saved, "--output", tmp_path / "a.png", code=2)


def test_films_and_windows_against_a_scripted_side():
    id = "ParticleTag-v0"
    agent = agent_for(id, masked=True)
    for against in (None, "pursuit"):
        assert next(film(id, agent, seconds=0.1, against=against)).shape[2] == 3
    assert watch(id, agent, seconds=0.3, against="pursuit") == round(0.3 * Setup(world_of(id)).fps)
    with pytest.raises(ParameterError, match="one side"):
        watch(HOVER, agent_for(HOVER), seconds=0.1, against="expert")


def test_the_window_closes_with_escape(monkeypatch):
    import pygame

    pygame.init()
    steps = []

    def player(observations):
        steps.append(len(observations))
        if len(steps) == 3:
            pygame.event.post(pygame.event.Event(pygame.KEYDOWN, key=pygame.K_ESCAPE))
        return np.zeros((1, 4))

    assert watch(HOVER, player) == 4
    assert not pygame.display.get_init()


def test_scores(references, tmp_path):
    agent = measured(agent_for(HOVER), 4)
    save_agent(references / "QuadHover-v0", agent)
    hard = measured(agent_for(HOVER, level="hard"), 4)
    save_agent(references / "QuadHover-v0-hard", hard)
    save_agent(references / "PathFinding-v0", files.with_score(agent_for(MAZE, masked=True), None))
    output = run("scores")
    (row,) = [line for line in output.splitlines() if line.startswith("QuadHover-v0 ") and "hard" not in line]
    assert f"{agent.card.score.mean:.4g} ± " in row
    assert "480" in row  # the bound
    assert "PPO, 0.001 M steps" in row
    (row,) = [line for line in output.splitlines() if "level=hard" in line]
    assert f"{hard.card.score.mean:.4g} ± " in row
    assert "480" not in row
    assert "not measured" in output
    assert "SafePointGoal-v0" in output
    run("scores", "--write", tmp_path / "scores.md")
    assert "| QuadHover-v0 |" in (tmp_path / "scores.md").read_text()
    (references / "PathFinding-v0.json").unlink()
    assert "2 reference agents, 0 outside" in run("scores", "--check")
    assert "over 2 seeds" in run("scores", "--check", "--seeds", 2)
    wrong = replace(agent.card.score, mean=agent.card.score.mean + 100)
    save_agent(references / "QuadHover-v0", files.with_score(agent, wrong))
    assert "LEFT ITS INTERVAL" in run("scores", "--check", code=1)


def test_no_torch_is_needed(saved, tmp_path):
    code = f"""
import sys
from typer.testing import CliRunner
from rlenvs.cli import app
film = ["--output", {str(tmp_path / "a.gif")!r}, "--seconds", "0.2"]
for command in (["eval", {str(saved)!r}, "--seeds", "2"], ["watch", {str(saved)!r}, *film]):
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
print(sorted({{"torch", "stable_baselines3", "sb3_contrib", "pandas", "matplotlib", "pickle5"}} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_files_do_not_import_numba_before_they_are_used():
    code = "import sys, rlenvs.agents.files; print([m for m in ('numba', 'torch', 'safetensors') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("source", ["", 3, None, Path("."), Path("/")])
def test_what_is_no_path(source):
    with pytest.raises(ParameterError, match="no path of an agent's files"):
        load_agent(source)
    with pytest.raises(ParameterError, match="no path of an agent's files"):
        save_agent(source, agent_for(HOVER))


def test_what_is_no_agent(tmp_path):
    with pytest.raises(ParameterError, match=r"save_agent wants an Agent, .* not a dict"):
        save_agent(tmp_path / "a", {})
    (tmp_path / "b.json").mkdir()
    save_agent(tmp_path / "c", agent_for(HOVER))
    pair(tmp_path / "c")[0].rename(tmp_path / "b.safetensors")
    refused(tmp_path / "b", "b.json cannot be read: Is a directory")


def test_paths():
    assert files._stem("a/b.safetensors") == files._stem("a/b.json") == files._stem("a/b") == Path("a/b")
    assert files._stem("a/QuadHover-v0.5") == Path("a/QuadHover-v0.5")
