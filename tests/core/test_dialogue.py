"""What text forms add and cut: past turns, budgets of tokens, and what takes the place of a reply."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rlenvs
from rlenvs.core.declare.errors import ActionError, ParameterError, SnapshotError
from rlenvs.core.forms.dialogue import LEAST_TOKENS, first_tokens, tokens_in, without_middle
from rlenvs.core.forms.text_env import NumericAction

STAY = "<stay()>"


def grid(**options):
    return rlenvs.text_parallel_env("PathFinding-v0", backend="python", **options)


def pole(**options):
    return rlenvs.text_env("CartPole-v0", backend="python", **options)


# --- tokens -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "count"), [("", 0), (" \n", 0), ("<move(north)>", 6), ("a_1 b-2", 4), ("3.5", 3), ("...", 3)]
)
def test_tokens_are_words_and_marks(text, count):
    assert tokens_in(text) == count


@given(st.text(max_size=60), st.integers(0, 30))
def test_the_first_tokens_are_a_beginning_of_the_text(text, count):
    cut = first_tokens(text, count)
    assert text.startswith(cut)
    assert tokens_in(cut) == min(count, tokens_in(text))
    assert cut == text or tokens_in(text) > count


@given(st.lists(st.text("ab .\t", max_size=40), min_size=1, max_size=20), st.integers(LEAST_TOKENS, 60))
def test_a_cut_text_keeps_its_ends_and_its_budget(lines, most):
    text = "\n".join(lines)
    cut = without_middle(text, most)
    assert tokens_in(cut) <= most
    if tokens_in(text) <= most:
        assert cut == text
    else:
        assert "lines left out: " in cut


def test_the_last_lines_are_kept_first():
    text = "\n".join(f"line {name} of eight tokens in all" for name in "abcdef")  # 7 tokens each
    assert without_middle(text, 7 + 7).splitlines() == ["(lines left out: 5)", "line f of eight tokens in all"]
    assert [line.split()[1] for line in without_middle(text, 7 + 21).splitlines()] == ["a", "left", "e", "f"]
    assert without_middle("word " * 50, 20) == "(lines left out: 0)\n" + " ".join(["word"] * 13)


# --- history ----------------------------------------------------------------------------------------------------------


def test_the_last_turns_stand_before_the_text():
    env, plain = pole(text_history=2), pole()
    texts = [env.reset(seed=0)[0]]
    bare = [plain.reset(seed=0)[0]]
    assert texts == bare
    for reply in ("<choose(1)>", "left!", "<choose(0)>"):
        texts.append(env.step(reply)[0])
        bare.append(plain.step(reply)[0])
    assert texts[1] == f"1 step ago:\n{bare[0]}\nYour reply: <choose(1)>\nReward 1.0.\nNow:\n{bare[1]}"
    assert texts[3].startswith(f"2 steps ago:\n{bare[1]}\nYour reply: left!\nReward 1.0. Not used: 'left!' is not")
    assert texts[3].endswith(f"1 step ago:\n{bare[2]}\nYour reply: <choose(0)>\nReward 1.0.\nNow:\n{bare[3]}")
    assert env.reset(seed=0)[0] == bare[0]  # an episode begins without a past


def test_a_snapshot_holds_the_turns():
    env = grid(text_history=2)
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, STAY))
    snapshot = env.get_state()
    assert [len(turns) for turns in snapshot.turns] == [1, 1, 1, 1]
    after = env.step(dict.fromkeys(env.agents, "nothing"))[0]
    told = env.set_state(snapshot)
    assert all(text.startswith("1 step ago:") for text in told.values())
    assert env.step(dict.fromkeys(env.agents, "nothing"))[0] == after
    other = grid()  # a form without a history takes it, and drops it
    assert not any("step ago" in text for text in other.set_state(snapshot).values())
    for turns in ((), ((),)), ((("a", "b", "c"),),) * 4, ((1,),) * 4, (([],),) * 4:
        if turns:
            with pytest.raises(SnapshotError, match="the turns of the snapshot"):
                other.set_state(snapshot._replace(turns=turns))


def test_a_snapshot_of_the_single_form_holds_the_turns():
    env = pole(text_history=2)
    env.reset(seed=0)
    env.step("<choose(1)>")
    snapshot, after = env.get_state(), env.step("<choose(0)>")[0]
    env.step("?")
    assert env.set_state(snapshot).startswith("1 step ago:")
    assert env.step("<choose(0)>")[0] == after


@pytest.mark.parametrize("reply", ["\x00\xe9\u4e2d<stay()>", "a\nb\n" * 400, None, 3, b"x", ["<stay()>"]])
def test_whatever_was_replied_a_text_is_in_its_space(reply):
    env = grid(text_history=3)
    env.reset(seed=0)
    for _ in range(3):
        told, *_, infos = env.step(dict.fromkeys(env.agents, reply))
    assert all(told[agent] in env.observation_space(agent) for agent in told)
    assert all(infos[agent]["illegal_actions"] == 3 for agent in told)


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_the_oldest_turns_go_first_then_lines():
    env, plain = pole(text_history=5, text_tokens=250), pole()
    text, bare = env.reset(seed=0)[0], plain.reset(seed=0)[0]
    assert text == bare
    for _ in range(6):
        text, bare = env.step("<choose(1)>")[0], plain.step("<choose(1)>")[0]
        assert tokens_in(text) <= 250
    assert text.startswith("1 step ago:")  # one turn fits, two do not
    assert text.endswith(f"Now:\n{bare}")
    small = pole(text_history=5, text_tokens=30).reset(seed=0)[0]
    assert small.splitlines()[-1].startswith("Reply <choose(number)>")
    assert "(lines left out: " in small


def test_a_reply_is_read_up_to_its_budget():
    env = pole(reply_tokens=6)
    env.reset(seed=0)
    *_, info = env.step("<choose(1)> since the pole falls to the right")
    assert (info["illegal_actions"], env.numeric.batch.actions[0, 0, 0]) == (0, 1)
    *_, info = env.step("I choose the right: <choose(1)>")
    assert info["illegal_actions"] == 1
    assert info["illegal_reason"].endswith("; only its first 6 tokens were read")
    speaking = grid(reply_tokens=5, messages=40)
    speaking.reset(seed=0)
    told, *_ = speaking.step({**dict.fromkeys(speaking.agents, STAY), "agent_0": f"{STAY} <say(hello)>"})
    assert not any("says" in text for text in told.values())  # the message was behind the budget


# --- what takes the place of a reply ----------------------------------------------------------------------------------


def test_random_fallbacks_are_legal_differ_and_repeat():
    env, twin = (rlenvs.text_env("DeepSeaTreasure-v0", backend="python", fallback="random") for _ in range(2))
    played = []
    for seed in range(30):
        env.reset(seed=seed)
        twin.reset(seed=seed)
        legal = np.flatnonzero(env.numeric.batch.masks[0, 0])
        assert env.step("?")[-1]["illegal_actions"] == 1
        twin.step("!")
        played.append(int(env.numeric.batch.actions[0, 0, 0]))
        assert played[-1] in legal
        assert played[-1] == twin.numeric.batch.actions[0, 0, 0]
    assert set(played) == set(legal.tolist())
    hover = rlenvs.text_env("QuadHover-v0", backend="python", fallback="random", horizon=20)
    hover.reset(seed=0)
    hover.step("?")
    numbers = hover.numeric.batch.actions[0, 0]
    assert len(set(numbers.tolist())) == 4
    assert np.abs(numbers).max() <= 1


def test_a_refused_reply_changes_nothing():
    env = grid(fallback="error", text_history=2)
    env.reset(seed=0)
    before = env.get_state()
    with pytest.raises(ActionError, match=r"PathFinding-v0, agent_2: 'no' is not exactly one command"):
        env.step({**dict.fromkeys(env.agents, STAY), "agent_2": "no"})
    assert env.get_state() == before
    single = pole(fallback="error")
    single.reset(seed=0)
    before = single.get_state()
    with pytest.raises(ActionError, match="no choice 2"):
        single.step("<choose(2)>")
    assert single.get_state() == before


@pytest.mark.parametrize("number", ["9" * 19, "9" * 900])
def test_numbers_of_any_size_are_illegal_choices(number):
    env = pole()
    env.reset(seed=0)
    assert env.step(f"<choose({number})>")[-1]["illegal_actions"] == 1


# --- actions in the place of replies ----------------------------------------------------------------------------------


def test_agents_that_do_not_speak_give_actions():
    env, twin = grid(text_history=1), rlenvs.parallel_env("PathFinding-v0", backend="python")
    env.reset(seed=3)
    _, infos = twin.reset(seed=3)
    for step in range(8):
        actions = {agent: int(np.flatnonzero(infos[agent]["action_mask"])[-1]) for agent in env.agents}
        replies = {agent: NumericAction(np.int64(action) if step % 2 else action) for agent, action in actions.items()}
        told, rewards, *_ = env.step(replies)
        _, expected, *_, infos = twin.step(actions)
        assert rewards == expected
        assert env.numeric.get_state() == twin.get_state()
    assert f"Your reply: action {actions['agent_0']}" in told["agent_0"] or "agent_0" not in told


@pytest.mark.parametrize("value", [9, -1, 1.0, True, None, "up", [0, 0], [[1], [1, 2]], np.float32(1), 10**30])
def test_actions_that_are_none_count_as_illegal(value):
    env = grid()
    env.reset(seed=0)
    *_, infos = env.step({**dict.fromkeys(env.agents, STAY), "agent_0": NumericAction(value)})
    assert infos["agent_0"]["illegal_actions"] == 1
    assert infos["agent_1"]["illegal_actions"] == 0


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [grid, pole])
@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        *((name, value, name) for name in ("text_history", "text_tokens", "reply_tokens") for value in (-1, 1.5, True)),
        *((name, "3", name) for name in ("text_history", "text_tokens", "reply_tokens")),
        ("text_history", 1001, "at most 1000"),
        *((name, 2**70, "at most 1000000") for name in ("text_tokens", "reply_tokens")),
        ("text_tokens", 19, "20 or more"),
        ("fallback", "noop", "'wait', 'random', 'error'"),
        ("fallback", None, "'wait', 'random', 'error'"),
    ],
)
def test_options_that_are_none_are_refused(make, option, value, says):
    with pytest.raises(ParameterError, match=says):
        make(**{option: value})
