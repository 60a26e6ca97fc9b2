"""Rules on the kernels of a world: compiled as in plain Python, and writing only what is theirs to write."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rlenvs.core.batch.engines import new_batch
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.batch.snapshots import Snapshot
from rlenvs.core.check.playing import Chooser, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.verdicts import Failed, NotApplicable
from rlenvs.core.declare.canvas import Canvas
from rlenvs.core.declare.spec import World

# --- compiled and plain -----------------------------------------------------------------------------------------------

EXACT = ("terminated", "truncated", "success", "masks")
COMPUTED = ("terms", "rewards", "costs")
FEW, IN_LANES = 11, 24  # worlds that are not in lanes, three times of which are; steps
CORE_FIELDS = ("shown", "players_rng")  # that the core writes, or that players draw from


def backends_agree(t: Subject) -> str:
    """19. The kernels as plain Python give what the compiled ones give: states, observations, rewards, ends, advice.

    Integers must be equal, floats to 1e-9, what is float32 (observations; all that is computed in a world with float32
    state) to 1e-5: compiled code may use another power or sine, whose last bit differs, and NumPy keeps float32 where
    numba takes float64. To mend: avoid integer overflow, uninitialised locals and arithmetic on booleans; take
    float(...) of float32 fields before computing with them. A world with lanes does the same to the bit in a batch that
    takes several worlds at a time. Experts that take seconds in plain Python give a few answers alone, as many as the
    world declares (`python_answers`).
    """
    if t.backend != "numba":
        raise NotApplicable("checked with the numba backend only")
    lanes = _same_in_lanes(t) if t.world.lanes else ""
    t = t.plain
    plain = dataclasses.replace(t, backend="python").batch(2)
    compiled = t.batch(2)
    first = roll(compiled, 8)
    roll(plain, 8, actions=first.actions)
    same_outcome(compiled, plain, "after 8 steps")
    count = max(4, 16 // len(t.policies)) * (8 if t.long else 1)
    span = 2 * t.horizon if t.long else min(240, 2 * t.horizon)
    moments: list[Moment] = []
    steps = 0
    for policy, compiled in t.states(count, every=max(1, span // count)):
        at = compiled.states["elapsed"].tolist()
        advice = compiled.expert_actions() if "expert" in t.world.kernels else np.zeros((2, 0))
        for i in range(2):
            moments.append(Moment(f"played by {policy}, at step {at[i]},", compiled.get_state(i), advice[i].tobytes()))
            plain.set_state(moments[-1].snapshot, i)
        Chooser(compiled, policy, steps).load(0)
        plain.actions[:] = compiled.actions
        compiled.step_inplace()
        plain.step_inplace()
        same_outcome(compiled, plain, f"played by {policy}, after steps {at[0]} and {at[1]},")
        steps += 1
    asked = _same_answers(t, moments)
    answers = f", the answers in {asked} of {len(moments)} states" if asked < len(moments) else ""
    return f"8 steps from the start, {steps} in the midst of episodes{answers}{lanes}"


def _same_in_lanes(t: Subject) -> str:
    """Failed when worlds of a batch that takes several at a time do anything else than in batches of few."""
    many = t.batch(3 * FEW)
    if not many.in_lanes:
        return ""
    together = roll(many, IN_LANES)
    for first in range(0, 3 * FEW, FEW):
        mine = slice(first, first + FEW)
        alone = roll(t.batch(FEW), IN_LANES, seed=first, actions=together.actions[:, mine])
        for name, values in alone._asdict().items():
            others = getattr(together, name)[:, mine]
            if values.tolist() != others.tolist() if values.dtype == object else values.tobytes() != others.tobytes():
                raise Failed(
                    f"worlds {first} to {first + FEW - 1} of {3 * FEW}, in lanes: other {name} than in a batch of {FEW}"
                )
    return f", {IN_LANES} steps in lanes"


def same_outcome(compiled: KernelBatch, plain: KernelBatch, where: str) -> None:
    """Failed when two batches came out of a step with different states, observations, rewards or ends."""
    world = compiled.world
    slack = 1e-5 if any(kind.code == "f4" for kind in world.state.values()) else 1e-9
    for name in EXACT:
        _same(f"{where} {name}", getattr(compiled, name), getattr(plain, name), 0.0)
    for j, name in enumerate([*world.terms, *world.costs]):
        _same(f"{where} {name}", compiled.terms[:, j], plain.terms[:, j], slack)
    for name in COMPUTED:
        _same(f"{where} {name}", getattr(compiled, name), getattr(plain, name), slack)
    _same(f"{where} the observation", compiled.observations, plain.observations, 1e-5)
    _same(f"{where} the central state", compiled.central(), plain.central(), 1e-5)
    for name, images in compiled.images.items():
        _same(f"{where} the image {name}", images, plain.images[name], 0.0)
    for name in kept_fields(world):
        field = compiled.states[name]
        _same(f"{where} the state {name}", field, plain.states[name], {"f8": 1e-9, "f4": 1e-5}.get(_code(field), 0.0))


class Moment(NamedTuple):
    """A state in the midst of an episode."""

    where: str
    snapshot: Snapshot
    advice: bytes  # of the compiled expert


def _same_answers(t: Subject, moments: list[Moment]) -> int:
    """Failed when experts, players or barriers say something else at one of some moments, or of as many of them as the
    world declares, those that differ in their advice first; how many were looked at."""
    compiled, plain = t.batch(1), dataclasses.replace(t, backend="python").batch(1)
    known: Counter[bytes] = Counter()
    rounds: list[int] = []  # of each advice first one state, then a second one, ...
    for moment in moments:
        rounds.append(known[moment.advice])
        known[moment.advice] += 1
    most = len(moments) if t.long else t.world.python_answers or len(moments)
    chosen = sorted(range(len(moments)), key=rounds.__getitem__)[:most]
    for k in chosen:
        compiled.set_state(moments[k].snapshot)
        plain.set_state(moments[k].snapshot)
        _same_advice(t, compiled, plain, moments[k].where)
    return len(chosen)


def _same_advice(t: Subject, compiled: KernelBatch, plain: KernelBatch, where: str) -> None:
    """Failed when experts, players or barriers say something else."""
    compiled.actions[:] = plain.actions[:] = 0
    if "expert" in t.world.kernels:
        _same(f"{where} the expert's action", compiled.expert_actions(), plain.expert_actions(), 1e-5)
    for player in t.world.players:
        _same(
            f"{where} the action of player {player}",
            compiled.player_actions(player),
            plain.player_actions(player),
            1e-5,
        )
    if barriers_of(compiled):
        shape = compiled.proposal_shape
        proposals = np.linspace(-1.0, 1.0, math.prod(shape)).reshape(shape)
        mine, theirs = compiled.barriers(proposals), plain.barriers(proposals)
        for name in mine.dtype.names or ():
            _same(f"{where} the barriers' {name}", mine[name], theirs[name], 1e-7)


def kept_fields(world: World) -> list[str]:
    """The fields of the state that count."""
    return [name for name in (*world.state, *world.persistent) if name not in world.scratch]


def barriers_of(batch: KernelBatch) -> int:
    """How many barriers the world has under the options of the batch."""
    count = batch.world.barriers
    return batch.setup.sizes[count] if isinstance(count, str) else count


def _code(array: np.ndarray) -> str:
    return array.dtype.base.str[1:]


def _same(what: str, a: np.ndarray, b: np.ndarray, slack: float) -> None:
    equal = np.isclose(a, b, rtol=slack, atol=slack, equal_nan=True) if slack else a == b
    unequal = np.argwhere(~np.asarray(equal))
    if len(unequal):
        at = tuple(unequal[0].tolist())
        place = f"{list(at[1:]) if at[1:] else ''} of world {at[0]}"
        raise Failed(f"{what}{place} is {a[at]!r} compiled and {b[at]!r} as plain Python")


# --- who may write what -----------------------------------------------------------------------------------------------

WRITERS = ("reset", "step", "act", "before_physics", "move", "after_reset", "outcome")


def only_steps_write(t: Subject) -> str:
    """20. Only `reset` and the parts of a step write the state, and no kernel writes parameters.

    Observing, masking, asking an expert or a player, the central state, barriers, drawing, and words leave the world as
    it is, however often they are called, and an expert that is asked again says the same. To mend: compute what the
    kernel keeps in `step` and `reset`, or in a local variable; what a player draws comes from the `rng` that it is
    given; a parameter is read, never written. Fields for intermediate results, of which nothing that follows depends,
    are declared: `scratch=("name",)`.
    """
    _watch_in_python(t.plain)
    asked = 0
    canvas = Canvas(64, 64) if "draw" in t.world.functions else None
    _draw_an_episode(t)
    for policy, batch in t.states(t.scale(12, 3), every=t.scale(25, 5)):
        for name, ask in questions(t, batch, canvas):
            before = _world_of(batch)
            ask()
            where = f"at step {batch.states['elapsed'][0]}, played by {policy}"
            _unchanged(name, t.world, before, _world_of(batch), where)
            _same_again(name, batch, ask, where)
            asked += 1
    if t.world.scratch:
        _asking_is_harmless(t)
    return f"{asked} questions, and 10 steps watched kernel by kernel"


def _draw_an_episode(t: Subject) -> None:
    """Draw and describe a world at the start, after a step, and at the end of an episode."""
    if not {"draw", "text"} & set(t.world.functions):
        return
    batch = t.batch(1)
    batch.seed([0])
    batch.reset()
    chooser = Chooser(batch, "random")
    for step in range(t.steps + 1):
        if step < 2 or batch.over[0]:
            draw_now(batch)
        if batch.over[0]:
            break
        chooser.load(step)
        batch.step_inplace()


def draw_now(batch: KernelBatch) -> None:
    """Draw and describe the first world of a batch; what that raises is a fault."""
    functions = batch.world.functions
    if "draw" in functions:
        functions["draw"](Canvas(64, 64), *batch.records(0))
    if "text" in functions:
        functions["text"](*batch.records(0))


def _same_again(name: str, batch: KernelBatch, ask: Callable[[], Any], where: str) -> None:
    """Failed when a question, asked twice more, has two answers. Players draw from a generator of their own; pictures
    and words leave nothing to compare."""
    if name.startswith("player") or name in ("draw", "text", "describe"):
        return
    answers = []
    for _ in range(2):
        told = ask()
        answers.append([array.copy() for array in (batch.observations, batch.masks, batch.actions)])
        answers[-1] += [told.copy()] if isinstance(told, np.ndarray) else []
    wrong = difference(answers[0], answers[1])
    if wrong:
        raise Failed(f"{name} {where} gives another answer when asked again: {wrong}")


def _asking_is_harmless(t: Subject) -> None:
    """Failed when a world that is asked everything at every step has another future than one that is not."""
    quiet, asked = t.batch(2), t.batch(2)
    wanted = roll(quiet, t.scale(60, 12))
    asked.seed(range(2))
    asked.reset()
    for step, actions in enumerate(wanted.actions):
        for _, ask in questions(t, asked, None):
            ask()
        asked.load_actions(actions)
        asked.step_inplace()
        for name in ("observations", "masks", "terms", "terminated"):
            then = getattr(wanted, name)[step + (name in ("observations", "masks"))]
            found = difference(then, getattr(asked, name))
            if found:
                raise Failed(
                    f"{name} differ at step {step} when experts, players and observations were asked for before, so a "
                    f"field of scratch={t.world.scratch} matters: {found}"
                )
    for name in kept_fields(t.world):
        found = difference(quiet.states[name], asked.states[name])
        if found:
            raise Failed(f"s.{name} depends on what was asked before: {found}")


def _watch_in_python(t: Subject) -> None:
    """Play some steps in plain Python, with an eye on what each kernel writes."""
    watched = {role: _watched(t.world, role, function) for role, function in t.world.kernels.items()}
    world = dataclasses.replace(t.world, kernels=watched)
    batch = new_batch(world, 1, **{**t.choices, "backend": "python"})
    roll(batch, 10)
    for name, ask in questions(dataclasses.replace(t, world=world), batch, None):
        if name == "expert" and t.backend == "numba":
            continue  # is asked compiled, many times, and at once
        before = _world_of(batch)
        ask()
        _unchanged(name, world, before, _world_of(batch), "after 10 steps")


def _watched(world: World, role: str, function: Callable[..., None]) -> Callable[..., None]:
    """The kernel, which fails when it writes what is not its own."""

    @functools.wraps(function)
    def kernel(p: Any, *rest: Any) -> None:
        if role == "goal_outcome":
            before = {"p": p.copy(), "achieved": rest[0].copy(), "desired": rest[1].copy()}
            function(p, *rest)
            after = {"p": p, "achieved": rest[0], "desired": rest[1]}
        elif role in WRITERS:
            before, after = {"p": p.copy()}, {"p": p}
            function(p, *rest)
        else:
            s = rest[0]
            before, after = {"p": p.copy(), "s": s.copy()}, {"p": p, "s": s}
            if role.startswith("player "):
                _play_one(role, function, p, *rest)
            else:
                function(p, *rest)
        _unchanged(role, world, before, after, "in plain Python")

    return kernel


def _play_one(role: str, function: Callable[..., None], p: Any, s: Any, k: int, a: np.ndarray, rng: Any) -> None:
    """A player's action; Failed when it writes those of others."""
    others = np.arange(len(a)) != k
    before = a.copy()
    a[others] = -7
    function(p, s, k, a, rng)
    if (a[others] != -7).any():
        raise Failed(f"{role} wrote the actions of other agents than agent {k}, for which it was asked")
    a[others] = before[others]


def _world_of(batch: KernelBatch) -> dict[str, np.ndarray]:
    return {"p": batch.param_rows.copy(), "s": batch.states.copy()}


def _unchanged(who: str, world: World, before: dict[str, Any], after: dict[str, Any], where: str) -> None:
    """Failed when a record has changed, with the name of the field."""
    for name, record in before.items():
        now = after[name]
        if record.tobytes() == now.tobytes():
            continue
        for field in record.dtype.names or ():
            if field not in (*CORE_FIELDS, *world.scratch) and record[field].tobytes() != now[field].tobytes():
                place = np.flatnonzero(np.ravel(record[field]) != np.ravel(now[field]))
                old, new = (np.ravel(r[field])[place[0]] if len(place) else r[field] for r in (record, now))
                raise Failed(f"{who} wrote {name}.{field} {where}: it was {old}, and is {new}")
        if not record.dtype.names:
            raise Failed(f"{who} wrote {name} {where}: it was {record}, and is {now}")


def questions(t: Subject, batch: KernelBatch, canvas: Canvas | None) -> Iterator[tuple[str, Callable[[], Any]]]:
    """All that can be asked of a world without moving it, by name."""
    world, kernels = t.world, t.world.kernels
    yield "observe", batch.recompute_observations
    if {"expert", "python_expert"} & set(kernels):
        yield "expert", batch.expert_actions
    for player in world.players:
        yield f"player {player}", functools.partial(batch.player_actions, player)
    if world.central:
        yield "central_state", batch.central
    if barriers_of(batch):
        yield "barrier", lambda: batch.barriers(np.zeros(batch.proposal_shape))
    draw, text, describe = world.functions.get("draw"), world.functions.get("text"), world.functions.get("describe")
    if canvas is not None and draw:
        yield "draw", lambda: draw(canvas, *batch.records(0))
    if text:
        yield "text", lambda: text(*batch.records(0))
    if describe:
        yield "describe", lambda: describe(*batch.records(0), 0)
