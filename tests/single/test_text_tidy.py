"""Houses to tidy up: TextWorld Commonsense's levels, splits and rewards, plans, words."""

from collections import Counter

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.single.text.household import HELD_OUT, HOUSE_ROOMS, KEPT, LEARNT, OPEN_CONTAINERS, SURFACES
from rlenvs.single.text.published import tidy_house
from rlenvs.single.text.words import admissible, command_text, name_of

ID = "rlenvs/TextAdventure-v0"
OBJECTS = (*LEARNT, *HELD_OUT)
# of IBM/commonsense-rl (game_generation/twc_make_game.py): objects, least number to fetch, rooms
PUBLISHED = {"easy": ({1}, 1, {1}), "medium": ({2, 3}, 1, {1}), "hard": ({6, 7}, 5, {1, 2})}


def houses(level, split, count=64, seed=0):
    batch = rlenvs.make_batch(ID, count, game=f"tidy-{level}-{split}")
    batch.seed(seed)
    batch.reset()
    return batch


def asked(s):
    """The objects of a game."""
    return [k for k in range(len(s.done)) if s.done[k] != 2]


def game_of(s):
    return tuple((k, int(s.place[k])) for k in asked(s))


@pytest.mark.parametrize("level", PUBLISHED)
def test_levels_have_the_published_sizes(level):
    objects, fetched, rooms = PUBLISHED[level]
    batch = houses(level, "train", 100)
    found = {"objects": set(), "rooms": set(), "fetched": set()}
    for k in range(100):
        s = batch.records(k)[1]
        held = len(s.exit) + len(s.place)
        found["objects"].add(len(asked(s)))
        found["fetched"].add(sum(int(s.place[x]) != held for x in asked(s)))
        furnished = {int(s.place[x]) for x in range(len(OBJECTS), len(s.place)) if s.place[x] < len(s.exit)}
        found["rooms"].add(len(furnished))
        assert int(s.here) in furnished
        assert (s.exit > 0).sum() == 2 * (len(furnished) - 1)
    assert found == {"objects": objects, "rooms": rooms, "fetched": set(range(fetched, max(objects) + 1))}
    assert batch.setup.horizon == 50


def test_the_table_of_places():
    furniture = [name for table in (SURFACES, KEPT) for names in table.values() for name in names]
    assert (len(HOUSE_ROOMS), len(LEARNT), len(HELD_OUT), len(furniture)) == (8, 64, 32, 47)
    assert set(SURFACES) == set(KEPT) == set(HOUSE_ROOMS)
    assert len(set(furniture)) == len(furniture)
    assert not set(LEARNT) & set(HELD_OUT)
    assert {place for places in (*LEARNT.values(), *HELD_OUT.values()) for place in places} <= set(furniture)
    assert set(OPEN_CONTAINERS) <= set(furniture)
    assert sum(map(len, SURFACES.values())) == 17


def test_everything_starts_out_of_place():
    batch = houses("hard", "train", 40)
    for k in range(40):
        p, s = batch.records(k)
        names = {name_of(p, s, x): x for x in range(len(s.place))}
        for x in asked(s):
            right = {len(s.exit) + names[place] for place in {**LEARNT, **HELD_OUT}[OBJECTS[x]]}
            assert int(s.place[x]) not in right
            assert any(s.place[place - len(s.exit)] < len(s.exit) for place in right)
            holder = int(s.place[x]) - len(s.exit)
            assert holder < 0 or holder == len(s.place) or name_of(p, s, holder) in sum(SURFACES.values(), ())


def test_splits_share_no_game_and_tests_no_object():
    for level in ("easy", "hard"):
        games = {}
        for split in ("train", "valid", "test"):
            batch = houses(level, split, 100)
            games[split] = {game_of(batch.records(k)[1]) for k in range(100)}
        assert not games["train"] & games["valid"]
        drawn = {split: {x for game in found for x, _ in game} for split, found in games.items()}
        assert max(drawn["train"] | drawn["valid"]) < len(LEARNT) <= min(drawn["test"])
        if level == "hard":
            assert drawn["train"] == drawn["valid"] == set(range(len(LEARNT)))


def test_all_splits_and_levels_have_the_same_spaces():
    spaces = [
        (houses(level, split, 1).masks.shape[-1], houses(level, split, 1).observations.shape[-1])
        for level, split in (("easy", "train"), ("medium", "valid"), ("hard", "test"))
    ]
    assert len(set(spaces)) == 1


@pytest.mark.parametrize("level", PUBLISHED)
@pytest.mark.parametrize("split", ["train", "valid", "test"])
def test_the_expert_wins_a_point_for_each_object(level, split):
    batch = houses(level, split, 32)
    batch.disable_autoreset()
    wanted = np.array([len(asked(batch.records(k)[1])) for k in range(32)])
    total, steps = np.zeros(32), np.zeros(32)
    for _ in range(50):
        playing = ~(batch.terminated | batch.truncated)[:, 0]
        if not playing.any():
            break
        batch.load_actions(batch.expert_actions())
        batch.step_inplace(playing)
        total += np.where(playing, batch.rewards[:, 0], 0.0)
        steps += playing
    assert batch.success.all()
    assert (total == wanted).all()
    if level == "easy":
        assert (steps == 2).all()  # as published: take it, put it
    if level == "hard":
        assert 11 <= steps.mean() <= 17  # published: 15 +- 2


def test_a_thing_put_wrong_scores_nothing_and_right_scores_once():
    env = rlenvs.text_env(ID, game="tidy-easy-train")
    text, _ = env.reset(seed=0)
    assert "patio chair with wet shirt" in text
    name = "wet shirt"
    replies = [f"take {name}", f"put the {name} on the workbench", f"take {name}", f"drop {name}", f"take {name}"]
    for reply in replies:
        _, reward, done, _, info = env.step(reply)
        assert (reward, done, info["illegal_reason"]) == (0.0, False, "")
    _, reward, done, _, info = env.step(f"put {name} on clothesline")
    assert (reward, done, info["is_success"]) == (1.0, True, True)


def test_any_of_several_places_is_right():
    batch = houses("easy", "train", 400)
    batch.disable_autoreset()
    ends = Counter()
    for _ in range(2):
        batch.step(batch.expert_actions())
    for k in range(400):
        p, s = batch.records(k)
        (x,) = asked(s)
        ends[OBJECTS[x], name_of(p, s, int(s.place[x]) - len(s.exit))] += 1
    assert ends["wool blanket", "sofa"]
    assert ends["wool blanket", "bed"]


def test_facts_do_not_tell_which_objects_are_out_of_place():
    batch = houses("hard", "train", 8)
    quests = len(OBJECTS)
    assert (batch.observations[:, 0, -quests:] == -1.0).all()  # none is done


def test_admissible_commands_are_those_of_the_mask():
    batch = houses("hard", "test", 1)
    p, s = batch.records(0)
    allowed = np.flatnonzero(batch.masks[0, 0])
    assert sorted({command_text(p, s, j) for j in allowed}) == admissible(p, s)


@pytest.mark.parametrize("name", ["tidy-easy", "tidy-harder-train", "tidy-hard-dev", "tidy-hard-train-1"])
def test_houses_that_do_not_exist_are_refused(name):
    with pytest.raises(ParameterError, match="levels easy, medium, hard and the splits train, valid, test"):
        rlenvs.make_batch(ID, 1, game=name, backend="python")


def test_games_are_wide_enough_for_every_level():
    assert tidy_house("hard", "test").levers["learnt"] == 64
    batch = houses("hard", "test", 100)
    rooms = [(batch.records(k)[1].exit > 0).any(axis=1).sum() for k in range(100)]
    assert set(rooms) == {2}  # no room has six objects that are held out
