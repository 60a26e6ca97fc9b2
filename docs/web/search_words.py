"""The words by which an environment is found in the gallery and in the table of scores.

They come from its declaration: name, folder, task, tags, spaces, teams, images, goals, engine, data sets and sources.
FOLDERS and PHRASES add what people call the same things elsewhere.
"""

from __future__ import annotations

import functools
import re

from rlenvs.core.catalogue.docs import summary
from rlenvs.core.catalogue.registry import tags_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

HIDDEN = "pomdp partially-observable partial-observability hidden recurrent lstm rnn"
CAR = "car cars vehicle autonomous"
PIXELS = "pixel pixels vision visual camera"
STARCRAFT = "starcraft starcraft2 sc2 rts real-time-strategy micromanagement game"
# added to all environments of a folder
FOLDERS = {
    "arcade": "atari game video-game ball sport",
    "boards": "board game board-game turn-based planning",
    "classic": "control classic-control benchmark",
    "congestion": "game-theory social-dilemma traffic",
    "crafting": "crafter minecraft survival open-world",
    "driving": f"{CAR} traffic self-driving road",
    "exploration": "sparse sparse-reward hard-exploration",
    "generals": "strategy rts board game",
    "landing": "rocket lander spacecraft",
    "locomotion": "walk walking legged robot",
    "manipulation": "robot robotic arm robot-arm manipulator franka panda gripper",
    "metaworld": "robot robotic arm robot-arm manipulator sawyer meta-world multi-task gripper",
    "memory": HIDDEN,
    "minesweeper": HIDDEN,
    "minigrid": f"gridworld grid maze {HIDDEN}",
    "minigames": STARCRAFT,
    "navigation": "mobile robot",
    "objectives": "morl pareto",
    "particle": "mpe mpe2",
    "pathfinding": "mapf grid warehouse navigation",
    "puzzles": "puzzle game combinatorial planning",
    "quadcopter": "drone uav quadrotor multirotor aerial flying",
    "racing": f"{CAR} race track",
    "swarm": "flock flocking collective mean-field epidemic synchronization",
    "tabular": "table toy mdp finite dynamic-programming",
    "text": "textworld interactive-fiction parser language llm nlp",
    "traffic": "traffic-light signal-control city intersection cityflow sumo",
    "treasure": "gridworld grid sea",
    "walking": "walk legged robot",
}
# added where a declaration says such a thing
PHRASES = {
    "bandit": "arms regret stateless",
    "birdview image": PIXELS,
    "camera image": PIXELS,
    "competitive": "adversarial versus opponent self-play zero-sum game",
    "cooperative": "cooperation collaborative coordination team",
    "data set": "dataset offline offline-rl batch",
    "fog": HIDDEN,
    "front image": PIXELS,
    "goal-conditioned": "goal gcrl hindsight her",
    "hockey": "soccer football",
    "mars": "rover coverage mapping",
    "multi-agent": "marl multiagent pettingzoo",
    "multi-objective": "morl pareto trade-off",
    "no velocity": HIDDEN,
    "picture image": PIXELS,
    "pixels image": PIXELS,
    "rgb image": PIXELS,
    "constrained": "safe safety constraint cmdp cost costs",
    "screen image": PIXELS,
    "smac": STARCRAFT,
    "speaker": "communication language",
    "words": "communication language",
}
CASES = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")  # where a word begins in "CarRacing"
LETTERS = re.compile(r"[^\w.+-]+|_")


@functools.cache
def words(world: World) -> str:
    """All words of an environment in small letters, each once, with a space between any two."""
    folders = world.address.partition(":")[0].split(".")[2:]
    said = plain(" . ".join([*_declared(world), *folders]))
    found = [said, *(FOLDERS.get(folder, "") for folder in folders)]
    found += [added for phrase, added in PHRASES.items() if f" {phrase} " in f" {said} "]
    parts = [part for word in " ".join(found).split() for part in (word, *word.split("-"))]
    return " ".join(dict.fromkeys(part.strip(".") for part in parts if part.strip(".")))


def plain(text: str) -> str:
    """Text as what is searched for is compared with: small letters, and spaces in place of punctuation."""
    return LETTERS.sub(" ", text.lower()).strip()


def _declared(world: World) -> list[str]:
    """What a declaration says, in the field's words."""
    setup = Setup(world)
    kind = "continuous" if setup.continuous else "discrete" if setup.action_kind != "multi" else "multidiscrete"
    found = [world.name, CASES.sub(" ", world.name.partition("-")[0]), summary(world.doc), *tags_of(world)]
    found += [world.source, kind, *(f"{name} image" for name in world.images)]
    found += ["goal-conditioned"] if world.goal else []
    found += ["mujoco"] if world.engine else []
    found += ["action-mask"] if "mask" in world.kernels else []
    found += ["turn-based"] if world.turns else []
    found += ["data set"] if "datasets" in world.functions else []
    if setup.agents > 1:
        found.append("cooperative" if len(set(setup.teams)) == 1 else "competitive")
    return found
