"""Seeds of games: what their numbers draw, steps as quests, skills that follow from each other, refusals."""

import itertools
import json

import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.text.published import SEEDS, game_of
from rlenvs.single.text.reachable import check_reachable
from rlenvs.single.text.seeds import seed_game
from rlenvs.single.text.skills import SKILLS
from rlenvs.single.text.words import command_text

ID = "rlenvs/TextAdventure-v0"
SEED = {
    "objective": "Serve the {food} on the table.",
    "rooms": ["kitchen", "pantry", "cellar"],
    "slots": {"food": ["potato", "carrot"]},
    "skills": ["cut", "cook"],
    "steps": ["cut {food} with knife", "cook {food} on stove", "put {food} on table"],
    "things": {
        "{food}": {"kind": "food", "in": ["kitchen", "pantry"], "is": ["raw", "whole"]},
        "knife": {"kind": ["object", "blade"], "in": "table"},
        "stove": {"kind": ["fixture", "heater"], "in": "kitchen"},
        "table": {"kind": "supporter", "in": "kitchen"},
    },
    "extras": {"umbrella": {"in": "pantry"}, "boot": {"in": "cellar"}},
}
TOML = """
objective = "Light the {light}."
rooms = ["hall"]
skills = ["light"]
steps = ["light {light} with matches"]
[slots]
light = ["candle", "torch"]
[things]
"{light}" = { kind = ["object", "wick"], in = "hall", is = "unlit" }
matches = { kind = ["object", "lighter"], in = "hall" }
"""


def changed(**changes):
    return {**SEED, **changes}


def with_things(**things):
    return changed(things={**SEED["things"], **things})


def commands_to_win(game, seed=0, backend=None):
    """What the expert does, and the return."""
    batch = rlenvs.make_batch(ID, 1, game=game, **({"backend": backend} if backend else {}))
    batch.seed(seed)
    batch.reset()
    batch.disable_autoreset()
    total, steps = 0.0, 0
    while not (batch.terminated | batch.truncated).any():
        batch.step(batch.expert_actions())
        total, steps = total + float(batch.rewards[0, 0]), steps + 1
    return bool(batch.success[0, 0]), total, steps


@pytest.mark.parametrize("name", SEEDS)
def test_the_games_of_the_seeds_are_won_with_a_point_for_each_step(name):
    for number in (0, 1, 7, 999):
        quests = len(game_of(f"seed-{name}-{number}").quests)
        for seed in range(3):
            won, total, steps = commands_to_win(f"seed-{name}-{number}", seed)
            assert won
            assert total == quests
            assert steps >= quests


def test_every_number_is_a_game_and_they_differ():
    games = [seed_game(changed(number=number)) for number in range(40)]
    assert {"potato" in game["things"] for game in games} == {True, False}
    assert {len(game["things"]) for game in games} == {4, 5, 6}  # none, one or both of the extras
    assert len({json.dumps(game["rooms"], sort_keys=True) for game in games}) > 8
    assert seed_game(changed(number=3)) == seed_game(changed(number=3))
    for name, number in itertools.product(SEEDS, range(60)):
        assert game_of(f"seed-{name}-{number}").quests


def test_steps_are_quests_with_a_reward_of_1():
    game = game_of(changed(number=1))
    food = next(name for name in ("potato", "carrot") if name in game.things)
    said = [(fact.thing, fact.what) for quest in game.quests for fact in quest.facts]
    assert said == [(food, "sliced"), (food, "cooked"), (food, "table")]
    assert all(quest.reward == 1.0 for quest in game.quests)
    assert game.objective == f"Serve the {food} on the table."


def test_skills_follow_from_each_other():
    batch = rlenvs.make_batch(ID, 1, game="seed-tea-0")
    batch.seed(0)
    batch.reset()
    batch.disable_autoreset()
    p = batch.records(0)[0]
    texts = [command_text(p, batch.records(0)[1], j) for j in range(len(p.command))]
    boil, filled, allowed = texts.index("boil kettle on stove"), [], []
    while not batch.terminated.any():
        allowed.append(bool(batch.masks[0, 0, boil]))
        filled.append(bool(batch.records(0)[1].done[0]))
        batch.step(batch.expert_actions())
    assert batch.records(0)[1].done.tolist() == [1] * 5
    assert any(allowed)
    assert not any(can and not full for can, full in zip(allowed, filled, strict=True))


def test_files_of_both_kinds_and_numbers(tmp_path):
    toml, as_json = tmp_path / "light.toml", tmp_path / "supper.json"
    toml.write_text(TOML, "utf-8")
    as_json.write_text(json.dumps(SEED), "utf-8")
    assert {tuple(game_of({"seed": str(toml), "number": n}).things) for n in range(20)} == {
        ("candle", "matches"),
        ("torch", "matches"),
    }
    assert game_of(str(toml)) == game_of({"seed": str(toml)})
    assert game_of({"seed": str(as_json), "number": 4}) == game_of(changed(number=4))
    assert game_of({"seed": "tea", "number": 5}) == game_of("seed-tea-5")
    assert game_of({"seed": SEED, "number": 4}) == game_of(changed(number=4))


def test_a_plain_game_may_be_toml(tmp_path):
    path = tmp_path / "game.toml"
    path.write_text(
        'quests = [{win = "cup in inventory"}]\n[rooms]\nhall = {}\n[things]\ncup = {in = "hall"}\n', "utf-8"
    )
    assert commands_to_win(str(path), backend="python") == (True, 1.0, 1)


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (changed(step=[]), "unknown entry 'step'"),
        (changed(steps=["fly to {food}"]), "unknown rule"),
        (changed(steps=["cut {food} with spoon"]), "there is no thing 'spoon'"),
        (changed(steps=["cut stove with table"]), "is for things of the kind 'portable', which stove is not"),
        (changed(steps=["examine knife"]), "changes nothing"),
        (changed(steps=["go north"]), "changes nothing"),
        (changed(steps=["drop knife"]), "changes nothing"),
        (changed(steps=["take knife", "take knife from table"]), "make the same true: knife in inventory"),
        (changed(steps=[f"take {{food}}{k}" for k in range(41)]), "at most 40 steps"),
        (changed(skills=["juggle"]), "unknown skill 'juggle'"),
        (changed(skills="cut"), "unknown rule"),
        (changed(slots={}), "unknown slot 'food'"),
        (changed(slots={"food": []}), "words to draw from"),
        (changed(slots={"target": ["egg"]}), "other than 'target'"),
        (changed(slots=["food"]), "slots: needed is a table"),
        (changed(number=-1), "number=-1"),
        (changed(number=True), "number=True"),
        (changed(number=1.5), "number=1.5"),
        (changed(steps=7), "steps: needed are words"),
        (changed(things=["knife"]), "things: needed is a table"),
        (changed(rooms=["kitchen", 7]), "rooms: needed are words"),
        (changed(rooms=["kitchen", "pantry", "pantry"]), "rooms: 'pantry' is there twice"),
        (with_things(carrot={"in": "kitchen"}, potato={"in": "kitchen"}), "once slots are filled"),
        (with_things(knife={"kind": ["object", "blade"], "in": "attic"}), "no 'attic'"),
        (with_things(knife={"kind": "object", "in": "table"}), "is for things of the kind 'blade'"),
        (with_things(table={"kind": ["object", "supporter"], "in": "table"}), "cyclic containment: table in table"),
        (with_things(stove={"kind": ["fixture", "heater"], "in": "nowhere"}), "unreachable goal"),
        (changed(things={**SEED["things"], "{food}": {"kind": "food", "in": "kitchen"}}), "unreachable goal"),
        (changed(rooms=[f"room {k}" for k in range(1000)]), "1 to 300 rooms, not 1000"),
        (changed(start=7), "start: needed are words"),
        (with_things(knife={"in": {"table"}}), "made of tables, lists, texts and numbers"),
        (with_things(knife={"in": b"table"}), "made of tables, lists, texts and numbers"),
        ({"rooms": {"hall": {}}, "things": {"cup": {"in": "hall"}}, "quests": 1.5}, "quests: needed is a list"),
        ({"seed": "coffee"}, "'coffee' is no seed"),
        ({"seed": "tea", "level": 3}, "not 'level'"),
        ({"seed": {"rooms": {}}}, "a table with steps"),
        ({"seed": "nowhere.toml"}, "No such file"),
        ("seed-coffee-1", "is no game"),
        ("seed-tea-1000000", "is no game"),
        ("nowhere.toml", "No such file"),
    ],
)
def test_bad_seeds_are_refused_by_name(seed, words):
    with pytest.raises(ParameterError) as error:
        rlenvs.make_batch(ID, 1, game=seed, backend="python")
    assert words in str(error.value)


@pytest.mark.parametrize("text", ["rooms = [", "a = \x00", "[[[["])
def test_files_that_are_no_toml_are_refused(tmp_path, text):
    path = tmp_path / "bad.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(ParameterError, match="is not TOML"):
        rlenvs.make_batch(ID, 1, game=str(path), backend="python")


@pytest.mark.parametrize("name", SKILLS)
def test_every_skill_can_be_planned(name):
    text, rule = SKILLS[name]
    things = {}
    for key, thing in (("first", "one"), ("second", "other")):
        if key in rule:
            part = rule[key]
            fixed = part.get("where", "here") == "here"
            kinds = {"portable": "object", "heater": ["fixture", "heater"]}
            kind = kinds.get(part["kind"], ["fixture" if fixed else "object", part["kind"]])
            things[thing] = {"kind": kind, "in": "hall", **({"is": part["is"]} if "is" in part else {})}
    seed = {"rooms": ["hall", "shed"], "things": things, "skills": [name], "steps": [text.format("one", "other")]}
    check_reachable(game_of(seed))
    won, total, _ = commands_to_win(seed, backend="python")
    assert (won, total) == (True, 1.0)
