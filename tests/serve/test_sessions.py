"""Sessions: moments, forks, limits, and what clients may ask for."""

import gc
import random
import threading
import weakref
from dataclasses import replace

import pytest

from rlenvs.core.catalogue.make import text_env, text_parallel_env
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SessionError, UnknownNameError
from rlenvs.serve import Limits, Sessions

LEFT, RIGHT = "<choose(0)>", "<choose(1)>"


def without_key(turn):
    return replace(turn, session="")


@pytest.fixture
def sessions():
    return Sessions(["CartPole-v0"], limits=Limits(sessions=4, steps=300, characters=2000, kept=8))


def test_a_session_is_the_text_environment(sessions):
    env = text_env("CartPole-v0")
    turn, (text, _) = sessions.open(seed=3), env.reset(seed=3)
    assert turn.observation == text
    session = sessions.get(turn.session)
    for step in range(1, 400):
        reply = RIGHT if step % 3 else "no order"
        turn = session.act(reply)
        text, reward, terminated, truncated, info = env.step(reply)
        assert (turn.observation, turn.reward, turn.terminated, turn.truncated) == (text, reward, terminated, truncated)
        assert (turn.steps, turn.illegal_actions, turn.illegal_reason) == (
            step,
            info["illegal_actions"],
            info["illegal_reason"],
        )
        if terminated:
            break
    assert terminated
    before = session.observe()
    with pytest.raises(EpisodeOverError):
        session.act(LEFT)
    assert session.observe() == before == turn


def test_a_fork_goes_on_as_its_origin_would(sessions):
    session = sessions.get(sessions.open(seed=1).session)
    for _ in range(4):
        session.act(LEFT)
    other = sessions.get(sessions.fork(session.key).session)
    assert other.key != session.key
    assert without_key(other.observe()) == without_key(session.observe())
    told = [without_key(other.act(RIGHT)) for _ in range(5)]
    assert [without_key(session.act(RIGHT)) for _ in range(5)] == told  # it was not moved by the fork
    after = [without_key(session.reset()), without_key(other.reset())]
    assert after[0] == after[1]  # what is drawn later, too
    assert without_key(session.act(LEFT)) == without_key(other.act(LEFT))


def test_rewind_and_restore_give_the_same_future(sessions):
    session = sessions.get(sessions.open(seed=2).session)
    start = session.observe()
    name = session.save()
    told = [session.act(reply) for reply in (LEFT, RIGHT, RIGHT, LEFT)]
    assert session.rewind(2) == told[1]
    assert [session.act(reply) for reply in (RIGHT, LEFT)] == told[2:]
    assert session.restore(name) == start
    assert session.act(LEFT) == told[0]
    with pytest.raises(UnknownNameError, match="moment-0"):
        session.restore("moment-9")
    for steps in (0, -1, 2, True, 1.0, "1", None):
        with pytest.raises(ParameterError, match="from 1 to 1"):
            session.rewind(steps)
    assert session.rewind() == start


def test_what_is_kept_is_limited(sessions):
    session = sessions.get(sessions.open(seed=2).session)
    for _ in range(8):
        session.save()
    with pytest.raises(SessionError, match="8 moments already"):
        session.save()
    told = [session.act((LEFT, RIGHT)[step % 2]) for step in range(12)]
    with pytest.raises(ParameterError, match="from 1 to 8"):
        session.rewind(9)
    assert session.rewind(8) == told[3]


def test_steps_are_limited_and_forks_share_the_limit():
    sessions = Sessions(["CartPole-v0"], limits=Limits(steps=3))
    session = sessions.get(sessions.open(seed=0).session)
    turn = [session.act(LEFT) for _ in range(3)][-1]
    for there in (session, sessions.get(sessions.fork(session.key).session)):
        with pytest.raises(SessionError, match="used its 3 steps"):
            there.act(LEFT)
        assert without_key(there.observe()) == without_key(turn)
    session.reset(1)
    with pytest.raises(SessionError, match="used its 3 steps"):
        session.act(LEFT)


def test_places_are_limited_and_free_ones_are_reused(sessions):
    keys = [sessions.open(seed=seed).session for seed in range(4)]
    assert len(set(keys)) == 4
    for crowded in (sessions.open, lambda: sessions.fork(keys[0])):
        with pytest.raises(SessionError, match="4 sessions are open"):
            crowded()
    assert len(sessions) == 4
    sessions.get(keys[2]).attached = False  # its client has gone
    sessions.open()
    with pytest.raises(SessionError, match="no session of this key"):
        sessions.get(keys[2])
    sessions.close(keys[0])
    sessions.close(keys[0])
    sessions.open()
    assert len(sessions) == 4


def test_idle_sessions_are_closed():
    sessions = Sessions(["CartPole-v0"], limits=Limits(idle=50.0))
    key = sessions.open(seed=0).session
    sessions.get(key).used -= 49.0
    sessions.get(key)
    sessions.get(key).used -= 51.0
    with pytest.raises(SessionError, match="closed after 50 s"):
        sessions.get(key)
    assert len(sessions) == 0


def test_nothing_of_a_session_that_has_gone_is_kept(sessions):
    gone = []
    for seed in range(12):
        session = sessions.get(sessions.open(seed=seed).session)
        session.act(LEFT)
        session.save()
        session.attached = False
        gone += [weakref.ref(session), weakref.ref(session.env)]
        if seed % 3 == 0:
            sessions.close(session.key)
    del session
    gc.collect()
    assert sum(each() is not None for each in gone) == 2 * len(sessions)


@pytest.mark.parametrize("key", ["", "x", None, 3, [], "../etc"])
def test_foreign_keys_open_nothing(sessions, key):
    sessions.open(seed=0)
    for call in (sessions.get, sessions.fork):
        with pytest.raises(SessionError, match="no session of this key"):
            call(key)


@pytest.mark.parametrize("reply", [None, 3, b"<choose(0)>", ["<choose(0)>"], "x" * 2001])
def test_replies_that_are_no_text_move_nothing(sessions, reply):
    session = sessions.get(sessions.open(seed=0).session)
    before = session.observe()
    with pytest.raises(ParameterError, match="at most 2000 characters"):
        session.act(reply)
    assert session.observe() == before
    twin = sessions.get(sessions.open(seed=0).session)
    assert without_key(session.act(LEFT)) == without_key(twin.act(LEFT))


@pytest.mark.parametrize(
    ("settings", "error", "says"),
    [
        ({"backend": "python"}, UnknownNameError, "no setting 'backend' for clients"),
        ({"render_mode": "human"}, UnknownNameError, "no setting 'render_mode'"),
        ({"horizon": 10**9}, UnknownNameError, "no setting 'horizon'"),
        ({"gravity": 1e9}, ParameterError, "outside its range"),
        ({"gravity": float("nan")}, ParameterError, "must be a number"),
        ({"gravity": [9.8]}, ParameterError, "must be a number"),
        ({"kinematics_integrator": "runge"}, ParameterError, "is not one of"),
        ([("gravity", 9.8)], ParameterError, "an object with names and values"),
    ],
)
def test_settings_of_clients_are_declared_values(sessions, settings, error, says):
    with pytest.raises(error, match=says):
        sessions.open(seed=0, settings=settings)
    assert len(sessions) == 0


def test_clients_send_no_texts_that_a_world_would_read():
    """A map, or a file of a network, is an option of any JSON: the server's owner alone sets it."""
    with pytest.raises(UnknownNameError, match="no setting 'layout'"):
        Sessions(["Overcooked-v0"]).open(settings={"layout": "WWW"})


def test_settings_and_levels_reach_the_world():
    sessions = Sessions(["CartPole-v0"])
    light, heavy = (
        sessions.get(sessions.open(seed=0, settings={"gravity": gravity}).session) for gravity in (1.0, 25.0)
    )
    assert light.observe().observation == heavy.observe().observation
    assert [light.act(LEFT).observation for _ in range(3)] != [heavy.act(LEFT).observation for _ in range(3)]
    with pytest.raises(UnknownNameError):
        sessions.open(level="no such level")


def test_which_ids_are_served():
    sessions = Sessions(["CartPole-v0", "rlenvs/Acrobot-v0"])
    with pytest.raises(ParameterError, match="say which environment"):
        sessions.open()
    with pytest.raises(UnknownNameError, match="not served here"):
        sessions.open("Pendulum-v0")
    with pytest.raises(UnknownNameError):
        Sessions(["CartPol-v0"])
    for id in ("mo-DeepSeaTreasure-v0", "rlenvs/mo-DeepSeaTreasure-v0"):
        with pytest.raises(ParameterError, match="serve rlenvs/DeepSeaTreasure-v0"):
            Sessions([id])


@pytest.mark.parametrize("name", ["sessions", "steps", "characters", "idle", "kept"])
@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_limits_are_above_zero(name, value):
    with pytest.raises(ParameterError, match=f"{name}=.* must be above 0"):
        Limits(**{name: value})


def test_calls_of_many_threads_do_not_mix(sessions):
    keys = [sessions.open(seed=seed).session for seed in range(3)]
    told = {key: [] for key in keys}

    def play(key):
        for step in range(60):
            turn = sessions.get(key).act((LEFT, RIGHT)[step % 2])
            told[key].append(without_key(turn))
            if turn.terminated:
                sessions.get(key).reset(step)

    threads = [threading.Thread(target=play, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = dict(told)
    for seed, key in enumerate(keys):
        told[key] = []
        sessions.get(key).reset(seed)
        play(key)
    assert all(told[key] == alone[key] for key in keys)


# --- teams ------------------------------------------------------------------------------------------------------------

STAY = "<stay()>"
TEAM = ["agent_0", "agent_1", "agent_2"]


@pytest.fixture
def teams():
    keywords = {"agents": 3, "backend": "python", "text_history": 1}
    return Sessions(["PathFinding-v0"], limits=Limits(steps=20, kept=8), team=True, **keywords)


def test_a_step_is_taken_when_all_agents_have_replied(teams):
    env = text_parallel_env("PathFinding-v0", agents=3, backend="python", text_history=1)
    told, _ = env.reset(seed=4)
    session = teams.get(teams.open(seed=4).session)
    assert session.observe().agents == TEAM
    assert {agent: session.observe(agent).observation for agent in TEAM} == told
    for order in (TEAM, TEAM[::-1], [TEAM[1], TEAM[0], TEAM[2]]):
        replies = {agent: "nonsense" if agent == "agent_1" else STAY for agent in order}
        for place, (agent, reply) in enumerate(replies.items()):
            before = session.observe(agent)
            turn = session.act(reply, agent)
            if place < 2:
                missing = [each for each in TEAM if each not in order[: place + 1]]
                assert turn == replace(before, waiting_for=missing)
        told, rewards, ends, cuts, infos = env.step(replies)
        for agent in TEAM:
            turn = session.observe(agent)
            assert turn.agent == agent
            assert turn.waiting_for == []
            assert (turn.observation, turn.reward) == (told[agent], rewards[agent])
            assert (turn.terminated, turn.truncated) == (ends[agent], cuts[agent])
            assert turn.illegal_actions == infos[agent]["illegal_actions"] == turn.steps * (agent == "agent_1")


def test_moments_of_a_team_hold_the_replies_that_have_come(teams):
    session = teams.get(teams.open(seed=1).session)
    session.act(STAY, "agent_2")
    name = session.save()
    other = teams.get(teams.fork(session.key).session)
    for there in (session, other):
        with pytest.raises(SessionError, match="agent_2 has replied already; the step waits for agent_0, agent_1"):
            there.act(STAY, "agent_2")
        there.act(STAY, "agent_0")
        there.act("<move(up)>", "agent_1")
    after = [without_key(session.observe(agent)) for agent in TEAM]
    assert [without_key(other.observe(agent)) for agent in TEAM] == after
    session.act(STAY, "agent_0")
    assert session.rewind().waiting_for == []  # before any reply
    assert session.restore(name).waiting_for == ["agent_0", "agent_1"]
    session.act(STAY, "agent_0")
    session.act("<move(up)>", "agent_1")
    assert [without_key(session.observe(agent)) for agent in TEAM] == after
    assert session.reset(1).waiting_for == []


def test_who_is_out_does_not_reply_and_is_not_waited_for():
    sessions = Sessions(["PathFinding-v0"], team=True, agents=2, horizon=40, map="....\n....", radius=2)
    session = sessions.get(sessions.open(seed=0).session)
    env, told = session.env, {}
    for _ in range(200):
        agents = list(env.agents)
        if len(agents) < 2:
            break
        moves = env.numeric.expert_actions()
        for agent in agents:
            words = ("<stay()>", "<move(up)>", "<move(down)>", "<move(left)>", "<move(right)>")
            told[agent] = session.act(words[moves[agent]], agent)
    assert len(session.observe().agents) == 1
    (left,) = session.observe().agents
    gone = next(agent for agent in env.possible_agents if agent != left)
    assert session.observe(gone).terminated
    with pytest.raises(EpisodeOverError, match=f"{gone} is out"):
        session.act(STAY, gone)
    steps = session.observe(left).steps
    assert session.act(STAY, left).steps == steps + 1


@pytest.mark.parametrize("name", ["", "agent_3", None, 3])
def test_names_of_nobody_move_nothing(teams, name):
    session = teams.get(teams.open(seed=0).session)
    with pytest.raises(UnknownNameError, match="agent"):
        session.act(STAY, name)
    assert all(session.observe(agent).waiting_for == [] for agent in TEAM)
    single = Sessions(["CartPole-v0"])
    with pytest.raises(UnknownNameError, match=r"there is no agent 'agent_0'\. Leave its name out"):
        single.get(single.open(seed=0).session).act(LEFT, "agent_0")


def test_the_steps_of_a_team_are_limited(teams):
    session = teams.get(teams.open(seed=0).session)
    for _ in range(20):
        for agent in TEAM:
            session.act(STAY, agent)
    with pytest.raises(SessionError, match="used its 20 steps"):
        session.act(STAY, "agent_0")


def test_whatever_clients_of_a_team_send_the_world_is_that_of_its_replies():
    """Refused calls change nothing; what is taken is what the text form makes of the same replies."""
    sessions = Sessions(["PathFinding-v0"], team=True, agents=3, backend="python", horizon=30)
    session, rng = sessions.get(sessions.open(seed=8).session), random.Random(0)
    env = text_parallel_env("PathFinding-v0", agents=3, backend="python", horizon=30)
    env.reset(seed=8)
    names = [*TEAM, "agent_7", "", None, 1.5]
    replies = [STAY, "<move(up)>", "<move(left)>", "", "x" * 2000, "\x00", None, 3, b"", "<say(hi)>"]
    came, refused = {}, 0
    for _ in range(600):
        before = {agent: session.observe(agent) for agent in TEAM}
        agent, reply = rng.choice(names), rng.choice(replies)
        try:
            session.act(reply, agent)
        except (ParameterError, SessionError, UnknownNameError, EpisodeOverError):
            refused += 1
            assert {agent: session.observe(agent) for agent in TEAM} == before
            continue
        came[agent] = reply
        if set(came) == set(env.agents):
            env.step(came)
            came = {}
        assert session.env.get_state() == env.get_state()
    assert refused > 200
    assert not env.agents


def test_a_team_cannot_be_refused_replies():
    with pytest.raises(ParameterError, match="fallback='error' needs one client"):
        Sessions(["PathFinding-v0"], team=True, fallback="error")
    sessions = Sessions(["CartPole-v0"], fallback="error")
    session = sessions.get(sessions.open(seed=0).session)
    before = session.observe()
    with pytest.raises(ActionError, match="not exactly one command"):
        session.act("left")
    assert session.observe() == before
    assert session.act(LEFT).steps == 1
