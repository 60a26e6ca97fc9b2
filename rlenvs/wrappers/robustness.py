"""Robustness: sets of physical parameters, parameters drawn from them by episode, and agents that somebody else plays.

What an adversary does to observations, actions, forces and parameters is in `rlenvs.wrappers.adversary`; what a policy
is worth over a set in `rlenvs.agents.robustness`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ActionError, ParameterError, UnknownNameError, nearest
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.spec import World
from rlenvs.wrappers.episode_params import EpisodeParams
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.wrapper import Wrapper

# --- uncertainty sets -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UncertaintySet:
    """An uncertainty set: ranges of physical parameters that a robust policy has to handle.

    Args:
        ranges: by name of the parameter (low, high), both ends included, or (low, nominal, high), in its unit. Without
            a nominal value the world's own counts.

    Raises:
        ParameterError: no parameter, or a range that is none.
    """

    ranges: Mapping[str, Sequence[float]]

    def __post_init__(self) -> None:
        if not isinstance(self.ranges, Mapping) or not self.ranges:
            raise ParameterError(f"an uncertainty set requires {{name: (low, high)}}, not {self.ranges!r}")
        checked = {name: _check_range(name, values) for name, values in self.ranges.items()}
        object.__setattr__(self, "ranges", checked)

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters, in the order of all arrays."""
        return tuple(self.ranges)

    @property
    def low(self) -> np.ndarray:
        """Lower ends, (k,)."""
        return np.array([values[0] for values in self.ranges.values()])

    @property
    def high(self) -> np.ndarray:
        """Upper ends, (k,)."""
        return np.array([values[-1] for values in self.ranges.values()])

    def check(self, world: World) -> None:
        """ParameterError unless the world has these parameters and allows these ranges."""
        for name, values in self.ranges.items():
            if name not in world.params:
                raise ParameterError(f"{world.name} has no parameter {name!r}. {nearest(name, world.params)}")
            declared = world.params[name]
            if values[0] < declared.low or values[-1] > declared.high:
                raise ParameterError(
                    f"{world.name}: {name} may be within [{declared.low:g}, {declared.high:g}] {declared.unit}, "
                    f"not [{values[0]:g}, {values[-1]:g}]; narrow the set"
                )

    def nominal(self, own: Mapping[str, float]) -> np.ndarray:
        """The nominal values, (k,); `own` are the world's.

        Raises:
            ParameterError: the world's own value lies outside the set, and none is given.
        """
        return np.array([self._nominal_of(name, own) for name in self.names])

    def _nominal_of(self, name: str, own: Mapping[str, float]) -> float:
        low, *given, high = self.ranges[name]
        value = given[0] if given else own[name]
        if not low <= value <= high:
            raise ParameterError(
                f"the world's {name}={value:g} is outside [{low:g}, {high:g}]; give the nominal value as "
                f"(low, nominal, high)"
            )
        return value

    def at(self, place: np.ndarray) -> np.ndarray:
        """The parameters at points (..., k) of the cube [-1, 1]^k, which is mapped linearly to the set."""
        middle, half = 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)
        return np.clip(middle + half * np.asarray(place, np.float64), self.low, self.high)

    def grid(self, points: int = 10, endpoint: bool = True) -> np.ndarray:
        """An even grid, (points ** k, k).

        Args:
            points: per parameter, at least 2.
            endpoint: whether it includes the upper ends of the ranges; RRLS's own grid does not.

        Raises:
            ParameterError: fewer than two points.
        """
        if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 2:
            raise ParameterError(f"points={points!r} must be an integer of at least 2")
        axes = [np.linspace(values[0], values[-1], points, endpoint=endpoint) for values in self.ranges.values()]
        return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], axis=1)

    def sample(self, count: int, seed: int = 0) -> np.ndarray:
        """Uniform samples, (count, k), from a separate generator."""
        return np.random.default_rng(seed).uniform(self.low, self.high, (count, len(self.names)))

    def plain(self) -> dict[str, list[float]]:
        """The set as a dictionary of lists, for JSON."""
        return {name: list(values) for name, values in self.ranges.items()}


def _check_range(name: str, values: Any) -> tuple[float, ...]:
    try:
        numbers = tuple(float(value) for value in values)
    except (TypeError, ValueError):
        numbers = ()
    if len(numbers) not in (2, 3) or not np.isfinite(numbers).all() or list(numbers) != sorted(numbers):
        raise ParameterError(
            f"the range of {name} is {values!r}; needed: (low, high) or (low, nominal, high), finite and ascending"
        )
    return numbers


# RRLS (Zouitine et al., arXiv 2406.08406), which has them from M2TD3 (Tanabe et al., arXiv 2211.03413). Nominal values
# are those of Gymnasium's models, or the end of the range where these are heavier (the hopper). RRLS's own exchange the
# masses of cart and pole, and have a friction of 0.7 for hopper and walker, which changes nothing there. The friction
# of the cheetah ends at 3 in one dimension, and at 4 in more.
_RRLS = {
    "ant": {
        "torso_mass": (0.1, 0.32724923474893675, 3.0),
        "front_left_leg_mass": (0.01, 0.03915775372846671, 3.0),
        "front_right_leg_mass": (0.01, 0.03915775372846671, 3.0),
    },
    "half-cheetah": {
        "friction": (0.1, 0.4, 4.0),
        "torso_mass": (0.1, 6.25020920502092, 7.0),
        "back_thigh_mass": (0.1, 1.5435146443514645, 3.0),
    },
    "hopper": {
        "friction": (0.1, 2.0, 3.0),
        "torso_mass": (0.1, 3.0, 3.0),
        "thigh_mass": (0.1, 4.0, 4.0),
    },
    "humanoid-standup": {
        "torso_mass": (0.1, 8.907462370478262, 16.0),
        "right_foot_mass": (0.1, 1.7671458676442586, 8.0),
        "left_thigh_mass": (0.1, 4.751750928806242, 5.0),
    },
    "inverted-pendulum": {
        "pole_mass": (1.0, 5.018591641363306, 31.0),
        "cart_mass": (1.0, 10.47197551196598, 11.0),
    },
    "walker2d": {
        "friction": (0.1, 1.9, 4.0),
        "torso_mass": (0.1, 3.6651914291880923, 5.0),
        "thigh_mass": (0.1, 4.057890510886818, 6.0),
    },
}
RRLS_SETS = {
    f"rrls-{body}-{k}": UncertaintySet(dict(list(ranges.items())[:k]))
    for body, ranges in _RRLS.items()
    for k in range(1, len(ranges) + 1)
} | {"rrls-half-cheetah-1": UncertaintySet({"friction": (0.1, 0.4, 3.0)})}


def uncertainty_set(given: UncertaintySet | Mapping[str, Sequence[float]] | str) -> UncertaintySet:
    """Make an uncertainty set from another one, from ranges, or from the name of a published one (a key of
    `RRLS_SETS`).

    Raises:
        ParameterError: no ranges. UnknownNameError: no published set has this name.
    """
    if isinstance(given, UncertaintySet):
        return given
    if not isinstance(given, str):
        return UncertaintySet(given)
    if given not in RRLS_SETS:
        raise UnknownNameError(f"there is no published uncertainty set {given!r}. {nearest(given, RRLS_SETS)}")
    return RRLS_SETS[given]


class OnParameters(EpisodeParams):
    """What wrappers that set parameters within an uncertainty set share. They have the setting `set`."""

    set: Any

    def __post_init__(self) -> None:
        if isinstance(self.set, UncertaintySet):
            self.set = self.set.plain()

    def prepare(self) -> None:
        """Take in the set."""
        self.region = uncertainty_set(self.set)
        self.claim(self.region.names)
        self.region.check(self.batch.world)
        self.low, self.high = self.region.low, self.region.high
        ends = zip(self.low.tolist(), self.high.tolist(), strict=True)
        self.batch.setup.check_ranges(dict(zip(self.region.names, ends, strict=True)))

    def entries(self) -> dict[str, Any]:
        return {"parameters": self.values}


@dataclass
class DomainRandomization(OnParameters):
    """Domain randomization: draw parameters uniformly from an uncertainty set at the start of every episode.

    The draw follows from the episode's seed alone. All else of the episode is what it would be without the wrapper, the
    world's own random numbers too; `randomize=` of `make` takes numbers out of the world's generator instead, is faster
    where episodes are short, and is the choice for training. This wrapper is for comparisons by seed, for environments
    that exist already, and for sets that are given by name; `Contexts` shows the agent what was drawn.

    Info: `parameters`, float64 (k,), in the order of the set. With MuJoCo a model is compiled for each draw, some 8 ms.

    Attributes:
        set: an `UncertaintySet`, its ranges {name: (low, high)}, or the name of a published one ("rrls-ant-2").

    Raises:
        ParameterError: a parameter that the world does not have, or a range wider than it allows.
    """

    set: Any

    def assign(self, worlds: np.ndarray) -> None:
        """Draw parameters for worlds that start an episode."""
        unit = np.empty((len(worlds), len(self.names)))
        first = worlds * self.agents
        uniforms(self.key[first], self.time[first], 0, unit)
        drawn = np.minimum(self.low + (self.high - self.low) * unit, self.high)
        self.values.reshape(-1, self.agents, len(self.names))[worlds] = drawn[:, None]


# --- agents that somebody else plays ----------------------------------------------------------------------------------

CHOOSING = 1 << 16  # place of the numbers that choose agents


@renamed
@dataclass
class AdversarialAgents(Wrapper):
    """Replace the actions of some agents of a multi-agent world: an adversarial or faulty minority.

    For parallel forms. The others' observations, rewards and actions pass untouched. What the policy says for agents
    that are taken over is ignored, and reported as `raw_action`.

    Info: `taken_over`, bool; `raw_action`, what the policy said, and `action`, what the environment got.

    Attributes:
        adversaries: how many, drawn anew for each episode; or the names of the agents.
        player: the policy that plays them. "random": uniform over the actions, those that the mask allows. "idle": they
            do nothing.
            "worst": of `candidates` actions the one with which the agents that are not taken over are paid the least
            in the next `lookahead` steps, if all repeat their actions; found by trying each in a copy of the world, one
            taken agent after the other.
            The name of one of the world's scripted players. Or a function of observations (n, ...) that returns the
            actions (n, ...), or its address "module:name".
        candidates: tried by "worst" where actions are numbers: 0 and random ones. Choices are all tried.
        lookahead: steps of each trial.

    Raises:
        ParameterError: not a multi-agent form, unknown agents or players, or more agents than there are.
    """

    adversaries: Any = 1
    player: Any = "random"
    candidates: int = 16
    lookahead: int = 5

    def prepare(self) -> None:
        if self.agents < 2:
            raise self.setting_error(
                "adversaries", f"requires a parallel multi-agent environment; {self.name} is not one"
            )
        self.check_whole("candidates", 2, 1024)
        self.check_whole("lookahead", 1)
        self._check_agents()
        self._play = self._player()
        self.allocate("taken_over", dtype=np.bool_)
        shape = max(space.shape or () for space in self.action_spaces)
        for name in ("raw_action", "action"):
            self.allocate(name, shape, np.float32 if self.continuous else np.int64)
        self.info_below = self.below.read("action") is not None
        self._sizes = np.array([_size(space) for space in self.action_spaces])

    def _check_agents(self) -> None:
        if isinstance(self.adversaries, (list, tuple)):
            known = list(self.env.possible_agents)
            for name in self.adversaries:
                if name not in known:
                    raise self.setting_error(
                        "adversaries", f"contains {name!r}, which is not an agent. {nearest(str(name), known)}"
                    )
        else:
            self.check_whole("adversaries", 0, self.agents)

    def _player(self) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        if callable(self.player) or ":" in str(self.player):
            self._function = self.function("player")
            return self._called
        scripted = self.batch.world.players if self.batch else ()
        own = {"random": self._random, "idle": self._idle}
        if self.batch:
            own["worst"] = self._worst
            self._trial = self.batch.clone() if self.player == "worst" else None
        if self.player in own:  # the world's own "random" would need no numbers of ours, but takes them from its state
            return own[self.player]
        self.check_choice("player", [*own, *scripted])
        return self._scripted

    def begin_episode(self, slots: np.ndarray) -> None:
        """Choose the agents that are taken over in this episode."""
        if isinstance(self.adversaries, (list, tuple)):
            self.taken_over[:] = [name in self.adversaries for name in self.env.possible_agents]
        else:
            scores = np.empty((self.count, 1))
            uniforms(self.key, self.time, CHOOSING, scores)
            self.taken_over[:] = np.argsort(np.argsort(scores[:, 0], kind="stable")) < self.adversaries
        self.raw_action[:] = self.action[:] = 0

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions, with those of agents taken over replaced."""
        self.raw_action[slots] = self.action[slots] = actions[slots]
        taken = slots & self.taken_over
        if taken.any():
            self.action[taken] = self._play(actions, taken)[taken]
        return self.action

    def extra_info(self) -> dict[str, Any]:
        executed = self.below.read("action") if self.info_below else self.action
        return {"taken_over": self.taken_over, "raw_action": self.raw_action, "action": executed}

    # --- policies -----------------------------------------------------------------------------------------------------

    def _idle(self, actions: np.ndarray, taken: np.ndarray) -> np.ndarray:
        return self.idle_slots(actions)

    def _random(self, actions: np.ndarray, taken: np.ndarray, first: int = 0) -> np.ndarray:
        """Uniform; `first`: the place of the numbers."""
        if self.continuous:
            numbers = np.empty(actions.shape)
            uniforms(self.key, self.time, first, numbers)
            return self._spread(numbers)
        scores = np.empty((self.count, self._sizes.max()))
        uniforms(self.key, self.time, first, scores)
        return np.argmax(scores * self._allowed(), axis=1)

    def _spread(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers of [0, 1) over the action spaces."""
        for slot, space in enumerate(self.action_spaces):
            assert isinstance(space, spaces.Box)
            part = (slot, slice(space.shape[0]))
            numbers[part] = space.low + (space.high - space.low) * numbers[part]
        return numbers

    def _allowed(self) -> np.ndarray:
        """1 for choices that an agent has and may make, else 0; (slots, choices)."""
        allowed = (np.arange(self._sizes.max()) < self._sizes[:, None]).astype(np.float64)
        seen = self.below.observation
        if isinstance(seen, dict) and "action_mask" in seen:
            masks = seen["action_mask"]
            masked = allowed * np.pad(masks, ((0, 0), (0, allowed.shape[1] - masks.shape[1])))
            return np.where(masked.any(axis=1, keepdims=True), masked, allowed)
        return allowed

    def _called(self, actions: np.ndarray, taken: np.ndarray) -> np.ndarray:
        seen = self.below.observation
        own = {name: part[taken] for name, part in seen.items()} if isinstance(seen, dict) else seen[taken]
        found = np.asarray(self.call_policy(self._function, own, taken))
        if found.shape != actions[taken].shape or not np.isfinite(found).all():
            raise ActionError(
                f"{self.name}: the function `player` returned actions of shape {found.shape}; needed: finite numbers "
                f"of shape {actions[taken].shape}, for the agents taken over"
            )
        played = np.zeros_like(actions)
        played[taken] = found
        return played

    def _scripted(self, actions: np.ndarray, taken: np.ndarray) -> np.ndarray:
        found = self.batch.player_actions([self.player if own else None for own in taken])[0]
        return found[:, : actions.shape[1]] if self.continuous else found[:, 0]

    def _worst(self, actions: np.ndarray, taken: np.ndarray) -> np.ndarray:
        """One taken agent after the other tries its candidates, with what is known of the others' actions."""
        tried, chosen = self._candidates(actions, taken), actions.copy()
        for slot in np.flatnonzero(taken).tolist():
            paid = []
            for candidate in tried[slot]:
                chosen[slot] = candidate
                paid.append(self._paid(chosen))
            chosen[slot] = tried[slot][int(np.argmin(paid))]
        return chosen

    def _paid(self, actions: np.ndarray) -> float:
        """What the agents that are not taken over are paid together, if all repeat their actions."""
        assert self.batch is not None
        assert self._trial is not None
        trial, total = self._trial, 0.0
        trial.set_state(self.batch.get_state(0), 0)
        for _ in range(self.lookahead):
            if not trial.over[0]:
                trial.load_actions(self._padded(actions, trial)[None])
                trial.step_inplace()
                total += float(trial.rewards[0][~self.taken_over].sum())
        return total

    def _candidates(self, actions: np.ndarray, taken: np.ndarray) -> dict[int, list[Any]]:
        if not self.continuous:
            allowed = self._allowed()
            return {slot: np.flatnonzero(allowed[slot]).tolist() for slot in np.flatnonzero(taken).tolist()}
        width = actions.shape[1]
        drawn = [self._random(actions, taken, width * j) for j in range(1, self.candidates)]
        return {slot: [0.0 * actions[slot], *(own[slot] for own in drawn)] for slot in np.flatnonzero(taken).tolist()}

    def _padded(self, actions: np.ndarray, batch: Any) -> np.ndarray:
        width = batch.actions.shape[2]
        if not self.continuous:
            return actions[:, None] if width == 1 else np.pad(actions[:, None], ((0, 0), (0, width - 1)))
        return np.pad(actions, ((0, 0), (0, width - actions.shape[1])))


def _size(space: spaces.Space) -> int:
    if isinstance(space, spaces.Discrete):
        return int(space.n)
    if isinstance(space, spaces.Box) and len(space.shape) == 1:
        return space.shape[0]
    raise ParameterError(
        f"AdversarialAgents: agents with actions of {space} cannot be taken over; needed: Discrete or a vector"
    )


@compiled(nogil=True)
def uniforms(key: np.ndarray, time: np.ndarray, first: int, out: np.ndarray) -> None:
    """Fill (slots, n) with numbers of [0, 1), from the places first, first + 1, ..."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = uniform_of(bits_at(key[i], time[i], first + j))
