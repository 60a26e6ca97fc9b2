"""Defeat roaches: command marines against wave after wave of four roaches.

## Description
The mini-game of SC2LE (Vinyals et al., "StarCraft II: A New Challenge for Reinforcement Learning", 2017; repository
deepmind/pysc2) that rewards focused fire. Nine marines and four roaches stand in lines on opposite sides; when all
roaches are dead, four new ones appear, and five more marines. Rules, sizes and positions are those of the map's script,
unit numbers those of StarCraft II. Different from the original: the player gives orders directly, to all marines, the
one nearest to a point or the weakest, without selecting them first; units turn and accelerate instantly and their shots
hit instantly; idle units individually attack enemies that come within `alert` or hurt them; there are at most 48
marines; positions are observed as numbers, and as a feature map with `pixels`.

## Action Space
0: no new order. Then orders to all marines to move to point 0, 1, ... of the field, counted row by row from the lower
left corner; to all to attack there; to the nearest marine to move there; to it to attack there; to the weakest of
those that are not moving to move there; to it to attack there. Marines ordered to attack shoot at enemies near their
path; an attack on a point where an enemy stands attacks that enemy first. A step is 8 ticks of the game.

## Observation Space
A row per marine and per enemy, zeros for dead units; positions from -1 to 1 across the field of 22 by 16 units, health
and cooldown as fractions of their maximum. With `pixels` also a feature map, lowest row first: marines and enemies,
with their health as brightness, and goals of orders.

## Rewards
10 for each roach killed, -1 for each marine lost.

## Costs
None.

## Starting State
Two groups in vertical lines around random places, on random opposite sides; the middles of the lines are 10 to 18
units apart. A new wave repositions all units. Health is kept.

## Episode End
Termination: all marines are dead, even if the last roach died in the same tick. Truncation: 120 seconds of 16 ticks,
240 steps of 8 ticks. Success: a score of 100, which SC2LE's best agent reached.

## Parameters
`step_mul` changes the number of steps but not the duration of an episode.

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
