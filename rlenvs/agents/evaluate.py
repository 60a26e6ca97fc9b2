"""Evaluation of policies: mean return over fixed seeds, with all seeds played in parallel in one batch."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from rlenvs.agents.agent import Agent, Seen
from rlenvs.agents.kinds import names_in
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch, make_vec
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import cost_cells
from rlenvs.core.declare.action_form import counts_of
from rlenvs.core.declare.errors import ParameterError, UnknownNameError, nearest, shortened
from rlenvs.core.declare.inputs import first_seed_of, positive
from rlenvs.core.declare.parts import Score
from rlenvs.core.declare.progress import Task, progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

if TYPE_CHECKING:
    from rlenvs.wrappers.forms import WrappedVectorEnv
    from rlenvs.wrappers.wrapper import Wrapper

__all__ = ["Evaluation", "evaluate", "normalized_score"]

Policy = str | Callable[[np.ndarray], Any]
Chooser = Callable[[], Any]
POLICIES = ("random", "idle", "expert")
MOST_SEEDS = 1_000_000  # played side by side


@dataclass(frozen=True)
class Evaluation:
    """One episode per seed.

    Attributes:
        seeds: the seeds, (N,) int64.
        returns: float64 (N,), sum of the rewards of an episode; with several agents summed over the team.
        costs: float64 (N,), sum of `info["cost"]`, likewise; limits hold for `cost_parts`.
        lengths: (N,), steps until the episode was over for all agents.
        successes: float64 (N,), 1 or 0: whether `is_success` was set on the last step; with several agents the share
            of agents for which it was set on their own last step.
        cost_parts: float64 (N,) by name of a cost: its sum over an episode, with several agents the mean of theirs.
            That is what a limit is for, and what all tables call cost. Empty with wrappers.
        limits: of these costs, by name.
    """

    seeds: np.ndarray
    returns: np.ndarray
    costs: np.ndarray
    lengths: np.ndarray
    successes: np.ndarray
    cost_parts: Mapping[str, np.ndarray] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)

    @property
    def mean(self) -> float:
        """Mean return."""
        return float(self.returns.mean())

    @property
    def half_width(self) -> float:
        """Half width of the 95 % confidence interval of the mean return (normal approximation); NaN for one seed."""
        if len(self.returns) < 2:
            return math.nan
        return float(1.96 * self.returns.std(ddof=1) / math.sqrt(len(self.returns)))

    @property
    def success_rate(self) -> float:
        """Fraction of episodes (with several agents: of agents) that succeeded, in [0, 1]."""
        return float(self.successes.mean())

    @property
    def mean_cost(self) -> float:
        """Mean of an episode's `info["cost"]`, summed over its steps and all agents."""
        return float(self.costs.mean())

    @property
    def mean_costs(self) -> dict[str, float]:
        """Mean cost per agent and episode by name, to compare with the world's cost limits."""
        return {name: float(values.mean()) for name, values in self.cost_parts.items()}

    @property
    def broken_limits(self) -> list[str]:
        """The costs whose mean exceeds their limit; with any of them a policy is unsafe, whatever its return."""
        return [name for name, mean in self.mean_costs.items() if mean > self.limits[name]]

    @property
    def mean_length(self) -> float:
        """Mean length of an episode in steps."""
        return float(self.lengths.mean())

    def __str__(self) -> str:
        worst, limit, _ = cost_cells(self.mean_costs, self.limits)
        cost = f"{worst} (limit {limit})" if worst else f"{self.mean_cost:.2f}"
        unsafe = f", unsafe: {', '.join(self.broken_limits)}" if self.broken_limits else ""
        return (
            f"return {self.mean:.2f} ± {self.half_width:.2f}, success {100 * self.success_rate:.0f} %, "
            f"cost {cost}{unsafe}, length {self.mean_length:.1f} ({len(self.seeds)} seeds)"
        )


def evaluate(
    id: str,
    policy: Policy,
    n_episodes: int = 100,
    *,
    seeds: int | Sequence[int] | None = None,
    wrappers: Sequence[Wrapper] = (),
    against: str | None = None,
    **keywords: Any,
) -> Evaluation:
    """Evaluate a policy: play one episode per seed, and return statistics of returns, costs, lengths and successes.

    Args:
        id: the environment.
        policy: "random" (uniform over the allowed actions, seeded), "idle" (nothing: zeros, or the choice that does
            least), "expert" (the scripted one), the name of one of the world's scripted players, or a function from
            observations, float32 (N, *observation shape), to actions, (N, numbers per action) or (N,) for choices. With
            several agents both have an agent axis after the first: (N, A, ...). An `Agent` of `rlenvs.load_agent` plays
            all agents.
        n_episodes: episodes, on the seeds 0 ... n_episodes - 1.
        seeds: the seeds themselves, or their number. An episode does not depend on the others.
        wrappers: of `rlenvs.wrappers`, put on the environment. What counts are rewards and costs as the wrappers give
            them. A function sees what the wrappers show; the scripted expert sees the truth. With several agents it is
            the first one's form then, (N, ...), and `team` plays the others.
        against: where teams play against each other, the scripted player of all teams but one. Every seed is played
            once per team, with the policy there; returns and costs are those of its own agents, summed over these
            games, lengths and successes are means over them.
        keywords: of `rlenvs.make_batch`: parameters, options, level, horizon, weights, ...

    Raises:
        UnknownNameError: an id, policy or keyword that does not exist, or a world without a scripted expert.
        ParameterError: no seeds, a negative one, or a parameter outside its range; no time limit; `against` where there
            is one team, or with wrappers.
        ActionError: the function's actions do not fit.
    """
    chosen = episode_seeds(n_episodes, seeds)
    check_policy(world_of(id), policy)
    limits = [keywords.get(name) for name in ("horizon", "max_episode_steps", "max_cycles")]
    if any(isinstance(limit, (int, np.integer)) and limit == -1 for limit in limits):
        raise ParameterError("evaluate: without a time limit an episode may never end; give a horizon of 1 or more")
    if against is not None:
        if wrappers:
            raise ParameterError("evaluate: wrappers require the single-agent environment; leave out `against`")
        return _in_all_slots(id, policy, chosen, against, keywords)
    if wrappers:
        if isinstance(policy, str) and policy not in POLICIES:
            raise ParameterError(f"evaluate: the scripted player {policy!r} does not see wrappers; leave them out")
        from rlenvs.wrappers.forms import wrap

        rows = _Wrapped(wrap(make_vec(id, len(chosen), **keywords), *wrappers), chosen)
        return _play(rows, rows.chooser(policy), chosen, label=_label(id, policy))
    batch = make_batch(id, len(chosen), autoreset=AutoresetMode.NEXT_STEP, **keywords)
    batch.seed(chosen)
    batch.reset()
    return _play(batch, chooser(batch, policy, chosen), chosen, label=_label(id, policy))


def _in_all_slots(id: str, policy: Policy, seeds: list[int], against: str, keywords: dict[str, Any]) -> Evaluation:
    """Every seed once per team, and the sums over these games."""
    teams = np.array(Setup(world_of(id), **keywords).teams)
    check_opponent(world_of(id), teams, against)
    games = []
    for team in range(teams.max() + 1):
        batch = make_batch(id, len(seeds), autoreset=AutoresetMode.NEXT_STEP, **keywords)
        batch.seed(seeds)
        batch.reset()
        own = np.flatnonzero(teams == team)
        label = f"{_label(id, policy)}, team {team + 1} of {teams.max() + 1}"
        games.append(_play(batch, with_opponent(batch, chooser(batch, policy, seeds), own, against), seeds, own, label))
        batch.close()
    returns, costs = (sum(getattr(game, name) for game in games) for name in ("returns", "costs"))
    lengths, successes = (np.mean([getattr(game, n) for game in games], axis=0) for n in ("lengths", "successes"))
    shares = np.bincount(teams) / len(teams)
    parts = {
        name: sum(share * game.cost_parts[name] for share, game in zip(shares, games, strict=True))
        for name in games[0].cost_parts
    }
    return Evaluation(games[0].seeds, returns, costs, lengths, successes, parts, games[0].limits)


def check_opponent(world: World, teams: np.ndarray, against: str) -> None:
    """ParameterError or UnknownNameError unless this scripted player can play the other teams."""
    if teams.max() == 0:
        raise ParameterError(f"{world.name}: all agents are on one team with these keywords; leave out `against`")
    if against not in world.players:
        raise UnknownNameError(f"{world.name} has no player {against!r}. {nearest(against, world.players)}")


def with_opponent(batch: KernelBatch, choose: Chooser, own: np.ndarray, against: str) -> Chooser:
    """A chooser's actions for its own agents, a scripted player's for the others."""
    slots = [None if agent in own else against for agent in range(batch.agents)]

    def both() -> np.ndarray:
        mine = np.array(choose()).reshape(batch.actions.shape)[:, own]
        batch.player_actions(slots)
        batch.actions[:, own] = mine
        return batch.actions

    return both


def begin_episode(batch: KernelBatch, policy: Policy, seed: int, against: str | None = None) -> Chooser:
    """Begin an episode in the only world of a batch; gives what chooses the actions of all agents.

    Args:
        policy: as for `evaluate`. seed: of the episode.
        against: the scripted player of all teams but the first.

    Raises:
        as `check_opponent` does.
    """
    batch.seed([seed])
    batch.reset()
    choose = chooser(batch, policy, [seed])
    if against is None:
        return choose
    teams = np.array(batch.setup.teams)
    check_opponent(batch.world, teams, against)
    return with_opponent(batch, choose, np.flatnonzero(teams == 0), against)


class _Wrapped:
    """A vector environment with wrappers, as far as `_play` looks at a batch; rows are worlds with one agent."""

    agents = 1

    def __init__(self, env: WrappedVectorEnv, seeds: list[int]) -> None:
        self.env, self.num_envs, self._seeds = env, env.num_envs, seeds
        self.observation, self.infos = env.reset(seed=seeds)
        self.over = np.ones(self.num_envs, np.bool_)

    def step(self, actions: Any) -> None:
        self.observation, rewards, terminated, truncated, self.infos = self.env.step(actions)
        self.rewards, self.terminated, self.truncated = rewards[:, None], terminated[:, None], truncated[:, None]
        self.costs = np.asarray(self.infos.get("cost", np.zeros(self.num_envs)))[:, None]
        self.success = np.asarray(self.infos["is_success"], np.bool_)[:, None]
        self.over = terminated | truncated

    def chooser(self, policy: Policy) -> Chooser:
        if policy == "expert":
            return self.env.expert_actions
        if policy == "idle":
            space: Any = self.env.single_action_space
            nothing = np.full((self.num_envs, *space.shape), self.env.batch.setup.idle_in(space), space.dtype)
            return lambda: nothing
        if isinstance(policy, Agent):
            first = names_in(self.env.batch.setup)[0]
            return policy.chooser(
                lambda: Seen(self.observation, self.infos.get("action_mask"), self.over, first), self._seeds
            )
        if callable(policy):
            return lambda: policy(self.observation)
        return self._random_chooser()

    def _random_chooser(self) -> Chooser:
        generators = [np.random.default_rng([seed, 1]) for seed in self._seeds]
        space = self.env.single_action_space
        if isinstance(space, spaces.Box):
            return lambda: np.stack([g.uniform(space.low, space.high) for g in generators])
        single = isinstance(space, spaces.Discrete)
        counts = counts_of(space)
        free = np.ones((self.num_envs, sum(counts)), np.int8)

        def choose() -> np.ndarray:
            scores = np.stack([g.random(sum(counts)) for g in generators]) * self.infos.get("action_mask", free)
            chosen = [np.argmax(part, axis=1) for part in np.split(scores, np.cumsum(counts)[:-1], axis=1)]
            return chosen[0] if single else np.stack(chosen, axis=1)

        return choose


def _play(
    batch: KernelBatch | _Wrapped,
    choose: Chooser,
    seeds: list[int],
    own: np.ndarray | slice = slice(None),
    label: str = "",
) -> Evaluation:
    """Step until every world has ended its first episode; the ones that are through go on uncounted, and so do agents
    that are not own ones."""
    with progress(label, total=len(seeds)) as tell:
        return _played(batch, choose, seeds, own, tell)


def _played(
    batch: KernelBatch | _Wrapped, choose: Chooser, seeds: list[int], own: np.ndarray | slice, tell: Task
) -> Evaluation:
    count = batch.num_envs
    returns, costs, lengths = np.zeros(count), np.zeros(count), np.zeros(count, np.int64)
    successes = np.zeros((count, batch.agents), np.bool_)
    alive = np.ones((count, batch.agents), np.bool_)  # and in the first episode
    playing = np.ones(count, np.bool_)
    parts = _cost_parts(batch)
    sums = {name: np.zeros(count) for name in parts}
    while playing.any():
        batch.step(choose())
        for name, values in parts.items():
            sums[name][playing] += values[playing][:, own].mean(axis=1)
        returns[playing] += batch.rewards[playing][:, own].sum(axis=1)
        costs[playing] += batch.costs[playing][:, own].sum(axis=1)
        lengths[playing] += 1
        successes[alive] = batch.success[alive]
        alive &= ~(batch.terminated | batch.truncated)
        playing &= ~batch.over
        alive[~playing] = False
        tell(count - np.count_nonzero(playing), f"step {lengths.max()}")
    succeeded = successes[:, own].mean(axis=1)
    limits = {} if isinstance(batch, _Wrapped) else batch.world.cost_limits
    return Evaluation(np.array(seeds, np.int64), returns, costs, lengths, succeeded, sums, limits)


def _cost_parts(batch: KernelBatch | _Wrapped) -> dict[str, np.ndarray]:
    """The batch's own arrays (N, A) of the last step's costs, by name."""
    if isinstance(batch, _Wrapped):
        return {}
    world = batch.world
    return {name: batch.terms[:, len(world.terms) + i] for i, name in enumerate(world.costs)}


def _label(id: str, policy: Policy) -> str:
    """What is going on, in words."""
    return f"{world_of(id).name}: playing episodes, {policy if isinstance(policy, str) else 'the agent'}"


def chooser(batch: KernelBatch, policy: Policy, seeds: Sequence[int]) -> Chooser:
    """A function that gives the policy's next actions for a batch, in a shape that `batch.step` takes."""
    if policy == "expert":
        return batch.expert_actions
    if policy == "random":
        return _random_chooser(batch, seeds)
    if policy == "idle":
        nothing = np.broadcast_to(batch.setup.idle, batch.actions.shape)
        return lambda: nothing
    if isinstance(policy, str):
        return lambda: batch.player_actions(policy)
    assert callable(policy)
    rows = () if batch.world.agents else (slice(None), 0)
    if isinstance(policy, Agent):
        policy.check(batch.setup)
        names = names_in(batch.setup)

        def seen() -> Seen:
            return Seen(batch.get_observations(rows), batch.masks[rows], np.repeat(batch.at_start, batch.agents), names)

        return policy.chooser(seen, seeds)
    return lambda: policy(batch.get_observations(rows))


def _random_chooser(batch: KernelBatch, seeds: Sequence[int]) -> Chooser:
    # a generator per world, apart from the world's own: a row must not depend on which seeds are played beside it
    generators = [np.random.default_rng([seed, 1]) for seed in seeds]
    setup = batch.setup
    shape = (batch.agents, setup.numbers if setup.continuous else batch.masks.shape[2])

    def numbers() -> np.ndarray:
        return np.stack([generator.random(shape) for generator in generators])

    if setup.continuous:
        return lambda: setup.spread_action(2.0 * numbers() - 1.0)
    return lambda: np.stack([np.argmax(p, axis=2) for p in setup.parts_of_mask(numbers() * batch.masks)], axis=2)


def check_policy(world: World, policy: Policy) -> None:
    """UnknownNameError when the world cannot be played by this policy."""
    known = tuple(dict.fromkeys((*POLICIES, *world.players)))
    if isinstance(policy, str) and policy not in known:
        raise UnknownNameError(f"there is no policy {policy!r}. {nearest(policy, known)} Or give a function.")
    if not isinstance(policy, str) and not callable(policy):
        raise ParameterError(f"policy={policy!r} must be one of {known} or a function from observations to actions")
    if policy == "expert" and not world.has_expert:
        raise UnknownNameError(f"{world.name} has no scripted expert; use policy='random' or a function")


def episode_seeds(n_episodes: Any, seeds: int | Sequence[int] | None) -> list[int]:
    """The seeds of `evaluate`'s episodes. Before it had `n_episodes`, seeds stood in that place."""
    if seeds is not None:
        return check_seeds(seeds)
    if isinstance(n_episodes, (Sequence, np.ndarray)):
        warnings.warn("seeds are given by name: seeds=[...]", DeprecationWarning, stacklevel=3)
        return check_seeds(list(n_episodes))
    return check_seeds(positive("n_episodes", n_episodes))


def check_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Seeds as a list, from their number or themselves; ParameterError where there are none, or what is no seed."""
    given: Any = seeds
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        given = range(min(int(given), MOST_SEEDS + 1))
    if not isinstance(given, (Sequence, np.ndarray)) or isinstance(given, (str, bytes)) or len(given) < 1:
        raise ParameterError(
            f"seeds={shortened(seeds)} must be a positive number of seeds, or a sequence of seeds >= 0"
        )
    if len(given) > MOST_SEEDS:
        raise ParameterError(f"seeds={shortened(seeds)} is too many; give at most {MOST_SEEDS}")
    return [first_seed_of(seed, f"seeds[{i}]") for i, seed in enumerate(given)]


# --- reference scores -------------------------------------------------------------------------------------------------


def normalized_score(id: str, mean_return: float, level: str | None = None) -> float:
    """A mean return, scaled so that the environment's random policy scores 0 and its scripted expert 1.

    It means something only for the defaults of the world, or of one of its levels that has scores, on which the
    reference scores were taken; where teams play against each other, only for returns against the world's first
    scripted player (`against` of `rlenvs.evaluate`).

    Raises:
        ParameterError: no reference scores there. UnknownNameError: no such level.
    """
    world = world_of(id).level(level)
    if not {"random", "expert"} <= set(world.scores):
        where = f" at level {level!r}" if level else ""
        raise ParameterError(f"{world.name} has no reference scores for 'random' and 'expert'{where}")
    return scale_score(mean_return, world.scores["random"].mean, world.scores["expert"].mean)


def scale_score(mean_return: float, random: float, expert: float) -> float:
    """(return - random) / (expert - random)."""
    if expert == random:
        raise ParameterError(f"random and expert both have a mean return of {random:g}: there is no scale between them")
    return (mean_return - random) / (expert - random)


def reference_scores(id: str, seeds: int = 100) -> dict[str, Score]:
    """The scores of the random policy, of doing nothing, and of the scripted expert, where there is one, on the world's
    defaults."""
    names = [name for name in POLICIES if name != "expert" or world_of(id).has_expert]
    results = {name: evaluate(id, name, seeds=seeds) for name in names}
    return {
        name: Score(result.mean, result.half_width, success=result.success_rate, costs=result.mean_costs)
        for name, result in results.items()
    }


def opponent(id: str, keywords: Mapping[str, Any]) -> str | None:
    """Whom an agent is measured against: the first scripted player where teams play against each other, else None."""
    world = world_of(id)
    two_sided = len(set(Setup(world, **keywords).teams)) > 1
    return world.players[0] if two_sided and world.players else None
