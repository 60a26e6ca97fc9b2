"""A house, and where the things of everyday life belong in it, for the games that ask to tidy up.

The eight rooms, and which of them lie side by side, are those of TextWorld Commonsense; furniture and objects are this
package's. An object belongs in or on any of its places. Objects that are held out are met in test games only.
"""

from __future__ import annotations

from typing import NamedTuple

HOUSE_ROOMS: dict[str, dict[str, str]] = {
    "corridor": {"west": "bedroom", "east": "bathroom", "south": "kitchen"},
    "kitchen": {"west": "living room", "east": "pantry", "south": "backyard"},
    "living room": {"north": "bedroom"},
    "pantry": {},
    "bedroom": {},
    "bathroom": {"east": "laundry room"},
    "laundry room": {},
    "backyard": {},
}
# by room: what may hold misplaced things, and what holds only what belongs there
SURFACES = {
    "kitchen": ("counter", "dining table", "kitchen chair"),
    "pantry": ("pantry shelf", "folding chair"),
    "living room": ("sofa", "coffee table", "armchair"),
    "bedroom": ("bed", "desk", "nightstand"),
    "bathroom": ("bath mat",),
    "corridor": ("bench",),
    "laundry room": ("work table", "ironing board"),
    "backyard": ("patio table", "patio chair"),
}
KEPT = {
    "kitchen": ("fridge", "kitchen cupboard", "dishwasher", "cutlery drawer", "trash can", "stove"),
    "pantry": ("spice rack", "wine rack"),
    "living room": ("bookcase", "tv stand", "magazine rack"),
    "bedroom": ("wardrobe", "chest of drawers"),
    "bathroom": ("bathroom cabinet", "towel rail", "toilet roll holder", "shower", "sink"),
    "corridor": ("coat hanger", "hat rack", "umbrella stand", "shoe cabinet", "key holder"),
    "laundry room": ("washing machine", "laundry basket", "utility shelf"),
    "backyard": ("clothesline", "workbench", "tool rack", "barbecue"),
}
OPEN_CONTAINERS = (
    *("fridge", "kitchen cupboard", "dishwasher", "cutlery drawer", "trash can", "bookcase", "wardrobe"),
    *("chest of drawers", "bathroom cabinet", "shower", "shoe cabinet", "washing machine", "laundry basket"),
)
_DIRTY, _TOOLS = ("washing machine", "laundry basket"), ("workbench", "tool rack")
LEARNT: dict[str, tuple[str, ...]] = {
    "dirty plate": ("dishwasher",),
    "clean plate": ("kitchen cupboard",),
    "dirty fork": ("dishwasher",),
    "clean fork": ("cutlery drawer",),
    "milk carton": ("fridge",),
    "raw steak": ("fridge",),
    "banana peel": ("trash can",),
    "frying pan": ("stove", "kitchen cupboard"),
    "flour bag": ("pantry shelf",),
    "rice packet": ("pantry shelf",),
    "canned beans": ("pantry shelf",),
    "pasta packet": ("pantry shelf",),
    "pepper mill": ("spice rack",),
    "paprika jar": ("spice rack",),
    "red wine": ("wine rack",),
    "champagne": ("wine rack",),
    "novel": ("bookcase", "nightstand"),
    "atlas": ("bookcase",),
    "photo album": ("bookcase",),
    "cushion": ("sofa", "armchair"),
    "wool blanket": ("sofa", "bed"),
    "remote control": ("tv stand", "coffee table"),
    "game console": ("tv stand",),
    "newspaper": ("magazine rack", "coffee table"),
    "winter sweater": ("wardrobe", "chest of drawers"),
    "silk dress": ("wardrobe",),
    "folded socks": ("chest of drawers",),
    "pajamas": ("chest of drawers", "bed"),
    "alarm clock": ("nightstand",),
    "bed pillow": ("bed",),
    "laptop": ("desk",),
    "notebook": ("desk",),
    "toothbrush": ("sink", "bathroom cabinet"),
    "toothpaste": ("sink", "bathroom cabinet"),
    "face cream": ("bathroom cabinet",),
    "painkillers": ("bathroom cabinet",),
    "bath towel": ("towel rail",),
    "toilet paper": ("toilet roll holder",),
    "shampoo": ("shower",),
    "shower gel": ("shower",),
    "raincoat": ("coat hanger",),
    "leather jacket": ("coat hanger",),
    "straw hat": ("hat rack",),
    "baseball cap": ("hat rack",),
    "black umbrella": ("umbrella stand",),
    "running shoes": ("shoe cabinet",),
    "snow boots": ("shoe cabinet",),
    "house keys": ("key holder",),
    "dirty shirt": _DIRTY,
    "dirty socks": _DIRTY,
    "dirty sheets": _DIRTY,
    "muddy trousers": _DIRTY,
    "washing powder": ("utility shelf",),
    "fabric softener": ("utility shelf",),
    "stain remover": ("utility shelf",),
    "iron": ("ironing board", "utility shelf"),
    "wet towel": ("clothesline",),
    "wet shirt": ("clothesline",),
    "wet sheets": ("clothesline",),
    "hammer": _TOOLS,
    "screwdriver": _TOOLS,
    "garden rake": ("tool rack",),
    "grill tongs": ("barbecue",),
    "charcoal": ("barbecue",),
}
HELD_OUT: dict[str, tuple[str, ...]] = {
    "dirty mug": ("dishwasher",),
    "clean spoon": ("cutlery drawer",),
    "leftover soup": ("fridge",),
    "broken glass": ("trash can",),
    "sugar bag": ("pantry shelf",),
    "oat packet": ("pantry shelf",),
    "cinnamon jar": ("spice rack",),
    "white wine": ("wine rack",),
    "dictionary": ("bookcase",),
    "throw pillow": ("sofa", "armchair"),
    "film disc": ("tv stand",),
    "fashion magazine": ("magazine rack", "coffee table"),
    "business suit": ("wardrobe",),
    "folded shirt": ("wardrobe", "chest of drawers"),
    "duvet": ("bed",),
    "desk lamp": ("desk", "nightstand"),
    "hand soap": ("sink",),
    "razor": ("bathroom cabinet",),
    "hand towel": ("towel rail",),
    "conditioner": ("shower",),
    "winter coat": ("coat hanger",),
    "bowler hat": ("hat rack",),
    "car keys": ("key holder",),
    "sandals": ("shoe cabinet",),
    "dirty tablecloth": _DIRTY,
    "dirty jeans": _DIRTY,
    "bleach": ("utility shelf",),
    "clothes pegs": ("utility shelf", "clothesline"),
    "wet dress": ("clothesline",),
    "hand saw": _TOOLS,
    "spade": ("tool rack",),
    "skewers": ("barbecue",),
}


class Difficulty(NamedTuple):
    """How much is out of place: objects, how many of them are not carried at the start, and rooms."""

    least: int
    most: int
    fetched: int
    rooms: int


# of TextWorld Commonsense: all of up to `most` objects may have to be fetched, at least `fetched`
DIFFICULTIES = {"easy": Difficulty(1, 1, 1, 1), "medium": Difficulty(2, 3, 1, 1), "hard": Difficulty(6, 7, 5, 2)}
SPLITS = ("train", "valid", "test")
COMMANDS = 50  # of an episode, as published
