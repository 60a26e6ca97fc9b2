"""Engines that speak the binary protocol as environments, with an engine that is none of ours."""

import json
import socket
import struct
import threading

import numpy as np
import pytest
from gymnasium import spaces
from support import dummy_engine

from rlenvs.bridge import RemoteVectorEnv, layout
from rlenvs.bridge.spaces import described, space_of
from rlenvs.core.declare.errors import ActionError, BridgeError, EpisodeOverError, LostConnectionError, ParameterError


@pytest.fixture
def engine():
    """The port of an engine with four agents."""
    server = socket.create_server(("127.0.0.1", 0))
    threading.Thread(target=dummy_engine.serve, args=(server, 4), daemon=True).start()
    yield server.getsockname()[1]
    server.close()


def acts(count, jump=1, move=0.5):
    return {"jump": np.full(count, jump), "move": np.full((count, 2), move, np.float32)}


def test_the_layout_that_is_documented():
    assert layout.HEADER.size == 16
    assert (layout.MAGIC, layout.VERSION) == (b"RLB2", 2)
    assert [(kind.name, int(kind)) for kind in layout.Kind] == [
        ("HELLO", 1), ("WELCOME", 2), ("REQUEST", 3), ("ANSWER", 4), ("ERROR", 5), ("CLOSE", 6),
    ]  # fmt: skip
    assert [(do.name, int(do)) for do in layout.Do] == [("WAIT", 0), ("STEP", 1), ("BEGIN", 2)]
    fields = layout.places({"do": (np.uint8, [5]), "seeds": (np.int64, [5]), "flags": (np.bool_, [3, 2])})
    assert [(f.type, f.offset, f.end) for f in fields] == [("|u1", 16, 21), ("<i8", 24, 64), ("|u1", 64, 70)]
    message = layout.Message(layout.Kind.REQUEST, fields)
    message.arrays["seeds"][1] = 258
    assert struct.unpack("<4sIII", message.stamp(7)[:16]) == (b"RLB2", 54, 7, 3)
    assert message.data[32:40] == b"\x02\x01" + bytes(6)


def test_seeds_truncations_and_last_observations(engine):
    env = RemoteVectorEnv(engine)
    assert (env.num_envs, env.single_observation_space) == (4, spaces.Box(-100, 100, (8,), np.float32))
    with pytest.raises(EpisodeOverError):
        env.step(acts(4))
    seen, _ = env.reset(seed=100)
    assert np.allclose(seen[:, 0], [0.1, 0.101, 0.102, 0.103])
    for step in range(1, 31):
        seen, rewards, ends, cuts, infos = env.step(acts(4))
        assert np.array_equal(ends, [False, step == 20, False, step == 20])
        assert np.array_equal(cuts, [step == 30, False, step == 30, False])
        assert infos["count"][0] == step
        if step == 21:  # the others have begun anew, and ignored their actions
            assert np.allclose(seen[[1, 3], :2], [[0.102, 0], [0.104, 0]])
            assert rewards[1] == 0
    assert np.allclose(seen[0, :2], [0.1 + 0.15, 0.3])  # the true last observation
    env.close()


def test_the_next_episode_may_begin_in_the_same_step(engine):
    env = RemoteVectorEnv(engine, autoreset_mode="SAME_STEP")
    env.reset(seed=100)
    for _ in range(20):
        seen, rewards, ends, _, infos = env.step(acts(4))
    assert ends.tolist() == [False, True, False, True]
    assert np.allclose(seen[:, 1], [0.2, 0, 0.2, 0])
    assert np.allclose(infos["final_obs"][1][:2], [0.201, 0.2])
    assert infos["final_info"]["count"][1] == 20
    assert infos["count"].tolist() == [20, 0, 20, 0]
    assert np.allclose(rewards, 1 + 0.1 + np.array([0.1, 0.101, 0.102, 0.103]))
    env.close()


def test_some_worlds_may_begin_anew_alone(engine):
    env = RemoteVectorEnv(engine, autoreset_mode="DISABLED")
    env.reset(seed=100)
    for _ in range(20):
        env.step(acts(4))
    with pytest.raises(EpisodeOverError):
        env.step(acts(4))
    mask = np.array([False, True, False, True])
    seen, _ = env.reset(seed=[None, 5, None, 7], options={"reset_mask": mask})
    assert np.allclose(seen[:, 0], [0.2, 0.005, 0.202, 0.007])
    seen, *_ = env.step(acts(4, move=0.0))
    assert np.allclose(seen[:, 1], [0.21, 0.01, 0.21, 0.01])
    for wrong in ({"reset_mask": mask[:3]}, {"reset_mask": [True] * 4}, {"other": 1}):
        with pytest.raises(ParameterError):
            env.reset(options=wrong)
    env.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"jump": [3, 0, 0, 0], "move": np.zeros((4, 2))},
        {"jump": [0] * 4, "move": np.full((4, 2), np.inf)},
        {"jump": [0] * 3, "move": np.zeros((4, 2))},
        {"jump": [True] * 4, "move": np.zeros((4, 2))},
        {"jump": ["0"] * 4, "move": np.zeros((4, 2))},
        {"jump": [0] * 4},
        None,
    ],
)
def test_a_wrong_action_moves_no_world(engine, wrong):
    env = RemoteVectorEnv(engine)
    env.reset(seed=100)
    with pytest.raises(ActionError):
        env.step(wrong)
    seen, *_ = env.step(acts(4, move=0.0))
    assert np.allclose(seen[:, :2], [[0.1, 0.01], [0.101, 0.01], [0.102, 0.01], [0.103, 0.01]])
    env.close()


def test_numbers_are_clipped_to_their_bounds(engine):
    env = RemoteVectorEnv(engine)
    env.reset(seed=0)
    seen, *_ = env.step(acts(4, move=7.0))
    assert np.allclose(seen[:, 0], 0.01 + np.arange(4) / 1000)
    env.close()


def test_addresses():
    for wrong in ("", "host", "host:0", "host:65536", "host:x", 0, -1, None, 3.5, "host:²"):
        with pytest.raises(ParameterError, match="must be 'host:port'"):
            RemoteVectorEnv([wrong])
    with pytest.raises(ParameterError, match="give the address"):
        RemoteVectorEnv([])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        with pytest.raises(BridgeError, match="nobody answers"):
            RemoteVectorEnv(probe.getsockname()[1], patience=0.05)
    with pytest.raises(ParameterError, match="autoreset_mode"):
        RemoteVectorEnv(1, autoreset_mode="often")


SPACES = [
    spaces.Box(-1, 1, (3,), np.float32),
    spaces.Box(np.array([-np.inf, 0]), np.array([1, np.inf]), dtype=np.float64),
    spaces.Box(0, 255, (4, 4, 3), np.uint8),
    spaces.Box(0, 2**31 - 1, (2,), np.int32),
    spaces.Discrete(7),
    spaces.MultiDiscrete([2, 3]),
    spaces.MultiBinary(4),
    spaces.Dict([("z", spaces.Discrete(2)), ("a", spaces.Box(-1, 1, (1,), np.float32))]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_comes_back_as_it_was(space):
    told = json.loads(json.dumps(described(space), allow_nan=False))
    again = space_of(told)
    assert again == space
    if isinstance(space, spaces.Dict):
        assert list(again.spaces) == list(space.spaces)


def test_spaces_without_a_form_are_refused():
    for space in (spaces.Text(3), spaces.Discrete(3, start=1), spaces.Tuple([spaces.Discrete(2)])):
        with pytest.raises(ParameterError):
            described(space)


BOX = {"space": "box", "type": "<f4", "shape": [2], "low": 0, "high": 1}


@pytest.mark.parametrize(
    "told",
    [
        None,
        3,
        {},
        {"space": "text"},
        {"space": ["box"]},
        {**BOX, "type": "object"},
        {**BOX, "type": "<c8"},
        {**BOX, "type": 3},
        {**BOX, "shape": [1 << 20, 1 << 20]},
        {**BOX, "shape": [-1]},
        {**BOX, "shape": 3},
        {**BOX, "low": [0, 1, 2]},
        {**BOX, "low": "x"},
        {**BOX, "low": {}},
        {"space": "discrete", "n": 0},
        {"space": "discrete", "n": 2.5},
        {"space": "discrete", "n": 10**30},
        {"space": "multi_discrete", "n": []},
        {"space": "multi_discrete", "n": [[2]]},
        {"space": "multi_binary", "n": -1},
        {"space": "dict", "parts": {}},
        {"space": "dict", "parts": {"a": {"space": "dict", "parts": {"b": BOX}}}},
    ],
    ids=str,
)
def test_what_is_no_space_is_refused(told):
    with pytest.raises(BridgeError):
        space_of(told)


def field(**changes):
    return {"name": "a", "type": "<f4", "shape": [2], "offset": 16, **changes}


@pytest.mark.parametrize(
    "told",
    [
        3,
        [3],
        [{}],
        [field(type="O")],
        [field(type="<c8")],
        [field(type=4)],
        [field(shape=[-1])],
        [field(shape=[1 << 40])],
        [field(shape=[1 << 14, 1 << 14, 1 << 14])],
        [field(shape=[1] * 9)],
        [field(shape=[2.0])],
        [field(shape=[True])],
        [field(shape=7)],
        [field(offset=0)],
        [field(offset=20)],
        [field(offset=-16)],
        [field(offset=1 << 40)],
        [field(offset="16")],
        [field(), field(offset=24)],
    ],
    ids=str,
)
def test_what_is_no_field_is_refused(told):
    with pytest.raises(BridgeError):
        layout.fields_of(told)


def one_answer(*answers):
    """The port of an engine that says these bytes, one after each message, and hangs up."""
    server = socket.create_server(("127.0.0.1", 0))

    def talk():
        connection, _ = server.accept()
        with connection, server:
            for answer in answers:
                connection.recv(1 << 16)
                connection.sendall(answer)

    threading.Thread(target=talk, daemon=True).start()
    return server.getsockname()[1]


def welcome(**changes):
    return dummy_engine.json_message(2, {**dummy_engine.Session("key", 4).welcome(), **changes})


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        b"",
        b"RLB2",
        layout.HEADER.pack(b"RLB2", 1 << 31, 0, 2),
        layout.HEADER.pack(b"RLB2", 3, 0, 2) + b"\xff\xfe{",
        layout.HEADER.pack(b"RLB2", 100_000, 0, 2) + b"[" * 100_000,
        dummy_engine.json_message(2, {}),
        dummy_engine.json_message(2, []),
        dummy_engine.json_message(3, dummy_engine.Session("key", 4).welcome()),
        dummy_engine.json_message(5, {"message": "you may not", "fatal": True}),
        welcome(version=3),
        welcome(worlds=0),
        welcome(worlds="4"),
        welcome(worlds=5),
        welcome(worlds=1 << 30),
        welcome(agents=[]),
        welcome(agents=["a", "a"]),
        welcome(agents=3),
        welcome(request=[]),
        welcome(answer=dummy_engine.Session("key", 4).answer[1:]),
        welcome(answer=[*dummy_engine.Session("key", 4).answer, field()]),
        welcome(answer=dummy_engine.Session("key", 3).answer),
        welcome(observation_space={"space": "discrete", "n": 3}),
        welcome(action_space=None),
    ],
    ids=lambda answer: repr(answer[:40]),
)
def test_a_welcome_that_is_none_is_refused(answer):
    with pytest.raises(BridgeError):
        RemoteVectorEnv(one_answer(answer), patience=0.1, timeout=2)


def test_an_answer_that_is_none_is_an_error():
    session = dummy_engine.Session("key", 4)
    for answer, said in [
        (layout.HEADER.pack(b"RLB2", 5, 1, 4) + bytes(5), "needed: 4, "),
        (layout.HEADER.pack(b"RLB2", len(session.bytes) - 16, 9, 4), "number 9"),
        (layout.HEADER.pack(b"RLB3", 5, 1, 4), "another protocol or version"),
        (dummy_engine.json_message(5, {"message": "no such world", "fatal": False}), "no such world"),
    ]:
        env = RemoteVectorEnv(one_answer(welcome(), answer), patience=0.1, timeout=2)
        with pytest.raises(BridgeError, match=said):
            env.reset()
        env.close()


def test_an_engine_that_is_gone_is_looked_for_and_then_missed():
    env = RemoteVectorEnv(one_answer(welcome()), patience=0.2, timeout=2)
    with pytest.raises(BridgeError, match=r"nobody answers|was lost"):
        env.reset()
    env.close()
    env.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (welcome(number=7), "has lost the session"),
        (welcome(session="other"), "has lost the session"),
        (dummy_engine.json_message(5, {"message": "there is no such session", "fatal": True}), "no such session"),
    ],
    ids=["number", "key", "error"],
)
def test_an_engine_that_began_anew_is_not_taken_for_the_old_one(answer, said):
    env = RemoteVectorEnv(one_answer(welcome()), patience=2, timeout=2)
    port = one_answer(answer)
    env.engines[0].address = ("127.0.0.1", port)  # where the next connection finds it
    with pytest.raises(BridgeError, match=said):
        env.reset()
    env.close()


def test_another_engines_worlds_do_not_fit(engine):
    server = socket.create_server(("127.0.0.1", 0))

    def talk():
        connection, _ = server.accept()
        connection.recv(1 << 16)
        told = dummy_engine.Session("key", 4).welcome()
        told["observation_space"]["high"] = 7
        connection.sendall(dummy_engine.json_message(2, told))

    threading.Thread(target=talk, daemon=True).start()
    with server, pytest.raises(ParameterError, match="differ in their spaces"):
        RemoteVectorEnv([engine, server.getsockname()[1]])


def test_errors_are_connection_errors():
    assert issubclass(LostConnectionError, BridgeError)
    assert issubclass(BridgeError, ConnectionError)


def test_what_no_connection_has_is_refused(engine):
    for wrong in ({"timeout": 0}, {"timeout": "x"}, {"timeout": None}, {"timeout": float("nan")}, {"patience": -1}):
        with pytest.raises(ParameterError, match="must be seconds"):
            RemoteVectorEnv(engine, **wrong)
    with pytest.raises(ParameterError, match="must be a text"):
        RemoteVectorEnv(engine, token=b"secret")


def test_seeds_that_no_engine_takes(engine):
    env = RemoteVectorEnv(engine)
    env.reset(seed=7)
    for wrong in (-1, 2**63, 1.5, [1, 2], "7", [2**64] * 4):
        with pytest.raises(ParameterError):
            env.reset(seed=wrong)
    seen, *_ = env.step(acts(4, move=0.0))
    assert np.allclose(seen[:, :2], [[0.007, 0.01], [0.008, 0.01], [0.009, 0.01], [0.01, 0.01]])
    env.close()
    with pytest.raises(EpisodeOverError, match="closed"):
        env.step(acts(4))
