"""TidyHouse: put what is out of place where it belongs, as common sense says.

## Description
A house in disorder, after TextWorld Commonsense (TWC, Murugesan et al. 2021): nobody says where things belong, so an
agent needs to know, or to learn, that a dirty plate goes into the dishwasher and a clean one into the cupboard. Each
episode is a new game: one of eight rooms or two that lie side by side, with their furniture, and objects in wrong
places, all drawn from its seed.

| level | objects | fetched | rooms |
|---|---|---|---|
| easy | 1 | 1 | 1 |
| medium | 2 or 3 | 1 to all | 1 |
| hard | 6 or 7 | 5 to all | 1 or 2 |

These are TWC's; the objects that need not be fetched are carried at the start. `game="tidy-LEVEL-SPLIT"` has three
splits: `train` and `valid` share 64 objects, and no game (objects and places at the start) is in both; `test` has 32
other ones, which are in no game of theirs. All have the same commands and observations, so that agents trained on one
play the others.

Different from TWC, which has 15 games per level, 501 objects and 56 pieces of furniture: games are drawn without end,
from 96 objects and 47 pieces of furniture with this package's names; all furniture of a room is there; misplaced things
lie on the floor or on the 17 pieces that hold anything. Test games of the hard level always have two rooms, because no
room has six objects that are held out. As in TWC containers are open, and several places may be right.

## Action Space
One of all commands: look, inventory, go, examine, take, drop, insert, put, open, close, with all things for which they
can make sense. The mask allows what is possible; a command that is not does what look does. `rlenvs.text_env` takes
replies in words.

## Observation Space
Facts, each 0 or 1: the room, what each thing that is told of is (in the room, carried, in or on something; open,
closed), for each direction whether there is an exit and whether one can go, and the objects put into place. For
`observation`, `auto_look` and `memory` see TextAdventure-v0.

## Rewards
`score`: 1 for each object that is put into or onto a place where it belongs, once, as TWC has it by default.
`intermediate` (weight 0) is TextWorld's intermediate reward, for `intermediate=True`: 1 if the winning plan became
shorter, -1 if it became longer.

## Costs
None.

## Starting State
The player is in the first room. Rooms, objects and their places are drawn, the wrong places among all floors and
surfaces that there are.

## Episode End
Termination: all objects are where they belong, a success. Truncation: 50 commands, as published.

## Parameters
None. Levels: `easy`, `medium`, `hard`, and each with `-valid` and `-test`; the default is medium.

## Reference Scores
Mean return over seeds 0 to 99. The expert knows where things belong and puts away one after the other.

## Version History
v0: first version.
"""

from rlenvs.single.text.adventure import SPEC as ADVENTURE
from rlenvs.single.text.household import DIFFICULTIES, SPLITS

SPEC = ADVENTURE.member(
    "TidyHouse-v0",
    doc=__doc__,
    source="TextWorld Commonsense (Murugesan et al. 2021, arXiv 2010.03790; IBM/commonsense-rl)",
    game="tidy-medium-train",
    levels={
        f"{level}-{split}".removesuffix("-train"): {"game": f"tidy-{level}-{split}"}
        for level in DIFFICULTIES
        for split in SPLITS
    },
)
