import contextlib
import errno
import io
import json
import os
import pickle
import socket
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.agent_helpers import HOVER, agent_for, edit, pair, refused
from typer.testing import CliRunner

from rlenvs.agents import files
from rlenvs.agents.agent import Agent
from rlenvs.agents.card import Card, digest_of
from rlenvs.agents.files import load_agent, save_agent
from rlenvs.agents.network import Network
from rlenvs.cli import app
from rlenvs.core.declare.errors import AgentFileError, ParameterError, UnknownNameError

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
    with pytest.raises(ParameterError, match=r"'layers.0.weight' contains numbers above 65504"):
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
    refused(saved, "mine.json is missing; an agent consists of two files")
    card.write_bytes(kept)
    weights.unlink()
    refused(saved, "mine.safetensors is missing")
    refused(saved.with_name("folder") / "x", "x.safetensors is missing")


def test_truncated_files(saved):
    weights, card = pair(saved)
    data, text = weights.read_bytes(), card.read_text()
    for size in (0, 5, 9, 300, len(data) - 1):
        weights.write_bytes(data[:size])
        refused(saved, "truncated")
    weights.write_bytes(data)
    for size in (0, 10, len(text) - 3):
        card.write_text(text[:size])
        refused(saved, "not JSON")


def test_damaged_weights_and_mixed_pairs(saved):
    weights, _ = pair(saved)
    data = bytearray(weights.read_bytes())
    data[-3] ^= 1
    weights.write_bytes(data)
    refused(saved, "is damaged: its contents differ from what was saved")
    save_agent(saved.with_name("other"), agent_for(HOVER, seed=1))
    weights.write_bytes(pair(saved.with_name("other"))[0].read_bytes())
    refused(saved, "is intact, but does not belong to mine.json")


def test_damaged_and_edited_cards(saved):
    path = pair(saved)[1]
    text = path.read_text()
    path.write_text(text.replace('"steps": 1000', '"steps": 9000'))
    refused(saved, "the card was damaged or edited")
    path.write_text(text.replace("1.5", "NaN"))
    refused(saved, "NaN is not a JSON number")
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
        ({"id": "rlenvs/QuadHovr-v0"}, "unknown environment.*Did you mean.*QuadHover-v0"),
        ({"id": "rlenvs/QuadGate-v0"}, r"trained for observations \(15,\); those of QuadGate-v0 are \(21,\)"),
        ({"id": 3}, "id is 3; needed: a text"),
        ({"keywords": {"level": "hrd"}}, "no level 'hrd'"),
        ({"keywords": {"mass": -1.0}}, "mass=-1.0 is outside"),
        ({"keywords": {"world": 1}}, "world"),
        ({"keywords": {"self": 1}}, "self"),
        ({"keywords": []}, r"keywords is \[\]; needed: an object"),
        ({"steps": "many"}, "steps is 'many'; needed: a whole number"),
        ({"steps": -1}, "at least 0"),
        ({"seeds": ["a"]}, "seeds must be integers"),
        ({"surplus": 1}, "it must have id, keywords"),
        ({"score": {"mean": 1.0}}, "card: score: it must have mean, half_width"),
        ({"architecture": {}}, "must have exactly the entries"),
        ({"weights": "0" * 64}, "does not belong to"),
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
    refused(tmp_path / "a", "'layers.0.bias' contains NaN")


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
        refused(saved, "header|truncated|not a valid safetensors file")


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
    yield "not a safetensors|not a valid safetensors|not JSON", pickle.dumps(Payload(marker), 0)


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
        return digest_of(json.loads(text.decode())) == digest_of(json.loads(original))
    except (ValueError, RecursionError):
        return False


@pytest.mark.budget(3)
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
        with pytest.raises(
            AgentFileError, match="cannot be written: No space left on device; existing files are unchanged"
        ):
            save_agent(saved, agent_for(HOVER, seed=1))
    assert [path.read_bytes() for path in pair(saved)] == before
    assert sorted(path.name for path in saved.parent.iterdir()) == ["mine.json", "mine.safetensors"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of this kind are Linux's")
def test_a_real_limit_on_the_size_of_files(saved):
    """The system itself stops the write half-way."""
    code = f"""
import resource, signal
from support.agent_helpers import HOVER, agent_for
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
    assert "cannot be written: File too large; existing files are unchanged" in done.stdout
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


def test_files_do_not_import_numba_before_they_are_used():
    code = "import sys, rlenvs.agents.files; print([m for m in ('numba', 'torch', 'safetensors') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("source", ["", 3, None, Path("."), Path("/")])
def test_what_is_no_path(source):
    with pytest.raises(ParameterError, match="not a path of agent files"):
        load_agent(source)
    with pytest.raises(ParameterError, match="not a path of agent files"):
        save_agent(source, agent_for(HOVER))


def test_what_is_no_agent(tmp_path):
    with pytest.raises(ParameterError, match=r"save_agent requires an Agent, .* not a dict"):
        save_agent(tmp_path / "a", {})
    (tmp_path / "b.json").mkdir()
    save_agent(tmp_path / "c", agent_for(HOVER))
    pair(tmp_path / "c")[0].rename(tmp_path / "b.safetensors")
    refused(tmp_path / "b", "b.json cannot be read: Is a directory")


def test_paths():
    assert files._stem("a/b.safetensors") == files._stem("a/b.json") == files._stem("a/b") == Path("a/b")
    assert files._stem("a/QuadHover-v0.5") == Path("a/QuadHover-v0.5")


# --- files that are none ----------------------------------------------------------------------------------------------


def put(path, kind, content=b""):
    """Something under a name."""
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "socket":
        there = os.getcwd()
        os.chdir(path.parent)  # names of sockets are short
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind(path.name)
        finally:
            os.chdir(there)
    elif kind == "loop":
        path.symlink_to(path.name)
    else:
        path.symlink_to(kind)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
@pytest.mark.parametrize("which", [0, 1], ids=["weights", "card"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "socket", "loop", "/dev/zero", "/dev/null", "/nothing"])
def test_what_is_no_plain_file_is_refused_at_once(saved, kind, which):
    put(pair(saved)[which], kind)
    with pytest.raises(AgentFileError, match=r"is missing|cannot be read"):
        load_agent(saved)


@pytest.mark.parametrize("name", ["a\0b", "a" * 300, "a/" * 3000 + "b", "a" * 100_000])
@pytest.mark.parametrize("ending", ["", ".safetensors", ".json"])
def test_names_that_no_file_can_have(name, ending, tmp_path):
    with pytest.raises((AgentFileError, UnknownNameError)) as caught:
        load_agent(name + ending)
    assert len(str(caught.value)) < 800
    with pytest.raises(AgentFileError, match="cannot be written") as caught:
        save_agent(str(tmp_path / (name + ending)), agent_for(HOVER))
    assert len(str(caught.value)) < 800


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "9" * 5000])
def test_numbers_that_are_none(saved, number):
    path = pair(saved)[1]
    text = json.loads(path.read_text())
    path.write_text(json.dumps({**text, "seconds": "HERE"}).replace('"HERE"', number))
    refused(saved, "not JSON: .*(too large|not a JSON number|limit)")


@pytest.mark.parametrize("field", ["id", "algorithm", "format", "version", "keywords"])
def test_control_characters_of_a_card_do_not_reach_a_terminal(saved, field):
    evil = "\x1b]0;title\x07\x1b[31m"
    edit(saved, **{field: {"level": evil} if field == "keywords" else evil})
    output = CliRunner().invoke(app, ["eval", str(saved), "--seeds", "2"], env={"NO_COLOR": "1"}).output
    assert "\x1b" not in output
    assert "\x07" not in output


def test_the_folder_of_a_run_stands_for_its_agent(tmp_path):
    run_folder = tmp_path / "runs" / "seed-0"
    run_folder.mkdir(parents=True)
    save_agent(run_folder / "agent", agent_for(HOVER))
    assert load_agent(str(run_folder)).card == load_agent(run_folder / "agent").card
    with pytest.raises(AgentFileError, match=r"is a folder without an agent; give an agent file, such as .*seed-0"):
        load_agent(str(tmp_path / "runs"))
