"""Verifiers' tasks, played by a stand-in for a model."""

import asyncio
import random
from types import SimpleNamespace

import pytest

pytest.importorskip("verifiers")
import verifiers.v1 as vf
from verifiers.v1.trace import Trace

from rlenvs.core.catalogue.make import text_env
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError
from rlenvs.core.forms.text_env import TextEnv
from rlenvs.integrations.verifiers import Episodes, EpisodesConfig, WordsEnv


class Player:
    """Replies from a list; like an agent of Verifiers, as far as an environment uses it."""

    def __init__(self, replies):
        self.replies, self.heard = list(replies), []
        self.rewards, self.metrics = {}, {}
        self.trace = SimpleNamespace(record_reward=self.rewards.__setitem__, record_metric=self.metrics.__setitem__)

    def interaction(self, task):
        self.task = task
        return self

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        return None

    async def turn(self, said=None):
        self.heard.append(self.task.data.prompt if said is None else said)
        if not self.replies:
            return SimpleNamespace(terminated=True, last_reply="")
        return SimpleNamespace(terminated=False, last_reply=self.replies.pop(0))


def play(task, replies):
    player = Player(replies)
    asyncio.run(WordsEnv.run(None, task, SimpleNamespace(player=player)))
    return player


def episodes(**keywords):
    return list(Episodes(EpisodesConfig(**{"env": "CartPole-v0", "episodes": 3, **keywords})))


def test_a_trace_takes_what_is_recorded():
    assert callable(Trace.record_reward)
    assert callable(Trace.record_metric)
    assert issubclass(WordsEnv, vf.Env)


def test_tasks_are_seeded_episodes():
    tasks = episodes(first_seed=5)
    assert [task.data.name for task in tasks] == [f"rlenvs/CartPole-v0#{seed}" for seed in (5, 6, 7)]
    env = text_env("CartPole-v0")
    assert [task.data.prompt for task in tasks] == [env.reset(seed=seed)[0] for seed in (5, 6, 7)]
    assert len({task.key for task in tasks}) == 3
    assert [task.key for task in episodes(first_seed=5)] == [task.key for task in tasks]
    endless = Episodes(EpisodesConfig(env="CartPole-v0"))
    assert not endless.bounded
    assert len(list(endless.take(2))) == 2


def test_an_episode_is_the_text_environments():
    (task, *_) = episodes()
    replies = ["<choose(1)>" if step % 3 else "push" for step in range(500)]
    player, env = play(task, replies), text_env("CartPole-v0")
    heard, total, terminated = [env.reset(seed=0)[0]], 0.0, False
    while not terminated:
        text, reward, terminated, _, info = env.step(replies[len(heard) - 1])
        total += reward
        reason = info["illegal_reason"]
        heard.append(f"Your reply was not used: {reason}\n\n{text}" if reason else text)
    assert player.heard == heard[:-1]
    assert player.rewards == {"return": total}
    assert player.metrics == {
        "steps": len(heard) - 1,
        "illegal_actions": info["illegal_actions"],
        "success": info["is_success"],
    }


def test_a_model_that_stops_ends_the_episode():
    (task, *_) = episodes()
    assert play(task, ["<choose(0)>"] * 2).metrics["steps"] == 2
    assert play(task, []).rewards == {"return": 0.0}


def test_an_episode_that_breaks_off_is_closed(monkeypatch):
    closed = []
    monkeypatch.setattr(TextEnv, "close", lambda self: closed.append(self))
    (task, *_) = episodes(settings={"fallback": "error"})
    with pytest.raises(ActionError):
        play(task, ["push"])
    assert len(closed) == 1


VALUES = [
    None,
    3,
    True,
    b"x",
    [],
    {},
    "",
    "x" * 10_000,
    "\x00",
    "\ud7ff",
    "\ud800",
    "<choose(9)>",
    "<choose(0)><choose(0)>",
]


def test_whatever_a_model_replies_the_episode_goes_on():
    rng = random.Random(0)
    for task in episodes(episodes=20):
        replies = [rng.choice([*VALUES, rng.randbytes(50).decode("latin-1")]) for _ in range(20)]
        player = play(task, replies)
        assert player.metrics["steps"] == player.metrics["illegal_actions"] > 0
        assert all(isinstance(text, str) for text in player.heard)


def test_episodes_at_a_time_do_not_see_each_other():
    tasks = episodes()
    players = [Player(["<choose(1)>", "no", "<choose(0)>"] * 3) for _ in tasks]

    class Slow(Player):
        async def turn(self, said=None):
            await asyncio.sleep(0)
            return await super().turn(said)

    slow = [Slow(player.replies) for player in players]

    async def together():
        await asyncio.gather(
            *(WordsEnv.run(None, t, SimpleNamespace(player=p)) for t, p in zip(tasks, slow, strict=True))
        )

    asyncio.run(together())
    alone = [play(task, player.replies) for task, player in zip(tasks, players, strict=True)]
    assert [player.heard for player in slow] == [player.heard for player in alone]
    assert len({tuple(player.heard) for player in slow}) == len(tasks)


def test_a_snapshot_of_an_episode_goes_on_to_the_bit():
    (task, *_) = episodes()
    (env, _), (other, _) = task.begin(), task.begin()
    for reply in ("<choose(1)>", "what?"):
        env.step(reply)
    other.set_state(env.get_state())
    assert [env.step("<choose(0)>") for _ in range(5)] == [other.step("<choose(0)>") for _ in range(5)]


def test_settings_and_wrong_names():
    light, heavy = (episodes(settings={"gravity": gravity})[0] for gravity in (1.0, 25.0))
    assert play(light, ["<choose(0)>"] * 4).heard != play(heavy, ["<choose(0)>"] * 4).heard
    with pytest.raises(UnknownNameError):
        episodes(env="CartPol-v0")
    with pytest.raises(ParameterError, match="a vector"):
        episodes(env="mo-DeepSeaTreasure-v0")
    with pytest.raises(ParameterError, match="outside its range"):
        episodes(settings={"gravity": 1e9})
