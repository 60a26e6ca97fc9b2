"""CoinCollector: walk through a chain of rooms with dead ends, and take the coin in the last one.

## Description
TextWorld's coin collector (Cote et al. 2018), a text game that asks for exploration and memory: rooms look alike but
for their names, and the coin is at the other end. Its 300 published levels are `game="coin-collector-1"` to
`"coin-collector-300"`. Level n has a quest of (n - 1) mod 100 + 1 commands, the last of which takes the coin, in as
many rooms; from level 101 on each room of the chain has a dead end of one room, from 201 on two. Chain and dead ends
are drawn anew in each episode, and so are the places of the names. As in the original, ways need not fit on a grid.
TextWorld 1.7 itself refuses more than 100 rooms.

## Action Space
look, inventory, go north, go south, go east, go west, examine, take coin. The mask allows what is possible; a
command that is not does what look does. `rlenvs.text_env` takes replies in words.

## Observation Space
Facts, each 0 or 1: the room by its name, where the coin is, if it is told of, and its properties, for each direction
whether there is an exit and whether one can go, and the quests done. For `observation`, `auto_look` and `memory` see
TextAdventure-v0. Learners need a memory, or `memory=True`.

## Rewards
`score`: 1 for the coin. `intermediate` (weight 0) is TextWorld's intermediate reward, for `intermediate=True`: 1 for a
command on the way, -1 for one that leads away, 0 for one that changes nothing.

## Costs
None.

## Starting State
The player is at one end of the chain, the coin at the other.

## Episode End
Termination: the coin is taken, a success. Truncation: ten times the commands of the quest.

## Parameters
None. Levels: `easy` is level 5, `medium` 110, `hard` 210, `longest` 300; the default is 10.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the map.

## Version History
v0: first version.
"""

from rlenvs.single.text.adventure import SPEC as ADVENTURE

SPEC = ADVENTURE.member(
    "CoinCollector-v0",
    doc=__doc__,
    source="TextWorld 1.7 tw-coin_collector (Cote et al. 2018, arXiv 1806.11532)",
    game="coin-collector-10",
    levels={
        "easy": {"game": "coin-collector-5"},
        "medium": {"game": "coin-collector-110"},
        "hard": {"game": "coin-collector-210"},
        "longest": {"game": "coin-collector-300"},
    },
)
