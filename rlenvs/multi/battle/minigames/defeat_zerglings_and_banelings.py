"""Defeat zerglings and banelings: command marines against waves of six zerglings and four exploding banelings.

## Description
The mini-game of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning", 2017; repository
deepmind/pysc2) that punishes dense groups: a baneling explodes among the marines, or where it is shot. When all enemies
are dead, the same number appears again, and four more marines. Rules, sizes and positions are those of the map's
script, unit numbers those of StarCraft II; a baneling that explodes counts as killed, as there. Different from the
original: the player gives orders directly, to all marines, the one nearest to a point or the weakest, without selecting
them first; units turn and accelerate instantly and their shots hit instantly; idle units individually attack enemies
that come within `alert` or hurt them; the enemies are placed within 1 unit of the middle of their group (there, on one
spot, from which the engine spreads them); there are at most 48 marines; positions are observed as numbers, and as a
feature map with `pixels`.

## Action Space
0: no new order. Then orders to all marines to move to point 0, 1, ... of the field, counted row by row from the lower
left corner; to all to attack there; to the nearest marine to move there; to it to attack there; to the weakest of
those that are not moving to move there; to it to attack there. Marines ordered to attack shoot at enemies near their
path; an attack on a point where an enemy stands attacks that enemy first. A step is 8 ticks of the game.

## Observation Space
A row per marine and per enemy, zeros for dead units; positions from -1 to 1 across the field of 22 by 16 units, health
and cooldown as fractions of their maximum. With `pixels` also a feature map, lowest row first: marines, zerglings and
banelings, with their health as brightness, and goals of orders.

## Rewards
5 for each enemy killed, -1 for each marine lost.

## Costs
None.

## Starting State
The marines are in a vertical line around a random place, the enemies in a group, on random opposite sides; the middles
are 10 to 18 units apart. A new wave repositions all units. Health is kept.

## Episode End
Termination: all marines are dead, even if the last enemy died in the same tick. Truncation: 120 seconds of 16 ticks,
240 steps of 8 ticks. Success: a score of 62, which SC2LE's FullyConv agent reached.

## Parameters
`step_mul` changes the number of steps but not the duration of an episode.

## Reference Scores
Mean return over seeds 0 to 99. SC2LE's random policy: 23, its FullyConv agent: 62, a grandmaster: 727, relational
agents (Zambaldi et al., 2019): 736.

## Version History
v0: first version.
"""

from rlenvs.multi.battle.minigames.language import foe_texts, report
from rlenvs.multi.battle.minigames.squads import BANELING, ZERGLING
from rlenvs.multi.battle.minigames.waves import wave_game

WORTH = 5.0

SPEC = wave_game(
    "DefeatZerglingsAndBanelings-v0",
    __doc__,
    source="pysc2 DefeatZerglingsAndBanelings (Vinyals et al., 2017)",
    foes=6 * [ZERGLING] + 4 * [BANELING],
    worth=WORTH,
    enough=62.0,  # what SC2LE's FullyConv agent reached
    fresh=4,
    crowd=1.0,
)


@SPEC.describe
def describe(p, s, k):
    task = f"Defeat zerglings and exploding banelings ({WORTH:g} points each) without losing marines (1 point each)."
    return report(p, s, "DefeatZerglingsAndBanelings", foe_texts(p, s, False), task, 2, 3)
