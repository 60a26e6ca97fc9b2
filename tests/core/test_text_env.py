"""The text forms: strict reading, illegal replies, equality with the numeric forms, what worlds tell their agents."""

import functools
import re
import string

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from pettingzoo.test import parallel_api_test

import rlenvs
from rlenvs.core.declare.errors import ActionError, EpisodeOverError, ParameterError, SnapshotError
from rlenvs.core.forms.language import LONGEST_REPLY, read_order
from rlenvs.core.forms.text_env import TextParallelEnv, text_aec_env
from rlenvs.multi.pathfinding.path_finding import SPEC

FORMS = {
    "PathFinding-v0": [{}, {"collision": "soft", "agents": 7}],
    "Battle-v0": [
        {},
        {"scenario": "MMM", "rules": "smac"},
        {"scenario": "2s3z", "opponent": "self"},
        {"scenario": "terran_5_vs_5", "rules": "smac", "opponent": "self", "dead": "leave"},
    ],
}
CASES = [(name, choices) for name, rows in FORMS.items() for choices in rows]


def make(name, **choices):
    return rlenvs.text_parallel_env(name, **choices)


def orders_in(text):
    """The orders that a description offers."""
    line = next(line for line in text.splitlines() if line.startswith(("<", "Valid actions: <")))
    return re.findall(r"<[^<>]*>", line)


def chosen(env, agent, reply):
    action, reason = env._interpreter.act(reply, env._index[agent])
    assert not reason, (reply, reason)
    return action


# --- reading ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "order"),
    [
        ("<stop()>", ("stop", ())),
        ("  <Move( North )>\n", ("move", ("North",))),
        ("<attack(enemy_2)>", ("attack", ("enemy_2",))),
        ("<move(all, 3, 2.5)>", ("move", ("all", "3", "2.5"))),
    ],
)
def test_an_order_is_read(reply, order):
    assert read_order(reply) == order


@pytest.mark.parametrize(
    "reply",
    [
        *("", "stop", "stop()", "<stop>", "<stop()", "<stop()>.", "I go north: <move(north)>", "<stop()><stop()>"),
        *("<()>", "<1(2)>", "<move(north>)", "<move((north))>", "<stop()>" + " " * LONGEST_REPLY, None, 3, b"<stop()>"),
    ],
)
def test_anything_else_is_refused_with_a_reason(reply):
    with pytest.raises(ValueError, match=r"reply|not exactly one command"):
        read_order(reply)


# --- the same world ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "choices"), CASES)
def test_offered_orders_are_the_legal_choices(name, choices):
    env = make(name, **choices)
    told, infos = env.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(15):
        for agent in env.agents:
            legal = np.flatnonzero(infos[agent]["legal_choices"])
            offered = [chosen(env, agent, order) for order in orders_in(told[agent])]
            assert sorted(offered) == legal.tolist()
        told, _, _, _, infos = env.step({agent: str(rng.choice(orders_in(told[agent]))) for agent in env.agents})
        assert all(info["illegal_actions"] == 0 and info["illegal_reason"] == "" for info in infos.values())
        if not env.agents:
            break


@pytest.mark.parametrize(("name", "choices"), CASES)
def test_replies_are_the_actions_of_the_numeric_form(name, choices):
    env, twin = make(name, **choices), rlenvs.parallel_env(name, **choices)
    told, _ = env.reset(seed=5)
    twin.reset(seed=5)
    rng = np.random.default_rng(1)
    for _ in range(40):
        if not env.agents:
            break
        replies = {agent: str(rng.choice(orders_in(told[agent]))) for agent in env.agents}
        actions = {agent: chosen(env, agent, reply) for agent, reply in replies.items()}
        told, *ours, infos = env.step(replies)
        _, *theirs, notes = twin.step(actions)
        assert ours == theirs
        for agent, note in notes.items():
            for key, value in note.items():
                same = "legal_choices" if key == "action_mask" else key
                np.testing.assert_array_equal(infos[agent][same], value)
        assert env.agents == twin.agents
        assert env.numeric.get_state().state == twin.get_state().state


def test_descriptions_are_in_their_space_and_differ_between_agents():
    for name, choices in CASES:
        env = make(name, **choices)
        told, _ = env.reset(seed=0)
        assert all(told[agent] in env.observation_space(agent) for agent in env.agents)
        assert len(set(told.values())) == len(env.agents)


# --- illegal replies --------------------------------------------------------------------------------------------------


def test_illegal_replies_are_counted_and_replaced_and_touch_nobody_else():
    env, twin = make("Battle-v0"), rlenvs.parallel_env("Battle-v0")
    env.reset(seed=0)
    twin.reset(seed=0)
    stop = 4
    replies = {"ally_0": "charge!", "ally_1": "<move(east)>", "ally_2": "<attack(enemy_1)>"}
    _, rewards, _, _, infos = env.step(replies)
    _, expected, _, _, _ = twin.step({"ally_0": stop, "ally_1": 1, "ally_2": stop})
    assert rewards == expected
    assert env.numeric.get_state().state == twin.get_state().state
    assert [infos[agent]["illegal_actions"] for agent in env.agents] == [1, 0, 1]
    assert "not exactly one command" in infos["ally_0"]["illegal_reason"]
    assert infos["ally_1"]["illegal_reason"] == ""
    assert infos["ally_2"]["illegal_reason"] == "'<attack(enemy_1)>' is not legal now"
    _, _, _, _, infos = env.step({"ally_0": None, "ally_1": "<stop()>", "ally_2": "<stop()>"})
    assert [infos[agent]["illegal_actions"] for agent in env.agents] == [2, 0, 1]
    assert infos["ally_2"]["illegal_reason"] == ""
    _, infos = env.reset()
    assert all(info["illegal_actions"] == 0 and info["illegal_reason"] == "" for info in infos.values())


@pytest.mark.parametrize(
    ("name", "reply", "reason"),
    [
        ("Battle-v0", "<attack(enemy_7)>", "no target 'enemy_7'"),
        ("Battle-v0", "<attack(ally_0)>", "no target 'ally_0'"),
        ("Battle-v0", "<attack()>", "takes 1 arguments, not 0"),
        ("Battle-v0", "<stop(now)>", "takes 0 arguments, not 1"),
        ("Battle-v0", "<move(up)>", "no direction 'up'"),
        ("Battle-v0", "<atack(enemy_0)>", "no command 'atack'. Did you mean 'attack'"),
        ("Battle-v0", "<heal(ally_1)>", "no command 'heal'"),
        ("PathFinding-v0", "<move(north)>", "no direction 'north'"),
        ("PathFinding-v0", "<stay(1)>", "takes 0 arguments"),
        ("PathFinding-v0", "<jump()>", "no command <jump(...)>"),
    ],
)
def test_reasons_say_what_is_wrong(name, reply, reason):
    env = make(name)
    env.reset(seed=0)
    _, _, _, _, infos = env.step(dict.fromkeys(env.agents, reply))
    assert all(reason in info["illegal_reason"] for info in infos.values())


def test_only_the_fallen_may_do_nothing_with_smac_rules():
    env = make("Battle-v0", scenario="3m", rules="smac")
    env.reset(seed=0)
    _, _, _, _, infos = env.step(dict.fromkeys(env.agents, "<no_op()>"))
    assert all("not legal" in info["illegal_reason"] for info in infos.values())
    env.numeric.batch.records(0)[1].standing[0] = False
    env.set_state(env.get_state())
    told, _, _, _, infos = env.step({"ally_0": "", "ally_1": "<stop()>", "ally_2": "<stop()>"})
    assert "is dead" in told["ally_0"]
    assert orders_in(told["ally_0"]) == ["<no_op()>"]
    assert infos["ally_0"]["illegal_actions"] == 2


@functools.cache
def grid_in_words():
    return make("PathFinding-v0")


@settings(max_examples=60)
@given(
    st.text(st.sampled_from(string.printable), max_size=30)
    | st.sampled_from(["<move(up)>", "<stay()>", "<move(left)>"])
)
def test_no_reply_breaks_anything(reply):
    env = grid_in_words()
    env.reset(seed=1)
    before = env.numeric.batch.masks[0].copy()
    fallback = [env._interpreter.fallback(k) for k in range(4)]
    action, reason = env._interpreter.act(reply, 2)
    assert before[2, action]
    if reason:
        assert action == fallback[2] == 0
    _, _, _, _, infos = env.step({**dict.fromkeys(env.agents, "<stay()>"), "agent_2": reply})
    assert infos["agent_2"]["illegal_actions"] == (reason != "")
    assert infos["agent_2"]["illegal_reason"] == reason
    assert sum(info["illegal_actions"] for info in infos.values()) == (reason != "")


def test_missing_and_unknown_agents_and_the_end_are_errors():
    env = make("PathFinding-v0", horizon=1)
    with pytest.raises(EpisodeOverError):
        env.step({"agent_0": "<stay()>"})
    env.reset(seed=0)
    with pytest.raises(ActionError, match="no action was given for agent_3"):
        env.step(dict.fromkeys(env.agents[:3], "<stay()>"))
    with pytest.raises(ActionError, match="no agents"):
        env.step(dict.fromkeys([*env.agents, "agent_9"], "<stay()>"))
    _, _, _, cuts, _ = env.step(dict.fromkeys(env.agents, "<stay()>"))
    assert all(cuts.values())
    with pytest.raises(EpisodeOverError):
        env.step({"agent_0": "<stay()>"})
    assert env.step({}) == ({}, {}, {}, {}, {})


def test_a_refused_step_leaves_the_counts_alone():
    env = make("PathFinding-v0")
    env.reset(seed=0)
    with pytest.raises(ActionError):
        env.step({"agent_0": "nonsense"})
    _, _, _, _, infos = env.step(dict.fromkeys(env.agents, "<stay()>"))
    assert infos["agent_0"]["illegal_actions"] == 0


# --- what is told -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("choices", FORMS["Battle-v0"])
def test_battle_tells_of_the_units_in_sight_and_of_no_others(choices):
    env = make("Battle-v0", **choices)
    told, _ = env.reset(seed=2)
    rng = np.random.default_rng(2)
    hidden = shown = 0
    for _ in range(20):
        p, s = env.numeric.batch.records(0)
        for agent in env.agents:
            k = env._index[agent]
            distance = np.hypot(s.x - s.x[k], s.y - s.y[k])
            seen = (distance < p.unit_sight[s.kind[k]]) & s.standing & s.standing[k]
            seen[k] = False
            lines = [line for line in told[agent].splitlines() if re.match(r"(ally|enemy)_\d+: .*distance", line)]
            assert len(lines) == seen.sum()
            assert sum(line.startswith("enemy") for line in lines) == (seen & (s.side != s.side[k])).sum()
            hidden += (~seen).sum() - 1
            shown += seen.sum()
        told, *_ = env.step({agent: str(rng.choice(orders_in(told[agent]))) for agent in env.agents})
        if not env.agents:
            break
    assert hidden > 0
    assert shown > 0


def test_battle_describes_units_by_their_numbers():
    env = make("Battle-v0", scenario="2s3z", rules="smac")
    env.reset(seed=0)
    s = env.numeric.batch.records(0)[1]
    s.x[0], s.y[0], s.health[0], s.shield[0], s.cooldown[0] = 12.0, 8.5, 33.0, 7.0, 0.5
    s.x[5], s.y[5], s.health[5] = 15.0, 12.5, 80.0
    told = env.set_state(env.get_state())["ally_0"]
    assert "ally_0: stalker at (12.0, 8.5), health 33/80, shield 7/80, weapon ready in 0.50 s" in told
    assert "enemy_0: stalker at (15.0, 12.5), distance 5.0, health 80/80, shield 80/80, weapon ready" in told
    assert "damage 18 to stalker" in told  # 13, and 5 against armoured units
    assert "<attack(enemy_0)>" in orders_in(told)


def test_path_finding_draws_the_window():
    env = make("PathFinding-v0", map="..#\n...\n#..", agents=2, radius=1)
    env.reset(seed=0)
    p, s = env.numeric.batch.records(0)
    s.position[:], s.goal[:] = [[1, 1], [1, 2]], [[0, 1], [0, 0]]
    s.occupant[:] = 0
    for k, (row, column) in enumerate(s.position):
        s.occupant[(row + 1) * p.frame.shape[1] + column + 1] = k + 1
    told = env.set_state(env.get_state())["agent_0"]
    assert "\n.G#\n.@A\n#..\n" in told
    assert "You are in row 1, column 1. Your goal is in row 0, column 1." in told


# --- worlds that say nothing themselves -------------------------------------------------------------------------------


def test_a_world_without_words_is_described_by_its_blocks():
    env = rlenvs.text_env("DeepSeaTreasure-v0", backend="python")
    told, _ = env.reset(seed=0)
    assert "position (row and column, from 0 on): [0.0, 0.0]" in told
    assert "1 down, 3 right" in told
    _, reward, _, _, info = env.step("<choose(down)>")
    assert reward == pytest.approx(-0.1 + 0.7)
    assert info["illegal_actions"] == 0
    for reply, reason in (
        ("<choose(7)>", "no choice 7"),
        ("<choose(fly)>", "no choice 'fly'"),
        ("<go(up)>", "no command <go(...)>"),
        ("<choose(1, 2)>", "takes 1 arguments"),
    ):
        env.reset(seed=0)
        _, _, _, _, info = env.step(reply)
        assert reason in info["illegal_reason"]
        assert env.numeric.batch.actions[0, 0] == 1  # up is masked


def test_continuous_actions_are_lists_of_numbers():
    env = rlenvs.text_env("QuadHover-v0", backend="python", horizon=20)
    told, _ = env.reset(seed=0)
    assert "Reply <set(...)> with 4 numbers" in told
    _, _, _, _, info = env.step("<set(0.5, -1, 0, 1e-1)>")
    assert info["illegal_reason"] == ""
    np.testing.assert_allclose(env.numeric.batch.actions[0, 0], [0.5, -1, 0, 0.1], rtol=1e-6)
    wrong = ("1, 2, 3", "1, 2, 3, nan", "1, 2, 3, x", "1, 2, 3, \u0663", "1, 2, 3, 1_0", "1, 2, 3,")
    for reply in (*(f"<set({numbers})>" for numbers in wrong), "<choose(1)>"):
        _, _, _, _, info = env.step(reply)
        assert info["illegal_reason"]
        assert not env.numeric.batch.actions.any()
    assert info["illegal_actions"] == len(wrong) + 1


# --- the interfaces ---------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "choices"), CASES)
def test_pettingzoo_tests(name, choices):
    parallel_api_test(make(name, **choices), num_cycles=20)


def test_agents_may_speak_in_turn():
    """PettingZoo's own test of this form takes observations for arrays."""
    env, twin = text_aec_env(SPEC), make("PathFinding-v0")
    env.reset(seed=4)
    twin.reset(seed=4)
    for _ in range(10):
        orders, heard = {}, {}
        for agent in list(env.agents):
            heard[agent] = env.last()[0]
            orders[agent] = orders_in(heard[agent])[-1]
            env.step(orders[agent])
        assert heard == {agent: twin._interpreter.describe(twin._index[agent]) for agent in orders}
        twin.step(orders)
        if not env.agents or not twin.agents:
            break


@pytest.mark.filterwarnings("ignore")
def test_gymnasium_checks_the_single_form():
    check_env(rlenvs.text_env("DeepSeaTreasure-v0", backend="python"), skip_render_check=True)


def test_snapshots_hold_the_counts():
    env = make("PathFinding-v0")
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, "nonsense"))
    snapshot = env.get_state()
    env.step(dict.fromkeys(env.agents, "nonsense"))
    told = env.set_state(snapshot)
    assert told == {agent: env._interpreter.describe(k) for agent, k in env._index.items()}
    _, _, _, _, infos = env.step(dict.fromkeys(env.agents, "<stay()>"))
    assert all(info["illegal_actions"] == 1 for info in infos.values())


@pytest.mark.parametrize("count", ["x", -1, 1.5, True, None])
def test_snapshots_with_wrong_counts_are_refused(count):
    env = make("PathFinding-v0")
    env.reset(seed=0)
    snapshot, told = env.get_state(), env._told(env.agents)
    with pytest.raises(SnapshotError, match="not a count"):
        env.set_state(snapshot._replace(illegal=(count, *snapshot.illegal[1:])))
    assert env._told(env.agents) == told


def test_messages_are_read_in_the_next_step():
    env = make("PathFinding-v0", messages=10)
    first, second, *_ = env.agents if env.agents else env.possible_agents
    env.reset(seed=0)
    said = dict.fromkeys(env.agents, "<stay()>")
    told, _, _, _, infos = env.step({**said, first: "<stay()> <SAY( to the\n left, all of you )>"})
    assert f"{first} says: to the lef" in told[second].splitlines()
    assert "says" not in told[first]
    assert infos[first]["illegal_actions"] == 0
    snapshot = env.get_state()
    told, *_ = env.step(said)
    assert "says" not in told[second]
    assert f"{first} says: to the lef" in env.set_state(snapshot)[second].splitlines()
    env.reset(seed=0)
    assert "says" not in env._told(env.agents)[second]


def test_messages_are_illegal_where_nobody_may_speak():
    env = make("PathFinding-v0")
    env.reset(seed=0)
    *_, infos = env.step(dict.fromkeys(env.agents, "<stay()> <say(hello)>"))
    assert all(info["illegal_actions"] == 1 for info in infos.values())
    for length in (-1, 1.5, "long"):
        with pytest.raises(ParameterError, match="messages"):
            make("PathFinding-v0", messages=length)


def test_render_and_close():
    env = TextParallelEnv("rlenvs.multi.pathfinding.path_finding:SPEC", render_mode="ansi")
    env.reset(seed=0)
    assert env.render().count("\n") == 7
    env.close()
    env.close()
