"""A shield: it finds dangerous actions by looking ahead, and replaces them. Of predicates: `rlenvs.wrappers.guards`."""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.declare.progress import counted
from rlenvs.wrappers.guards import Guard, ask, check_flag, check_own_actions, expert_actions
from rlenvs.wrappers.masked import any_of, put
from rlenvs.wrappers.stage import Observation, Stage
from rlenvs.wrappers.ways import Ways
from rlenvs.wrappers.world_copies import Copies
from rlenvs.wrappers.wrapper import Wrapper

_tried: dict[Any, tuple[int, int]] = {}  # what came of trying fallbacks, by world and settings
TRIALS, TRIED = 8, 12  # rounds in which a fallback is tried, and worlds in each
LONGEST, HELD = 100, 20  # random steps before it at most, and steps that each of their actions is held
Way = np.ndarray | str  # an action that is held, or who acts: "fallback" or "expert"
LOOKS = 21, 105  # steps in which ways out are compared; more where none leads out in the first
LOOKAHEADS = 20, 60  # of which one is taken where none is given
MOST, FEW = 2 / 3, 1 / 4  # shares of states: safe in most, a fallback may look less far; in few, `wrap` warns


@dataclass
class Shield(Guard):
    """Block unsafe actions: if an action is unsafe, the fallback acts for this step.

    What is unsafe is decided by a predicate, or found out on exact copies of the worlds: there the action is tried, and
    after it `lookahead` steps of the fallback; it passes if no cost (or no True of the predicate) shows up on the way.
    So there is always a safe continuation of `lookahead` steps, and where the fallback needs no more than these to come
    to rest where it stays safe (a robot that brakes), a deterministic world never costs anything. Copies draw other
    random numbers than the world will. So noise in the world can break the rule, and so can an episode that begins in
    danger.

    The fallback takes over only where it is safe itself, over the look ahead and 20 steps at least. Where it is not, as
    in the midst of danger, all are compared on the copies, over the look ahead and 21 steps at least (105, where each
    step of all of these is unsafe): the proposed action, followed by the best of the ways out, and the ways out: the
    fallback, the world's scripted expert, and the proposed and a few other actions (`Ways`), held. The proposed one
    passes unless a way out has fewer unsafe steps; so no action is chosen that is foreseen to be worse than what it
    replaces, and what leads out soonest is done. An unsafe step that terminates the episode, a crash, is worse
    than any number of others. A predicate without copies cannot tell: there the fallback acts.

    `wrap` tries the fallback in states of the world that random actions come to, and warns where it is hardly ever
    safe, and where it does not keep safe what it has found to be safe: where no cost comes up within the look ahead,
    but within as many steps after it, and 20 at least. With such a fallback the shield finds itself in states without
    a safe way on. A look ahead of a few
    steps finds danger when it is too late: it has fewer crashes, but who does not crash may stay in danger for longer
    than who crashes and begins anew.

    With `mask`, of choices, each one is judged in advance, and info["action_mask"] allows the safe ones among those
    that the world allows (all that the world allows, where none is safe). Unsafe choices are replaced by the
    fallback's, or when that is not safe either by the safe choice nearest in number.

    Put it next to the world, below wrappers that change actions. Wrappers on observations may lie below, but copies
    show a predicate the world's own. In a multi-agent world, the verdict is on the joint action; the actions of agents
    that come to harm are replaced together, and the outcome is tried once more, which finds what is infeasible.

    A look ahead of n steps costs n + 1 steps of the world for the verdict, for each choice with `mask`.

    Attributes:
        look: steps that are looked ahead.

    Args:
        unsafe: "cost" or "cost_<name>" (a step with this cost above 0), or a predicate (stage, actions, slots) or its
            address "module:name".
        lookahead: steps of the fallback that have to be safe after the action. None, for costs: 20 where `wrap` finds
            that the fallback keeps safe with that, else 60. None or 0, for a predicate: no copies are made, it judges
            the action in the present state.
        mask: judge all choices and tell.
        fallback: as for `Guard`.

    Info: as `Guard`; `infeasible`, the number of steps in the episode in which nothing was known to be safe.

    Warns (by `wrap`):
        UserWarning: the fallback does not keep a safe state safe, or is hardly ever safe; says in how many of the
            states that were tried.

    Raises (by `wrap`):
        ParameterError: a world without costs; where copies are needed, wrappers below that change actions, an
            environment of another package or a PyBullet world (its contacts cannot be copied); a mask of actions that
            are numbers.

    Source: Alshiekh et al., "Safe reinforcement learning via shielding", AAAI 2018 (post-posed, and with `mask`
    preemptive shields); the backup by a fallback is Bastani, "Safe reinforcement learning with nonlinear dynamics via
    model predictive shielding", ACC 2021.
    """

    unsafe: Any = "cost"
    lookahead: int | None = None
    mask: bool = False

    def prepare(self) -> None:
        """Check the settings; make the copies."""
        super().prepare()
        if self.lookahead is not None:
            self.check_whole("lookahead")
        check_flag(self, "mask")
        by_cost = isinstance(self.unsafe, str) and ":" not in self.unsafe
        self.look = self.lookahead or 0
        self._predicate = None if by_cost else self.function("unsafe")
        self._copies = self._copy_worlds() if by_cost or self.look else None
        if by_cost and self._copies is not None:
            self._copies.check_cost(self.unsafe, self)
        self.infeasible = self.allocate("infeasible", dtype=np.int64)
        if self.mask:
            space = self.action_space
            if not isinstance(space, spaces.Discrete):
                raise self.setting_error("mask", f"requires discrete actions; the actions of {self.name} are {space}")
            self._first = int(space.start)
            self.safe = self.allocate("safe", (int(space.n),), np.bool_, True)
            self.action_mask = self.allocate("action_mask", (int(space.n),), np.int8, 1)
        if self._copies is not None:
            self._ways = Ways(self, self.raw_action)
            self._guided = self.fallback != "expert" and self.has_expert()
            self.look = self._tried_look()
        self._looks = tuple(max(look, self.look + 1) for look in LOOKS)
        self.shows_own()

    def _copy_worlds(self) -> Copies:
        setting = "lookahead" if self.lookahead else "unsafe"
        if self.batch is None:
            raise self.setting_error(
                setting, f"simulates actions on copies; {self.name} is not an environment of rlenvs"
            )
        if getattr(self.batch.setup.values, "physics", "") == "pybullet":
            raise self.setting_error(setting, "simulates actions on copies, and PyBullet's contacts cannot be copied")
        bottom = self.below
        while isinstance(bottom, Wrapper):
            if not bottom.passes_on:
                raise self.setting_error(
                    setting, f"simulates actions on copies of the world, without {type(bottom).__name__}; put it above"
                )
            bottom = bottom.below
        check_own_actions(self, setting)
        return Copies(bottom)

    def _tried_look(self) -> int:
        """The look ahead that was given, or the first of `LOOKAHEADS` that suffices: the fallback loses no state, and
        is safe in most. Warns where it loses some, or is safe in few."""
        looks = LOOKAHEADS if self.lookahead is None else (self.lookahead,)
        states = TRIALS * TRIED * self.agents
        for look in looks:
            safe, lost = self._outcome(look)
            if not lost and safe >= MOST * states:
                break
        if lost or safe < FEW * states:
            warnings.warn(self._complaint(look, states, safe, lost), stacklevel=2)
        return look

    def _complaint(self, look: int, states: int, safe: int, lost: int) -> str:
        """What is wrong with the fallback, and what to do about it."""
        which = f"Shield: fallback={self.fallback!r} does not keep {self.name} safe with lookahead={look}"
        if lost:
            return (
                f"{which}: of {safe} states in which it is safe for {look + 1} steps, {lost} become unsafe under it "
                f"in {max(look + 1, HELD)} steps more. Take a longer look ahead, in which it comes to rest, "
                "or a fallback that does"
            )
        costs = self.batch.world.costs
        alone = f", or one cost alone, such as unsafe='cost_{next(iter(costs))}'"
        return (
            f"{which}: it is safe for {look + 1} steps in {safe} of {states} states that random "
            "actions come to. In the others the shield does what it finds to have the fewest unsafe steps. Take a "
            f"fallback that is safe in more{', perhaps the expert' * self._guided}"
            f"{alone * (self.unsafe == 'cost' and len(costs) > 1)}"
        )

    def _outcome(self, look: int) -> tuple[int, int]:
        """What came of trying the fallback with a look ahead, now or before."""
        row = self.batch.param_rows[0].tobytes()
        case = self.batch.setup.fingerprint, row, self.agents, self.fallback, self.unsafe, look
        if not isinstance(self.fallback, Hashable) or not isinstance(self.unsafe, Hashable):
            return self._try_fallback(look)
        if case not in _tried:
            _tried[case] = self._try_fallback(look)
        return _tried[case]

    def _try_fallback(self, look: int) -> tuple[int, int]:
        """In how many states the fallback is safe for the look ahead, and in how many of them not for as long again."""
        assert self._copies is not None
        copies, rng, safe, lost = self._copies.like(TRIED), np.random.default_rng(0), 0, 0
        idle = self.idle_slots(np.zeros((copies.count, *self.raw_action.shape[1:]), self.raw_action.dtype))
        for trial in counted(range(TRIALS), f"Shield: trying fallback={self.fallback!r} in {self.name}", TRIALS):
            copies.begin(trial)
            self._wander(copies, rng)
            live, going = ~copies.over, ~copies.over
            for ahead in range(look + 1 + max(look + 1, HELD)):
                if not going.any():
                    break
                unsafe = self._unsafe_step(copies, self.instead(copies, idle, going), going, copies)
                lost += int(unsafe.sum()) if ahead > look else 0
                live &= ~unsafe | (ahead > look)
                going &= ~unsafe & ~copies.over
            safe += int(live.sum())
        return safe, lost

    def _wander(self, copies: Copies, rng: np.random.Generator) -> None:
        """Take copies to where random actions come to, each held for a while; ended episodes begin anew."""
        for step in range(int(rng.integers(1, LONGEST + 1))):
            if step % HELD == 0:
                held = self._ways.random(rng, TRIED)
            copies.step(held, ~copies.over)
            copies.renew()

    def begin_episode(self, slots: np.ndarray) -> None:
        """Reset the counters, and check the first choices."""
        super().begin_episode(slots)
        self.infeasible[slots] = 0
        if self.mask:
            self._judge_choices(slots)

    def act(self, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """Replace unsafe actions."""
        if self.mask:
            return self._corrected(actions, slots)
        dangerous = self._verdict(actions, slots, self.look)
        executed = self.replaced(actions, slots, dangerous)
        if any_of(dangerous):
            here = slots & self._of_worlds(np.any(dangerous.reshape(-1, self.agents), axis=1))
            lost = self._verdict(executed, here, max(self.look, LOOKS[0] - 1))
            self._find_way(actions, executed, lost, slots)
            put(self.action, executed, slots)
        return executed

    def after_step(self, slots: np.ndarray) -> None:
        """Count, and check the next choices."""
        super().after_step(slots)
        if self.mask:
            self._judge_choices(slots)

    @property
    def looks_in_python(self) -> bool:
        """Whether choices are checked in Python."""
        return self.mask or not self.lasts

    def _unsafe_step(self, copies: Copies, actions: np.ndarray, live: np.ndarray, seen: Stage) -> np.ndarray:
        """Step the copies of live slots; in which of them that is unsafe. seen: what a predicate is shown."""
        unsafe = ask(self, "unsafe", self._predicate, seen, actions, live) if self._predicate else None
        copies.step(actions, live)
        return live & (copies.cost(self.unsafe) > 0.0) if unsafe is None else unsafe

    def _verdict(self, actions: np.ndarray, slots: np.ndarray, lookahead: int) -> np.ndarray:
        """Which slots' actions are unsafe, or followed by so many steps of the fallback, bool (slots,)."""
        if self._copies is None:
            assert self._predicate is not None
            return ask(self, "unsafe", self._predicate, self.below, actions, slots)
        copies, live = self._copies, slots
        copies.match(self.batch, self.key, self.time)
        unsafe = np.zeros(self.count, np.bool_)
        for ahead in range(lookahead + 1):
            if not live.any():
                break
            if ahead:
                actions = self.instead(copies, actions, live)
            unsafe |= self._unsafe_step(copies, actions, live, copies if ahead else self.below)
            live = live & ~copies.over
            live &= self._of_worlds((live & ~unsafe).reshape(-1, self.agents).any(axis=1))
        return unsafe

    def _unsafe_steps(self, first: np.ndarray, way: Way, slots: np.ndarray, look: int) -> np.ndarray:
        """How many of the next `look` steps are unsafe, (worlds,), all agents together: the first action, then the way.
        An unsafe step that terminates the episode counts for more than all steps, the more the sooner it comes."""
        copies, actions, live, steps = self._copies, first, slots, np.zeros(self.count, np.int64)
        assert copies is not None
        copies.match(self.batch, self.key, self.time)
        for ahead in range(look):
            if not live.any():
                break
            if ahead:
                actions = self._along(way, copies, actions, live)
            unsafe = self._unsafe_step(copies, actions, live, copies if ahead else self.below)
            live = live & ~copies.over
            steps += np.where(copies.terminated, 2 * look - ahead, 1) * unsafe
        return steps.reshape(-1, self.agents).sum(axis=1)

    def _along(self, way: Way, stage: Stage, actions: np.ndarray, slots: np.ndarray) -> np.ndarray:
        """The next actions on a way."""
        if isinstance(way, np.ndarray):
            return way
        return self.instead(stage, actions, slots) if way == "fallback" else expert_actions(stage, actions, slots)

    def _find_way(self, proposed: np.ndarray, executed: np.ndarray, lost: np.ndarray, slots: np.ndarray) -> None:
        """Where not even the fallback is safe, in `lost` slots: put into `executed` the first of these after which the
        fewest steps of the world are unsafe: all proposed actions, those of the lost agents, and the ways out."""
        if not lost.any() or self._copies is None:
            self.infeasible += lost
            return
        count = lost.reshape(-1, self.agents).sum(axis=1)
        here = slots & self._of_worlds(count > 0)
        ways = self._ways_out(proposed, executed, lost)
        tried: list[tuple[np.ndarray, Way | None]] = [(self._in(executed, here, proposed), None)]
        if self.agents > 1:
            tried.append((self._in(executed, lost, proposed), None))
        fewest, asked = count, count > 0
        for look in self._looks:
            found = self._compare(executed, [*tried, *ways], ways, slots & self._of_worlds(asked), look)
            fewest = np.where(asked, found, fewest)
            asked = asked & (fewest >= look * count)
            if not asked.any():
                break
        put(self.intervened, (executed != proposed).reshape(self.count, -1).any(axis=1), here)
        self.infeasible += lost & self._of_worlds(fewest > 0)

    def _ways_out(self, proposed: np.ndarray, executed: np.ndarray, lost: np.ndarray) -> list[tuple[np.ndarray, Way]]:
        """First actions, and how they go on: the fallback, the expert, the proposed action held, and others held."""
        fallback = executed.copy()
        held = [self._in(executed, lost, self._allowed(way, fallback)) for way in (proposed, *self._ways)]
        ways: list[tuple[np.ndarray, Way]] = [(fallback, "fallback"), *((way, way) for way in held)]
        if self._guided:
            ways.insert(1, (self._in(executed, lost, expert_actions(self.below, executed, lost)), "expert"))
        return ways

    def _compare(
        self,
        executed: np.ndarray,
        tried: list[tuple[np.ndarray, Way | None]],
        ways: list[tuple[np.ndarray, Way]],
        slots: np.ndarray,
        look: int,
    ) -> np.ndarray:
        """Put the first of what is tried with the fewest unsafe steps into the slots of `executed`; the fewest,
        (worlds,). What has no way to go on goes on by the best."""
        fewest = np.full(self.count // self.agents, np.iinfo(np.int64).max)
        for first, way in tried:
            for going_on in [way] if way is not None else [each for _, each in ways]:
                worse = slots & self._of_worlds(fewest > 0)
                if not worse.any():
                    return fewest
                steps = self._unsafe_steps(first, going_on, worse, look)
                better = worse & self._of_worlds(steps < fewest)
                put(executed, first, better)
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
            self.safe[slots, choice] = ~self._verdict(actions, live, self.look)[slots]
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

    def seen(self) -> Observation:
        """The observation below, with the updated mask if it has one (as in PettingZoo)."""
        seen = self.below.observation
        if self.mask and isinstance(seen, dict) and "action_mask" in seen:
            return {**seen, "action_mask": self.action_mask}
        return seen

    def entries(self) -> dict[str, Any]:
        """The counts, and with `mask` the choices."""
        told = {**super().entries(), "infeasible": self.infeasible}
        return {**told, "action_mask": self.action_mask} if self.mask else told
