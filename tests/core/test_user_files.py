"""Files that users name: what is none, or a damaged one, is refused at once, with its name and the reason."""

import os
import struct
import zipfile

import numpy as np
import pytest

import rlenvs
from rlenvs.agents.models import load_model
from rlenvs.agents.replay import Recorder, Replay
from rlenvs.core.declare import user_files
from rlenvs.core.declare.errors import ParameterError, ReplayError, RlenvsError, SnapshotError
from rlenvs.kits.tracks import road
from rlenvs.kits.tracks.files import CENTRE_LINES, overlap_of, read_centre_line, road_through
from rlenvs.robotics.driving import logs
from rlenvs.single.puzzles.pushworld.sets import parse_puzzles
from rlenvs.single.puzzles.sokoban.levels import parse_levels
from rlenvs.wrappers.banks import SnapshotBuffer

READERS = {
    "centre line": (read_centre_line, ParameterError),
    "log": (logs.read, ParameterError),
    "puzzles": (parse_puzzles, (ParameterError, ValueError)),
    "levels": (parse_levels, (ParameterError, ValueError)),
    "bank": (SnapshotBuffer.load, SnapshotError),
    "replay": (Replay.load, ReplayError),
    "model": (load_model, ParameterError),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    os.symlink("nowhere", "dangling")
    return tmp_path


@pytest.mark.parametrize("path", ["pipe", "/dev/zero", "dangling", "a\0b", "y" * 300, "x" * 100_000])
@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_plain_file_is_refused_at_once(folder, reader, path):
    read, error = READERS[reader]
    with pytest.raises(error) as raised:
        read(path)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize(("ending", "read"), [("pwp", parse_puzzles), ("txt", parse_levels)])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("nowhere", path)])
def test_folders_of_puzzles_with_something_else_in_them(tmp_path, ending, read, make):
    make(tmp_path / f"level.{ending}")
    with pytest.raises((ParameterError, ValueError), match=r"regular file|there is no"):
        read(str(tmp_path))


def test_a_folder_is_looked_through_within_bounds(tmp_path, monkeypatch):
    for n in range(5):
        (tmp_path / f"{n}.txt").write_text("")
    monkeypatch.setattr(user_files, "MOST_ENTRIES", 4)
    with pytest.raises(OSError, match="more than 4"):
        user_files.find_files(tmp_path, ".txt")


def test_files_are_as_long_as_they_may_be(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert user_files.read_whole(tmp_path / "file", 5) == b"12345"
    with pytest.raises(OSError, match="more than the 4 bytes"):
        user_files.read_whole(tmp_path / "file", 4)


def with_header(path, shape):
    """An .npz file whose array says that it has another shape."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("poses.npy", b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + b"\0" * 64)


@pytest.mark.parametrize("shape", ["(1000, 100000, 100000, 4)", "(" + "9" * 30 + ", 4)", "(-2, -4)", "(10 ** 9,)"])
def test_headers_that_tell_of_other_sizes_are_refused(tmp_path, shape):
    with_header(tmp_path / "log.npz", shape)
    with pytest.raises(ParameterError, match=r"log\.npz"):
        logs.read(str(tmp_path / "log.npz"))


def changed(path, **bits):
    raw = bytearray(path.read_bytes())
    central = raw.find(b"PK\x01\x02")
    for start in (6, central + 8):
        raw[start] |= bits.get("flag", 0)
    for start in (8, central + 10):
        raw[start] = bits.get("method", raw[start])
    body = raw.find(b"poses.npy") + 40
    raw[body : body + bits.get("noise", 0)] = b"\xff" * bits.get("noise", 0)
    path.write_bytes(raw)


@pytest.mark.parametrize("bits", [{"flag": 1}, {"method": 77}, {"method": 14}, {"noise": 20}])
def test_encrypted_unknown_and_damaged_archives_are_refused(tmp_path, bits):
    path = tmp_path / "log.npz"
    np.savez_compressed(path, poses=np.arange(640.0).reshape(1, 40, 4, 4))
    changed(path, **bits)
    with pytest.raises(ParameterError, match="cannot be read as an"):
        logs.read(str(path))


def test_a_bank_with_any_bit_turned_over_is_refused_or_the_same(tmp_path):
    env = rlenvs.make("Chain-v0", backend="python")
    env.reset(seed=0)
    bank, path = SnapshotBuffer.of([env.get_state()] * 3), tmp_path / "bank.npz"
    bank.save(path)
    raw = path.read_bytes()
    for bit in range(0, 8 * len(raw), 29):
        damaged = bytearray(raw)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        try:
            assert list(SnapshotBuffer.load(path)) == list(bank)
        except SnapshotError:
            continue


def test_arrays_are_read_as_they_were_written(tmp_path):
    arrays = {"a": np.arange(6.0).reshape(2, 3).T, "b": np.array("text"), "c": np.zeros((0, 4), np.uint8)}
    np.savez(tmp_path / "x.npz", **arrays)
    found = user_files.read_arrays(tmp_path / "x.npz", ["a", "b", "c", "d"], 10_000)
    assert found.keys() == arrays.keys()
    assert all((found[name] == array).all() and found[name].dtype == array.dtype for name, array in arrays.items())


@pytest.mark.parametrize("radius", [318_000.0, 1e200, 1e308])
def test_long_centre_lines_are_refused(radius):
    angle = np.linspace(0.0, 6.2, 100)
    with pytest.raises(ParameterError, match="m long; at most 25000 m"):
        road_through(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1))


@pytest.mark.parametrize("name", CENTRE_LINES)
def test_overlaps_are_those_that_worlds_find(name):
    found = road_through(CENTRE_LINES[name], bridge=True, cells=128)
    assert overlap_of(found) == road.overlap_at(found)
    assert (overlap_of(found) >= 0) == (name == "eight")


class Raises:
    def __array__(self, *_, **__):
        raise RuntimeError("no array")


@pytest.mark.parametrize(
    ("id", "option", "value"),
    [
        ("F1Tenth-v0", "centre_line", Raises()),
        ("QuadRace-v0", "arena", np.array([5.0 + 1j, 5.0, 5.0])),
        ("SearingSpotlights-v0", "num_coins", {}),
        ("QuadRace-v0", "gates", ["x" * 100_000]),
        ("LogReplay-v0", "log", "x" * 100_000),
        ("CartPole-v0", "threads", 10**9),
    ],
)
def test_odd_values_of_options_are_refused_briefly(id, option, value):
    with pytest.raises(RlenvsError) as raised:
        rlenvs.make_batch(id, 1, backend="python", **{option: value})
    assert len(str(raised.value)) < 500


def test_poses_are_real_numbers():
    for poses in (Raises(), np.zeros((1, 40, 1, 4), complex)):
        with pytest.raises(ParameterError, match="'poses' must be real numbers"):
            logs.checked({"poses": poses})
    lanes = np.array([[0.0, 0.0, 1e308, 0.0]])
    line = np.zeros((1, 40, 1, 4))
    with pytest.raises(ParameterError, match="lane 0 is farther"):
        logs.checked({"poses": line, "lanes": lanes})


def test_replays_hold_whole_seeds_and_only_what_is_for_the_world(tmp_path):
    env = Recorder(rlenvs.make("Chain-v0", backend="python"))
    env.reset(seed=0)
    env.step(0)
    path = tmp_path / "replay.json"
    env.replay().save(path)
    text = path.read_text()
    words = text.partition('"seed": [')[2].partition("]")[0]
    for seed in ("Infinity, 1", "0, 0", '"1", "2"', "1.0, 2.0", "true, 1"):
        path.write_text(text.replace(words, seed))
        with pytest.raises(ReplayError, match="seed must be two"):
            Replay.load(path)
    path.write_text(text.replace('"keywords": {', '"keywords": {"threads": 7, '))
    with pytest.raises(ReplayError, match="threads"):
        Replay.load(path)
    with pytest.raises(ReplayError, match=r"NoneType is not a (file )?path"):
        Replay.load(None)
