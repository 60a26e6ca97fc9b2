"""The parts of a declaration that are neither options nor spaces: reward terms, costs, datasets, agents, scores.

World files write them as `param(...)`, `choice(...)`, `block(...)`, ...; `rlenvs.core.declare.spec` puts them together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rlenvs.core.declare.errors import ParameterError

# --- reward terms and costs -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Term:
    """A named part of the reward, with its weight and the bounds of its value."""

    weight: float
    low: float
    high: float
    doc: str


@dataclass(frozen=True)
class Cost:
    """A named constraint cost per step, in [0, high], with the limit per episode that is customary for it.

    Where `occurs` is False it is 0 in every step at the defaults: an option would have to change.
    """

    limit: float
    high: float
    doc: str
    occurs: bool = True


def term(low: float, high: float, weight: float = 1.0, doc: str = "") -> Term:
    """A reward term: bounds of its value, and its weight in the scalar reward."""
    return Term(float(weight), float(low), float(high), doc)


def cost(limit: float, high: float = 1.0, doc: str = "", occurs: bool = True) -> Cost:
    """A constraint cost: usual limit per episode, largest value per step, whether it occurs at the defaults."""
    return Cost(float(limit), float(high), doc, occurs)


def limits_of(costs: Mapping[str, Cost]) -> dict[str, float]:
    """The usual limit of each cost that occurs at the defaults, by name."""
    return {name: cost.limit for name, cost in costs.items() if cost.occurs}


# --- data sets --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mixed:
    """A player of whose actions a share is random."""

    player: str | Callable[..., Any]
    random: float


def mixed(player: str | Callable[..., Any], random: float) -> Mixed:
    """A player for `recipe`, of whose actions a share is uniformly random, drawn anew for each step (and agent).

    Args:
        player: see `recipe`.
        random: the share, in [0, 1].
    """
    if not 0.0 <= random <= 1.0:
        raise ParameterError(f"mixed: random={random!r} must be a share in [0, 1]")
    return Mixed(player, float(random))


@dataclass(frozen=True)
class Windows:
    """Images that summarize windows of an episode, as the layout of a recipe. See `windows`."""

    units: Callable[[Any, Any], tuple[Any, ...]]
    layers: tuple[int, int, int]
    steps: int
    classes: Mapping[str, Mapping[str, Any]]


def windows(
    units: Callable[[Any, Any], tuple[Any, ...]],
    layers: tuple[int, int, int],
    steps: int,
    classes: Mapping[str, Mapping[str, Any]],
) -> Windows:
    """A layout for `recipe`: an image for each window of an episode, which shows where units were seen last.

    Args:
        units: plain Python (p, s) -> layers (n,), x (n,), y (n,): what stands where, in [0, 1), x to the right, y up.
        layers: how many belong to the first player, the second, and neither; the layers are numbered in this order.
        steps: states that a window summarizes.
        classes: keywords of `make` by name of the class. Each class is played by all players of the recipe.
    """
    if steps < 1 or not classes or min(layers) < 0 or not sum(layers):
        raise ParameterError(f"windows: layers={layers}, steps={steps} and classes={list(classes)} must not be empty")
    return Windows(units, layers, steps, classes)


LAYOUTS = ("rows", "costs", "episodes", "joint")


@dataclass(frozen=True)
class Recipe:
    """How a named dataset of a world is made: who plays how many episodes, where, and what is kept of each."""

    episodes: Mapping[str | Mixed | Callable[..., Any], int]
    kept: int
    doc: str
    layout: str | Windows
    keywords: Mapping[str, Any]
    wrappers: tuple[Mapping[str, Any], ...]

    @property
    def places(self) -> list[dict[str, Any]]:
        """The keywords of `make` of each class of windows; of other layouts one."""
        classes = self.layout.classes.values() if isinstance(self.layout, Windows) else [{}]
        return [{**self.keywords, **each} for each in classes]

    @property
    def total(self) -> int:
        """The number of episodes."""
        return sum(self.episodes.values()) * len(self.places)


def recipe(
    episodes: Mapping[str | Mixed | Callable[..., Any], int],
    *,
    kept: int = 0,
    doc: str = "",
    layout: str | Windows = "rows",
    keywords: Mapping[str, Any] | None = None,
    wrappers: Sequence[Mapping[str, Any]] = (),
) -> Recipe:
    """A named dataset, for the function under `@SPEC.datasets`.

    Args:
        episodes: how many episodes each player plays: "random", "expert", `mixed(player, share)`; with layout "joint"
            or `windows` a scripted player of the world, else a function of observations and noise, (worlds, numbers) of
            a standard normal distribution for each number of the action, that gives actions.
        kept: consecutive steps kept of each episode, from a random place; 0 for all.
        doc: what it is.
        layout: "rows": Minari's episodes, and all steps as rows in random order. "costs": the same in order, with the
            cost of each step, as DSRL has them. "episodes": Minari's episodes alone. "joint": trajectories of all
            agents, in OG-MARL's layout. `windows(...)`: images.
        keywords: of `make`: level, options, parameters.
        wrappers: dictionaries of `Wrapper.recipe`, from the world outwards; not for "joint" and `windows`.
    """
    if not episodes or any(count < 1 for count in episodes.values()) or kept < 0:
        raise ParameterError(f"recipe: episodes={dict(episodes)} and kept={kept} must be positive")
    if not isinstance(layout, Windows) and layout not in LAYOUTS:
        raise ParameterError(f"recipe: layout={layout!r} must be windows(...) or one of {', '.join(LAYOUTS)}")
    whole = isinstance(layout, Windows) or layout == "joint"
    if whole and (kept or wrappers):
        raise ParameterError("recipe: kept and wrappers are for layouts of one agent; leave them out")
    return Recipe(episodes, kept, doc, layout, keywords or {}, tuple(wrappers))


# --- agents -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Role:
    """An agent of a world whose agents differ: its name, the length of its observation, its number of choices (or of
    numbers, where actions hold several)."""

    name: str
    observation: int
    action: int


def role(name: str, observation: int, action: int) -> Role:
    """An agent with a different observation or action size.

    Args:
        name: of the agent in the parallel form.
        observation: how many numbers of the observation block it sees, from the first on.
        action: how many of the choices it has, from the first on; how many of the numbers, where actions hold several.
    """
    return Role(name, observation, action)


# --- fronts -----------------------------------------------------------------------------------------------------------


class PublishedFront(NamedTuple):
    """A published Pareto front.

    Attributes:
        points: (points, terms), or None where only a reference point is known.
        reference: (terms,), the usual reference point of hypervolumes.
        source: who published it, and what there is to say about it.
    """

    points: Any
    reference: Sequence[float]
    source: str


# --- scores ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Score:
    """The score of a policy over fixed seeds.

    Attributes:
        mean: return; half_width: of its 95 % confidence interval.
        note: what there is to say about the policy.
        success: share of the episodes (of the agents) that succeeded, None where there is no such thing.
        costs: mean cost of an agent's episode by name.
    """

    mean: float
    half_width: float
    note: str = ""
    success: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)
