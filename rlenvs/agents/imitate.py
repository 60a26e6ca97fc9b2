"""Imitation learning from a world's scripted expert: DAgger and behavior cloning on the native vector environment.

Behavior cloning (BC) copies an expert's own episodes (Pomerleau, "ALVINN", NeurIPS 1988), and is lost as soon as it
leaves them. With DAgger the learner acts, more and more of the time, and the expert only says what it would have done;
all its answers so far are learned (Ross, Gordon and Bagnell, "A reduction of imitation learning and structured
prediction to no-regret online learning", AISTATS 2011).

    rlenvs train PandaPickAndPlace-v0 --algorithm DAgger
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from gymnasium import spaces

from rlenvs.agents.models import ppo_class
from rlenvs.core.declare.errors import ParameterError
from rlenvs.core.declare.inputs import positive
from rlenvs.core.declare.renamed import old_names

__all__ = ["bc_class", "dagger_class"]
if not TYPE_CHECKING:
    __getattr__ = old_names(__name__)

CAPACITY = 1_000_000  # answers that are kept; later ones replace the oldest


class Answers:
    """What the expert said, and what was seen then. A ring of `capacity` rows.

    Args:
        capacity: rows, at least 1.
    """

    def __init__(self, capacity: int) -> None:
        self.capacity, self.count = capacity, 0
        self.columns: dict[str, np.ndarray] = {}

    def add(self, columns: dict[str, np.ndarray]) -> None:
        """Append rows: arrays of equal length, always under the same names."""
        length = len(next(iter(columns.values())))
        places = (self.count + np.arange(length)) % self.capacity
        for name, array in columns.items():
            self.columns[name] = self._room(name, array, min(self.count + length, self.capacity))
            self.columns[name][places] = array
        self.count += length

    def _room(self, name: str, like: np.ndarray, needed: int) -> np.ndarray:
        """A column with at least so many rows; it doubles where it has too few."""
        kept = self.columns.get(name, np.empty((0, *like.shape[1:]), like.dtype))
        if len(kept) >= needed:
            return kept
        more = min(needed, self.capacity - len(kept))
        return np.concatenate((kept, np.empty((more, *kept.shape[1:]), kept.dtype)))

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def take(self, places: np.ndarray | slice) -> dict[str, np.ndarray]:
        """Some rows."""
        return {name: array[places] for name, array in self.columns.items()}

    @property
    def state(self) -> dict[str, Any]:
        """All rows, and how many there ever were. Setting it puts them back."""
        return {"count": self.count, "rows": self.take(slice(len(self)))}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        self.columns, self.count = {}, 0
        if state["rows"]:
            self.add(state["rows"])
        self.count = state["count"]


_Model: Any = object  # `dagger_class` puts Stable-Baselines3's class behind it


class Imitator(_Model):
    """Imitates the scripted expert of its environment.

    In round k the expert acts in a share `left`^k of the worlds (in all of the first round), the model in the others:
    0.5^k with DAgger, in all worlds always with BC.
    After each round the model learns from all answers: the mean squared error of actions that are numbers, the
    cross-entropy of choices. In worlds of several agents, every agent that is alive is asked.

    Args:
        policy: "MlpPolicy" or "MultiInputPolicy".
        env: an `SB3VecEnv`, with VecNormalize around it or not; its world has a scripted expert.
        rounds: how often the model learns, at least 1.
        epochs: passes over all answers per round, at least 1.
        batch_size: rows per update, at least 1.
        learning_rate: of Adam: a number, or a function of the share of the rounds, from 1 to 0, that remains.
        kwargs: as for PPO: seed, device, policy_kwargs.

    Raises:
        ParameterError: a number that is none, or a world without an expert.
    """

    masked: ClassVar[bool]  # whether policies are those of MaskablePPO
    left: ClassVar[float]  # to the expert, from one round to the next

    _last_obs: Any
    _last_original_obs: Any

    def __init__(
        self,
        policy: str,
        env: Any,
        rounds: int = 10,
        epochs: int = 2,
        batch_size: int = 1024,
        learning_rate: Any = 1e-3,
        **kwargs: Any,
    ) -> None:
        self.rounds, self.epochs = positive("rounds", rounds), positive("epochs", epochs)
        self.rows = positive("batch_size", batch_size)
        if not callable(learning_rate) and not learning_rate > 0.0:
            raise ParameterError(f"{type(self).__name__}: learning_rate={learning_rate!r} must be above 0")
        batch = getattr(env.unwrapped, "batch", None)
        if batch is None:
            raise ParameterError(f"{type(self).__name__} requires sb3_vec_env(...), not {env}")
        if not batch.world.has_expert:
            raise ParameterError(f"{batch.world.name} has no scripted expert to imitate")
        # the rollouts of PPO, which are not used, are as small as it lets them be
        super().__init__(policy, env, learning_rate, n_steps=2, batch_size=2, **kwargs)
        self.numbers = batch.setup.continuous
        self.answers = Answers(CAPACITY)
        self.rng = np.random.default_rng(self.seed)

    @property
    def rng_state(self) -> dict[str, Any]:
        """Of the generator that mixes and shuffles."""
        return dict(self.rng.bit_generator.state)

    @rng_state.setter
    def rng_state(self, state: dict[str, Any]) -> None:
        self.rng.bit_generator.state = state

    def learn(
        self,
        total_timesteps: int,
        callback: Any = None,
        log_interval: int | None = 1,
        tb_log_name: str = "DAgger",
        reset_num_timesteps: bool = True,
        progress_bar: bool = False,
    ) -> Any:
        """Ask and learn in turns. All rounds have equally many steps; a callback's rollout is a round."""
        total, callback = self._setup_learn(total_timesteps, callback, reset_num_timesteps, tb_log_name, progress_bar)
        callback.on_training_start(locals(), globals())
        steps = -(-total // (self.rounds * self.n_envs))
        done = self.num_timesteps // (steps * self.n_envs)
        for k in range(done, self.rounds):
            if not self._collect(k, steps, callback):
                break
            self._current_progress_remaining = 1.0 - k / self.rounds
            self._update_learning_rate(self.policy.optimizer)
            for _ in range(self.epochs):
                self._study()
            if log_interval is not None and (k + 1) % log_interval == 0:
                self.dump_logs(k + 1)
        callback.on_training_end()
        return self

    def _collect(self, k: int, steps: int, callback: Any) -> bool:
        """The steps of round k; whether the callback wants to go on."""
        callback.on_rollout_start()
        for _ in range(steps):
            self._ask(self.left**k)
            callback.update_locals(locals())
            if not callback.on_step():
                return False
        callback.on_rollout_end()
        return True

    def _ask(self, share: float) -> None:
        """Make a step, the expert in a share of the worlds, and note what it would do in all of them."""
        env: Any = self.env
        venv = env.unwrapped
        advice = venv.batch.expert_actions().reshape(venv.num_envs, -1).copy()
        answers = advice.astype(np.float32) if self.numbers else venv.batch.setup.shown_action(advice)
        masks = venv.action_masks()
        self._note(answers, masks, venv.batch.states["alive"].reshape(-1).astype(np.bool_))
        actions = answers
        if share < 1.0:
            options = {"action_masks": masks} if self.masked else {}
            own = self.predict(self._last_obs, deterministic=True, **options)[0]
            led = np.repeat(self.rng.random(venv.batch.num_envs) < share, venv.batch.agents)
            actions = np.where(led.reshape(-1, *(1,) * (own.ndim - 1)), answers, own)
        self._last_obs, _, dones, infos = env.step(actions)
        if self._vec_normalize_env is not None:
            self._last_original_obs = self._vec_normalize_env.get_original_obs()
        self.num_timesteps += venv.num_envs
        self._update_info_buffer(infos, dones)

    def _note(self, answers: np.ndarray, masks: np.ndarray, alive: np.ndarray) -> None:
        # as it was before a normaliser, whose statistics change
        last = self._last_obs if self._vec_normalize_env is None else self._last_original_obs
        seen = last if isinstance(last, dict) else {"": last}
        columns = {f"seen {name}": array[alive] for name, array in seen.items()}
        columns["answer"] = answers[alive]
        if self.masked:
            columns["mask"] = masks[alive]
        self.answers.add(columns)

    def _study(self) -> None:
        """One pass over all answers."""
        import torch

        order = self.rng.permutation(len(self.answers))
        losses = []
        for start in range(0, len(order), self.rows):
            loss = self._loss(self.answers.take(order[start : start + self.rows]))
            self.policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.policy.optimizer.step()
            losses.append(loss.item())
        self.logger.record("train/loss", float(np.mean(losses)))

    def _loss(self, rows: dict[str, np.ndarray]) -> Any:
        import torch

        seen: Any = {name.removeprefix("seen "): part for name, part in rows.items() if name.startswith("seen ")}
        seen, normalizer = seen.get("", seen), self._vec_normalize_env
        tensors, _ = self.policy.obs_to_tensor(seen if normalizer is None else normalizer.normalize_obs(seen))
        options = {"action_masks": rows["mask"]} if self.masked else {}
        found = self.policy.get_distribution(tensors, **options)
        answers = torch.as_tensor(rows["answer"])
        if isinstance(self.action_space, spaces.MultiBinary):
            answers = answers.float()
        if self.numbers:
            return ((found.distribution.mean - answers) ** 2).mean()
        return -found.log_prob(answers).mean()


def dagger_class(masked: bool) -> Any:
    """The class of DAgger models, with the interface of Stable-Baselines3; see `Imitator` for the algorithm.

    Args:
        masked: whether policies are those of MaskablePPO, for worlds where not every choice is always allowed;
            otherwise those of PPO.

    Raises:
        MissingExtraError: Stable-Baselines3 or sb3-contrib is not installed.
    """
    return _imitator("DAgger", masked, 0.5)


def bc_class(masked: bool) -> Any:
    """As `dagger_class`, for behavior cloning: all episodes are played by the expert."""
    return _imitator("BC", masked, 1.0)


def _imitator(name: str, masked: bool, left: float) -> Any:
    own = {"__doc__": Imitator.__doc__, "__module__": __name__, "masked": masked, "left": left}
    return type(name, (Imitator, ppo_class(masked)), own)
