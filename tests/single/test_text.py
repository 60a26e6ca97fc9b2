"""Text adventures: TextWorld's recorded games, lengths of quests, plans, words, options, games from files."""

import itertools
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.text.cooking import cooking_game
from rlenvs.single.text.game import read_game
from rlenvs.single.text.planning import plan_length
from rlenvs.single.text.published import coin_collector, parse_game, treasure_hunter
from rlenvs.single.text.words import admissible, command_text, scene

RECORDED = json.loads((Path(__file__).parent.parent / "data" / "textworld.json").read_text("utf-8"))
HOUSE = "rlenvs/TextAdventure-v0"
COIN = "rlenvs/CoinCollector-v0"
HUNT = "rlenvs/TreasureHunter-v0"
SMALL = {
    "objective": "Put the {target} where it belongs.",
    "rooms": {"hall": {"north": ["kitchen", "glass door"]}, "kitchen": {}},
    "things": {
        "glass door": {"kind": "door", "is": "locked"},
        "small key": {"kind": "key", "in": "bag", "fits": "glass door"},
        "bag": {"kind": "container", "in": "hall", "is": "closed"},
        "dishwasher": {"kind": "container", "in": "kitchen", "is": "closed"},
        "plate": {"in": "hall"},
        "cup": {"in": ["hall", "kitchen"]},
    },
    "targets": ["plate", "cup"],
    "quests": [{"win": "target in dishwasher", "reward": 2}],
}


def batch_of(id, count=1, seed=0, **keywords):
    batch = rlenvs.make_batch(id, count, **keywords)
    batch.seed(seed)
    batch.reset()
    return batch


def texts_of(batch):
    p, s = batch.records(0)
    return [command_text(p, s, j) for j in range(len(p.command))]


def won_after(batch, steps):
    """In which step the expert wins in each world."""
    found = np.full(batch.num_envs, -1)
    batch.disable_autoreset()
    for step in range(1, steps + 1):
        playing = found < 0
        if not playing.any():
            break
        batch.expert_actions(playing)
        batch.load_actions(batch.expert_actions())
        batch.step_inplace(playing)
        found[playing & batch.terminated[:, 0]] = step
    return found


# --- TextWorld's games ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda game: f"{game['name']}-{game['level']}")
def test_recorded_games_go_as_in_textworld(recorded):
    batch = batch_of(HOUSE, game=recorded["game"], intermediate=True)
    number = {text: j for j, text in enumerate(texts_of(batch))}
    for number_of_play, play in enumerate(recorded["plays"]):
        batch.reset()
        score = 0.0
        for row in play:
            s = batch.records(0)[1]
            assert score == row["score"]
            if row["won"] or row["lost"]:
                assert bool(batch.terminated[0, 0])
                assert row["won"] == bool(batch.success[0, 0])
                break
            allowed = batch.masks[0, 0].astype(bool)
            assert sorted({text for text, j in number.items() if allowed[j]}) == row["admissible"]
            if row["plan"] >= 0:  # TextWorld's plan first takes back what leads off it
                assert 0 < s.left <= row["plan"]
                assert s.left == row["plan"] or number_of_play > 0 or recorded["level"] == 28  # a quest with a detour
            if "command" in row:
                batch.step(np.array([number[row["command"]]]))
                score += float(batch.rewards[0, 0])


@pytest.mark.parametrize("level", [1, 2, 20, 101, 120, 201, 220])
def test_coin_collector_is_won_in_as_many_commands_as_its_level_says(level):
    length = (level - 1) % 100 + 1
    batch = batch_of(COIN, 16, game=f"coin-collector-{level}")
    assert (won_after(batch, length + 1) == length).all()
    assert len(batch.records(0)[1].exit) == length * ((level - 1) // 100 + 1)


def test_dead_ends_of_the_coin_collector():
    s = batch_of(COIN, game="coin-collector-210").records(0)[1]
    ways = Counter(int((row > 0).sum()) for row in s.exit)
    assert ways == {1: 20, 3: 2, 4: 8}  # dead ends, the ends of the chain, the rooms between


def test_levels_have_the_published_sizes():
    lengths = [round(float(length)) for ends in ((1, 5), (2, 10), (3, 20)) for length in np.linspace(*ends, 10)]
    assert [treasure_hunter(level).levers["quest_length"] for level in range(1, 31)] == lengths
    assert [len(treasure_hunter(level).rooms) for level in (1, 10, 11, 20, 21, 30)] == [5, 5, 10, 10, 20, 20]
    assert [treasure_hunter(level).levers["grid"] for level in (1, 11, 21)] == [3, 4, 5]
    assert [len(coin_collector(level).rooms) for level in (1, 100, 101, 200, 201, 300)] == [1, 100, 2, 200, 3, 300]


@pytest.mark.parametrize("level", [1, 8, 15, 22, 26])
def test_treasure_hunter_is_won_within_its_quest(level):
    batch = batch_of(HUNT, 32, game=f"treasure-hunter-{level}")
    length = treasure_hunter(level).levers["quest_length"]
    won = won_after(batch, length)
    assert ((won >= 1) & (won <= length)).all()
    assert won.max() == length  # shorter ways come from cycles of the map


def test_the_other_treasure_loses():
    batch = batch_of(HUNT, game="treasure-hunter-1")
    batch.disable_autoreset()
    p, s = batch.records(0)
    (other,) = [x for x in range(len(p.choices)) if x != s.target and s.place[x] < len(s.exit)]
    s.place[other] = s.here
    texts = texts_of(batch)
    batch.step(np.array([texts.index("look")]))
    assert not batch.terminated[0, 0]
    name = texts[int(np.flatnonzero(p.command[:, 1] == other)[0])].removeprefix("examine ")
    batch.step(np.array([texts.index(f"take {name}")]))
    assert batch.terminated[0, 0]
    assert not batch.success[0, 0]
    assert batch.rewards[0, 0] == 0.0


# --- plans ------------------------------------------------------------------------------------------------------------


def shortest(batch, most):
    """The number of commands of a shortest win, by trying all."""
    seen, states = set(), [batch.get_state()]
    fields = ("here", "place", "bits", "done")
    for length in range(1, most + 1):
        following = []
        for state in states:
            batch.set_state(state)
            for command in np.flatnonzero(batch.masks[0, 0]):
                batch.set_state(state)
                batch.step(np.array([command]))
                if batch.success[0, 0]:
                    return length
                key = tuple(np.asarray(batch.records(0)[1][name]).tobytes() for name in fields)
                if key not in seen and not batch.terminated[0, 0]:
                    seen.add(key)
                    following.append(batch.get_state())
        states = following
    return -1


@pytest.mark.parametrize("seed", [1])
def test_plans_of_small_games_are_shortest_ones(seed):
    batch = batch_of(HOUSE, game=SMALL, seed=seed)
    batch.disable_autoreset()
    planned = plan_length(*batch.records(0))
    assert shortest(batch, 12) == planned


def test_intermediate_rewards_are_1_on_the_plan_and_minus_1_off_it():
    env = rlenvs.make(HOUSE, game=SMALL, intermediate=True, weights={"score": 0.0, "intermediate": 1.0})
    env.reset(seed=0)
    batch = env.unwrapped.batch
    texts = texts_of(batch)
    rewards = []
    for text in ("take plate", "look", "open bag", "close bag", "open bag", "take small key from bag"):
        rewards.append(env.step(texts.index(text))[1])
    won = False
    while not won:
        _, reward, won, _, _ = env.step(int(batch.expert_actions().reshape(-1)[0]))
        rewards.append(reward)
    assert rewards[1] == 0.0
    assert rewards[2:6] == [1.0, -1.0, 1.0, 1.0]
    assert all(reward == 1.0 for reward in rewards[6:])


# --- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "command"),
    [
        ("Look!", "look"),
        ("l", "look"),
        ("", "look"),
        ("I", "inventory"),
        ("open the bag.", "open bag"),
        ("pick up the plate", "take plate"),
        ("look at my plate", "examine plate"),
        ("get plate", "take plate"),
    ],
)
def test_replies_are_understood(reply, command):
    env = rlenvs.text_env(HOUSE, game=SMALL)
    env.reset(seed=0)
    action, reason = env._interpreter.act(reply, 0)
    assert reason == ""
    assert texts_of(env.numeric.batch)[action] == command


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("take cup from dishwasher", "not possible now"),
        ("sing", "no command"),
        ("open glass door", "not possible now"),
        ("x" * 2000, "at most 1000"),
        (7, "must be a string"),
    ],
)
def test_replies_that_mean_nothing_are_counted_and_look(reply, reason):
    env = rlenvs.text_env(HOUSE, game=SMALL)
    before, _ = env.reset(seed=0)
    after, _, _, _, info = env.step(reply)
    assert reason in info["illegal_reason"]
    assert info["illegal_actions"] == 1
    assert after == f"> look\n{before}"


def test_a_game_is_won_in_words():
    env = rlenvs.text_env(HOUSE, game=SMALL)
    seen, _ = env.reset(seed=0)
    assert "You see: bag (closed); plate" in seen
    target = "cup" if "the cup" in seen else "plate"
    replies = ["open bag", "take small key", "unlock glass door with small key", "open the glass door"]
    place = [f"take {target}"] if f"{target}" in seen.split("Exits")[0] else []
    after = [] if place else [f"take {target}"]
    for reply in (*place, *replies, "n", *after, "open dishwasher"):
        _, _, done, _, info = env.step(reply)
        assert not info["illegal_reason"]
        assert not done
    _, reward, done, _, info = env.step(f"insert {target} into dishwasher")
    assert (reward, done, info["is_success"]) == (2.0, True, True)


@pytest.mark.parametrize("auto_look", [True, False])
def test_tokens_are_the_words_of_names_and_properties_in_the_text(auto_look):
    batch = batch_of(HOUSE, observation="tokens", auto_look=auto_look)
    vocabulary = sorted({word for name in texts_of_names(batch) for word in name.split()})
    rng = np.random.default_rng(0)
    for _ in range(60):
        p, s = batch.records(0)
        told = scene(p, s)
        text = " ".join(line.split(": ", 1)[-1].replace("You are in the ", "") for line in told)
        words = Counter("".join(c if c.isalnum() else " " for c in text).split())
        found = batch.observations[0, 0, len(s.done) :] * 10.0 + 10.0
        assert found.round().astype(int).tolist() == [words[word] for word in vocabulary]
        batch.step(rng.choice(np.flatnonzero(batch.masks[0, 0]), 1))


def texts_of_names(batch):
    p = batch.records(0)[0]
    rows = (*p.name, *p.property_name)
    return ["".join(chr(c) for c in row if c) for row in rows]


def test_without_auto_look_room_and_inventory_are_told_when_asked_for():
    env = rlenvs.text_env(HOUSE, game=SMALL, auto_look=False)
    first, _ = env.reset(seed=0)
    assert "You are in the hall." in first
    assert "You carry" not in first
    taken = env.step("take plate")[0]
    assert "You are in" not in taken
    assert "You carry" not in taken
    assert "You carry: plate." in env.step("inventory")[0]
    assert "You see: bag (closed)" in env.step("look")[0]


def test_memory_keeps_rooms_and_things():
    env = rlenvs.make(HOUSE, game=SMALL, memory=True)
    env.reset(seed=0)
    batch = env.unwrapped.batch
    texts = texts_of(batch)
    for text in ("open bag", "take small key from bag", "unlock glass door with small key", "open glass door"):
        env.step(texts.index(text))
    observation = env.step(texts.index("go north"))[0]
    s = batch.records(0)[1]
    visited, last_seen = observation[-8:-6], observation[-6:]
    assert visited.tolist() == [1.0, 1.0]
    seen = (last_seen + 1.0) * 256.0
    assert seen.round()[4] == 1  # the plate, in the hall, which is out of sight
    assert seen.round()[3] == s.place[3] + 1


# --- games ------------------------------------------------------------------------------------------------------------


def changed(**changes):
    return {**SMALL, **changes}


def with_thing(name, **table):
    return changed(things={**SMALL["things"], name: table})


MANY = {f"egg {k}": {"kind": "food", "in": "hall"} for k in range(150)}
PAIR = {"first": {"kind": "food"}, "second": {"kind": "food"}}


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("coin-collector-301", "levels 1 to 300"),
        ("treasure-hunter-0", "levels 1 to 30"),
        ("castle", "is no game"),
        ("nowhere.json", "No such file"),
        (7, "a game is a table"),
        (changed(quest=[]), "unknown entry 'quest'"),
        (changed(quests=[]), "needs quests"),
        (changed(quests=[{"fail": "cup is open"}]), "can be won"),
        (changed(quests=[{"win": "cup in attic"}]), "no 'attic'"),
        (changed(quests=[{"win": "plate beside cup"}]), "is no fact"),
        (changed(quests=[{"win": "mug in inventory"}]), "no thing 'mug'"),
        (changed(quests=[{"win": "plate is open"}]), "unreachable goal"),
        (with_thing("small key", kind="key", **{"in": "kitchen"}, fits="glass door"), "unreachable goal"),
        (with_thing("spoon", **{"in": "plate"}), "cannot be in plate"),
        (with_thing("spoon", **{"in": "attic"}), "no 'attic'"),
        (with_thing("spoon", kind="spoon", **{"in": "hall"}), "no rule is about the kind 'spoon'"),
        (with_thing("box", kind=["object", "container"], **{"in": "box"}), "cyclic containment: box in box"),
        (with_thing("trap door", kind="door"), "needs one exit"),
        (with_thing("the spoon", **{"in": "hall"}), "is no name"),
        (with_thing("bag", kind="container", **{"in": "hall", "is": ["open", "locked"]}), "one of open"),
        (with_thing("other key", kind="key", **{"in": "hall"}, fits="glass door"), "two keys fit glass door"),
        (with_thing("spoon", **{"in": "hall"}, colour="red"), "unknown entry 'colour'"),
        (changed(rooms={"hall": {"up": "kitchen"}, "kitchen": {}}), "not one of north"),
        (changed(rooms={"hall": {"north": "attic"}, "kitchen": {}}), "leads to 'attic'"),
        (changed(rules={"wash {0}": {"first": {"kind": "portable", "where": "there"}}}), "where='there'"),
        (changed(rules={"wash": {"first": {"kind": "portable"}}}), "names its things"),
        (changed(rules={"wash {0}": {"first": {"kind": "portable"}, "goes": "second"}}), "no second thing"),
        (changed(rules={"wash {0}": {"thing": {}}}), "unknown entry 'thing'"),
        (changed(rules={"wash {0}": {"first": {"kind": "portable", "where": {}}}}), "where={} is not one of here"),
        (changed(rules={"wash {0}": {"first": {"kind": "portable"}, "goes": [1]}}), "goes=[1] is not one of"),
        (changed(rules={"wäsch {0}": {"first": {"kind": "portable"}}}), "marks of ASCII, not 'wäsch {0}'"),
        (changed(rules={"wash\n{0}": {"first": {"kind": "portable"}}}), "a rule's command is a line"),
        (changed(objective="Ø"), "the objective is a line"),
        (changed(objective=7), "the objective is a line"),
        (changed(objective="x" * 1001), "at most 1000 letters"),
        (changed(rooms={"hall": {"north": []}, "kitchen": {}}), "a room, or a room and a door, not []"),
        (changed(rooms={"hall": {"north": ["kitchen", "a", "b"]}, "kitchen": {}}), "a room, or a room and a door"),
        (changed(start=["hall", "hall"]), "start: 'hall' is there twice"),
        (changed(targets=["cup", "cup"]), "targets: 'cup' is there twice"),
        (changed(shuffled=[["cup"], ["cup"]]), "shuffled: 'cup' is there twice"),
        (with_thing("spoon", **{"in": ["hall"] * 300}), "spoon: 'hall' is there twice"),
        (changed(quests=[{"win": ["cup in inventory"] * 2}]), "a quest: 'cup in inventory' is there twice"),
        (changed(rules={f"wash {k} {{0}}": {"first": {"kind": "portable"}} for k in range(200)}), "at most 200 rules"),
        (changed(things={**SMALL["things"], **MANY}, rules={"mix {0} with {1}": PAIR}), "commands; at most 20000"),
        (changed(horizon=0), "horizon=0"),
    ],
)
def test_bad_games_are_refused_by_name(game, words):
    with pytest.raises(ParameterError) as error:
        rlenvs.make_batch(HOUSE, 1, game=game, backend="python")
    assert words in str(error.value)


@pytest.mark.parametrize("last", ["hall", "nowhere"])
def test_a_game_with_very_many_ways_to_nest_is_read_at_once(last):
    """Box k is in box k + 1 or k + 2: more ways to the last one than could be followed one by one."""
    boxes = {f"box {k}": {"kind": "container", "in": [f"box {k + 1}", f"box {k + 2}"]} for k in range(98)}
    things = {**SMALL["things"], **boxes, **{f"box {k}": {"kind": "container", "in": last} for k in (98, 99)}}
    things["spoon"] = {"in": "box 0"}
    if last == "hall":
        assert parse_game(changed(things=things))
    else:
        with pytest.raises(ValueError, match="unreachable goal"):
            parse_game(changed(things=things, quests=[{"win": "spoon in inventory"}]))


def test_a_supporter_that_a_rule_closes_is_still_described():
    rules = {"break {0}": {"first": {"kind": "supporter", "loses": "open"}}}
    things = {"rack": {"kind": "supporter", "in": "hall"}, "cup": {"in": "rack"}}
    game = {"rooms": {"hall": {}}, "things": things, "quests": [{"win": "cup in inventory"}], "rules": rules}
    env = rlenvs.text_env(HOUSE, game=game, backend="python")
    assert "rack with cup" in env.reset(seed=0)[0]
    text, *_, info = env.step("break rack")
    assert info["illegal_reason"] == ""
    assert "rack" in text
    assert "cup" not in text.partition("Commands")[0]


def test_a_file_that_has_changed_is_read_again(tmp_path):
    path = tmp_path / "game.toml"
    for room in ("hall", "barn"):
        path.write_text(f'quests = [{{win = "cup in inventory"}}]\n[rooms.{room}]\n[things.cup]\nin = "{room}"\n')
        assert f"in the {room}" in rlenvs.text_env(HOUSE, game=str(path), backend="python").reset(seed=0)[0]


def test_two_things_in_each_other_are_refused():
    things = {name: {"kind": ["object", "container"], "in": place} for name, place in (("bag", "box"), ("box", "bag"))}
    with pytest.raises(ValueError, match="cyclic containment: bag in box in bag"):
        read_game({**SMALL, "things": {**SMALL["things"], **things}})


def test_a_thing_is_not_shuffled_into_itself():
    """It would be looked for without end."""
    things = {**SMALL["things"], "box": {"kind": ["object", "container"], "in": "hall"}, "spoon": {"in": "box"}}
    with pytest.raises(ValueError, match="cyclic containment: box in box"):
        read_game(changed(things=things, shuffled=[["box", "spoon"]]))
    assert read_game(changed(things=things, shuffled=[["plate", "spoon"]]))


def test_a_long_row_of_closed_doors_is_read_at_once():
    rooms = {f"room {k}": {"east": [f"room {k + 1}", f"door {k}"]} for k in range(190)}
    things = {f"door {k}": {"kind": "door", "is": "closed"} for k in range(190)}
    game = {"rooms": {**rooms, "room 190": {}}, "things": {**things, "coin": {"in": "room 190"}}}
    assert parse_game({**game, "quests": [{"win": "coin in inventory"}]})
    things["door 5"]["is"] = "locked"
    with pytest.raises(ValueError, match="unreachable goal"):
        parse_game({**game, "things": {**things, "coin": {"in": "room 190"}}, "quests": [{"win": "coin in inventory"}]})


@pytest.mark.parametrize("rule", ["x {0}", "look at {0}", "Grab the {0}!"])
def test_a_command_is_what_it_says_also_where_its_words_mean_another(rule):
    rules = {rule: {"first": {"kind": "portable", "not": "holy", "becomes": "holy"}}}
    env = rlenvs.text_env(HOUSE, game=changed(rules=rules, quests=[{"win": "plate is holy"}]), backend="python")
    text, _ = env.reset(seed=0)
    command = rule.replace("{0}", "plate")
    assert command in text
    text, reward, *_ = env.step(command)
    assert reward == 1.0
    assert text.startswith(f"> {command}\n")


def test_what_is_done_in_one_room_is_planned_with_things_of_another():
    """The room that a rule asks for comes after what is to be carried there."""
    rules = {"bless {0}": {"first": {"kind": "portable", "where": "held", "becomes": "holy"}}}
    rules["bless {0}"]["requires"] = "player in kitchen"
    game = changed(rules=rules, quests=[{"win": "plate is holy"}], objective="")
    assert won_after(batch_of(HOUSE, 4, game=game), 20).tolist() == [7] * 4  # bag, key, lock, door, plate, north, bless


def test_rules_of_ones_own(tmp_path):
    game = {
        "rooms": {"kitchen": {}},
        "things": {
            "stove": {"kind": ["fixture", "stove"], "in": "kitchen"},
            "egg": {"kind": "food", "in": "kitchen", "is": "raw"},
        },
        "rules": {
            "fry {0} on {1}": {
                "first": {"kind": "food", "where": "held", "is": "raw", "becomes": "fried", "loses": "raw"},
                "second": {"kind": "stove"},
            }
        },
        "quests": [{"win": ["egg is fried", "egg in inventory"]}],
    }
    path = tmp_path / "supper.json"
    path.write_text(json.dumps(game), "utf-8")
    batch = batch_of(HOUSE, game=str(path))
    commands = []
    batch.disable_autoreset()
    while not batch.terminated[0, 0]:
        assert "fry egg on stove" in texts_of(batch)
        command = int(batch.expert_actions().reshape(-1)[0])
        commands.append(texts_of(batch)[command])
        batch.step(np.array([command]))
    assert commands == ["take egg", "fry egg on stove"]


def test_the_house_varies():
    batch = batch_of(HOUSE, 64)
    rows = [batch.records(k)[1] for k in range(64)]
    assert len({int(s.target) for s in rows}) == 6
    assert len({int(s.place[2]) for s in rows}) == 2  # the key
    foods = [tuple(int(place) for place in s.place[13:19]) for s in rows]
    assert len(set(foods)) > 20
    assert all(sorted(each) == sorted(foods[0]) for each in foods)


def test_admissible_commands_are_those_of_the_mask():
    batch = batch_of(HUNT, game="treasure-hunter-21")
    p, s = batch.records(0)
    allowed = itertools.compress(texts_of(batch), batch.masks[0, 0])
    assert sorted(set(allowed)) == admissible(p, s)


# --- cooking ----------------------------------------------------------------------------------------------------------


def cooking(name, **keywords):
    batch = batch_of(HOUSE, game=f"cooking-{name}", **keywords)
    batch.disable_autoreset()
    return batch, texts_of(batch)


def say(batch, texts, *commands):
    """Give commands, each of which must be possible."""
    for command in commands:
        assert batch.masks[0, 0, texts.index(command)], command
        batch.step(np.array([texts.index(command)]))


@pytest.mark.parametrize("name", ["1-1-2", "1-5-9", "6-1-1", "6-3-0", "9-4-2", "12-5-0"])
def test_cooking_games_are_won_with_a_point_for_each_part(name):
    batch = batch_of(HOUSE, 8, game=f"cooking-{name}")
    batch.disable_autoreset()
    p = batch.records(0)[0]
    total = np.zeros(8)
    for _ in range(100):
        playing = ~(batch.terminated | batch.truncated)[:, 0]
        if not playing.any():
            break
        batch.load_actions(batch.expert_actions())
        batch.step_inplace(playing)
        total += np.where(playing, batch.rewards[:, 0], 0.0)
    assert batch.success.all()
    assert (total == (p.quest_fails == 0).sum()).all()
    assert len(p.map_exit) == int(name.split("-")[0])


@pytest.mark.parametrize("spoil", ["chop {} with knife", "roast {} on oven", "eat {}"])
def test_what_spoils_a_recipe_loses(spoil):
    batch, texts = cooking("6-3-0")  # green bell pepper, fried and diced
    for _ in range(100):
        if batch.records(0)[1].done[:3].all():
            break
        batch.step(batch.expert_actions())
    say(batch, texts, "take knife from table" if batch.masks[0, 0, texts.index("take knife from table")] else "look")
    name = "green bell pepper"
    if "knife" in spoil:
        for _ in range(20 * (not batch.masks[0, 0, texts.index(spoil.format(name))])):
            batch.step(batch.expert_actions())
    say(batch, texts, spoil.format(name))
    assert batch.terminated[0, 0]
    assert not batch.success[0, 0]


def test_a_meal_is_prepared_in_the_kitchen_with_all_ingredients_at_hand():
    batch, texts = cooking("6-3-0")
    ready = texts.index("prepare meal")
    while not batch.terminated[0, 0]:
        p, s = batch.records(0)
        names = [texts_of_names(batch)[k] for k in range(len(p.name))]
        held = [name for name, place in zip(names[6:], s.place, strict=True) if place == 6 + len(s.place)]
        wanted = {quest["win"].removesuffix(" in inventory") for quest in cooking_game(6, 3, 0)["quests"][:3]}
        can = names[int(s.here)] == "kitchen" and wanted <= set(held) and "meal" not in held
        assert bool(batch.masks[0, 0, ready]) == can
        batch.step(batch.expert_actions())


@pytest.mark.parametrize("name", ["cooking-7-3-0", "cooking-6-6-0", "cooking-6-0-0", "cooking-6-3"])
def test_cooking_games_that_do_not_exist_are_refused(name):
    with pytest.raises(ParameterError, match="cooking"):
        rlenvs.make_batch(HOUSE, 1, game=name, backend="python")
