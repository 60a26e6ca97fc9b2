"""Operators: who decides for one agent of an environment, whether a policy, a script, a language model or a person.

All of them see the same moment in their own way: the observation as an array, the text of the text form, or the image;
and each gives an action of the numeric form or a reply in words. `lock_step` plays them against each other.

After the operators of MOSAIC (Mousa, 2026; github.com/Abdulhamid97Mousa/MOSAIC), as a library.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box

from rlenvs.agents.agent import Agent
from rlenvs.agents.files import load_agent
from rlenvs.agents.matches import Player, player_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import positive
from rlenvs.core.forms.text_env import NumericAction, TextParallelEnv

__all__ = ["Decision", "Human", "Language", "Moment", "Operator", "Policy", "Scripted", "View", "operator_of"]

BASELINES = ("random", "idle", "cycle", "expert")


class Moment:
    """An environment before a step, for all its agents.

    Args:
        env: the environment. players: the scripted player of each agent, or None; they choose together, once.
    """

    def __init__(self, env: TextParallelEnv, players: Sequence[str | None]) -> None:
        self.env, self._players = env, list(players)

    @cached_property
    def scripted(self) -> dict[str, Any]:
        """Actions of the scripted players, by agent."""
        return self.env.numeric.player_actions(self._players)

    @cached_property
    def expert(self) -> dict[str, Any]:
        """Actions of the expert, by agent."""
        return self.env.numeric.expert_actions()


class View:
    """What an operator may look at before it decides.

    Attributes:
        agent: its name. text: the observation in words. reason: why its last reply was replaced; "" if it was not.
        step: of the episode, from 0 on. moment: of all agents.
    """

    def __init__(self, moment: Moment, agent: str, text: str, reason: str, step: int) -> None:
        self.moment, self.agent, self.text, self.reason, self.step = moment, agent, text, reason, step
        self._batch = moment.env.numeric.batch
        self._k = moment.env.possible_agents.index(agent)

    @property
    def observation(self) -> Any:
        """The observation of the numeric form, without its mask: an array or a dictionary."""
        seen = self._batch.get_observations((np.zeros(1, np.int64), self._k))
        return {name: rows[0] for name, rows in seen.items()} if isinstance(seen, dict) else seen[0]

    @property
    def mask(self) -> np.ndarray | None:
        """Which choices are legal, int8 (choices,); None where all are."""
        if "mask" not in self._batch.world.kernels:
            return None
        return self._batch.masks[0, self._k, : self._batch.setup.mask_lengths[self._k]].copy()

    @property
    def legal(self) -> list[np.ndarray]:
        """The legal choices of each number of an action of choices."""
        setup = self._batch.setup
        mask = np.ones(setup.mask_lengths[self._k], np.int8) if self.mask is None else self.mask
        return [np.flatnonzero(part) for part in ([mask] if setup.single_choice else setup.parts_of_mask(mask))]

    @property
    def image(self) -> np.ndarray:
        """The image of the whole environment, uint8 (height, width, 3)."""
        return self.moment.env.render()

    def fault(self, reply: Any) -> str:
        """Why a reply, or a `NumericAction`, would be replaced now; "" for a legal one."""
        return self.moment.env.fault(self.agent, reply)


class Decision(NamedTuple):
    """What an operator decides, with what is to be logged.

    value: an action of the numeric form, or a text. info: JSON values, such as the tokens that a model has used.
    """

    value: Any
    info: Mapping[str, Any] = {}


class Operator:
    """Decides for one agent. Subclasses define `act`.

    An operator may be given for several agents: each gets a copy of its own, bound to it. The copy is a shallow one, so
    what changes in an episode, such as lists, belongs into `reset`.

    Attributes:
        kind: "policy", "scripted", "language" or "human", for logs. name: of it, for logs.
    """

    kind = "operator"
    agent = ""

    @property
    def name(self) -> str:
        """What logs call it."""
        return type(self).__name__

    def bind(self, env: TextParallelEnv, agent: str) -> Operator:
        """A copy for an agent of an environment. ParameterError where it does not fit."""
        bound = copy.copy(self)
        bound.agent = agent
        return bound

    def reset(self, seed: Sequence[int]) -> None:
        """Begin an episode. The seed is one of NumPy's, the same for the same slot of all line-ups."""

    def act(self, view: View) -> Any:
        """Decide: an action of the numeric form, a text, or a `Decision`."""
        raise NotImplementedError(f"{type(self).__name__} must define act(view)")

    def close(self) -> None:
        """Release what it holds, after the last episode. Can be called twice."""


class Scripted(Operator):
    """A scripted player of the environment, or a baseline.

    Args:
        player: one of the world's players; "expert"; or "random" (all legal actions equally likely), "idle" (does
            nothing, or what is nearest to it), "cycle" (legal choices in turn: 0, 1, 2, ...). A player of the world
            that is called like a baseline comes first.
    """

    kind = "scripted"

    def __init__(self, player: str) -> None:
        self.player = player
        self.of_world = False

    @property
    def name(self) -> str:
        """The player."""
        return self.player

    def bind(self, env: TextParallelEnv, agent: str) -> Operator:
        """A copy for an agent; UnknownNameError where the environment has no such player."""
        world, setup = env.numeric.batch.world, env.numeric.batch.setup
        known = [*world.players, *BASELINES]
        if self.player not in known:
            raise UnknownNameError(
                f"{world.name} has no player {shortened(self.player)}. {nearest(self.player, known)}"
            )
        has_expert = bool({"expert", "python_expert"} & set(world.kernels))
        if self.player == "expert" and not (has_expert or world.players):
            raise ParameterError(f"{world.name} has no scripted expert")
        if self.player == "cycle" and setup.continuous:
            raise ParameterError(f"{world.name}: the player 'cycle' needs choices, and actions are numbers here")
        bound = super().bind(env, agent)
        assert isinstance(bound, Scripted)
        bound.of_world = self.player in world.players
        return bound

    def reset(self, seed: Sequence[int]) -> None:
        """Begin an episode."""
        self._generator, self._turn = np.random.default_rng(seed), 0

    def act(self, view: View) -> Any:
        """The script's action."""
        if self.of_world:
            return view.moment.scripted[view.agent]
        if self.player == "expert":
            return view.moment.expert[view.agent]
        if self.player == "idle":
            return view.moment.env.idle_action(view.agent)
        space = view.moment.env.numeric.action_space(view.agent)
        if isinstance(space, Box):
            return self._generator.uniform(space.low, space.high).astype(space.dtype)
        if self.player == "random":
            chosen = [int(self._generator.choice(allowed)) for allowed in view.legal]
        else:
            chosen = [int(allowed[self._turn % len(allowed)]) for allowed in view.legal]
            self._turn += 1
        return np.array(chosen) if space.shape else chosen[0]


class Policy(Operator):
    """A trained or written policy, which sees arrays.

    Args:
        player: an `Agent`, also one with a memory; its file (.safetensors); a model of Stable-Baselines3 or its file
            (.zip; loading it runs code that the file contains); or a function (observations (1, ...), mask (1, choices)
            or None, rng) -> actions (1,) or (1, n), as `rlenvs.tournament` takes it.
        name: for logs; by default that of the file, or of the class.
    """

    kind = "policy"

    def __init__(self, player: Player, name: str | None = None) -> None:
        self.player = player
        of_file = Path(player).name if isinstance(player, (str, Path)) else getattr(player, "__name__", "")
        self._name = name or of_file or type(player).__name__

    @property
    def name(self) -> str:
        """As it was given, or that of the file."""
        return self._name

    def bind(self, env: TextParallelEnv, agent: str) -> Operator:
        """A copy for an agent, loaded; ParameterError where it was trained for other spaces."""
        setup, player = env.numeric.batch.setup, self.player
        bound = super().bind(env, agent)
        assert isinstance(bound, Policy)
        if isinstance(player, (str, Path)) and str(player).endswith(".safetensors"):
            player = load_agent(player, id=setup.world.name)
        if isinstance(player, Agent):
            player.check(setup, f"the operator {self.name!r}")
        else:
            player = player_of(setup, self.name, player)
        if not isinstance(player, Agent) and not callable(player):
            raise ParameterError(f"{shortened(player)} is no policy; the operator of a script is Scripted(name)")
        bound.player = player
        return bound

    def reset(self, seed: Sequence[int]) -> None:
        """Begin an episode."""
        self._generator, self._starts = np.random.default_rng(seed), True
        self._memory: Any = None

    def act(self, view: View) -> Any:
        """The policy's action."""
        mask: Any = view.mask
        player: Any = self.player
        if isinstance(player, Agent):
            mask = mask if player.network.masked else None
            action, self._memory = player.act(
                view.observation, mask, self._memory, self._starts, view.agent, self._generator
            )
            self._starts = False
            return action
        seen = view.observation
        row = {name: part[None] for name, part in seen.items()} if isinstance(seen, dict) else seen[None]
        found = np.asarray(player(row, None if mask is None else mask[None], self._generator))
        if found.ndim == 0 or len(found) != 1:
            raise ParameterError(
                f"the policy {self.name!r} gives {shortened(found.tolist())}; needed: an action per row, (1,) or (1, n)"
            )
        return found[0]


class Language(Operator):
    """A language model, or anything that answers a text.

    Args:
        model: (text, reason) -> reply. The text is the observation in words, the reason says why the reply before was
            no legal action ("" if it was).
        tries: how often it is asked in a step until its reply is legal.
        seconds: that it may think in a step; a later reply is not used, and counts as illegal. None for no bound.
        name: for logs; by default that of the function.
    """

    kind = "language"

    def __init__(
        self,
        model: Callable[[str, str], str],
        tries: int = 1,
        seconds: float | None = None,
        name: str | None = None,
    ) -> None:
        if not callable(model):
            raise ParameterError(f"model={shortened(model)} must be a function (text, reason) -> reply")
        if seconds is not None and not (isinstance(seconds, (int, float)) and seconds > 0):
            raise ParameterError(f"seconds={shortened(seconds)} must be above 0, or None")
        self.model, self.tries, self.seconds = model, positive("tries", tries), seconds
        self._name = str(name or getattr(model, "__name__", type(model).__name__))

    @property
    def name(self) -> str:
        """As it was given, or that of the function."""
        return self._name

    def ask(self, view: View, reason: str) -> Any:
        """One reply."""
        return self.model(view.text, reason)

    def act(self, view: View) -> Any:
        """The first legal reply, or the last one; the log has those before it, with what was wrong, as "rejected"."""
        begin, reason = time.monotonic(), view.reason
        rejected: list[tuple[str, str]] = []
        while True:
            reply = self.ask(view, reason)
            reply = reply if isinstance(reply, str) else f"no text, but a {type(reply).__name__}"
            if self.seconds is not None and time.monotonic() - begin > self.seconds:
                return Decision("too late", {"late": reply, "rejected": rejected})
            reason = view.fault(reply)
            if not reason or len(rejected) + 1 == self.tries:
                return Decision(reply, {"rejected": rejected})
            rejected.append((reply, reason))


class Human(Language):
    """A person, at the terminal or behind a function. A reply may be short: `1` or `down` for `<choose(1)>`, `move(up)`
    for `<move(up)>`.

    Args:
        answer: (text, reason) -> reply; None asks at the terminal.
        tries, name: as for `Language`.
    """

    kind = "human"

    def __init__(self, answer: Callable[[str, str], str] | None = None, tries: int = 3, name: str = "human") -> None:
        super().__init__(answer or self._at_terminal, tries, name=name)

    def _at_terminal(self, text: str, reason: str) -> str:
        print(f"\n{text}" + (f"\n({reason})" if reason else ""))
        try:
            return input("> ")
        except EOFError:
            raise ParameterError("a person was asked for an action, and standard input has ended") from None

    def ask(self, view: View, reason: str) -> Any:
        """One reply, completed where it is short."""
        reply = super().ask(view, reason)
        if not isinstance(reply, str):
            return reply
        short = reply.strip()
        candidates = [reply, f"<{short}>", f"<choose({short})>", f"<{short}()>"]
        return next((each for each in candidates if not view.fault(each)), reply)


def operator_of(given: Any) -> Operator:
    """An operator from what stands for one: itself, a name of `Scripted`, or what `Policy` takes."""
    if isinstance(given, Operator):
        return given
    if isinstance(given, str) and not given.endswith((".safetensors", ".zip")):
        return Human() if given == "human" else Scripted(given)
    return Policy(given)


def replied(value: Any) -> Any:
    """A decision as the text form takes it."""
    return value if isinstance(value, str) else NumericAction(value)
