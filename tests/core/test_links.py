"""Links: the exact state of an environment as a text, and what becomes of texts from strangers."""

import base64
import json
import random
import zlib

import numpy as np
import pytest

import rlenvs
from rlenvs.core.batch import links
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import ParameterError, RlenvsError, SnapshotError

IDS = ["CartPole-v0", "QuadHover-v0", "LunarLander-v0", "MiniGridDoorKey5x5-v0"]
MUTATIONS = 1500


def played(id, steps=3, **keywords):
    """An environment in the midst of an episode."""
    env = rlenvs.make(id, **keywords)
    env.reset(seed=3)
    for _ in range(steps):
        env.step(env.unwrapped.expert_action())
    return env


def same(one, other):
    """Whether two environments are in the same state, and go the same way."""
    one, other = one.unwrapped, other.unwrapped
    if one.get_state() != other.get_state():
        return False
    for _ in range(5):
        action = one.expert_action()
        first, second = one.step(action), other.step(action)
        if not np.array_equal(first[0], second[0]) or first[1:4] != second[1:4]:
            return False
    return True


@pytest.mark.parametrize("id", IDS)
def test_a_link_leads_back_to_the_same_state(id):
    env = played(id)
    found = rlenvs.from_link(env.unwrapped.link("https://example.org/page.html"))
    assert found.unwrapped.link() == env.unwrapped.link()
    assert same(env, found)


def test_level_parameters_time_limit_and_weights_come_along():
    env = played("QuadHover-v0", level="hard", horizon=77, weights={"effort": 0.5})
    env.reset(options={"params": {"mass": 0.031}})
    found = rlenvs.from_link(env.unwrapped.link())
    batch = found.unwrapped.batch
    assert batch.setup.level == "hard"
    assert batch.get_params()["mass"] == 0.031
    assert batch.records(0)[0]["horizon"] == 77
    assert same(env, found)


def test_several_agents_and_those_of_a_parallel_environment():
    env = rlenvs.parallel_env("Battle-v0")
    env.reset(seed=1)
    env.step(dict.fromkeys(env.agents, 0))
    found = rlenvs.from_link(env.link(), rlenvs.parallel_env)
    assert found.get_state() == env.get_state()
    assert rlenvs.from_link(env.link()).unwrapped.get_state() == env.get_state()


def test_the_seed_of_the_last_reset_is_told():
    env = played("CartPole-v0")
    assert rlenvs.from_link(env.unwrapped.link()).unwrapped.np_random_seed == 3
    assert links.read_link(rlenvs.parallel_env("Battle-v0").link()).seed is None


def test_looks_are_no_part_of_a_link():
    """The option `scaled`, encodings, flat actions change what is seen, not the state."""
    env = played("LunarLander-v0", scaled=True)
    assert rlenvs.from_link(env.unwrapped.link()).unwrapped.get_state().state == env.unwrapped.get_state().state


@pytest.mark.parametrize("option", [{"velocity": "hidden"}, {"sutton_barto_reward": True}])
def test_options_have_no_links(option):
    with pytest.raises(ParameterError, match=f"but no options, and the environment was made with {next(iter(option))}"):
        played("CartPole-v0", **option).unwrapped.link()


def packed(content):
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(packer.compress(content) + packer.flush()).decode().rstrip("=")


def unpacked(text):
    text = text.rpartition(links.MARK)[2]
    return zlib.decompress(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)), -zlib.MAX_WBITS)


def resigned(text, change):
    """The link with another content, and the checksum that belongs to it."""
    head, _, body = unpacked(text).partition(b"\n")
    header, body = json.loads(head), bytearray(body)
    change(header, body)
    size = len(body) - len(rlenvs.from_link(text).unwrapped.get_state().state)
    params = links._changed(
        bytes(body[:size]), links.usual_setup(rlenvs.core.catalogue.registry.world_of(header["id"]), None)
    )
    header["checksum"] = Snapshot.of(header["world"], bytes(body[size:]), params).checksum
    return packed(json.dumps(header).encode() + b"\n" + body)


@pytest.mark.parametrize(
    "text",
    [
        *("", "#live=", "#live=abc", "#live=!!!", "x" * 100, "https://example.org", None, 7, b"#live=abc"),
        packed(b"no header"),
        packed(b"{}\n"),
        packed(b"[]\n123"),
        packed(b'{"format":1}\n'),
        packed(b"\xff\xfe\n"),
        packed(b"[" * 900 + b"\n"),
        packed(b" " * 2000 + b"{}\n"),
        packed(json.dumps(dict.fromkeys(links.HEADER, 1)).encode() + b"\n"),
    ],
)
def test_what_is_no_link_is_refused(text):
    with pytest.raises(SnapshotError):
        rlenvs.from_link(text)


@pytest.mark.parametrize(
    "change",
    [
        {"id": "../../etc/passwd"},
        {"id": "NoSuchWorld-v0"},
        {"id": "QuadHover-v0"},
        {"level": "no such level"},
        {"format": 2},
        {"seed": -1},
        {"seed": 1 << 60},
        {"seed": True},
        {"world": "CartPole-v0/000000000000"},
        {"more": 1},
    ],
)
def test_a_header_that_says_something_else_is_refused(change):
    text = played("CartPole-v0").unwrapped.link()
    head, _, body = unpacked(text).partition(b"\n")
    with pytest.raises(SnapshotError):
        rlenvs.from_link(packed(json.dumps({**json.loads(head), **change}).encode() + b"\n" + body))


def test_what_follows_the_end_is_refused():
    text = played("CartPole-v0").unwrapped.link().removeprefix(links.MARK)
    whole = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    with pytest.raises(SnapshotError, match="behind its end"):
        rlenvs.from_link(base64.urlsafe_b64encode(whole + b"x").decode().rstrip("="))


def test_a_bomb_is_not_unpacked():
    with pytest.raises(SnapshotError, match="too large"):
        rlenvs.from_link(packed(bytes(links.LARGEST_CONTENT + 1)))
    with pytest.raises(SnapshotError, match="at most"):
        rlenvs.from_link("A" * (links.LARGEST_TEXT + 1))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("length", -1.0),
        ("length", float("nan")),
        ("horizon", 0),
        ("weights", float("inf")),
        *(("kinematics_integrator", 7), ("seen", [1.0, 1.0])),
    ],
)
def test_impossible_parameters_are_refused(field, value):
    env = played("CartPole-v0").unwrapped
    dtype = env.batch.param_rows.dtype
    usual = links.usual_setup(env.batch.world, None)

    def change(header, body):
        row = np.frombuffer(bytearray(links._changed(bytes(body[: dtype.itemsize]), usual)), dtype)
        row[field] = value
        body[: dtype.itemsize] = links._changed(row.tobytes(), usual)

    with pytest.raises(SnapshotError):
        rlenvs.from_link(resigned(env.link(), change))


@pytest.mark.parametrize("id", ["CartPole-v0", "MiniGridDoorKey5x5-v0", "ConnectFour-v0"])
def test_mutated_links_are_refused_or_lead_to_a_state(id):
    """Letters, bytes, and bytes under a checksum that was made to fit: nothing but refusals, or states that go on."""
    rng, env = random.Random(0), rlenvs.make(id)
    env.reset(seed=0)
    text = env.unwrapped.link().removeprefix(links.MARK)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    accepted = 0
    for n in range(MUTATIONS):
        mutated = list(text)
        for _ in range(rng.choice((1, 2, 8))):
            mutated[rng.randrange(len(mutated))] = rng.choice(letters)
        forged = "".join(mutated[: rng.randrange(len(mutated))] if n % 5 == 0 else mutated)
        if n % 3 == 0:
            content = bytearray(unpacked(text))
            for _ in range(rng.choice((1, 2, 8))):
                content[rng.randrange(len(content))] = rng.randrange(256)
            forged = packed(bytes(content))
        try:
            rlenvs.from_link(forged)
            accepted += forged != text
        except SnapshotError:
            pass
    assert accepted < MUTATIONS / 100  # such as a letter at the end that holds no bits


@pytest.mark.parametrize("id", ["CartPole-v0", "MiniGridDoorKey5x5-v0", "Battle-v0"])
def test_forged_states_are_refused_or_go_on(id):
    """Bytes of the state under a checksum that was made to fit, as a forger would do it."""
    rng, env = random.Random(0), rlenvs.make(id, backend="python")
    env.reset(seed=0)
    batch, refused = env.unwrapped.batch, 0
    snapshot = batch.get_state()
    for _ in range(200):
        state = bytearray(snapshot.state)
        for _ in range(rng.choice((1, 2, 8))):
            state[rng.randrange(len(state))] = rng.randrange(256)
        forged = Snapshot.of(snapshot.world, bytes(state), snapshot.params)
        try:
            batch.set_state(forged)
        except SnapshotError:
            refused += 1
            continue
        if not batch.over[0]:
            try:
                env.step(env.unwrapped.expert_action())
            except RlenvsError as error:
                raise AssertionError(f"{id}: an accepted state does not go on: {error}") from error
    assert refused
