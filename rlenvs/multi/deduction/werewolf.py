"""Werewolf: by night werewolves kill, by day the village talks in few words and votes.

## Description
The table game (Mafia, Dimitry Davidoff, 1986; Werewolf, Andrew Plotkin, 1997) with the roles and rules of Werewolf
Arena (Bailis, Friedhoff and Chen, 2024): eight players, of whom two are werewolves, one the seer, one the doctor. Each
night the werewolves, who know each other, attack a player (one of them, drawn at random, decides), the doctor protects
one, itself perhaps, and the seer learns the role of one. The victim dies if it is not protected. By day all learn who
has died, speak `rounds` times, at once, in a small vocabulary, and vote. Out is for whom more than half of the living
vote (`vote="majority"`), or who has most votes, nobody if two have as many or as many abstain ("plurality").
The village wins when no werewolf lives, the werewolves when as many of them live as others.

Words are those that artificial players of Werewolf agree on, much reduced: accusations, vouching, and claims to be the
seer and to have found a werewolf or an innocent player. Who is dead does nothing, is heard by nobody, and wins or loses
with its side.

The level "mafia" is the game of theory: no seer and no doctor, the first vote before the first night, all roles told
when players die. Braverman, Etesami and Mossel ("Mafia: a theoretical study of players and coalitions in a partial
information environment", 2008) show that the village can then do no better than to draw together whom it votes out; the
scripted player "lottery" does so with its words. The chance of the werewolves is w(n, m) = m/n w'(n - 1, m - 1) +
(1 - m/n) w'(n - 1, m) with a night between votes; for one werewolf and an odd number of players it is
(n - 1)!!/n!! (Migdal, 2010): 16/35 = 0.457 for seven.

Scripted players, each in all roles: "honest" (the seer tells what it learns, the good believe a seer that has not been
caught lying, werewolves attack who claims to be the seer), "liar" (a werewolf that claims to be the seer), "silent",
"parrot" (repeats what most say), "lottery", "random". Win rates by role of each pair are in `benchmarks/deduction.md`.

What differs from Werewolf Arena: all speak at once and the same number of times, where there players bid for eight
turns; votes are seen by all; players may abstain; werewolves that choose nobody attack nobody.

## Action Space
0: pass (do nothing, be silent, abstain); name a player (`players`: at night to attack, check or protect it, in a vote
to vote for it); then the words: accuse a player, vouch for a player, claim to be the seer and that a player is a
werewolf, or is not. Masked: what the rules do not allow; choosing it is a pass.

## Observation Space
What one knows: the own role, those of other werewolves, those that the seer has learned, with `reveal` those of the
dead; who is in the game, the words of the last round, the last votes, who has accused whom, what players that claim to
be the seer have told. Nothing of it depends on roles that the player does not know.

## Rewards
`won`: 1 for each player of the side that wins, -1 for the others, the dead included.

## Costs
`innocent_ejected`: the votes of a good player by which others of them were voted out, at the end of the game, since
earlier it would tell their roles.

## Starting State
Random roles; the first night, or with `first="day"` the first meeting.

## Episode End
Termination: one of the sides wins. Truncation: after `days` days. Success: one's side has won.

## Parameters
`players`, `werewolves`, `seer`, `doctor`, `rounds`, `days`, `vote`, `first`, `reveal`.

## Reference Scores
Mean return over seeds 0 to 99, summed over all players; the expert is "honest", in all roles.

## Version History
v0: first version.
"""

from rlenvs.core import block, choice, constraint, cost, data_option, discrete, flag, i1, i8, integer, term, world
from rlenvs.multi.deduction.language import describe_village, heard_in_village, parse_village
from rlenvs.multi.deduction.meeting import (
    ACTING,
    EJECTED,
    EVIL,
    MOST_PLAYERS,
    MOST_ROUNDS,
    NOBODY,
    TALKING,
    bits,
    blame,
    counts,
    give_role,
    hold_vote,
    open_meeting,
    playing,
    remove,
    seat_players,
    settle,
    show_table,
    table_blocks,
    table_state,
    talk,
    winners,
)
from rlenvs.multi.deduction.render import draw_village
from rlenvs.multi.deduction.village import (
    DOCTOR,
    FIRST_PLAYER,
    MAJORITY,
    SEER,
    VOTE,
    WEREWOLF,
    is_legal,
    note_claims,
    pass_night,
)
from rlenvs.multi.deduction.village_players import (
    choose_honest,
    choose_liar,
    choose_lottery,
    choose_parrot,
    choose_random,
    choose_silent,
)

FIRST = choice("night", "day", doc="how the game begins")
NIGHT, DAY = FIRST.codes("night", "day")
MOST_DAYS = 100


def sizes_of(values):
    words = 1 + 4 * values.players
    return {
        "agents": values.players,
        "words": words,
        "moves": FIRST_PLAYER + values.players + words - 1,
        "rounds": values.rounds,
    }


def choice_names(values):
    """Of all actions, in their order."""
    verbs = ("choose", "accuse", "vouch for", "as seer call a werewolf", "as seer call innocent")
    return ["pass", *(f"{verb} agent {j}" for verb in verbs for j in range(values.players))]


SPEC = world(
    "Werewolf-v0",
    doc=__doc__,
    source="Bailis, Friedhoff, Chen, Werewolf Arena, arXiv 2407.13943, 2024 (roles, nights, votes); Braverman, "
    "Etesami, Mossel, Annals of Applied Probability 18, 2008, and Migdal, arXiv 1009.1031 (without seer and doctor)",
    agents=True,
    options={
        "players": data_option(integer(8, 3, MOST_PLAYERS, "number of players")),
        "werewolves": integer(2, 1, 4, "werewolves among them"),
        "seer": integer(1, 0, 1, "seers among them"),
        "doctor": integer(1, 0, 1, "doctors among them"),
        "rounds": integer(2, 1, MOST_ROUNDS, "how often each speaks on a day"),
        "days": integer(20, 1, MOST_DAYS, "days after which the game is broken off"),
        "vote": VOTE,
        "first": FIRST,
        "reveal": flag(False, "whether all learn the roles of the dead"),
    },
    constraints=[
        constraint(
            *("players", "werewolves"),
            holds=lambda players, werewolves: 2 * werewolves < players,
            doc="werewolves are fewer than the others: 2 * werewolves < players",
        ),
        constraint(
            *("players", "werewolves", "seer", "doctor"),
            holds=lambda players, werewolves, seer, doctor: werewolves + seer + doctor <= players,
            doc="there is a player for each role: werewolves + seer + doctor <= players",
        ),
    ],
    sizes=sizes_of,
    players=("honest", "liar", "silent", "parrot", "lottery", "random"),
    state={
        **table_state(4),
        "claimed": i1("agents", "agents").within(0, WEREWOLF),  # what the first, as seer, has told of the second
        "day": i8.within(0, MOST_DAYS),
    },
    observation={
        **table_blocks(4, "night, discussion, vote"),
        "role": bits(4, doc="villager, werewolf, seer, doctor"),
        "claimed": counts(
            *("agents", "agents"),
            high=WEREWOLF,
            doc="what the first, claiming to be the seer, has told of the second: 1 innocent, 2 a werewolf",
        ),
        "day": block(low=0, high=1, raw=True, doc="part of the days that has begun"),
    },
    action=lambda values: discrete(*choice_names(values), size="moves"),
    terms={"won": term(-1.0, 1.0, 1.0, "1 for the side that wins, -1 for the other one")},
    costs={"innocent_ejected": cost(1.0, MOST_PLAYERS, "votes of the good by which one of them is voted out")},
    horizon=lambda values: values.days * (values.rounds + 2),
    fps=2,
    levels={
        "three": {"players": 3, "werewolves": 1, "seer": 0, "doctor": 0, "first": "day"},
        "seven": {"players": 7},
        "ten": {"players": 10, "werewolves": 3},
        "mafia": {"players": 7, "werewolves": 1, "seer": 0, "doctor": 0, "first": "day", "reveal": True},
        "plurality": {"vote": "plurality", "reveal": True},
    },
)


@SPEC.reset
def reset(p, s, rng):
    give_role(s, EVIL, p.werewolves, rng)
    give_role(s, SEER, p.seer, rng)
    give_role(s, DOCTOR, p.doctor, rng)
    seat_players(s)
    if p.first == DAY:
        open_meeting(s)


@SPEC.step
def step(p, s, a, rng, r):
    for k in range(s.living.size):
        s.heard[k] = False
    if s.phase == ACTING:
        s.day = min(s.day + 1, MOST_DAYS)
        pass_night(s, a, p.reveal, rng)
    elif s.phase == TALKING:
        talk(s, a, FIRST_PLAYER + s.living.size, p.rounds)
        note_claims(s)
    else:
        out = hold_vote(s, a, FIRST_PLAYER, p.vote == MAJORITY)
        blame(s, out)
        if out != NOBODY:
            remove(s, out, EJECTED, p.reveal)
        s.phase = ACTING
    settle(s, winners(s), r)


@SPEC.mask
def mask(p, s, k, m):
    for action in range(m.size):
        m[action] = is_legal(s, k, action)


@SPEC.observe
def observe(p, s, k, o):
    show_table(s, k, o)
    o.role[:] = 0.0
    o.role[s.role[k]] = 1.0
    o.day = min(s.day / p.days, 1.0)
    for i in range(s.living.size):
        for j in range(s.living.size):
            o.claimed[i, j] = s.claimed[i, j]


# --- players ----------------------------------------------------------------------------------------------------------


for name, choose in {
    "honest": choose_honest,
    "liar": choose_liar,
    "silent": choose_silent,
    "parrot": choose_parrot,
    "lottery": choose_lottery,
}.items():
    SPEC.player(name)(playing(choose))


@SPEC.player("random")
def play_random(p, s, k, a, rng):
    a[k] = choose_random(p, s, k, rng)


# --- words and images -------------------------------------------------------------------------------------------------

SPEC.describe(describe_village)
SPEC.parse_action(parse_village)
SPEC.hears(heard_in_village)


@SPEC.draw
def draw(canvas, p, s):
    draw_village(canvas, p, s)
