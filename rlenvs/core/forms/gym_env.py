"""gymnasium.Env: a batch of one world, for its first agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.links import MARK, link_text
from rlenvs.core.batch.parameters import for_once
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.declare.errors import EpisodeOverError, ParameterError, shortened
from rlenvs.core.declare.inputs import actions_of, generator_of, params_of, seed_of, truth
from rlenvs.core.declare.keys import keys_to_action, steered_by_held_keys
from rlenvs.core.declare.renamed import renamed
from rlenvs.core.declare.spec import World, load_world
from rlenvs.core.forms.attributes import Assigns, attribute_of, model_of
from rlenvs.core.forms.illegal_actions import action_checker_of
from rlenvs.core.forms.info import InfoKeys
from rlenvs.core.forms.render import RENDER_MODES, Renderer, check_mode
from rlenvs.core.forms.time_limit import ShowsLimit

EXPERT, IDLE = "expert", "idle"
GOAL_METHODS = ("compute_reward", "compute_terminated", "compute_truncated")
KEYS_METHOD = "get_keys_to_action"
FIRST = (0, 0)  # the first agent of the first world
BARE = (int, np.int64)  # choices that need no array


@renamed
class Env(ShowsLimit, Assigns, gymnasium.Env):
    """One world behind the Gymnasium API. Made by `gymnasium.make("rlenvs/Name-v0", ...)`.

    Args:
        world: the world, or its address "module:name".
        render_mode: None, "human", "rgb_array" or "ansi" (the world's own text, else what is observed).
        render_text: False leaves out the head (step, return, cost, success) and the legend of images, so that the
            scene fills them; for observations made of images.
        vector_reward: return the vector of reward terms (float32) instead of their weighted sum.
        others: the policy of the other agents of a multi-agent world: "expert" (the scripted one), the name of one of
            the world's scripted players, or "idle" (they do nothing). By default the expert, where there is one.
        illegal: what becomes of a choice that the action mask forbids: "count" plays it as the world says and adds one
            to info["illegal_actions"], the number of this episode; "error" refuses the step.
        backend: "numba", or "python" to debug kernels.
        choices: parameters, options, level, horizon, weights, randomize, encoding, flat_actions.

    Raises:
        UnknownKeywordError, UnknownNameError, ParameterError: a keyword, level or value that the world does not have.
    """

    metadata = {"render_modes": RENDER_MODES, "render_fps": 30}
    _given_generator = False  # whether `np_random` was set since the last reset

    def __init__(
        self,
        world: World | str,
        *,
        render_mode: str | None = None,
        render_text: bool = True,
        vector_reward: bool = False,
        others: str | None = None,
        illegal: str = "count",
        backend: str = "numba",
        **choices: Any,
    ) -> None:
        world = load_world(world) if isinstance(world, str) else world
        check_mode(world, render_mode)
        others = others_of(world, others)
        vector_reward = truth("vector_reward", vector_reward)
        self.batch = new_batch(world, autoreset=AutoresetMode.DISABLED, backend=backend, first_decides=True, **choices)
        setup = self.batch.setup
        self.observation_space, self.action_space = setup.agent_spaces(0)
        if vector_reward:
            self.reward_space = setup.reward_space
            self.reward_dim = len(world.terms)  # MO-Gymnasium's name
        self.metadata = {"render_modes": list(RENDER_MODES), "render_fps": round(setup.fps)}
        self.render_mode = render_mode
        self.others, self.illegal = others, illegal
        self.vector_reward = vector_reward
        self._type = setup.encode.plain if setup.encode else None
        encoded = setup.encode is not None and self._type is None
        self._split = bool(setup.in_parts or setup.world.roles or encoded)
        self._keys = InfoKeys(self.batch)
        self._action_checker = action_checker_of(self.batch, illegal, agents=1)
        self._renderer = Renderer(render_mode, self.batch, render_text)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seeds the world's generator; None goes on with it.
            options: {"params": {name: number}} changes physical parameters from this episode on; the options of the
                published environment, where the world's page names any, such as {"low": -0.1, "high": 0.1}, are for
                this reset alone.

        Raises:
            ParameterError: an unknown option or parameter, a value outside its range, a seed that is no integer of 0 or
                more. Nothing has changed then.
        """
        seed, batch = seed_of(seed), self.batch
        if options is None:
            return self._begin(seed)
        params, once, _ = params_of(options, batch.world.drop_in.starts)
        batch.set_params(params)
        with for_once(batch, once):
            return self._begin(seed)

    def _begin(self, seed: int | None) -> tuple[Any, dict[str, Any]]:
        batch = self.batch
        super().reset(seed=seed)
        if seed is not None or self._given_generator:
            batch.seed_from(self.np_random, 0)
            self._given_generator = False
        else:
            batch.seed_unseeded(self.np_random)
        batch.reset()
        self._show()
        return self._began()

    @property
    def np_random(self) -> np.random.Generator:
        """The generator that seeds the world's internal generator, which is part of its state. After setting a new one,
        the next reset without a seed reseeds the world from it."""
        return gymnasium.Env.np_random.fget(self)  # type: ignore[attr-defined]

    @np_random.setter
    def np_random(self, generator: np.random.Generator) -> None:
        self._np_random, self._np_random_seed, self._given_generator = generator_of(generator), -1, True

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """Advance by one step. Continuous actions are clipped to the bounds of their space.

        Raises:
            ActionError: wrong shape or type, NaN, not a choice; with illegal="error" one that the action mask forbids.
                The world has not moved then.
            EpisodeOverError: the episode is over, or the environment is closed.
        """
        step = self.batch.first.step or self._make_step()
        return step(action) or self._long_step(action)

    def _make_step(self) -> Callable[[Any], Any]:
        """The short way of a step; it gives None where it is not enough."""
        batch, first = self.batch, self.batch.first
        alone = batch.agents == 1 and not batch.moved_by_engine
        if alone and not self._split and self.render_mode != "human":
            refuses = self._action_checker is not None and self._action_checker.refuses
            first.step = batch.short_step(first.read_agent or self._make_reader(), refuses)
        else:
            first.step = _no_short_way
        return first.step

    def _make_reader(self) -> Callable[[], Any]:
        """What gives observation, reward, flags and info of the last step."""
        batch, first = self.batch, self.batch.first
        if self._split:
            observe: Callable[[], Any] = self._observation
        elif self._type is None:
            observe = first.observation.copy
        else:
            observe = partial(first.observation.astype, self._type)
        first.read_agent = self._keys.reader(batch, observe, self.vector_reward)
        return first.read_agent

    def current(self) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The current observation, reward, flags and info, as returned by `step`."""
        return (self.batch.first.read_agent or self._make_reader())()

    def _began(self) -> tuple[Any, dict[str, Any]]:
        """Observation and info as they are now."""
        observation, _, _, _, info = self.current()
        return observation, info

    def _long_step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """A step that needs more than kernels: other agents, an engine, a window, a choice that has to be looked at."""
        batch = self.batch
        if batch.agents > 1:
            bare = type(action) in BARE
            batch.set_first_agent_action(action if bare else actions_of(batch.world.name, action)[None], self.others)
        else:
            batch.load_action(action)
        if self._action_checker is None:
            batch.step_inplace()
        else:
            self._action_checker.step()
        self._show()
        return self.current()

    def _observation(self) -> Any:
        return self.batch.get_observations(FIRST)

    def render(self) -> Any:
        """The image: an array (height, width, 3) uint8, a text, or None for a window, as `render_mode` says.

        Raises:
            EpisodeOverError: there was no reset yet.
        """
        return self._renderer.image(0)

    def _show(self) -> None:
        if self.render_mode == "human":
            self._renderer.image(0)

    def close(self) -> None:
        """Close the window and the physics engine, if any. Can be called twice; no step is possible afterwards."""
        self._renderer.close()
        self.batch.close()
        self.batch.first.step = partial(refuse_closed, self.batch.world.name)
        self.batch.first.advance = None

    def get_state(self) -> Snapshot:
        """A picklable, bit-exact copy of the world, including its generator and time limit."""
        return self.batch.get_state()

    def set_state(self, snapshot: Snapshot) -> Any:
        """Restore a snapshot; returns its observation. SnapshotError if it belongs to another environment."""
        self.batch.set_state(snapshot)
        return self._observation()

    def link(self, page: str = "") -> str:
        """The address of a page in exactly this state, with level, parameters and generator; for `rlenvs.from_link`.

        Args:
            page: the address of the environment's page; without it the link begins with its fragment.

        Raises:
            ParameterError: the environment was made with options, which links do not hold.
        """
        return page + MARK + link_text(self.batch, self._np_random_seed)

    def sync_from_state(self) -> tuple[Any, dict[str, Any]]:
        """Recompute everything after the state was written from outside (`batch.states`); returns observation and info,
        as from a reset."""
        self.batch.sync_from_state(np.zeros(1, np.int64))
        return self._began()

    def __getattr__(self, name: str) -> Any:
        """`compute_reward`, `compute_terminated` and `compute_truncated` exist in goal form only: learners take an
        environment that has them for a goal environment. `get_keys_to_action` exists where keys steer the world.
        Physical parameters, and the attributes of the published environment that the world's page names, are there
        too."""
        if "batch" in self.__dict__:
            setup = self.batch.setup
            if (name in GOAL_METHODS and setup.in_goal_form) or (
                name == KEYS_METHOD and steered_by_held_keys(setup.world)
            ):
                return getattr(self, f"_{name}")
            if name == "model":  # asked for once more, since the property said that there is none
                return model_of(self.batch)
            return attribute_of(self.batch, 0, name, type(self).__name__)
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")

    def _get_keys_to_action(self) -> dict[tuple[int, ...], Any]:
        """Actions by the keys held together, for `gymnasium.utils.play.play`."""
        return keys_to_action(self.batch.setup)

    def _compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """The reward for achieved goals where others were desired, as in hindsight replay.

        Args:
            achieved_goal, desired_goal: one goal, or arrays with a goal in the last axis.
            info: not used; the reward of the goal form follows from the goals.

        Returns:
            a float for one goal, else a float64 array.

        Raises:
            ActionError: the shapes do not fit.
        """
        rewards, _ = self.batch.compute_reward(achieved_goal, desired_goal)
        return rewards if rewards.ndim else float(rewards)

    def _compute_terminated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """Whether the episode ends with these goals; arguments as for `compute_reward`."""
        _, ends = self.batch.compute_reward(achieved_goal, desired_goal)
        return ends if ends.ndim else bool(ends)

    def _compute_truncated(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """False for each pair of goals, since truncation follows from the time alone; arguments as for
        `compute_reward`."""
        ends = np.zeros_like(self._compute_terminated(achieved_goal, desired_goal, info))
        return ends if ends.ndim else False

    def action_masks(self) -> np.ndarray:
        """Which choices are allowed now, bool, concatenated over dimensions; the method that sb3-contrib's MaskablePPO
        calls."""
        return self.batch.first.mask.astype(np.bool_)

    @property
    def model(self) -> Any:
        """The exact model of a finite world: transitions `P`, rewards `R` and `start`, see `rlenvs.solve_mdp`. For a
        world simulated by MuJoCo, a copy of its `MjModel`.

        Raises:
            AttributeError: the world has none. MissingExtraError: what makes it is not installed.
        """
        return model_of(self.batch)

    def pareto_front(self, gamma: float = 1.0) -> np.ndarray:
        """The exact Pareto front with these options: the discounted sums of `reward_vector` of all nondominated
        policies, float64 (points, terms).

        Raises:
            NotImplementedError: the world knows none. ParameterError: a discount outside (0, 1].
        """
        return self.batch.setup.pareto_front(gamma)

    def expert_action(self) -> Any:
        """The scripted expert's action for the current state, in the action space."""
        return self.batch.setup.shown_action(self.batch.expert_actions()[0, 0])


def refuse_closed(world: str, *_: Any) -> None:
    """EpisodeOverError for a call of a closed environment."""
    raise EpisodeOverError(f"{world}: the environment is closed; make a new one")


def _no_short_way(action: Any) -> None:
    return None


def others_of(world: World, others: str | None) -> str:
    """Who plays the other agents: who is named, else the expert, where there is one, else "idle".

    Raises:
        ParameterError: nobody of that name can play them.
    """
    known = (*((EXPERT,) if world.has_expert or not world.agents else ()), IDLE, *world.players)
    if others is None:
        return known[0]
    if not isinstance(others, str) or others not in known:
        raise ParameterError(f"others={shortened(others)} is not one of {known}")
    return others
