"""Impostors and Werewolf: the rules of their sources, what players may know, and games of scripted players."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import rlenvs
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import compose
from rlenvs.multi.deduction.language import parse_ship, parse_village, ship_orders, village_orders
from rlenvs.multi.deduction.meeting import ACTING, EJECTED, EVIL, GOOD, KILLED, NOBODY, PRESENT, TALKING, VOTING
from rlenvs.multi.deduction.ship import BUTTON, EAST, NORTH, REPORT, TASK
from rlenvs.multi.deduction.ship import FIRST_PLAYER as FIRST_ON_SHIP
from rlenvs.multi.deduction.village import DOCTOR, SEER
from rlenvs.multi.deduction.village import FIRST_PLAYER as FIRST_IN_VILLAGE

SHIP, VILLAGE = "Impostors-v0", "Werewolf-v0"
FIRST = {SHIP: FIRST_ON_SHIP, VILLAGE: FIRST_IN_VILLAGE}


def begun(id, worlds=1, roles=None, **keywords):
    """A batch at its start, with given roles; who is evil knows its like."""
    batch = rlenvs.make_batch(id, worlds, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(worlds))
    batch.reset()
    if roles is not None:
        for s in batch.states:
            s["role"] = roles
            both = np.logical_and.outer(s["role"] == EVIL, s["role"] == EVIL) | np.eye(len(roles), dtype=bool)
            s["known"] = np.where(both, 1 + s["role"][None, :], 0)
        if id == SHIP:
            batch.states["cooldown"] = 0
            batch.states["open"][batch.states["role"] == EVIL] = 0
        batch.sync_from_state(np.arange(worlds))
    return batch


def act(batch, **chosen):
    """A step in which some agents, a0, a1, ..., do not pass."""
    batch.actions[:] = 0
    for agent, action in chosen.items():
        batch.actions[0, int(agent[1:]), 0] = action
    batch.step_inplace()
    return batch.states[0]


def at(batch, **fields):
    """The state with other values of some fields."""
    for name, value in fields.items():
        batch.states[name][0] = value
    batch.sync_from_state(np.zeros(1, np.int64))
    return batch.states[0]


def to_vote(batch):
    while batch.states["phase"][0] != VOTING:
        act(batch)


def play(batch, good, evil, steps=None):
    """Until all games are over, with a player for each side; `good` and `evil` may be the same."""
    while not batch.over.all() and steps != 0:
        batch.player_actions(good)
        chosen = batch.actions.copy()
        batch.player_actions(evil)
        batch.actions[:] = np.where((batch.states["role"] == EVIL)[:, :, None], batch.actions, chosen)
        batch.step_inplace(~batch.over)
        steps = None if steps is None else steps - 1
    return batch


def good_wins(batch):
    return (batch.success & (batch.states["role"] != EVIL)).any(axis=1)


# --- the vote, in both games ------------------------------------------------------------------------------------------


def vote(id, votes, living=None, **keywords):
    """Who is out after votes for other players (None abstains), and the state."""
    roles = [EVIL, *[GOOD] * (len(votes) - 1)]
    batch = begun(id, roles=roles, **keywords)
    fields = {"phase": VOTING} if living is None else {"phase": VOTING, "living": living}
    if living is not None:
        fields["fate"] = np.where(living, PRESENT, KILLED)
    at(batch, **fields)
    chosen = {f"a{k}": FIRST[id] + j for k, j in enumerate(votes) if j is not None}
    s = act(batch, **chosen)
    out = np.flatnonzero(np.asarray(s["fate"]) == EJECTED).tolist()
    return out, batch


@pytest.mark.parametrize(
    ("votes", "out"),
    [
        ((1, 0, 1, 1, None), [1]),
        ((1, 0, 1, 0, None), []),  # two have as many
        ((1, 0, 1, None, None), []),  # as many abstain
        ((1, None, None, None, None), []),
        ((None,) * 5, []),
        ((0, 1, 2, 3, 4), []),  # nobody may vote for itself
    ],
)
def test_most_votes_on_the_ship(votes, out):
    found, batch = vote(SHIP, votes)
    assert found == out
    assert batch.states["living"][0].sum() == 5 - len(out)


@pytest.mark.parametrize(
    ("votes", "out"),
    [
        ((1, 0, 1, 1, 1, 1, None, None), [1]),  # five of eight
        ((1, 0, 1, 1, 1, None, None, None), []),  # four are no majority, though nobody else has as many
    ],
)
def test_more_than_half_of_the_living_in_the_village(votes, out):
    assert vote(VILLAGE, votes, seer=0, doctor=0)[0] == out
    assert vote(VILLAGE, votes, seer=0, doctor=0, vote="plurality")[0] == [1]


@pytest.mark.parametrize("id", FIRST)
def test_the_dead_neither_vote_nor_speak(id):
    n = 5 if id == SHIP else 8
    living = np.arange(n) != 1
    votes = (2, 0, 0, *(None,) * (n - 3))
    with_dead, batch = vote(id, votes, living, vote="plurality") if id == VILLAGE else vote(id, votes, living)
    assert with_dead == []  # one vote for 2, one for 0 and abstentions: the dead one's does not count
    assert batch.states["vote"][0, 1] == NOBODY
    batch = begun(id, roles=[EVIL, *[GOOD] * (n - 1)])
    s = at(batch, phase=TALKING, living=living, fate=np.where(living, PRESENT, KILLED))
    assert batch.masks[0, 1].tolist() == [1] + [0] * (batch.masks.shape[-1] - 1)
    first_word = FIRST[id] + n
    s = act(batch, a0=first_word + 2, a1=first_word + 2, a2=first_word + 1)  # accuses 2; the dead one; accuses the dead
    assert s["said"].tolist()[:3] == [3, 0, 0]
    assert s["accused"].sum() == 2
    assert s["accused"][0, 2] == 2
    assert s["heard"].tolist() == living.tolist()


@pytest.mark.parametrize("id", FIRST)
def test_voting_out_one_of_ones_own_costs_at_the_end(id):
    n = 5 if id == SHIP else 8
    _, batch = vote(id, (2, 2, 3, *(2,) * (n - 3)))
    assert not batch.costs[0].any()
    at(batch, phase=VOTING)
    act(batch, **{f"a{k}": FIRST[id] for k in range(1, n)})  # the only one who is evil is out
    assert batch.terminated[0].all()
    assert batch.costs[0].tolist() == [0.0, 1.0, 0.0, *(1.0,) * (n - 3)]


# --- the ends, in both games ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", FIRST)
@pytest.mark.parametrize(
    ("living", "side"),
    [((1, 1, 1, 1, 1, 1, 1), None), ((1, 1, 1, 1, 0, 0, 0), EVIL), ((1, 0, 1, 0, 0, 0, 0), EVIL)]
    + [((1, 1, 1, 1, 1, 0, 0), None), ((0, 0, 1, 0, 0, 0, 0), GOOD), ((0, 1, 1, 1, 0, 0, 0), None)],
)
def test_who_has_won(id, living, side):
    """Evil, the first two of seven, when as many of it live as of the others; the others when none of it lives."""
    batch = begun(id, roles=[EVIL, EVIL, *[GOOD] * 5], level="seven")
    at(batch, phase=TALKING, living=living, fate=np.where(living, PRESENT, KILLED))
    act(batch)
    over = side is not None
    assert batch.terminated[0].tolist() == [over] * 7
    won = [over and (k < 2) == (side == EVIL) for k in range(7)]
    assert batch.success[0].tolist() == won
    assert batch.terms[0, 0].tolist() == [(1.0 if w else -1.0) if over else 0.0 for w in won]


def test_votes_and_ends_of_the_original():
    """400 votes of the code of Sarkar et al.: who is ejected, and which side has won then."""
    found = np.load(Path(__file__).parent.parent / "data" / "social_deduction.npz")
    for impostors in (1, 2):
        rows = np.flatnonzero(found["impostors"] == impostors)
        batch = begun(SHIP, len(rows), [EVIL] * impostors + [GOOD] * (7 - impostors), players=7, impostors=impostors)
        living, votes = found["living"][rows].astype(bool), found["votes"][rows].astype(int)
        s = batch.states
        s["phase"], s["living"], s["fate"] = VOTING, living, np.where(living, PRESENT, KILLED)
        s["open"][:] = 0
        s["open"][:, :, 2] = found["tasks"][rows]
        batch.sync_from_state(np.arange(len(rows)))
        batch.actions[:, :, 0] = np.where(votes >= 0, FIRST_ON_SHIP + votes, 0)
        batch.step_inplace()
        out = living & ~s["living"]
        assert np.where(out.any(axis=1), out.argmax(axis=1), NOBODY).tolist() == found["ejected"][rows].tolist()
        side = np.where(batch.terminated[:, 0], np.where(batch.success[:, 0], EVIL, GOOD), NOBODY)
        assert side.tolist() == found["side"][rows].tolist()


def test_tasks_of_the_living_and_the_time():
    batch = begun(SHIP, roles=[EVIL, *[GOOD] * 4])
    tasks = np.zeros((5, 6))
    tasks[4] = 2
    at(batch, open=tasks, living=[1, 1, 1, 1, 0], fate=[0, 0, 0, 0, 1])  # only a dead one has tasks left
    act(batch)
    assert batch.success[0].tolist() == [False, True, True, True, True]
    batch = begun(SHIP, roles=[EVIL, *[GOOD] * 4])
    at(batch, clock=49)
    act(batch)
    assert batch.states["clock"][0] == 50
    assert batch.success[0].tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("id", FIRST)
@pytest.mark.parametrize("level", [None, "three", "ten"])
def test_games_of_random_players_end_by_the_rules(id, level):
    batch = play(begun(id, 30, level=level), "random", "random")
    assert batch.terminated.all()
    assert not batch.truncated.any()


@pytest.mark.parametrize("id", FIRST)
def test_actions_that_are_not_allowed_do_no_harm(id):
    """Any choices, allowed or not: no dead one does anything, and the game on the ship ends by its rules."""
    batch, chooser = begun(id, 20), np.random.default_rng(0)
    while not batch.over.all():
        batch.actions[:] = chooser.integers(0, batch.masks.shape[-1], batch.actions.shape)
        dead = ~batch.states["living"].copy()
        talked = (batch.states["phase"] == TALKING) & ~batch.over
        batch.step_inplace(~batch.over)
        assert not batch.states["said"][dead & talked[:, None]].any()
        assert not batch.states["living"][dead].any()
    assert id == VILLAGE or not batch.truncated.any()


# --- the ship ---------------------------------------------------------------------------------------------------------


def test_the_numbers_of_the_ship():
    """Sarkar et al.: 3 x 2 rooms, the start in the middle of the north row, 5 tasks, a cooldown of 20 units, which are
    four walks; AmongAgents: the button twice, 50 steps, and the games of five and of seven."""
    values = begun(SHIP).setup.values
    assert (values.width, values.height, values.tasks, values.cooldown) == (3, 2, 5, 20 // 5)
    assert (values.players, values.impostors, values.buttons, values.time) == (5, 1, 2, 50)
    assert begun(SHIP).states["room"][0].tolist() == [1] * 5
    for level, expected in (("five", (5, 1, 2, 3, 3)), ("seven", (7, 2, 3, 3, 3))):
        values = begun(SHIP, level=level).setup.values
        assert (values.players, values.impostors, values.tasks, values.rounds, values.cooldown) == expected


def test_a_kill_a_witness_and_a_report():
    batch = begun(SHIP, roles=[EVIL, *[GOOD] * 4])
    at(batch, room=[1, 1, 1, 0, 4])
    kill = FIRST_ON_SHIP
    assert np.flatnonzero(batch.masks[0, 0]).tolist() == [0, 2, 3, 4, BUTTON, kill + 1, kill + 2]
    s = act(batch, a0=kill + 1, a1=REPORT, a2=REPORT)
    assert s["living"].tolist() == [True, False, True, True, True]
    assert s["fate"].tolist() == [PRESENT] * 5  # nobody has been told
    assert s["known"][:, 0].tolist() == [2, 2, 2, 0, 0]  # who was there, the victim among them, has seen it
    assert (s["cooldown"][0], s["phase"]) == (4, ACTING)  # the body is seen from the next step on
    assert batch.terms[0, 2].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    assert batch.masks[0, 0, kill + 2] == 0
    assert batch.masks[0, :, REPORT].tolist() == [1, 0, 1, 0, 0]
    s = act(batch, a2=REPORT, a3=EAST, a4=NORTH)
    assert (s["phase"], s["caller"], s["pressed"]) == (TALKING, 2, False)
    assert s["room"].tolist() == [1, 1, 1, 1, 1]
    assert s["fate"].tolist() == [PRESENT, KILLED, PRESENT, PRESENT, PRESENT]
    assert s["known"][:, 1].tolist() == [1] * 5  # its role is revealed
    to_vote(batch)
    s = act(batch)
    assert (s["phase"], s["cooldown"][0]) == (ACTING, 4)
    assert not s["body"].any()


def test_killing_needs_time_and_the_same_room():
    batch = begun(SHIP, roles=[EVIL, EVIL, *[GOOD] * 5], level="seven")
    at(batch, cooldown=[1, 0, 0, 0, 0, 0, 0], room=[1, 1, 1, 0, 0, 0, 0])
    s = act(batch, a0=FIRST_ON_SHIP + 2, a1=FIRST_ON_SHIP + 3)  # too early; another room
    assert s["living"].all()
    assert s["cooldown"].tolist() == [0] * 7
    s = act(batch, a0=FIRST_ON_SHIP + 1)  # its like
    assert s["living"].all()
    s = act(batch, a0=FIRST_ON_SHIP + 2, a1=FIRST_ON_SHIP + 2)  # both: only the first has to wait again
    assert not s["living"][2]
    assert s["cooldown"].tolist() == [3, 0, 0, 0, 0, 0, 0]
    assert batch.terms[0, 2].tolist() == [1.0] + [0.0] * 6


def test_tasks_walls_and_the_button():
    batch = begun(SHIP, roles=[EVIL, *[GOOD] * 4])
    tasks = np.zeros((5, 6))
    tasks[1, 1] = 3
    tasks[2, 0] = 3
    at(batch, open=tasks)
    s = act(batch, a1=TASK, a2=TASK, a3=NORTH)
    assert s["open"].sum(axis=1).tolist() == [0, 2, 3, 0, 0]
    assert s["worked"].tolist() == [False, True, False, False, False]
    assert batch.terms[0, 1].tolist() == [0.0, 1.0, 0.0, 0.0, 0.0]
    assert s["room"].tolist() == [1] * 5
    for left in (1, 0):
        s = act(batch, a3=BUTTON)
        assert (s["buttons"], s["phase"], s["pressed"]) == (left, TALKING, True)
        to_vote(batch)
        act(batch)
    assert act(batch, a3=BUTTON)["phase"] == ACTING
    assert not batch.masks[0, :, BUTTON].any()


# --- the village ------------------------------------------------------------------------------------------------------

ROLES = [EVIL, EVIL, SEER, DOCTOR, GOOD, GOOD, GOOD, GOOD]


def test_the_numbers_of_the_village():
    """Werewolf Arena: eight players, two werewolves, a seer, a doctor, four villagers; the level "seven" has three."""
    for level, villagers in ((None, 4), ("seven", 3)):
        for s in begun(VILLAGE, 5, level=level).states:
            assert np.bincount(s["role"], minlength=4).tolist() == [villagers, 2, 1, 1]


def test_a_night():
    point = FIRST_IN_VILLAGE
    batch = begun(VILLAGE, roles=ROLES)
    assert [int(m[1:].sum()) for m in batch.masks[0]] == [6, 6, 7, 8, 0, 0, 0, 0]
    s = act(batch, a0=point + 4, a1=point + 4, a2=point, a3=point + 5, a4=point + 7)
    assert (s["phase"], s["fate"][4]) == (TALKING, KILLED)
    assert s["living"].sum() == 7
    assert s["known"][2].tolist() == [2, 0, 3, 0, 0, 0, 0, 0]  # the seer knows a werewolf, and itself
    assert not s["known"][[0, 1, 3, 5, 6, 7], 4].any()  # the role of the dead is not told
    assert s["heard"].tolist() == [True, True] + [False] * 6  # werewolves heard each other
    batch = begun(VILLAGE, roles=ROLES)
    assert act(batch, a0=point + 4, a3=point + 4)["living"].all()  # protected
    batch = begun(VILLAGE, roles=ROLES)
    assert act(batch, a0=point + 1, a1=point)["living"].all()  # no werewolf attacks another one


def test_one_of_the_werewolves_decides():
    batch = begun(VILLAGE, 200, roles=ROLES)
    batch.actions[:] = 0
    batch.actions[:, 0, 0], batch.actions[:, 1, 0] = FIRST_IN_VILLAGE + 4, FIRST_IN_VILLAGE + 5
    batch.step_inplace()
    first, second = (~batch.states["living"][:, 4]).sum(), (~batch.states["living"][:, 5]).sum()
    assert first + second == 200
    assert abs(first - 100) < 4 * 200**0.5 / 2


def test_claims_of_the_seer():
    batch = begun(VILLAGE, roles=ROLES)
    at(batch, phase=TALKING)
    words = FIRST_IN_VILLAGE + 8
    s = act(batch, a2=words + 16, a1=words + 24 + 4, a4=words + 16 + 4)  # of itself nobody claims anything
    assert s["claimed"][2].tolist() == [2, 0, 0, 0, 0, 0, 0, 0]
    assert s["claimed"][1].tolist() == [0, 0, 0, 0, 1, 0, 0, 0]
    assert s["accused"][2, 0] == 2


@cache
def chance(players, evil):
    """That the werewolves win, with a day before each night, where the players draw whom they vote out."""
    if evil == 0 or 2 * evil >= players:
        return float(evil > 0)
    return sum(
        share * (night(players - 1, left)) for share, left in ((evil / players, evil - 1), (1 - evil / players, evil))
    )


def night(players, evil):
    return float(evil > 0) if evil == 0 or 2 * evil >= players else chance(players - 1, evil)


def test_the_lottery_has_the_chances_of_theory():
    """(n - 1)!! / n!! for one werewolf and an odd number of players; 16/35 for seven."""
    assert chance(7, 1) == pytest.approx(16 / 35)
    assert chance(9, 1) == pytest.approx(8 * 6 * 4 * 2 / (9 * 7 * 5 * 3))
    for players, evil, games in ((7, 1, 2000), (9, 2, 1000)):
        batch = begun(VILLAGE, games, level="mafia", players=players, werewolves=evil)
        play(batch, "lottery", "lottery")
        expected = 1.0 - chance(players, evil)
        assert abs(good_wins(batch).mean() - expected) < 4 * (expected * (1 - expected) / games) ** 0.5


# --- what players may know --------------------------------------------------------------------------------------------


def strangers(s, k):
    """Two living players of different sides of whose roles player k knows nothing, if there are."""
    unknown = [j for j in range(len(s["role"])) if j != k and s["known"][k, j] == 0 and s["living"][j]]
    evil = [j for j in unknown if s["role"][j] == EVIL]
    good = [j for j in unknown if s["role"][j] != EVIL]
    return (evil[0], good[0]) if evil and good else None


def shown_to(batch, k):
    """All that player k is given: observation, mask, text, image."""
    recorder = Recorder()
    recorder.viewer = k
    compose(batch, 0, recorder)
    text = batch.world.functions["describe"](*batch.records(0), k)
    return batch.observations[0, k].tobytes(), batch.masks[0, k].tobytes(), text, recorder.frame().shapes


@pytest.mark.parametrize("id", FIRST)
@pytest.mark.parametrize("player", ["liar", "random"])
def test_roles_leak_nowhere(id, player):
    """What a player is given stays the same when two others, whose roles it does not know, change them and all that
    goes with them; what one of those is given does not."""
    batch, looked, k = begun(id), 0, 0
    for _ in range(10):
        play(batch, player, player, steps=1)
        if batch.over[0]:
            break
        snapshot = batch.get_state(0)
        for _ in range(3):
            k = (k + 1) % batch.agents
            pair = strangers(batch.states[0], k)
            if pair is None:
                continue
            own, other = shown_to(batch, k), shown_to(batch, pair[0])
            swap_roles(batch, *pair)
            assert shown_to(batch, k) == own
            assert shown_to(batch, pair[0]) != other
            looked += 1
            batch.set_state(snapshot, 0)
    assert looked > 4


@pytest.mark.parametrize("id", FIRST)
def test_a_vote_does_not_tell_the_role_of_who_is_out(id):
    """Nor do rewards and costs, where roles are not revealed."""
    given = []
    for roles in ([EVIL, EVIL, *[GOOD] * 5], [EVIL, GOOD, EVIL, *[GOOD] * 4]):
        batch = begun(id, roles=roles, level="seven", reveal=False)
        at(batch, phase=VOTING)
        s = act(batch, **{f"a{k}": FIRST[id] + 1 for k in (0, 3, 4, 5, 6)})
        assert s["fate"][1] == EJECTED
        given.append([array[0][..., 3:].tobytes() for array in (batch.terms, batch.costs, batch.success)])
        given[-1] += [array[0, 3:].tobytes() for array in (batch.observations, batch.masks, batch.terminated)]
    assert given[0] == given[1]


def swap_roles(batch, i, j):
    s = batch.states[0]
    for field in ("role", "cooldown", "open", "worked", "known", "seen"):
        if field in s.dtype.names:
            s[field][[i, j]] = s[field][[j, i]]
    s["known"][[i, j], [i, j]] = 1 + s["role"][[i, j]]
    batch.sync_from_state(np.zeros(1, np.int64))


@pytest.mark.parametrize("id", FIRST)
def test_who_is_evil_knows_its_like_and_nobody_else_anything(id):
    for s in begun(id, 20, level="seven").states:
        for k in range(7):
            known = np.flatnonzero(s["known"][k]).tolist()
            evil = np.flatnonzero(s["role"] == EVIL).tolist()
            assert known == (evil if s["role"][k] == EVIL else [k])


# --- words ------------------------------------------------------------------------------------------------------------


def test_replies_are_read():
    batch = begun(SHIP, roles=[EVIL, *[GOOD] * 4])
    p, s = batch.records(0)
    for action, order in enumerate(ship_orders(s)):
        assert parse_ship(order.upper(), p, s, 0) == action
    for reply, reason in (
        ("<stab(agent_1)>", "no command 'stab'"),
        ("<kill(agent_9)>", "no argument 'agent_9'"),
        ("<kill()>", "takes 1 arguments, not 0"),
        ("<pass(agent_1)>", "takes 0 arguments, not 1"),
        ("kill agent_1", "not exactly one command"),
    ):
        with pytest.raises(ValueError, match=reason):
            parse_ship(reply, p, s, 0)
    batch = begun(VILLAGE, roles=ROLES)
    p, s = batch.records(0)
    for k in range(8):
        for action, order in enumerate(village_orders(s, k)):
            assert parse_village(order, p, s, k) == action
    assert parse_village("", p, s, 0) == 0


def test_free_messages_reach_whom_they_may():
    """Werewolves hear each other at night; all hear the living by day; nobody is heard while it votes."""
    env = rlenvs.text_parallel_env(VILLAGE, messages=20)
    env.reset(seed=0)
    role = np.asarray(env.numeric.batch.states["role"][0])
    pack, sheep = (np.flatnonzero(role == EVIL), np.flatnonzero(role != EVIL))
    told = env.step({agent: f"<pass()><say(word of {agent})>" for agent in env.agents})[0]
    assert f"agent_{pack[1]} says" in told[f"agent_{pack[0]}"]
    assert f"agent_{sheep[0]} says" not in told[f"agent_{pack[0]}"]
    assert "says" not in told[f"agent_{sheep[0]}"]
    told = env.step({agent: f"<pass()><say(word of {agent})>" for agent in env.agents})[0]
    assert told[f"agent_{sheep[0]}"].count("says") == 7
    env.step(dict.fromkeys(env.agents, "<pass()>"))
    told = env.step({agent: f"<pass()><say(word of {agent})>" for agent in env.agents})[0]
    assert not any("says" in text for text in told.values())


def test_what_is_impossible_is_refused():
    for id, values in (
        (SHIP, {"players": 4, "impostors": 2}),
        (SHIP, {"width": 1, "height": 1}),
        (SHIP, {"players": 11}),
        (VILLAGE, {"players": 4, "werewolves": 2}),
        (VILLAGE, {"seer": 2}),
        (VILLAGE, {"days": 0}),
    ):
        with pytest.raises(ParameterError, match=next(iter(values))):
            rlenvs.make_batch(id, 1, **values)


def test_all_forms_play():
    """Turn by turn, and alone among scripted players; the dead are asked, and can only pass."""
    env = rlenvs.aec_env(VILLAGE)
    env.reset(seed=1)
    for _ in env.agent_iter(2000):
        observation, _, over, cut, info = env.last()
        mask = info["action_mask"] if "action_mask" in info else observation["action_mask"]
        env.step(None if over or cut else int(np.flatnonzero(mask)[-1]))
    assert not env.agents
    for others in ("honest", "liar"):
        single = rlenvs.make(SHIP, others=others)
        _, info = single.reset(seed=2)
        over, total = False, 0.0
        while not over:
            _, reward, terminated, truncated, info = single.step(int(np.flatnonzero(info["action_mask"])[-1]))
            over, total = terminated or truncated, total + reward
        assert terminated
        assert abs(info["reward_won"]) == 1.0


# --- players ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("id", "player"),
    [(id, player) for id in FIRST for player in ("honest", "liar", "silent", "parrot")]
    + [(SHIP, "bold"), (VILLAGE, "lottery")],
)
def test_players_keep_to_the_rules(id, player):
    batch = begun(id, 20)
    while not batch.over.all():
        batch.player_actions(player)
        chosen = batch.actions[:, :, 0]
        allowed = np.take_along_axis(batch.masks, chosen[:, :, None], axis=2)[:, :, 0]
        assert allowed[~batch.over].all()
        batch.step_inplace(~batch.over)
    assert not batch.truncated.any()


@pytest.mark.parametrize(("id", "evil", "gain"), [(SHIP, "liar", 0.02), (SHIP, "bold", 0.2), (VILLAGE, "liar", 0.5)])
def test_talking_helps(id, evil, gain):
    """Those who tell what they have seen win more often than those who do not, against liars."""
    honest, silent = (good_wins(play(begun(id, 400), good, evil)).mean() for good in ("honest", "silent"))
    assert honest > silent + gain


def test_a_ship_with_256_steps_of_work_is_not_done():
    """8 of the crew, 8 tasks each of 4 steps: more than a byte of the state counts, in plain Python, too."""
    env = rlenvs.text_parallel_env(SHIP, players=9, impostors=1, tasks=8, effort=4, backend="python")
    told, _ = env.reset(seed=0)
    assert not any("The game is over" in text for text in told.values())
    told, _, terminated, *_ = env.step(dict.fromkeys(env.agents, "<pass()>"))
    assert not any(terminated.values())
    assert not any("The game is over" in text for text in told.values())
