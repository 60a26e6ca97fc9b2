"""The image of each particle world."""

from typing import Any

import numpy as np

from rlenvs.core.declare.canvas import Canvas, agent_color
from rlenvs.multi.particle.render import BALLOON, BURST, FOREST_EDGE, Body, Plane, faded, spoken

COLOURS = ("red", "green", "blue")  # of landmarks that are told apart by colour
CONTACT = (BURST, "contact", "disc")
FEW = 16  # agents with numbers, and lines to their goals
NUMBERS_APART = 18.0  # pixels; a goal's number nearer to that of its agent is left out


def _places(*groups: Any) -> np.ndarray:
    """All places of some groups, (n, 2)."""
    return np.concatenate([np.asarray(group, dtype=float).reshape(-1, 2) for group in groups])


def draw_simple(canvas: Canvas, s: Any, goal_radius: float) -> None:
    """An agent and its landmark."""
    away = float(np.hypot(*(s.position[0] - s.landmark[0])))
    canvas.caption(f"distance to the landmark {away:.2f} m")
    canvas.legend(
        ("blue", "agent", "disc"), ("red", "landmark to reach", "ring"), ("green", "landmark reached", "ring")
    )
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), 0.1)
    color = "green" if away < goal_radius else "red"
    plane.area(s.landmark[0], goal_radius, color)
    plane.bodies(s, [Body(0.07, "blue")])


def draw_spread(canvas: Canvas, p: Any, s: Any) -> None:
    """Agents below their landmarks."""
    apart = np.hypot(*(np.asarray(s.landmark)[:, None] - np.asarray(s.position)[None]).transpose(2, 0, 1))
    covered = apart.min(axis=1) < p.capture_radius
    canvas.caption(f"landmarks covered {int(covered.sum())} of {len(covered)}")
    canvas.legend(
        ("blue", "agent", "disc"), ("red", "landmark", "ring"), ("green", "covered landmark", "ring"), CONTACT
    )
    bodies = [Body(float(p.radius), "blue")] * len(s.position)
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), float(p.radius))
    plane.bodies(s, bodies)
    plane.bursts(s, bodies)
    for place, done in zip(s.landmark, covered, strict=True):
        plane.target(place, "green" if done else "red")


def draw_tag(canvas: Canvas, p: Any, s: Any) -> None:
    """Hunters with horns, prey, rocks."""
    canvas.caption(f"prey caught {int(sum(s.touched))} of {int(p.good)}")
    canvas.legend(
        ("red", "hunter", "disc"),
        ("green", "prey", "disc"),
        ("sky", "prey that was caught", "disc"),
        ("grey", "rock", "disc"),
        CONTACT,
    )
    rocks = [(place, float(p.obstacle_radius)) for place in s.landmark]
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), float(p.adversary_radius) + 0.05)
    for rock in rocks:
        plane.obstacle(*rock)
    bodies = _hunt(p, s, ["horns"] * int(p.adversaries), "green")
    plane.bodies(s, bodies)
    plane.bursts(s, bodies, rocks)


def _hunt(p: Any, s: Any, looks: list[str], color: str) -> list[Body]:
    """Hunters of given looks, then prey, whose color changes when it is caught."""
    prey = range(len(looks), len(s.position))
    return [
        *(Body(float(p.adversary_radius), "red", look) for look in looks),
        *(Body(float(p.good_radius), "sky" if s.touched[k] else color) for k in prey),
    ]


def draw_adversary(canvas: Canvas, s: Any) -> None:
    """A team, its adversary, the goal and decoys."""
    goal = np.asarray(s.landmark[s.goal], dtype=float)
    away = np.hypot(*(np.asarray(s.position) - goal).T)
    canvas.caption(f"distance to the goal: adversary {away[0]:.2f} m, team {away[1:].min():.2f} m")
    canvas.legend(
        ("red", "adversary, does not know the goal", "disc"),
        ("blue", "team", "disc"),
        ("green", "goal", "ring"),
        ("black", "decoy", "ring"),
    )
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), 0.13)
    bodies = [Body(0.1, "red", "horns"), *[Body(0.1, "blue")] * (len(s.position) - 1)]
    plane.bodies(s, bodies)
    _draw_goal(plane, s)


def _draw_goal(plane: Plane, s: Any) -> None:
    """Landmarks, one of which is the goal."""
    for j, place in enumerate(s.landmark):
        plane.target(place, "green" if j == s.goal else "black")
    plane.flag(s.landmark[s.goal], "green")


def draw_push(canvas: Canvas, p: Any, s: Any) -> None:
    """An agent, its adversary, the goal and a decoy."""
    goal = np.asarray(s.landmark[s.goal], dtype=float)
    away = np.hypot(*(np.asarray(s.position) - goal).T)
    canvas.caption(f"distance to the goal: adversary {away[0]:.2f} m, agent {away[1]:.2f} m")
    canvas.legend(
        ("red", "adversary, does not know the goal", "disc"),
        ("blue", "agent", "disc"),
        ("green", "goal", "ring"),
        ("black", "decoy", "ring"),
        CONTACT,
    )
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), float(p.radius) + 0.05)
    bodies = [Body(float(p.radius), "red", "horns"), Body(float(p.radius), "blue")]
    _draw_goal(plane, s)
    plane.bodies(s, bodies)
    plane.bursts(s, bodies)


def draw_speaker_listener(canvas: Canvas, s: Any, goal_radius: float) -> None:
    """A speaker with a balloon, a listener, three colored landmarks."""
    speaker, listener = 0, 1
    away = float(np.hypot(*(s.position[listener] - s.landmark[s.goal])))
    canvas.caption(f"distance from the listener to the goal {away:.2f} m")
    canvas.legend(
        ("grey", "speaker: knows the goal, cannot move"),
        (COLOURS[s.goal], "listener", "disc"),
        (COLOURS[s.goal], "goal", "ring"),
        (BALLOON, "word"),
    )
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), 0.1)
    bodies = [Body(0.075, "grey", "box"), Body(0.075, COLOURS[s.goal])]
    for j, place in enumerate(s.landmark):
        plane.area(place, goal_radius, COLOURS[j])
    plane.bodies(s, bodies)
    plane.flag(s.landmark[s.goal], COLOURS[s.goal])
    plane.says(s.position[speaker], s.words, 0.075)


def draw_reference(canvas: Canvas, s: Any, goal_radius: float) -> None:
    """Two agents in the colors of their goals, with balloons."""
    goals = [int(s.goal[1]), int(s.goal[0])]  # of agent 0 and of agent 1
    away = [float(np.hypot(*(s.position[k] - s.landmark[goals[k]]))) for k in range(2)]
    canvas.caption(f"distance to the own goal: {away[0]:.2f} m, {away[1]:.2f} m")
    canvas.legend(
        (COLOURS[goals[0]], "agent 0 and its goal", "disc"),
        (COLOURS[goals[1]], "agent 1 and its goal", "disc"),
        (BALLOON, "each tells the other where to go"),
    )
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark), 0.1)
    for j, place in enumerate(s.landmark):
        plane.area(place, goal_radius, COLOURS[j])
    plane.bodies(s, [Body(0.07, COLOURS[goal], label=str(k)) for k, goal in enumerate(goals)])
    for j in sorted(set(goals)):
        plane.flag(s.landmark[j], COLOURS[j])
    for k in range(2):
        plane.says(s.position[k], s.words[k], 0.07, f"{k}: ")


def draw_world_comm(canvas: Canvas, p: Any, s: Any) -> None:
    """Tag among forests and food, with a leader who speaks."""
    hunters, food = int(p.adversaries), int(p.obstacles)
    forests = food + int(p.food)
    canvas.caption(f"prey caught {int(sum(s.touched))} of {int(p.good)}")
    canvas.legend(
        ("red", "hunter, the leader with a crown", "disc"),
        ("blue", "prey", "disc"),
        ("sky", "prey that was caught", "disc"),
        ("orange", "food", "disc"),
        (FOREST_EDGE, "forest: hides agents in it", "disc"),
        ("grey", "rock", "disc"),
        CONTACT,
    )
    rocks = [(place, float(p.obstacle_radius)) for place in s.landmark[:food]]
    edges = [s.landmark[forests:] + way * p.forest_radius for way in (-0.8, 0.8)]
    plane = Plane(canvas, 1.0, _places(s.position, s.landmark, *edges), float(p.adversary_radius) + 0.05)
    for place in s.landmark[forests:]:
        plane.forest(place, float(p.forest_radius))
    for rock in rocks:
        plane.obstacle(*rock)
    bodies = _hunt(p, s, ["crown", *["horns"] * (hunters - 1)], "blue")
    for place in s.landmark[food:forests]:
        plane.food(place)
    plane.bodies(s, bodies)
    plane.bursts(s, bodies, rocks)
    plane.says(s.position[0], s.words, float(p.adversary_radius))


def draw_navigation(canvas: Canvas, p: Any, s: Any) -> None:
    """Agents and their goals in one color with one number; a crowd in two colors."""
    arrived = np.asarray(s.arrival) > 0
    canvas.caption(f"have been at their goals {int(arrived.sum())} of {len(arrived)}")
    if len(arrived) > FEW:
        _draw_crowd(canvas, p, s, arrived)
        return
    canvas.legend(
        ("blue", "agent (disc) and its goal (ring) share color and number", "disc"), ("grey", "rock", "disc"), CONTACT
    )
    plane = Plane(canvas, float(p.side) / 2.0, _places(s.position, s.goal, s.obstacle), 0.05 * float(p.side))
    colors = [agent_color(k) for k in range(len(arrived))]
    for k, color in enumerate(colors):
        canvas.line([s.position[k], s.goal[k]], faded(color, 0.45), 1.5)
        plane.area(s.goal[k], float(p.goal_radius), color)
    rocks = [(place, float(p.radius)) for place in s.obstacle]
    for rock in rocks:
        plane.obstacle(*rock)
    bodies = [Body(float(p.radius), color) for color in colors]
    plane.bodies(s, bodies)
    plane.bursts(s, bodies, rocks)
    for k, color in enumerate(colors):
        plate = s.position[k] + np.array([0.0, float(p.radius) + 9.0 * plane.pixel])
        if np.hypot(*(plate - s.goal[k])) > NUMBERS_APART * plane.pixel:
            canvas.text(s.goal[k], str(k), "black", 13, "centre")
        if plane.shows(s.position[k]):
            canvas.text(plate, str(k), "black", 12, "centre", ground=faded(color, 0.35))


def _draw_crowd(canvas: Canvas, p: Any, s: Any, arrived: np.ndarray) -> None:
    canvas.legend(
        ("blue", "agent on its way", "disc"),
        ("green", "agent that was at its goal", "disc"),
        ("orange", "goal", "ring"),
        ("grey", "rock", "disc"),
    )
    plane = Plane(canvas, float(p.side) / 2.0, _places(s.position, s.goal, s.obstacle), float(p.radius))
    for place in s.obstacle:
        plane.obstacle(place, float(p.radius))
    for place, done in zip(s.goal, arrived, strict=True):
        if not done:
            canvas.circle(place, max(float(p.goal_radius), 4.0 * plane.pixel), "orange", 1.0)
    plane.bodies(s, [Body(float(p.radius), "green" if done else "blue") for done in arrived])


# --- words alone ------------------------------------------------------------------------------------------------------

EVE, BOB, ALICE = 0, 1, 2
TEAM_GROUND, EVE_GROUND = (226, 238, 246), (250, 230, 220)


def draw_crypto(canvas: Canvas, s: Any, guesses: list[int]) -> None:
    """Alice, Bob and Eve, what they know, say and guess; `guesses` are Eve's and Bob's, -1 for none."""
    message = int(s.message)
    right = [guess == message for guess in guesses]
    canvas.caption(f"Bob {'has' if right[BOB] else 'lacks'} the message, Eve {'has' if right[EVE] else 'lacks'} it")
    canvas.legend(("blue", "Alice and Bob share a key"), ("red", "Eve listens"), ("green", "right"), (BALLOON, "words"))
    width, height = canvas.scene
    wide = width / height
    canvas.view(0.0, wide, 0.0, 1.0)
    canvas.rectangle(0.0, 0.0, wide, 1.0, TEAM_GROUND)
    canvas.polygon([(0.52 * wide, 0.0), (wide, 0.0), (wide, 0.78)], EVE_GROUND)
    places = ((0.77 * wide, 0.34), (0.23 * wide, 0.34), (0.5 * wide, 0.76))
    for k in (EVE, BOB):
        way = np.subtract(places[k], places[ALICE])
        start, end = (np.add(places[ALICE], t * way) for t in (0.33, 0.7))
        canvas.arrow(start, end, BALLOON, 3.0)
        middle = np.add(places[ALICE], 0.5 * way)
        canvas.text(middle, _quoted(s.words[ALICE]), "white", 18, "centre", ground=BALLOON)
    for k, (name, color) in enumerate((("Eve", "red"), ("Bob", "blue"), ("Alice", "blue"))):
        canvas.circle(places[k], 0.115, "black")
        canvas.circle(places[k], 0.11, color)
        canvas.text(places[k], name, "white", 18, "centre")
    x, y = places[ALICE]
    canvas.text((x - 0.16, y + 0.06), f"message {'AB'[message]}", "black", 16, "right", ground="white")
    canvas.text((x - 0.16, y - 0.05), f"key {'AB'[int(s.key)]}", "black", 16, "right", ground="yellow")
    canvas.text((places[BOB][0], 0.52), f"key {'AB'[int(s.key)]}", "black", 16, "centre", ground="yellow")
    canvas.text((places[EVE][0], 0.52), "no key", "black", 16, "centre", ground="white")
    for k in (EVE, BOB):
        x = places[k][0]
        canvas.text((x, 0.165), f"says {_quoted(s.words[k])}", "white", 15, "centre", ground=BALLOON)
        told = "has not guessed" if guesses[k] < 0 else "has the message" if right[k] else "is wrong"
        ground = "white" if guesses[k] < 0 else "green" if right[k] else "black"
        canvas.text((x, 0.065), told, "black" if guesses[k] < 0 else "white", 15, "centre", ground=ground)


def _quoted(words: Any) -> str:
    said = spoken(words)
    return "..." if said == "_" else f'"{said}"'
