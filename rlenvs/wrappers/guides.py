"""Episodes that a guide begins, and the curriculum of how long it leads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from rlenvs.core.compiler.loops import compiled
from rlenvs.core.declare.errors import ParameterError
from rlenvs.wrappers.action_checks import check_actions
from rlenvs.wrappers.randomness import bits_at, uniform_of
from rlenvs.wrappers.wrapper import Wrapper

TRIES = 5  # episodes that a guide may end before the learner gets one from its beginning


@compiled(nogil=True)
def draw_lengths(keys, most, lengths):
    """Per world, uniform in 0 ... most."""
    for i in range(keys.size):
        lengths[i] = int(uniform_of(bits_at(keys[i], 0, 0)) * (most + 1))


@dataclass
class JumpStart(Wrapper):
    """A guide policy acts for the first `steps` steps of each episode; the learner starts from there.

    After Jump-Start RL (Uchendu et al., arXiv 2204.02372). The guide acts inside `reset`: its rewards and costs are
    nobody's, its steps count for the time limit. Where it ends the episode a new one begins, up to 5 times; then the
    learner gets an episode from its start. `steps` may be changed while training, `env.wrappers[i].steps = 20`, for
    all episodes that begin afterwards; `GuideCurriculum` says when.

    Args:
        guide: "expert" (the scripted one), the name of one of the world's scripted players, or a function (or its
            address "module:name") from the observations of all slots, (slots, ...), to their actions, (slots, ...).
        steps: h, at least 0 and less than the time limit.
        random: draw h anew for each episode, uniform in 0 ... `steps`.

    Info: "guide_steps", int: the steps that the guide made in this episode.

    Raises:
        ParameterError: no such guide, steps beyond the time limit, or a wrapper below with other actions than those
            that the scripted guide gives.
        ActionError: the function's actions do not fit.
    """

    guide: Any = "expert"
    steps: int = 0
    random: bool = False

    def prepare(self) -> None:
        most = self.batch.setup.horizon - 1 if self.batch is not None else np.inf
        self.check_whole("steps", 0, most)
        if not isinstance(self.random, bool):
            raise self.setting_error("random", "must be True or False")
        self._scripted = isinstance(self.guide, str) and ":" not in self.guide
        if self._scripted:
            self._check_scripted()
        else:
            self._policy, _ = self.function("guide"), self.action_space
        self.guide_steps = self.allocate("guide_steps", dtype=np.int64)

    def _check_scripted(self) -> None:
        if self.batch is None:
            raise self.setting_error(
                "guide", f"exists only in environments of this package; give {self.name} a function"
            )
        world = self.batch.world
        self.check_choice("guide", [*(["expert"] if world.has_expert else []), *world.players])
        own = [self.batch.setup.agent_spaces(k)[1] for k in range(self.agents)]
        if own != self.action_spaces:
            raise self.setting_error(
                "guide", "uses the world's action space; put it below the wrapper that changes the actions"
            )

    def reset(self, slots: np.ndarray, seeds: Sequence[int | None] | None = None, options: Any = None) -> None:
        """Start episodes, and let the guide act."""
        super().reset(slots, seeds, options)
        self.guide_steps[slots] = 0
        if self.steps == 0:
            return
        lengths = self._lengths()
        waiting = slots.copy()
        for _ in range(TRIES):
            self._play(waiting, lengths)
            waiting = slots & np.repeat(self.below.over.reshape(-1, self.agents).all(axis=1), self.agents)
            if not waiting.any():
                break
            self.below.reset(waiting)
            self.guide_steps[waiting] = 0
        led = slots & (self.guide_steps > 0)
        if led.any():
            self.below.refresh_observation(led)

    def _lengths(self) -> np.ndarray:
        """How long the guide acts in every slot; the slots of a world agree."""
        lengths = np.full(self.count // self.agents, self.steps)
        if self.random:
            draw_lengths(self.key[:: self.agents], self.steps, lengths)
        return np.repeat(lengths, self.agents)

    def _play(self, slots: np.ndarray, lengths: np.ndarray) -> None:
        for done in range(int(lengths[slots].max())):
            acting = slots & (lengths > done) & ~self.below.over
            if not acting.any():
                return
            self.below.step(self._actions(acting), acting)
            self.guide_steps += acting

    def _actions(self, slots: np.ndarray) -> np.ndarray:
        """The guide's actions, in the precision of the action space."""
        if not self._scripted:
            found = self.call_policy(self._policy, self.below.observation)
            found = check_actions(found, self.action_spaces[0], slots, f"{self.name}, guide")
        else:
            found = self.batch.expert_actions() if self.guide == "expert" else self.batch.player_actions(self.guide)
            found = found.reshape(self.count, -1) if self.agents > 1 else found[:, 0]
            found = found if self.action_spaces[0].shape else found[:, 0]
        return found.astype(self.action_spaces[0].dtype)

    def entries(self) -> dict[str, Any]:
        return {"guide_steps": self.guide_steps}


@dataclass
class GuideCurriculum:
    """A curriculum for `JumpStart`: the guide's `steps` follow a decreasing list (Uchendu et al., arXiv 2204.02372).

    The next entry is taken when the mean of the last `window` evaluations since the last change is at least
    best - tolerance |best|, where best is the highest such mean so far, of the guide itself to begin with. For returns
    above 0 that is the published best (1 - tolerance).

        curriculum = GuideCurriculum([40, 20, 10, 0], guide_return=rlenvs.evaluate(id, "expert").mean)
        env.wrappers[0].steps = curriculum.update(mean_return_of_an_evaluation)

    Args:
        lengths: whole numbers, falling.
        guide_return: mean return of the guide alone.
        tolerance: beta, in [0, 1).
        window: evaluations per mean, at least 1.

    Attributes:
        steps: the current entry.

    Raises:
        ParameterError: a wrong setting.
    """

    lengths: Sequence[int]
    guide_return: float
    tolerance: float = 0.1
    window: int = 3
    stage: int = field(default=0, init=False)
    recent: list[float] = field(default_factory=list, init=False)

    def __post_init__(self) -> None:
        lengths = list(self.lengths)
        if not lengths or any(b >= a for a, b in pairwise(lengths)) or lengths[-1] < 0:
            raise ParameterError(f"GuideCurriculum: lengths={lengths} must be decreasing nonnegative integers")
        if not 0.0 <= self.tolerance < 1.0:
            raise ParameterError(f"GuideCurriculum: tolerance={self.tolerance!r} must be in [0, 1)")
        if self.window < 1 or not np.isfinite(self.guide_return):
            raise ParameterError(
                f"GuideCurriculum: window={self.window!r} must be at least 1, guide_return={self.guide_return!r} finite"
            )
        self.best = self.guide_return

    @property
    def steps(self) -> int:
        """The current value for `JumpStart.steps`."""
        return self.lengths[self.stage]

    def update(self, evaluation: float) -> int:
        """Report the mean return of an evaluation of guide and learner together; returns `steps`."""
        self.recent = [*self.recent, float(evaluation)][-self.window :]
        if len(self.recent) == self.window:
            mean = float(np.mean(self.recent))
            passed = mean >= self.best - self.tolerance * abs(self.best)
            self.best = max(self.best, mean)
            if passed and self.stage < len(self.lengths) - 1:
                self.stage += 1
                self.recent = []
        return self.steps
