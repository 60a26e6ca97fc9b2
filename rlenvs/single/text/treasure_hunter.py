"""TreasureHunter: find the one of two objects that is asked for, through doors, containers and locks.

## Description
TextWorld's treasure hunter (Cote et al. 2018, after Parisotto and Salakhutdinov 2017). Its 30 published levels are
`game="treasure-hunter-1"` to `"treasure-hunter-30"`: 1 to 10 with 5 rooms, no doors and nothing but two objects, and a
quest of 1 to 5 commands; 11 to 20 with 10 rooms, doors and ten containers and supporters, of which some are closed, and
2 to 10 commands; 21 to 30 with 20 rooms, twenty containers and supporters, locks whose keys are carried, and 3 to 20
commands. Map, furniture and quest are drawn anew in each episode.

The map is a random walk on a grid, and there are doors between rooms without which the map falls apart, as in the
original. The quest goes back from the object through open doors into new rooms, and closes or locks by chance what it
passes. The map may have cycles, so that there may be shorter ways than the quest, as in the original. Differences: both
objects are plain objects, names are this package's, and the quest starts anew on another map where it finds no way
back.

## Action Space
One of all commands: look, inventory, go, examine, take, drop, insert, put, open, close, lock, unlock, with all things
for which they can make sense. The mask allows what is possible; a command that is not does what look does.
`rlenvs.text_env` takes replies in words.

## Observation Space
Facts, each 0 or 1: the room by its name, what each thing that is told of is (in the room, carried, in or on something;
open, closed, locked), for each direction whether there is an exit and whether one can go, the target, and the quests
done. For `observation`, `auto_look` and `memory` see TextAdventure-v0.

## Rewards
`score`: 1 for the object that is asked for. `intermediate` (weight 0) is TextWorld's intermediate reward, for
`intermediate=True`: 1 if the winning plan became shorter, -1 if it became longer or the game is lost.

## Costs
None.

## Starting State
The player is where the quest begins.

## Episode End
Termination: the object is taken, a success, or the other one, a loss. Truncation: ten times the commands of the quest.

## Parameters
None. Levels: `easy` is level 1, `medium` 15, `hard` 25, `longest` 30; the default is 10.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows the map and goes the shortest way.

## Version History
v0: first version.
"""

from rlenvs.single.text.adventure import SPEC as ADVENTURE

SPEC = ADVENTURE.member(
    "TreasureHunter-v0",
    doc=__doc__,
    source="TextWorld 1.7 tw-treasure_hunter (Cote et al. 2018, arXiv 1806.11532)",
    game="treasure-hunter-10",
    levels={
        "easy": {"game": "treasure-hunter-1"},
        "medium": {"game": "treasure-hunter-15"},
        "hard": {"game": "treasure-hunter-25"},
        "longest": {"game": "treasure-hunter-30"},
    },
)
