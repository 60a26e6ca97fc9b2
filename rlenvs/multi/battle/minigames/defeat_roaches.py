"""Defeat roaches: marines meet wave after wave of four roaches.

## Description
The mini-game of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning", 2017; repository
deepmind/pysc2) that rewards focused fire. Nine marines and four roaches stand in lines on opposite sides; when the
roaches have fallen, four new ones come, and five marines to those that are left. Rules, sizes and places are those of
the map's script, unit numbers StarCraft II's. Different from the original: the player gives orders directly, to all
marines, the one nearest to a point or the weakest, and needs not select them first; units turn and accelerate at once
and their shots hit at once; idle units attack enemies that come within `alert` or hurts them, each for itself; there
are at most 48 marines; positions are observed as numbers, and as a feature map with `pixels`.

## Action Space
0: no new order. Then orders to all marines to move to point 0, 1, ... of the field, counted row by row from the lower
left corner; to all to attack there; to the nearest marine to move there; to it to attack there; to the weakest of
those that are not moving to move there; to it to attack there. Marines that attack shoot at enemies near their way;
an attack on a point where an enemy stands is an attack on that enemy first. A step is 8 ticks of the game.

## Observation Space
A row per marine and per enemy, zeros for the fallen; places from -1 to 1 across the field of 22 by 16 units, health
and cooldown as shares of the whole. With `pixels` also a feature map, lowest row first: marines and enemies, as bright
as they are healthy, and goals of orders.

## Rewards
10 for each roach that falls, -1 for each marine.

## Costs
None.

## Starting State
Two groups in vertical lines around random places, on random opposite sides; the middles of the lines are 10 to 18
units apart. A new wave places everybody anew. Health is kept.

## Episode End
Termination: all marines have fallen, also when the last roach fell in the same tick. Truncation: 120 seconds of 16
ticks, 240 steps of 8 ticks. Success: a score of 100, which SC2LE's best agent reached.

## Parameters
`step_mul` keeps the time of an episode and changes the number of steps.

## Reference Scores
Mean return over seeds 0 to 99. SC2LE's random policy: 1, its best agent: 100, a grandmaster: 215, relational agents
(Zambaldi et al., 2019): 303.

## Version History
v0: first version.
"""

from rlenvs.multi.battle.minigames.language import foe_texts, report
from rlenvs.multi.battle.minigames.squads import ROACH
from rlenvs.multi.battle.minigames.waves import wave_game

WORTH = 10.0

SPEC = wave_game(
    "DefeatRoaches-v0",
    __doc__,
    source="pysc2 DefeatRoaches (Vinyals et al., 2017)",
    foes=4 * [ROACH],
    worth=WORTH,
    enough=100.0,  # what SC2LE's best agent reached
    fresh=5,
    steps_back=True,
)


@SPEC.describe
def describe(p, s, k):
    task = f"Defeat roaches ({WORTH:g} points each) without losing marines (1 point each)."
    return report(p, s, "DefeatRoaches", foe_texts(p, s, False), task, 2, 3)
