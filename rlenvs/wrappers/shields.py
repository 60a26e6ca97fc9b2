"""Wrappers that replace dangerous actions: a shield with a look ahead, and a reflex faster than the policy.

All of them say in info what they did (`Guard`). A predicate decides what is dangerous: a function (stage, actions,
slots) that returns bool (slots,), where `stage` is a `Stage` (`stage.observation`, `stage.batch`, `stage.read("cost")`,
...),
`actions` are (slots, ...) and `slots`, bool (slots,), says which slots are asked for; the others are not looked at.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.batch import KernelBatch
from rlenvs.core.cache import compiled
from rlenvs.core.errors import ParameterError
from rlenvs.wrappers.masked import add, clear, put
from rlenvs.wrappers.randomness import bits_at
from rlenvs.wrappers.slots import BatchSlots
from rlenvs.wrappers.ways import Ways
from rlenvs.wrappers.wrapper import Observation, Stage, Wrapper

ONE = np.uint64(1)
_tried: dict[Any, tuple[int, int]] = {}  # what came of trying fallbacks, by world and settings
TRIALS, TRIED = 8, 12  # rounds in which a fallback is tried, and worlds in each
LONGEST, HELD = 100, 20  # random steps before it at most, and steps that each of their actions is held
LOOKS = 21, 105  # steps in which ways out are compared; more where none leads out in the first


@dataclass
class Guard(Wrapper):
    """Base of wrappers that act in the policy's place now and then.

    Args:
        fallback: the policy that acts then: "expert" (the world's scripted one), "idle" (who does nothing), or a
            function (stage, actions, slots) that returns actions (slots, ...), also by its address "module:name".

    Info: `raw_action`, what was asked for, and `action`, what was done; `intervened`, whether they come from different
    hands, and `interventions`, the number of such steps in the episode. With guards stacked, `raw_action` is what the
    topmost was given, `action` what the lowest passed on, and an intervention of any is one.
    """

    fallback: Any = "expert"

    def prepare(self) -> None:
        """Check the fallback."""
        self._choose = self._chooser()
        kind = np.float64 if self.continuous else np.int64
        shape = max((space.shape or ()) for space in self.action_spaces)
        self.raw_action = self.keep("raw_action", shape, kind)
        self.action = self.keep("action", shape, kind)
        self.intervened = self.keep("intervened", dtype=np.bool_)
        self.interventions = self.keep("interventions", dtype=np.int64)
        self._guarded = self.below.read("intervened") is not None
        self._is_lowest = self.below.read("action") is None

    def _chooser(self) -> Callable[[Stage, np.ndarray, np.ndarray], Any]:
        """What `fallback` stands for."""
        if self.fallback == "expert":
            self._check_expert()
            return expert_actions
        if self.fallback == "idle":
            return self._idle_actions
        if callable(self.fallback) or (isinstance(self.fallback, str) and ":" in self.fallback):
            return self.function("fallback")
        raise self.refuse(
            "fallback", 'is neither "expert" nor "idle", nor a function or the address "module:name" of one'
        )

    def _idle_actions(self, stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """What does nothing, for every slot."""
        return self.idle_slots(actions)

    def _check_expert(self) -> None:
        """ParameterError unless there is a scripted expert, and its actions are the wrapper's."""
        if self.batch is None:
            raise self.refuse("fallback", f"is a scripted one, and {self.name} is not an environment of rlenvs")
        if not ({"expert", "python_expert"} & set(self.batch.world.kernels) or self.batch.world.players):
            raise self.refuse("fallback", f"is a scripted one, and {self.name} has none")
        check_own_actions(self, "fallback")

    def instead(self, stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The actions, with the fallback's in some slots, rounded to the type of the action space: so they are equal in
        all forms.

        Raises:
            ParameterError: the fallback returns anything but finite actions of the same shape.
        """
        chosen = np.asarray(self._choose(stage, actions, slots))
        if chosen.shape != actions.shape or not np.isfinite(chosen[slots]).all():
            raise ParameterError(
                f"{type(self).__name__}: fallback={self.fallback!r} returned an array of shape {chosen.shape}; "
                f"needed: finite actions of shape {actions.shape}"
            )
        replaced = actions.copy()
        put(replaced, chosen.astype(self.action_spaces[0].dtype), slots)
        return replaced

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was done yet."""
        for name in ("raw_action", "action", "intervened", "interventions"):
            clear(getattr(self, name), slots)

    def replaced(self, actions: np.ndarray, slots: np.ndarray, dangerous: np.ndarray) -> np.ndarray:
        """The actions, with the fallback's in dangerous slots. Both are noted down."""
        executed = self.instead(self.below, actions, dangerous) if dangerous.any() else actions
        self.note(actions, executed, slots, dangerous)
        return executed

    def note(self, actions: np.ndarray, executed: np.ndarray, slots: np.ndarray, intervened: np.ndarray) -> None:
        """Note down what was asked for, what is done, and in which slots they come from different hands."""
        put(self.raw_action, actions, slots)
        put(self.action, executed, slots)
        put(self.intervened, intervened, slots)

    def after_step(self, slots: np.ndarray) -> None:
        """Count."""
        if self._guarded:
            self.intervened |= slots & self.below.read("intervened")
        self.interventions += slots & self.intervened

    def extra_info(self) -> dict[str, Any]:
        """What was asked for, and what was done."""
        told = {"raw_action": self.raw_action, "intervened": self.intervened, "interventions": self.interventions}
        return {**told, "action": self.action} if self._is_lowest else told


def check_flag(wrapper: Wrapper, setting: str) -> None:
    """ParameterError unless a setting is True or False."""
    if not isinstance(getattr(wrapper, setting), bool):
        raise wrapper.refuse(setting, "must be True or False")


def check_own_actions(wrapper: Wrapper, setting: str) -> None:
    """ParameterError where something below has changed the action space of the world."""
    for agent, space in enumerate(wrapper.action_spaces):
        if space != wrapper.batch.setup.agent_spaces(agent)[1]:
            raise wrapper.refuse(
                setting,
                f"is about the actions of {wrapper.name} itself; put wrappers that change the action space above",
            )


def expert_actions(stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
    """The scripted expert's actions for every slot. Asking changes nothing, not even the generators of players."""
    states = stage.batch.states
    drawn = states["players_rng"].copy() if stage.batch.world.players else None
    advice = stage.batch.advise()[:, : stage.agents].reshape(stage.count, -1).copy()
    if drawn is not None:
        states["players_rng"] = drawn
    return advice if stage.action_spaces[0].shape else advice[:, 0]


def ask(wrapper: Wrapper, setting: str, unsafe: Callable[..., Any], *about: Any) -> np.ndarray:
    """A predicate's verdict, bool (slots,), False outside the mask; ParameterError when it has another shape."""
    verdict = np.asarray(unsafe(*about))
    slots = about[-1]
    if verdict.shape != slots.shape or verdict.dtype != np.bool_:
        raise ParameterError(
            f"{type(wrapper).__name__}: {setting}={getattr(wrapper, setting)!r} returned {verdict.dtype} of shape "
            f"{verdict.shape}; needed: bool of shape {slots.shape}"
        )
    return verdict & slots


def ask_numbers(
    wrapper: Wrapper, setting: str, function: Callable[..., Any], stage: Stage, slots: np.ndarray
) -> np.ndarray:
    """A function's numbers, float64 (slots,), 0 outside the mask; ParameterError when they are not finite numbers."""
    numbers = np.asarray(function(stage, slots))
    if numbers.shape != (wrapper.count,) or numbers.dtype.kind not in "fiu" or not np.isfinite(numbers[slots]).all():
        raise ParameterError(
            f"{type(wrapper).__name__}: {setting}={getattr(wrapper, setting)!r} returned {numbers.dtype} of shape "
            f"{numbers.shape}; needed: finite numbers of shape ({wrapper.count},)"
        )
    return np.where(slots, numbers, 0.0)


# --- shield -----------------------------------------------------------------------------------------------------------


@dataclass
class Shield(Guard):
    """Lets an action pass only where it is not unsafe; else the fallback acts for this step.

    What is unsafe is decided by a predicate, or found out on exact copies of the worlds: there the action is tried, and
    after it `lookahead` steps of the fallback; it passes if no cost (or no True of the predicate) shows up on the way.
    So there is always a safe continuation of `lookahead` steps, and where the fallback needs no more than these to come
    to rest where it stays safe (a robot that brakes), a deterministic world never costs anything. Copies draw other
    random numbers than the world will. So noise in the world can break the rule, and so can an episode that begins in
    danger.

    Where the fallback is not safe either, as in the midst of danger, it may be what stays there longest. Then the
    proposed action, the fallback and a few others (`Ways`) are tried on the copies, for 21 steps: the proposed one and
    after it the best of all, and each of the others, held. The proposed one passes unless another has fewer unsafe
    steps; so what leads out soonest is done (where nothing does within 21 steps, 105 are tried). A predicate without
    copies cannot tell: there the fallback acts.

    `wrap` tries the fallback in states of the world that random actions come to, and warns where it does not keep safe
    what it has found to be safe: where no cost comes up within the look ahead, but within as many steps after it. With
    such a fallback the shield finds itself in states without a safe way on.

    With `mask`, of choices, each one is judged in advance, and info["action_mask"] allows the safe ones among those
    that the world allows (all that the world allows, where none is safe). Unsafe choices are replaced by the
    fallback's, or when that is not safe either by the safe choice nearest in number.

    Put it next to the world, below wrappers that change actions. Wrappers on observations may lie below, but copies
    show a predicate the world's own. In a multi-agent world, the verdict is on the joint action; the actions of agents
    that come to harm are replaced together, and the outcome is tried once more, which finds what is infeasible.

    A look ahead of n steps costs n + 1 steps of the world for the verdict, for each choice with `mask`.

    Args:
        unsafe: "cost" or "cost_<name>" (a step with this cost above 0), or a predicate (stage, actions, slots) or its
            address "module:name".
        lookahead: steps of the fallback that have to be safe after the action. With a predicate and 0, no copies are
            made: the predicate judges the action in the present state.
        mask: judge all choices and tell.
        fallback: as for `Guard`.

    Info: as `Guard`; `infeasible`, the number of steps in the episode in which nothing was known to be safe.

    Warns (by `wrap`):
        UserWarning: the fallback does not keep a safe state safe; says in how many of the states that were tried.

    Raises (by `wrap`):
        ParameterError: a world without costs; where copies are needed, wrappers below that change actions, an
            environment of another package or a PyBullet world (its contacts cannot be copied); a mask of actions that
            are numbers.

    Source: Alshiekh et al., "Safe reinforcement learning via shielding", AAAI 2018 (post-posed, and with `mask`
    preemptive shields); the backup by a fallback is Bastani, "Safe reinforcement learning with nonlinear dynamics via
    model predictive shielding", ACC 2021.
    """

    unsafe: Any = "cost"
    lookahead: int = 0
    mask: bool = False

    def prepare(self) -> None:
        """Check the settings; make the copies."""
        super().prepare()
        self.check_whole("lookahead")
        check_flag(self, "mask")
        by_cost = isinstance(self.unsafe, str) and ":" not in self.unsafe
        self._predicate = None if by_cost else self.function("unsafe")
        self._copies = self._copy_worlds() if by_cost or self.lookahead else None
        if by_cost and self._copies is not None:
            self._copies.check_cost(self.unsafe, self)
        self.infeasible = self.keep("infeasible", dtype=np.int64)
        if self.mask:
            space = self.action_space
            if not isinstance(space, spaces.Discrete):
                raise self.refuse("mask", f"is for choices; the actions of {self.name} are {space}")
            self._first = int(space.start)
            self.safe = self.keep("safe", (int(space.n),), np.bool_, True)
            self.action_mask = self.keep("action_mask", (int(space.n),), np.int8, 1)
        if self._copies is not None:
            self._ways = Ways(self, self.raw_action)
            self._say_of_fallback()

    def _copy_worlds(self) -> Copies:
        setting = "lookahead" if self.lookahead else "unsafe"
        if self.batch is None:
            raise self.refuse(setting, f"tries actions on copies; {self.name} is not an environment of rlenvs")
        if getattr(self.batch.setup.values, "physics", "") == "pybullet":
            raise self.refuse(setting, "tries actions on copies, and PyBullet's contacts cannot be copied")
        bottom = self.below
        while isinstance(bottom, Wrapper):
            if type(bottom).act is not Wrapper.act or type(bottom).step is not Wrapper.step:
                raise self.refuse(
                    setting, f"tries actions on copies of the world, without {type(bottom).__name__}; put it above"
                )
            bottom = bottom.below
        check_own_actions(self, setting)
        return Copies(bottom)

    def _say_of_fallback(self) -> None:
        """Warn unless the fallback keeps safe what it has found to be safe, in states that random actions come to."""
        row = self.batch.param_rows[0].tobytes()
        case = self.batch.setup.fingerprint, row, self.agents, self.fallback, self.unsafe, self.lookahead
        if not isinstance(self.fallback, Hashable) or not isinstance(self.unsafe, Hashable):
            safe, lost = self._try_fallback()
        else:
            safe, lost = _tried[case] = _tried.get(case) or self._try_fallback()
        if lost:
            warnings.warn(
                f"Shield: fallback={self.fallback!r} does not keep {self.name} safe with lookahead={self.lookahead}: "
                f"of {safe} states in which it is safe for {self.lookahead + 1} steps, {lost} become unsafe under it "
                "in as many steps more. Take a longer look ahead, in which it comes to rest, or a fallback that does",
                stacklevel=2,
            )

    def _try_fallback(self) -> tuple[int, int]:
        """In how many states the fallback is safe for the look ahead, and in how many of them not for as long again."""
        assert self._copies is not None
        copies, rng, safe, lost = self._copies.like(TRIED), np.random.default_rng(0), 0, 0
        held = idle = self.idle_slots(np.zeros((copies.count, *self.raw_action.shape[1:]), self.raw_action.dtype))
        for trial in range(TRIALS):
            copies.begin(trial)
            for step in range(int(rng.integers(1, LONGEST + 1))):
                held = self._ways.random(rng, TRIED) if step % HELD == 0 else held
                copies.step(held, ~copies.over)
            live = ~copies.over
            for ahead in range(2 * (self.lookahead + 1)):
                safe += int(live.sum()) if ahead == self.lookahead + 1 else 0
                unsafe = self._unsafe_step(copies, self.instead(copies, idle, live), live & ~copies.over, copies)
                lost += int(unsafe.sum()) if ahead > self.lookahead else 0
                live = live & ~unsafe
        return safe, lost

    def begin_episode(self, slots: np.ndarray) -> None:
        """Clear the counts, and judge the first choices."""
        super().begin_episode(slots)
        self.infeasible[slots] = 0
        if self.mask:
            self._judge_choices(slots)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Replace what is unsafe."""
        if self.mask:
            return self._corrected(actions, slots)
        dangerous = self._verdict(actions, slots)
        executed = self.replaced(actions, slots, dangerous)
        if dangerous.any():
            self._find_way(actions, executed, dangerous & self._verdict(executed, slots), slots)
            put(self.action, executed, slots)
        return executed

    def after_step(self, slots: np.ndarray) -> None:
        """Count, and judge the next choices."""
        super().after_step(slots)
        if self.mask:
            self._judge_choices(slots)

    def _unsafe_step(self, copies: Copies, actions: np.ndarray, live: np.ndarray, seen: Stage) -> np.ndarray:
        """Step the copies of live slots; in which of them that is unsafe. seen: what a predicate is shown."""
        unsafe = ask(self, "unsafe", self._predicate, seen, actions, live) if self._predicate else None
        copies.step(actions, live)
        return live & (copies.cost(self.unsafe) > 0.0) if unsafe is None else unsafe

    def _verdict(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Which slots' actions are unsafe, bool (slots,)."""
        if self._copies is None:
            assert self._predicate is not None
            return ask(self, "unsafe", self._predicate, self.below, actions, slots)
        copies, live = self._copies, slots
        copies.match(self.batch, self.key, self.time)
        unsafe = np.zeros(self.count, np.bool_)
        for ahead in range(self.lookahead + 1):
            if not live.any():
                break
            if ahead:
                actions = self.instead(copies, actions, live)
            unsafe |= self._unsafe_step(copies, actions, live, copies if ahead else self.below)
            live = live & ~unsafe & ~copies.over
        return unsafe

    def _unsafe_steps(self, first: np.ndarray, way: np.ndarray | None, slots: np.ndarray, look: int) -> np.ndarray:
        """How many of the next `look` steps are unsafe, (worlds,), all agents together: after the first the way, which
        is held, or the fallback's for None. An episode that ends in an unsafe step counts as unsafe to the end."""
        copies, actions, live, steps = self._copies, first, slots, np.zeros(self.count, np.int64)
        assert copies is not None
        copies.match(self.batch, self.key, self.time)
        for ahead in range(look):
            if not live.any():
                break
            if ahead:
                actions = self.instead(copies, actions, live) if way is None else way
            unsafe = self._unsafe_step(copies, actions, live, copies if ahead else self.below)
            live = live & ~copies.over
            steps += np.where(live, 1, look - ahead) * unsafe
        return steps.reshape(-1, self.agents).sum(axis=1)

    def _find_way(self, proposed: np.ndarray, executed: np.ndarray, lost: np.ndarray, slots: np.ndarray) -> None:
        """Where not even the fallback is safe, in `lost` slots: put the proposed action into `executed`, or where
        fewer steps are unsafe without it, what is best. All lost agents of a world try the same."""
        if not lost.any() or self._copies is None:
            self.infeasible += lost
            return
        fallback = executed.copy()
        ways = [self._in(executed, lost, self._allowed(way, fallback)) for way in (proposed, *self._ways)]
        put(executed, proposed, lost)
        count = lost.reshape(-1, self.agents).sum(axis=1)
        fewest, asked = count, count > 0
        for look in LOOKS:
            found = self._compare(executed, fallback, ways, lost, slots & self._of_worlds(asked), look)
            fewest = np.where(asked, found, fewest)
            asked = asked & (fewest >= look * count)
            if not asked.any():
                break
        put(self.intervened, (executed != proposed).reshape(self.count, -1).any(axis=1), lost)
        self.infeasible += lost & self._of_worlds(fewest > 0)

    def _compare(
        self,
        executed: np.ndarray,
        fallback: np.ndarray,
        ways: list[np.ndarray],
        lost: np.ndarray,
        slots: np.ndarray,
        look: int,
    ) -> np.ndarray:
        """Put what has fewer unsafe steps than `executed` into it, in lost ones of the slots; the fewest, (worlds,)."""
        passing = executed.copy()
        fewest = np.min([self._unsafe_steps(passing, way, slots, look) for way in (None, *ways)], axis=0)
        for first, way in ((fallback, None), *((way, way) for way in ways)):
            worse = slots & self._of_worlds(fewest > 0)
            if not worse.any():
                break
            steps = self._unsafe_steps(first, way, worse, look)
            better = worse & self._of_worlds(steps < fewest)
            put(executed, first, better & lost)
            fewest = np.where(better.reshape(-1, self.agents).any(axis=1), steps, fewest)
        return fewest

    def _of_worlds(self, verdict: np.ndarray) -> np.ndarray:
        """What holds for worlds, for their slots."""
        return np.repeat(verdict, self.agents)

    @staticmethod
    def _in(actions: np.ndarray, slots: np.ndarray, others: np.ndarray) -> np.ndarray:
        """The actions, with others in some slots."""
        mixed = actions.copy()
        put(mixed, others, slots)
        return mixed

    def _allowed(self, actions: np.ndarray, fallback: np.ndarray) -> np.ndarray:
        """The actions, with the fallback's where the world forbids a choice."""
        masks = self.below.read("action_mask")
        if masks is None:
            return actions
        allowed = self._ways.allowed(actions, masks)
        return np.where(allowed.reshape(-1, *(1,) * (actions.ndim - 1)), actions, fallback)

    def _judge_choices(self, slots: np.ndarray) -> None:
        """Fill `safe` and `action_mask`. After the end of an episode, all is safe."""
        live = slots & ~self.below.over
        for choice in range(self.safe.shape[1]):
            actions = np.full(self.count, self._first + choice, np.int64)
            self.safe[slots, choice] = ~self._verdict(actions, live)[slots]
        allowed = self.below.read("action_mask")
        allowed = np.ones_like(self.action_mask) if allowed is None else allowed
        both = allowed * self.safe
        put(self.action_mask, np.where(both.any(axis=1)[:, None], both, allowed).astype(np.int8), slots)

    def _corrected(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Unsafe choices replaced by the fallback's, or if that is unsafe by the nearest that the mask allows."""
        dangerous = slots & ~self._is_safe(actions, slots)
        executed = self.replaced(actions, slots, dangerous)
        usable, lost = self.safe & (self.action_mask == 1), dangerous & ~self._is_safe(executed, slots)
        for slot in np.flatnonzero(lost & usable.any(axis=1)):
            choices = self._first + np.flatnonzero(usable[slot])
            executed[slot] = choices[np.argmin(np.abs(choices - actions[slot]))]
        self._find_way(actions, executed, lost & ~usable.any(axis=1), slots)
        put(self.action, executed, slots)
        return executed

    def _is_safe(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        return self.safe[np.arange(self.count), np.where(slots, actions - self._first, 0)]

    @property
    def observation(self) -> Observation:
        """As below, with the mask in its place where observations have one (PettingZoo's do)."""
        seen = self.below.observation
        if self.mask and isinstance(seen, dict) and "action_mask" in seen:
            return {**seen, "action_mask": self.action_mask}
        return seen

    def extra_info(self) -> dict[str, Any]:
        """The counts, and with `mask` the choices."""
        told = {**super().extra_info(), "infeasible": self.infeasible}
        return {**told, "action_mask": self.action_mask} if self.mask else told


class Copies(Stage):
    """Worlds like those of a stage of this package, to try actions in. Slots are as in the stage.

    Args:
        stage: the stage at the bottom of a stack.
        worlds: how many; None for as many as there.
    """

    def __init__(self, stage: Stage, worlds: int | None = None) -> None:
        source: KernelBatch = stage.batch
        self._stage = stage
        self.count = stage.count if worlds is None else worlds * stage.agents
        self.agents, self.name, self.env = stage.agents, stage.name, stage.env
        self.action_spaces, self.observation_spaces = stage.action_spaces, stage.observation_spaces
        self._team = getattr(getattr(stage.env, "unwrapped", stage.env), "others", None)
        # as the stage hands them to its environment
        self._number = np.float64 if isinstance(stage, BatchSlots) else stage.action_spaces[0].dtype
        self.batch: KernelBatch = source.clone(worlds, source.threads)

    def like(self, worlds: int) -> Copies:
        """So many worlds of the same stage."""
        return Copies(self._stage, worlds)

    def begin(self, seed: int) -> None:
        """Episodes in all worlds, as the world begins them."""
        self.batch.seed([seed * self.batch.num_worlds + i for i in range(self.batch.num_worlds)])
        self.batch.reset()

    def check_cost(self, cost: str, wrapper: Wrapper) -> None:
        """ParameterError unless the world has a cost."""
        world = self.batch.world
        known = ["cost", *(f"cost_{name}" for name in world.costs)] if world.costs else []
        if cost not in known:
            raise wrapper.refuse(
                "unsafe", f'is not a cost of {self.name}, which has {known}; a function or "module:name" may be given'
            )

    def match(self, source: KernelBatch, key: np.ndarray, time: np.ndarray) -> None:
        """Make the worlds equal to the true ones but for their generators, which follow from the key and the time."""
        batch = self.batch
        batch.states.view(np.uint8)[...] = source.states.view(np.uint8)  # records as such take long
        if len(source.param_rows) > len(batch.param_rows):
            batch.own_params()
        batch.param_rows[...] = source.param_rows
        for place, name in enumerate(("rng", "players_rng")):
            if name in (batch.states.dtype.names or ()):
                reseed(batch.states[name], key, time, 2 * place)
        if hasattr(batch, "engine"):
            batch.engine.place(np.flatnonzero(~batch.over), False)
        if batch.world.incremental:
            batch.refresh(np.arange(batch.num_worlds))

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Advance the worlds of some slots."""
        batch, actions = self.batch, actions.astype(self._number) if self.continuous else actions
        if self.agents > 1:
            worlds = np.any(slots.reshape(-1, self.agents), axis=1)
            here = slots.reshape(-1, *(1,) * (actions.ndim - 1))
            batch.load_actions(np.where(here, actions, 0).reshape(-1, self.agents, *actions.shape[1:]))
        else:
            worlds = slots
            if batch.agents > 1 and self._team is not None:
                batch.load_first(actions, self._team)
            else:
                batch.load_actions(actions)
        batch.step_loaded(worlds)

    def cost(self, name: str) -> np.ndarray:
        """A cost of the last step, (slots,)."""
        batch = self.batch
        if name == "cost":
            return batch.costs[:, : self.agents].reshape(-1)
        index = len(batch.world.terms) + list(batch.world.costs).index(name.removeprefix("cost_"))
        return batch.terms[:, index, : self.agents].reshape(-1)

    def read(self, key: str) -> np.ndarray | None:
        """A cost, "action_mask" or "is_success"; None for all else."""
        batch = self.batch
        if batch.world.costs and (key == "cost" or key.removeprefix("cost_") in batch.world.costs):
            return self.cost(key)
        found = {"action_mask": batch.masks, "is_success": batch.success}.get(key)
        return None if found is None else found[:, : self.agents].reshape(self.count, *found.shape[2:])

    @property
    def observation(self) -> Observation:
        """The worlds' own observations."""
        if self.agents == 1:
            return self.batch.observed((slice(None), 0), copy=False)
        seen = self.batch.observed(copy=False)
        if isinstance(seen, dict):
            return {name: part.reshape(self.count, *part.shape[2:]) for name, part in seen.items()}
        return seen.reshape(self.count, *seen.shape[2:])

    @property
    def reward(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own rewards, (slots,)."""
        return self.batch.rewards[:, : self.agents].reshape(-1)

    @property
    def terminated(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own ends."""
        return self.batch.terminated[:, : self.agents].reshape(-1)

    @property
    def truncated(self) -> np.ndarray:  # type: ignore[override]
        """The worlds' own ends."""
        return self.batch.truncated[:, : self.agents].reshape(-1)

    @property
    def over(self) -> np.ndarray:
        """Which slots do not go on, bool (slots,)."""
        states = self.batch.states
        return (states["over"][:, None] | ~states["alive"][:, : self.agents]).reshape(-1)


@compiled(nogil=True)
def reseed(words: np.ndarray, key: np.ndarray, time: np.ndarray, place: int) -> None:
    """Two words for each world's generator (worlds, 2), from the key of its first slot."""
    agents = key.size // len(words)
    for i in range(len(words)):
        for j in range(2):
            words[i, j] = bits_at(key[i * agents], time[i * agents], place + j) | ONE


# --- reflex -----------------------------------------------------------------------------------------------------------


@dataclass
class Reflex(Guard):
    """A reflex at a higher rate than the policy: the policy's action is held for some steps of the environment, and in
    those in which the predicate calls it dangerous the controller acts instead, until the danger has passed.

    Rewards, costs and reward terms in info are sums over the steps; the time between two actions of the policy is
    shorter where the episode ends. Wrappers below see all steps, wrappers above one for each action of the policy.

    Args:
        unsafe: a predicate (stage, actions, slots), or its address; it is asked before every step of the environment.
        times: steps of the environment per action of the policy; with 1, the policy is as fast as the reflex.
        fallback: the controller, as for `Guard`.

    Info: as `Guard`, with `interventions` counted in steps of the environment, and `action` the last of them;
    `reflexes`, the steps of the environment since the policy's last action in which the reflex acted.

    Source: the multi-rate scheme of Bresa (a task policy, and a safety critic with reflexive actions at k times its
    rate), with a predicate in place of the learned critic.
    """

    unsafe: Any = None
    fallback: Any = "idle"
    times: int = 4

    @property
    def seconds(self) -> float | None:
        """Of all steps in one."""
        below = self.below.seconds
        return below * self.times if below else None

    def prepare(self) -> None:
        """Check the settings."""
        super().prepare()
        self._predicate = self.function("unsafe")
        self.check_whole("times", 1)
        self.reflexes = self.keep("reflexes", dtype=np.int64)
        self.reward = self.keep("reward", self.below.reward.shape[1:])
        if self.below.reward_space is not None:
            low, high = self.below.reward_space.low, self.below.reward_space.high
            self.reward_space = spaces.Box(np.minimum(low, self.times * low), np.maximum(high, self.times * high))
        self._summed = {"cost": "total_cost"}
        self.keep("total_cost")
        if self.batch:
            world = self.batch.world
            for key in (*(f"cost_{name}" for name in world.costs), *(f"reward_{name}" for name in world.terms)):
                self._summed[key] = f"total_{key}"
                self.keep(f"total_{key}")
            self._summed["reward_vector"] = "total_reward_vector"
            self.keep("total_reward_vector", (len(world.terms),), np.float32)

    def begin_episode(self, slots: np.ndarray) -> None:
        """Nothing was done yet."""
        super().begin_episode(slots)
        for name in ("reflexes", *self._summed.values()):
            clear(getattr(self, name), slots)

    def step(self, actions: np.ndarray, slots: np.ndarray) -> None:
        """Some steps of the environment, with the reflex on watch."""
        put(self.raw_action, actions, slots)
        clear(self.intervened, slots)
        clear(self.reflexes, slots)
        live = slots
        for k in range(self.times):
            self._step_once(actions, live)
            self._sum_up(live, put if k == 0 else add)
            live = live & ~self.below.over
            if not live.any():
                break
        self.time += slots

    def _step_once(self, actions: np.ndarray, live: np.ndarray) -> None:
        """One step of the environment."""
        below = self.below
        dangerous = ask(self, "unsafe", self._predicate, below, actions, live)
        executed = self.instead(below, actions, dangerous) if dangerous.any() else actions
        put(self.action, executed, live)
        below.step(executed, live)
        self.reflexes += dangerous
        lower = below.read("intervened") if self._guarded else None
        acted = dangerous if lower is None else dangerous | (live & lower)
        self.intervened |= acted
        self.interventions += acted

    def _sum_up(self, live: np.ndarray, take: Callable[..., None]) -> None:
        """Rewards and costs."""
        take(self.reward, self.below.reward, live)
        for key, value in self._info_below():
            take(getattr(self, self._summed[key]), value, live)

    def _info_below(self) -> list[tuple[str, np.ndarray]]:
        """The entries of info that are summed."""
        return [(key, value) for key, value in self.below.info().items() if key in self._summed]

    def extra_info(self) -> dict[str, Any]:
        """The counts, and the sums."""
        sums = {key: getattr(self, self._summed[key]) for key, _ in self._info_below()}
        return {**super().extra_info(), **sums, "reflexes": self.reflexes}
