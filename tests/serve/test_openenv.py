"""OpenEnv's protocol, with the client of its own library."""

import json
import random
import threading
import time

import pytest

pytest.importorskip("openenv")
import uvicorn
import websockets.sync.client
from openenv.core.generic_client import GenericEnvClient

from rlenvs.core.declare.errors import ParameterError, RlenvsError
from rlenvs.serve import Limits, Sessions
from rlenvs.serve.guard import Guard
from rlenvs.serve.openenv_server import Reply, Served, openenv_app

LEFT, RIGHT = {"text": "<choose(0)>"}, {"text": "<choose(1)>"}
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def sessions():
    return Sessions(["CartPole-v0"], limits=Limits(sessions=4, characters=4000))


@pytest.fixture(scope="module")
def port(sessions):
    guard = Guard(openenv_app(sessions), TOKEN, 4000)
    server = uvicorn.Server(uvicorn.Config(guard, port=0, log_level="critical", ws_max_size=4000))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    thread.join()


@pytest.fixture
def connect(port, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    clients = []

    def new(token=TOKEN):
        client = GenericEnvClient(base_url=f"http://agent:{token}@127.0.0.1:{port}").sync()
        client.connect()
        clients.append(client)
        return client

    yield new
    for client in clients:
        client.close()


def without_key(result):
    return {**result.observation, "session": ""}, result.reward, result.done


def test_an_episode(sessions, connect):
    client = connect()
    result = client.reset(seed=7)
    twin = sessions.get(sessions.open(seed=7).session)
    assert result.observation["text"] == twin.observe().observation
    for step in range(500):
        reply = (LEFT, RIGHT)[step % 2]
        result, turn = client.step(reply), twin.act(reply["text"])
        assert (result.observation["text"], result.reward, result.done) == (
            turn.observation,
            turn.reward,
            turn.terminated,
        )
        if result.done:
            break
    assert result.done
    assert client.state() == {"episode_id": result.observation["session"], "step_count": step + 1}
    with pytest.raises(RuntimeError, match="over"):
        client.step(LEFT)
    sessions.close(twin.key)


def test_each_connection_plays_an_agent_of_a_team():
    sessions = Sessions(["PathFinding-v0"], team=True, agents=2, backend="python")
    first, second = Served(sessions), Served(sessions)
    told = first.reset(seed=2, agent="agent_0")
    assert told.agents == ["agent_0", "agent_1"]
    assert second.reset(session=told.session, agent="agent_1").agent == "agent_1"
    stay = Reply(text="<stay()>")
    assert first.step(stay).waiting_for == ["agent_1"]
    done = second.step(stay)
    assert (done.agent, done.steps, done.waiting_for) == ("agent_1", 1, [])
    assert first.step(Reply(text="<stay()>", agent="agent_1")).waiting_for == ["agent_0"]  # by its name
    before = [first.reset(session=told.session, agent=name) for name in ("agent_1", "agent_0")]
    for wrong in (
        {},
        {"seed": 3},
        {"session": told.session},
        {"rewind": 1},
        {"fork": told.session},
        {"level": "random-8"},
    ):
        with pytest.raises(RlenvsError, match=r"there is no agent 'agent_9'|level"):
            first.reset(agent="agent_9", **wrong)
    assert [first.reset(session=told.session, agent=name) for name in ("agent_1", "agent_0")] == before
    assert len(sessions) == 1
    second.close()
    assert sessions.get(told.session).attached  # the other connection holds it
    first.close()
    assert not sessions.get(told.session).attached


def test_fork_rewind_save_and_resume(connect):
    client, other = connect(), connect()
    key = client.reset(seed=1).observation["session"]
    saved = client.reset(save=True).observation["saved"]
    first = client.step(RIGHT)
    assert without_key(other.reset(fork=key)) == without_key(first)
    second = client.step(LEFT)
    assert without_key(other.step(LEFT)) == without_key(second)
    assert without_key(client.reset(rewind=1)) == without_key(first)
    client.close()
    again = connect()
    assert again.reset(session=key).observation == first.observation
    assert again.reset(moment=saved).observation["steps"] == 0
    assert without_key(again.step(RIGHT)) == without_key(first)


def test_a_misspelt_argument_begins_no_other_episode(connect):
    client = connect()
    client.reset(seed=1)
    told = client.step(RIGHT)
    for wrong, says in (({"rewnd": 1}, "no argument 'rewnd'. Did you mean 'rewind'"), ({"save": "no"}, "save='no'")):
        with pytest.raises(RuntimeError, match=says):
            client.reset(**wrong)
    assert client.reset(session=told.observation["session"]).observation == told.observation


def test_strangers_are_refused(connect):
    for token in ("", "0123456789abcdeg"):
        with pytest.raises(ConnectionError):
            connect(token)


def test_long_messages_end_the_connection_and_leave_the_session(connect):
    client = connect()
    key = client.reset(seed=1).observation["session"]
    told = client.step(LEFT)
    with pytest.raises(Exception, match="too big"):
        client.step({"text": "x" * 5000})
    assert connect().reset(session=key).observation == told.observation


@pytest.mark.budget(6)
def test_strange_messages_move_nothing(connect, port):
    client = connect()
    told = client.reset(seed=3)
    rng = random.Random(1)
    values = [None, 1, -5, 2.5, True, "", "reset", "step", "x" * 100, [], {}, [1], {"text": 3}, {"text": "hi"}]
    kinds = ["reset", "step", "state", "mcp", "nothing", None, 3]
    for _ in range(30):
        head = {"Authorization": f"Bearer {TOKEN}"}
        with websockets.sync.client.connect(f"ws://127.0.0.1:{port}/ws", additional_headers=head, proxy=None) as other:
            for _ in range(5):
                message = {"type": rng.choice(kinds), "data": {"text": rng.choice(values)}, "x": rng.choice(values)}
                if rng.random() < 0.7:
                    message = {"type": rng.choice(kinds), "data": {"session": rng.choice(values), "fork": "x"}}
                text = json.dumps(message) if rng.random() < 0.8 else rng.choice(["", "{", "[]", "null", "\x00", "3"])
                try:
                    other.send(text)
                    assert "Traceback" not in other.recv(timeout=5)
                except websockets.exceptions.ConnectionClosed:
                    break
    assert client.reset(session=told.observation["session"]).observation == told.observation


def test_one_environment_is_served():
    for ids in ([], ["CartPole-v0", "Acrobot-v0"]):
        with pytest.raises(ParameterError, match="serves one environment"):
            openenv_app(Sessions(ids))
