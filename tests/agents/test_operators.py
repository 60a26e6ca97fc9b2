"""Operators and lock-step runs: the same moments for all, what is decided, logged and compared."""

import json
import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.lockstep import lock_step
from rlenvs.agents.lockstep_log import EPISODE, HEADER
from rlenvs.agents.operators import Decision, Human, Language, Operator, Policy, Scripted
from rlenvs.agents.paired import Comparison
from rlenvs.agents.ratings import student
from rlenvs.cli import app
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError

POLE, GRID = "CartPole-v0", "PathFinding-v0"


def right(text, reason):
    return "<choose(1)>"


def rows_of(folder, name):
    return [json.loads(line) for line in (folder / f"{name}.jsonl").read_text().splitlines()]


# --- who decides ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", [POLE, "RepeatFirst-v0", "FrozenLake-v0"])
def test_an_agent_plays_as_in_an_evaluation(id):
    """With masks, choices that are drawn, and a memory, which a tournament does not take."""
    agent = rlenvs.load_agent(id)
    found = lock_step(id, {"agent": agent, "policy": Policy(agent)}, 2, 3, make=agent.card.keywords)
    expected = rlenvs.evaluate(id, agent, seeds=range(3, 5), **agent.card.keywords)
    np.testing.assert_array_equal(found.returns[0], found.returns[1])
    if not agent.card.drawn:
        np.testing.assert_allclose(found.returns[0], expected.returns, rtol=1e-6)
    assert not found.illegal.any()


def test_players_that_are_known_are_named_once():
    """SwitchRiddle has a player "random" of its own."""
    with pytest.raises(UnknownNameError) as told:
        lock_step("SwitchRiddle-v0", {"a": "????"}, 1)
    assert str(told.value).count("'random'") == 1


def test_an_agent_with_masks_reads_them():
    agent = rlenvs.load_agent("DeepSeaTreasure-v0")
    env = rlenvs.text_parallel_env("DeepSeaTreasure-v0", backend="python", **agent.card.keywords)
    env.reset(seed=0)
    policy = Policy(agent).bind(env, "agent_0")
    seen = env.numeric.batch.get_observations((0, 0))
    mask = np.ones(4, np.int8)
    for _ in range(3):  # the choice that it likes best is forbidden each time
        policy.reset([0])
        chosen = policy.act(SimpleNamespace(observation=seen, mask=mask, agent="agent_0"))
        assert mask[chosen]
        mask[chosen] = 0


def test_scripts_play_as_the_world_says():
    found = lock_step(GRID, {"expert": "expert", "idle": "idle"}, 3)
    expected = [rlenvs.evaluate(GRID, name, seeds=range(3)) for name in ("expert", "idle")]
    agents = 4
    for own, theirs in zip(found.returns, expected, strict=True):
        np.testing.assert_allclose(own * agents, theirs.returns, atol=1e-5)


def test_functions_and_words_play_as_their_actions():
    def choose(observations, masks, rng):
        assert observations.shape == (1, 4)
        assert masks is None
        return np.ones(1, np.int64)

    seen = []
    found = lock_step(POLE, {"function": choose, "words": Language(right)}, 3, watch=seen.extend, backend="python")
    np.testing.assert_array_equal(found.returns[0], found.returns[1])
    pairs = [(row["run"], row["episode"], row["step"]) for row in seen]
    assert pairs[:4] == [("function", 0, 0), ("words", 0, 0), ("function", 0, 1), ("words", 0, 1)]  # step by step
    assert {row["action"] for row in seen} == {1}


def test_a_mixed_team_sits_by_name_and_pattern():
    seen = []
    mixed = {"agent_1": Language(lambda text, reason: "<stay()>", name="stayer"), "agent_[02]": "random", "*": "expert"}
    lock_step(GRID, {"mixed": mixed}, 1, watch=seen.extend, backend="python", horizon=5)
    seated = {row["agent"]: (row["kind"], row["operator"]) for row in seen}
    assert seated["agent_0"] == seated["agent_2"] == ("scripted", "random")
    assert seated["agent_1"] == ("language", "stayer")
    assert seated["agent_3"] == ("scripted", "expert")


def test_baselines_choose_what_is_legal():
    seen = []
    line_ups = {"random": "random", "cycle": "cycle", "idle": "idle"}
    found = lock_step("DeepSeaTreasure-v0", line_ups, 6, watch=seen.extend, backend="python")
    assert not found.illegal.any()
    actions = {name: [row["action"] for row in seen if row["run"] == name] for name in line_ups}
    assert set(actions["random"]) == {0, 1, 2, 3}
    assert lock_step(POLE, {"cycle": "cycle"}, 1, watch=seen.extend, backend="python", horizon=6).steps[0, 0] == 6
    assert [row["action"] for row in seen[-6:]] == [0, 1, 0, 1, 0, 1]


def test_continuous_actions_are_drawn_in_their_box():
    seen = []
    found = lock_step("QuadHover-v0", {"random": "random"}, 1, watch=seen.extend, backend="python", horizon=20)
    actions = np.array([row["action"] for row in seen])
    assert actions.shape[1] == 4
    assert np.abs(actions).max() <= 1 < 10 * actions.std()
    assert not found.illegal.any()


def test_in_games_of_turns_the_one_that_moves_is_asked():
    asked = []

    def first(observations, masks, rng):
        assert masks[0].sum() > 1
        asked.append(masks.sum())
        return masks.argmax(axis=1)

    found = lock_step("ConnectFour-v0", {"a": {"agent_0": first, "*": "random"}}, 2, opponent="self")
    assert len(asked) == found.decisions.sum() - (found.steps.sum() - len(asked))
    assert found.decisions.sum() == found.steps.sum()  # one decision a move
    assert not found.illegal.any()


def test_one_operator_for_several_agents_has_a_copy_for_each():
    class Counter(Operator):
        def reset(self, seed):
            self.count = 0

        def act(self, view):
            self.count += 1
            assert self.count == view.step + 1
            assert view.image.ndim == 3
            assert view.observation.dtype == np.float32
            return Decision(view.moment.env.idle_action(view.agent), {"counted": self.count, "step": -1})

    seen = []
    lock_step(GRID, {"one": Counter()}, 2, watch=seen.extend, backend="python", horizon=4)
    assert max(row["counted"] for row in seen) == 4
    assert min(row["step"] for row in seen) == 0  # what an operator adds replaces nothing


def test_what_operators_note_is_json(tmp_path):
    class Notes(Operator):
        def act(self, view):
            notes = {"nan": np.nan, "array": np.array([1.0, np.inf]), 2: {(1, 2): np.float32(0.5)}, "other": {1}}
            return Decision(view.moment.env.idle_action(view.agent), notes)

    def refuse(word):
        raise ValueError(word)

    lock_step(POLE, {"a": Notes()}, 1, log=tmp_path, backend="python", horizon=1)
    (row,) = (json.loads(line, parse_constant=refuse) for line in (tmp_path / "steps.jsonl").read_text().splitlines())
    assert (row["nan"], row["array"], row["2"], row["other"]) == (None, [1.0, None], {"(1, 2)": 0.5}, "{1}")


def test_notes_that_are_no_mapping_are_refused():
    class Notes(Operator):
        def act(self, view):
            return Decision(0, 5)

    with pytest.raises(ParameterError, match="the operator 'Notes' notes 5; needed: a mapping"):
        lock_step(POLE, {"a": Notes()}, 1, backend="python")


@pytest.mark.parametrize("given", [0, [], [0, 1]])
def test_a_policy_gives_an_action_for_each_row(given):
    with pytest.raises(ParameterError, match=r"gives .*; needed: an action per row"):
        lock_step(POLE, {"a": lambda seen, masks, rng: given}, 1, backend="python")


# --- words ------------------------------------------------------------------------------------------------------------


def test_a_model_is_asked_again_with_the_reason():
    heard = []

    def model(text, reason):
        heard.append(reason)
        return ("left", "<choose(9)>", "<choose(0)>")[(len(heard) - 1) % 3]

    seen = []
    found = lock_step(POLE, {"three": Language(model, tries=3)}, 1, watch=seen.extend, backend="python", horizon=2)
    assert found.illegal.sum() == 0
    assert [[reply for reply, _ in row["rejected"]] for row in seen] == [["left", "<choose(9)>"]] * 2
    assert [reason for _, reason in seen[0]["rejected"]] == heard[1:3]
    assert heard[0] == ""
    assert "not exactly one command" in heard[1]
    assert "no choice 9" in heard[2]
    found = lock_step(POLE, {"one": Language(lambda text, reason: "left")}, 2, backend="python", horizon=2)
    assert (found.illegal.sum(), found.decisions.sum()) == (4, 4)


def test_late_replies_and_others_that_are_no_text_count_as_illegal():
    def slow(text, reason):
        time.sleep(0.002)
        return "<choose(1)>"

    seen = []
    line_ups = {"slow": Language(slow, seconds=0.001), "fast": Language(right, seconds=60), "none": Language(min)}
    line_ups["none"].model = lambda text, reason: None
    found = lock_step(POLE, line_ups, 1, watch=seen.extend, backend="python", horizon=3)
    assert found.illegal[:, 0].tolist() == [3, 0, 3]
    assert {row.get("late") for row in seen} == {"<choose(1)>", None}


def test_a_person_may_be_short():
    given = iter(["1", "push left", "choose(1)", "<choose(0)>", "?", "what", "no"])
    seen = []
    person = Human(lambda text, reason: next(given))
    found = lock_step(POLE, {"person": person}, 1, watch=seen.extend, backend="python", horizon=5)
    assert [row["action"] for row in seen] == [1, 0, 1, 0, 0]
    assert found.illegal.sum() == 1


def test_a_person_at_a_terminal_that_is_closed(monkeypatch):
    monkeypatch.setattr("builtins.input", lambda prompt: (_ for _ in ()).throw(EOFError))
    with pytest.raises(ParameterError, match="standard input has ended"):
        lock_step(POLE, {"person": "human"}, 1, backend="python")


def test_replies_may_be_refused_instead_of_replaced():
    with pytest.raises(ActionError, match="not exactly one command"):
        lock_step(POLE, {"wrong": Language(lambda text, reason: "x")}, 1, backend="python", fallback="error")


# --- seeds and logs ---------------------------------------------------------------------------------------------------


def test_logs_repeat_and_can_be_compared_again(tmp_path):
    line_ups = {"random": "random", "mixed": {"agent_0": Language(lambda text, reason: "?"), "*": "random"}}
    places = [tmp_path / "first", tmp_path / "second"]
    found = [
        lock_step(GRID, line_ups, 3, 5, log=place, backend="python", horizon=8, text_history=1) for place in places
    ]
    for name in ("steps", "episodes"):
        first, second = (rows_of(place, name) for place in places)
        for rows in (first, second):
            for row in rows:
                assert row.pop("seconds")
        assert first == second
    assert str(found[0]) == str(found[1]) == str(Comparison.load(places[0]))
    header = json.loads((places[0] / "run.json").read_text())
    assert header["id"] == "rlenvs/PathFinding-v0"
    assert header["keywords"] == {"backend": "python", "horizon": 8, "text_history": 1}
    assert header["measured"] == [f"agent_{k}" for k in range(4)]
    steps, episodes = rows_of(places[0], "steps"), rows_of(places[0], "episodes")
    assert len(episodes) == 6
    for row in episodes:
        own = [step for step in steps if (step["run"], step["episode"]) == (row["run"], row["episode"])]
        for agent in row["returns"]:
            mine = [step for step in own if step["agent"] == agent]
            assert sum(step["reward"] for step in mine) == pytest.approx(row["returns"][agent])
            assert sum(step["illegal_reason"] != "" for step in mine) == row["illegal_actions"][agent]
            assert len(mine) == row["decisions"][agent]
    assert found[0].illegal[1].sum() == found[0].steps[1].sum()  # every reply of agent_0 that lived throughout
    assert [row["seed"] for row in episodes[::2]] == [5, 6, 7]


def test_a_log_replays(tmp_path):
    """The actions of the log, taken in another environment, give its rewards."""
    lock_step(GRID, {"random": "random"}, 2, 3, log=tmp_path, backend="python", horizon=8)
    env = rlenvs.parallel_env(GRID, backend="python", horizon=8)
    rows = rows_of(tmp_path, "steps")
    for episode in range(2):
        env.reset(seed=3 + episode)
        for step in range(8):
            now = [row for row in rows if (row["episode"], row["step"]) == (episode, step)]
            if not env.agents:
                assert not now
                break
            _, rewards, *_ = env.step({row["agent"]: row["action"] for row in now})
            assert rewards == {row["agent"]: row["reward"] for row in now}


def test_a_log_is_not_written_over_and_its_beginning_can_be_read(tmp_path):
    lock_step(POLE, {"a": "random", "b": "idle"}, 3, log=tmp_path, backend="python")
    before = (tmp_path / "steps.jsonl").read_bytes()
    with pytest.raises(ParameterError, match="names no folder"):
        lock_step(POLE, {"a": "random", "b": "idle"}, 3, log="", backend="python")
    with pytest.raises(ParameterError, match="has a log already"):
        lock_step(POLE, {"a": "random"}, 1, log=tmp_path, backend="python")
    assert (tmp_path / "steps.jsonl").read_bytes() == before
    file = tmp_path / "episodes.jsonl"
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:5]) + lines[5][:20])  # broken off in the last line
    assert Comparison.load(tmp_path).seeds == (0, 1)
    file.write_text("nothing\n")
    with pytest.raises(ParameterError, match="is damaged"):
        Comparison.load(tmp_path)
    file.write_text("[" * 100_000 + "\n")
    with pytest.raises(ParameterError, match="is damaged: maximum recursion"):
        Comparison.load(tmp_path)
    file.write_text("")
    with pytest.raises(ParameterError, match="no episode has been played"):
        Comparison.load(tmp_path)
    with pytest.raises(ParameterError, match="has no log"):
        Comparison.load(tmp_path / "none")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("episode", 2**70, "episode is"),
        ("episode", -1, "episode is -1"),
        ("seed", 1.0, "seed is 1.0"),
        ("seed", -1, "seed is -1"),
        ("seed", 7, "episode 0 has the seeds 7 and 0"),
        ("steps", -1, "steps is -1"),
        ("steps", 2**33, "steps is"),
        ("decisions", {"agent_0": True}, "decisions is True"),
        ("decisions", {"agent_0": -1}, "decisions is -1"),
        ("decisions", {"agent_0": 2**63 - 1, "agent_1": 1}, "decisions is 9223372036854775807"),
        ("illegal_actions", [], r"illegal_actions is \[\]; expected dict"),
        ("illegal_actions", {"agent_0": 0.0}, "illegal_actions is 0.0"),
        ("return", math.nan, "return is nan"),
        ("return", "5", "return is '5'"),
        ("return", 2**70 * 10**200, "return is"),
        ("returns", {"agent_0": math.inf}, "returns is inf"),
        ("seconds", {"agent_0": None}, "seconds is None"),
        ("success", 0.5, "success is 0.5"),
        ("success", 2, "success is 2"),
        ("run", {}, "run is {}; expected str"),
    ],
)
def test_damaged_logs_are_refused(tmp_path, name, value, says):
    lock_step(POLE, {"a": "random", "b": "idle"}, 1, log=tmp_path, backend="python")
    file = tmp_path / "episodes.jsonl"
    first, second = (json.loads(line) for line in file.read_text().splitlines())
    file.write_text(f"{json.dumps({**first, name: value})}\n{json.dumps(second)}\n")
    with pytest.raises(ParameterError, match=f"is damaged: .*{says}"):
        Comparison.load(tmp_path)
    del first[name]
    file.write_text(f"{json.dumps(first)}\n{json.dumps(second)}\n")
    with pytest.raises(ParameterError, match=f"is damaged: .*{name} is missing"):
        Comparison.load(tmp_path)


def test_logs_have_the_fields_of_their_table_and_seeds_of_any_size(tmp_path):
    found = lock_step(POLE, {"a": "random"}, 2, 2**70, log=tmp_path, backend="python")
    assert list(json.loads((tmp_path / "run.json").read_text())) == list(HEADER)
    assert [list(row) for row in rows_of(tmp_path, "episodes")] == [list(EPISODE)] * 2
    assert Comparison.load(tmp_path).seeds == found.seeds == (2**70, 2**70 + 1)


def test_a_return_that_no_log_may_hold_is_not_written(tmp_path):
    with pytest.raises(ParameterError, match=r"return is 2.*e\+201"):
        lock_step(POLE, {"a": "random"}, 1, log=tmp_path, backend="python", weights={"balance": 1e200})
    assert rows_of(tmp_path, "episodes") == []


@pytest.mark.parametrize("header", [[], {}, {"id": True, "keywords": {}, "line_ups": {}}, {"id": "x", "keywords": 1}])
def test_damaged_heads_of_logs_are_refused(tmp_path, header):
    (tmp_path / "run.json").write_text(json.dumps(header))
    (tmp_path / "episodes.jsonl").write_text("")
    with pytest.raises(ParameterError, match="is damaged"):
        Comparison.load(tmp_path)


def test_seeds_are_new_or_fixed_and_the_same_for_all_line_ups():
    seen = []
    line_ups = {"a": "random", "b": "random"}
    found = lock_step(POLE, line_ups, 4, 2, fixed_seed=True, watch=seen.extend, backend="python")
    assert found.seeds == (2, 2, 2, 2)
    np.testing.assert_array_equal(found.returns[0], found.returns[1])
    assert len({tuple(row["action"] for row in seen if row["episode"] == e) for e in range(4)}) > 1
    again = lock_step(POLE, line_ups, 4, 2, backend="python")
    assert again.seeds == (2, 3, 4, 5)


# --- statistics -------------------------------------------------------------------------------------------------------


def compared(*returns, illegal=0):
    header = {"id": "x", "keywords": {}, "line_ups": dict.fromkeys("abc"[: len(returns)])}
    rows = [
        {"run": name, "episode": e, "seed": e, "return": value, "success": value > 1, "steps": 2}
        | {"decisions": {"agent_0": 2}, "illegal_actions": {"agent_0": illegal}}
        for name, own in zip("abc", returns, strict=False)
        for e, value in enumerate(own)
    ]
    return Comparison.of(header, rows)


def test_pairs_are_compared_episode_by_episode():
    pair = compared([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 2.0, 2.0, 1.0, 6.0]).pair("a", "b")
    assert (pair.wins, pair.draws, pair.losses) == (3, 1, 1)
    assert pair.win_rate == 0.6
    assert (pair.win_low, pair.win_high) == pytest.approx((0.2307, 0.8824), abs=1e-4)  # Wilson
    gaps = np.array([1.0, 0.0, 1.0, 3.0, -1.0])
    half = 2.7764451 * gaps.std(ddof=1) / math.sqrt(5)
    assert (pair.difference, pair.low, pair.high) == pytest.approx((0.8, 0.8 - half, 0.8 + half))
    back = compared([1.0, 2.0], [0.0, 2.0]).pair("b", "a")
    assert (back.wins, back.draws, back.losses) == (0, 1, 1)


@pytest.mark.parametrize(
    ("freedom", "value"), [(1, 12.7062), (2, 4.30265), (9, 2.26216), (30, 2.04227), (5000, 1.95996)]
)
def test_intervals_are_those_of_student(freedom, value):
    assert student(freedom) == pytest.approx(value, abs=2e-5)


def test_one_episode_has_no_interval_and_is_json():
    found = compared([1.0], [2.0], [2.0 + 1e-12], illegal=1)
    assert found.pair("a", "b").low == -math.inf
    table = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(table["pairs"]) == 3
    assert table["pairs"][0]["low"] is None
    assert table["pairs"][2]["draws"] == 1
    assert table["line_ups"][0]["illegal_actions"] == 1
    with pytest.raises(UnknownNameError, match="no line-up 'd'"):
        found.pair("a", "d")


def test_the_first_team_is_measured(tmp_path):
    found = lock_step(
        "ConnectFour-v0", {"strong": {"agent_0": "expert", "*": "random"}}, 3, opponent="self", log=tmp_path
    )
    assert json.loads((tmp_path / "run.json").read_text())["measured"] == ["agent_0"]
    assert found.success.all()
    assert (found.returns > 0).all()


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line_ups", "error", "says"),
    [
        ({}, ParameterError, "a mapping from names to operators"),
        (["random"], ParameterError, "a mapping from names to operators"),
        ({"a": "randm"}, UnknownNameError, "Did you mean 'random'"),
        ({"a": "expert"}, None, ""),
        ({"a": {"agent_1": "random"}}, UnknownNameError, "no agent is called 'agent_1'"),
        ({"a": {}}, ParameterError, "nobody plays agent_0"),
        ({"a": Policy("random")}, ParameterError, "no policy"),
        ({"a": 3}, UnknownNameError, "has no player 3"),
        ({"a": "nothing.zip"}, ParameterError, "nothing.zip"),
    ],
)
def test_line_ups_that_are_none_are_refused(line_ups, error, says):
    if error is None:
        assert lock_step(POLE, line_ups, 1, horizon=2).steps[0, 0] == 2
        return
    with pytest.raises(error, match=says):
        lock_step(POLE, line_ups, 1, backend="python")


def test_operators_that_do_not_fit_are_refused():
    with pytest.raises(ParameterError, match="was trained for observations"):
        lock_step(GRID, {"a": rlenvs.load_agent(POLE)}, 1, backend="python")
    with pytest.raises(ParameterError, match="needs choices"):
        lock_step("QuadHover-v0", {"a": "cycle"}, 1, backend="python")
    for id, keywords in (("mo-DeepSeaTreasure-v0", {}), ("DeepSeaTreasure-v0", {"vector_reward": True})):
        with pytest.raises(ParameterError, match="without reward vectors"):
            lock_step(id, {"a": "random"}, 1, **keywords)
    for wrong in ({"tries": 0}, {"seconds": 0}, {"seconds": "1"}, {"model": "gpt"}):
        with pytest.raises(ParameterError):
            Language(**{"model": right, **wrong})
    with pytest.raises(NotImplementedError, match="must define act"):
        lock_step(POLE, {"a": Operator()}, 1, backend="python")
    assert Scripted("random").name == "random"


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_compares_and_writes(tmp_path):
    arguments = [POLE, "random", "agent_*=cycle", "--episodes", "2", "--set", "horizon=3", "--text", "text_history=1"]
    files = ["--log", str(tmp_path / "log"), "-o", str(tmp_path / "out.json")]
    done = CliRunner().invoke(app, ["-q", "lockstep", *arguments, *files])
    assert done.exit_code == 0, done.output
    assert "won-drawn-lost" in done.output
    assert len(rows_of(tmp_path / "log", "steps")) == 12
    assert [row["name"] for row in json.loads((tmp_path / "out.json").read_text())["line_ups"]] == [
        "random",
        "agent_*=cycle",
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["random", "random"], "two line-ups are the same"),
        (["agent_0="], "expected AGENT=OPERATOR"),
        (["agent_0=random,agent_0=idle"], "each agent once"),
        (["nobody"], "has no player 'nobody'"),
        (["random", "--text", "text_tokens=1"], "20 or more"),
    ],
)
def test_the_command_refuses(arguments, says):
    done = CliRunner().invoke(app, ["lockstep", POLE, *arguments])
    assert done.exit_code == 2
    assert says in done.output.replace("\n", " ")
