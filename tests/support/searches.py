"""What people type into the gallery's search, and the environments that they mean."""

from rlenvs.core.catalogue.docs import documented, families
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.parts import limits_of
from rlenvs.core.declare.setup import Setup

NAMES = [row.id.partition("/")[2] for row in documented()]
STARCRAFT = {"Battle-v0", *(f"{name}-v0" for name in ("CollectMineralShards", "DefeatRoaches", "MoveToBeacon"))}
STARCRAFT |= {"DefeatZerglingsAndBanelings-v0", "FindAndDefeatZerglings-v0"}


def family(*titles):
    """All of some families."""
    return {row.id.partition("/")[2] for each in families() if each.title in titles for row in each.entries}


def like(*beginnings):
    """All whose names begin so."""
    return {name for name in NAMES if name.startswith(beginnings)}


def worlds(holds):
    """All whose declarations have a property."""
    return {name for name in NAMES if holds(world_of(name))}


def teams(world):
    """How many teams there are, where there are several agents."""
    setup = Setup(world) if world.agents else None
    return len(set(setup.teams)) if setup and setup.agents > 1 else 0


def exact_searches():
    """What a search finds, neither more nor less."""
    return {
        "drone": family("Quadcopter"),
        "quadrotors": family("Quadcopter"),
        "StarCraft": STARCRAFT,
        "cooperative": worlds(lambda world: teams(world) == 1),
        "competitive": worlds(lambda world: teams(world) > 1),
        "marl": worlds(lambda world: world.agents),
        "goal-conditioned": worlds(lambda world: world.goal),
        "safe": worlds(lambda world: limits_of(world.costs)),
        "pareto": worlds(lambda world: len(world.terms) > 1),
        "mujoco": worlds(lambda world: world.engine),
        "offline": worlds(lambda world: "datasets" in world.functions),
        "robot arm": like("MetaWorld", "Panda", "TwoLinkReacher", "Reacher", "Pusher"),
        "soccer": {"AirHockey-v0", "MetaWorldSoccer-v0"},
        "atari": family("Arcade"),
        "bandits": like("Bandit", "ContextualBandit"),
        "minecraft": {"Crafting-v0"},
        "mapf": {"PathFinding-v0"},
        "mpe": like("Particle"),
        "rocket": like("LunarLander"),
        "self-driving": family("Driving"),
        "gridworld": like("MiniGrid", "DeepSeaTreasure"),
        "rubik": like("RubiksCube"),
        "dynamic-programming": family("Tabular"),
        "puzzle": family("Puzzles", "Rubik", "Pushworld", "Sokoban"),
    }


def wide_searches():
    """What a search finds at least, and what it must not find."""
    pixels = like("Mortar", "Mystery", "Endless", "CarRacing-", "CarRacingDiscrete") | {"QuadRace-v0", "Minecart-v0"}
    hidden = family("Memory") | like("MiniGrid", "Generals", "CartPoleNoVelocity")
    return {
        "car": (family("Driving", "Racing"), like("CartPole", "Concentration", "Repeat", "Blackjack")),
        "goal": (worlds(lambda world: world.goal) | {"SafePointGoal-v0"}, like("Blackjack", "Chain")),
        "pixel": (pixels, like("MiniGrid", "CartPole", "Sokoban")),
        "POMDP": (hidden, {"CartPole-v0", "Sokoban-v0", "Hopper-v0"}),
        "walking": (like("Walker2d", "Ant", "Humanoid", "BipedalWalker"), like("Quad", "RandomWalk-")),
        "board game": (family("Boards"), like("Quad", "Panda")),
        "lidar": (like("F1Tenth-", "MarsExplorer-"), like("CartPole")),
        "classic control": (family("Classic"), like("Quad")),
        "morl": (family("Objectives"), like("CartPole-")),
        "game theory": (family("Congestion"), like("Quad")),
        "sparse": (family("Exploration"), like("CartPole-")),
    }
