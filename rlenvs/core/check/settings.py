"""Rules on parameters, levels and sizes."""

from __future__ import annotations

import contextlib
import re
from typing import Any

import numpy as np

from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.check.kernels import draw_now
from rlenvs.core.check.playing import Player, Trajectory, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.values import check_terms, check_values
from rlenvs.core.check.verdicts import Failed, NotApplicable, compare, row_of
from rlenvs.core.declare.errors import ParameterError, RenderError
from rlenvs.core.declare.options import Integer
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

CORNERS = 48  # worlds with several parameters at an end of their range: every two in all ways, nearly surely
AT_ONCE, SOON = 3, 40  # steps in which most parameters show, and nearly all
COMPARED = ("observations", "terms", "terminated", "success")
MOST_AGENTS, MOST_BYTES = 128, 4_000_000  # of a world under rule 14
TIMES = 4  # as much as usual of what makes a world slow, unless in the long mode

Case = tuple[str, float]  # a parameter and its value


def parameters_matter(t: Subject) -> str:
    """10. Every parameter changes some trajectory, on both sides of its default: at the ends of its range and half way
    to them; all stays finite there, and worlds with any of these values have their place in one batch. Where several
    stand at ends of their ranges, observations, terms and costs keep their bounds.

    To mend: use the parameter in a kernel (is a derived value computed elsewhere?), shorten its range to where it has
    an effect, or drop it. One that bounds something, and shows only where the bound is reached, is declared as
    `param(..., limit=True)`. If it shows only under certain settings, declare these in `probe={"name": {...}}`. The
    model of a physics engine has the same bodies whatever the parameters: give what is not there no mass.
    """
    if not t.world.params:
        raise NotApplicable("the world has no parameters")
    groups: dict[str, tuple[dict[str, Any], list[str]]] = {}
    probe = t.world.level(t.choices.get("level")).probe
    for name in t.world.params:
        setting = dict(probe.get(name, {}))
        groups.setdefault(repr(sorted(setting.items())), (setting, []))[1].append(name)
    silent, dead, count = [], [], 0
    _check_corners(t)
    for setting, names in groups.values():
        cases = _cases(t.having(**setting), names)
        count += len(cases)
        without = _silent(t.having(**setting), cases)
        dead += sorted({name for name, _ in cases} - {name for name, _ in set(cases) - set(without)})
        silent += [(case, setting) for case in without]
    if silent:
        shown = ", ".join(
            f"{name}={value:g}{f' with {setting}' if setting else ''} (of [{low:g}, {high:g}])"
            for (name, value), setting in silent[:6]
            for low, high in [(t.world.params[name].low, t.world.params[name].high)]
        )
        found = f"the trajectories of the defaults do not change with {shown}{' ...' if len(silent) > 6 else ''}"
        raise Failed(f"{', '.join(dead)} without any effect: {found}" if dead else found)
    return f"{len(t.world.params)} parameters, {count} values"


def _check_corners(t: Subject) -> None:
    """Failed when an observation, a term or a cost leaves its bounds where parameters stand at ends of their ranges,
    a different two thirds of them in each world."""
    chooser, count = np.random.default_rng(0), t.scale(CORNERS, 24)
    now = vars(Setup(t.world, **t.choices).values)
    rows: list[dict[str, float]] = []
    for _ in range(count):
        ends = {name: (now[name], p.low, p.high)[chooser.integers(3)] for name, p in t.world.params.items()}
        with contextlib.suppress(ParameterError):  # some do not go together
            Setup(t.world, **{**t.choices, **ends})
            rows.append(ends)
    if not rows:
        return
    batch = t.batch(len(rows), **{name: np.array([row[name] for row in rows]) for name in t.world.params})
    for policy in t.policies[:2]:
        trajectory = roll(batch, min(t.horizon, t.scale(SOON, 12)), policy)
        try:
            check_values(t, batch, trajectory, policy)
            check_terms(t, batch, trajectory, policy)
        except Failed as reason:
            found = re.search(r"of world (\d+)", str(reason))
            there = {name: round(value, 6) for name, value in rows[int(found[1])].items()} if found else {}
            raise Failed(f"with parameters at ends of their ranges: {reason}; there {there}") from None


def _cases(t: Subject, names: list[str]) -> list[Case]:
    """What is tried of some parameters: both ends of the range, and half way to them from what holds now."""
    usual = vars(Setup(t.world, **t.choices).values)
    cases: list[Case] = []
    for name in names:
        declared, now = t.world.params[name], usual[name]
        ends = [_allowed(t, name, end, now) for end in (declared.low, declared.high)]
        cases += [(name, value) for end in ends for value in (end, 0.5 * (end + now)) if value != now]
    return cases


def _allowed(t: Subject, name: str, end: float, usual: float) -> float:
    """The end of a parameter's range, or the farthest value towards it that goes together with the others."""
    for halvings in range(64):
        value = usual + (end - usual) * 0.5**halvings if halvings else end
        try:
            Setup(t.world, **{**t.choices, name: value})
        except ParameterError:
            continue
        return value
    return usual


def _silent(t: Subject, cases: list[Case]) -> list[Case]:
    """Those cases that change no trajectory. Of a limit, only where it shows at none of its values."""
    soon = _default_trajectories(t, t.scale(8, 3), SOON)
    left = _still_silent(t, cases, _unmoved(t, cases, soon, AT_ONCE))
    left = _still_silent(t, cases, _unmoved(t, left, soon, SOON))
    if not left:
        return []
    usual = _default_trajectories(t, t.scale(8, 3), t.scale(400, 60))
    left = _still_silent(t, cases, [case for case in left if not _moves(t, case, usual)])
    if not left:
        return []
    many = _default_trajectories(t, t.scale(64, 12), t.scale(SOON, 12))  # some parameters are odds of what is drawn
    return _still_silent(t, cases, [case for case in left if not _moves(t, case, many)])


def _default_trajectories(t: Subject, worlds: int, steps: int) -> list[Trajectory]:
    """What worlds with the defaults do under each policy."""
    return [roll(t.batch(worlds), min(t.horizon, steps), policy) for policy in t.policies]


def _still_silent(t: Subject, cases: list[Case], silent: list[Case]) -> list[Case]:
    """Those silent cases of which more has to be tried: not those of a limit that binds elsewhere."""
    bound = {name for name, _ in set(cases) - set(silent) if t.world.params[name].limit}
    return [case for case in silent if case[0] not in bound]


def _moves(t: Subject, case: Case, usual: list[Trajectory]) -> bool:
    """Whether a case changes one of some trajectories."""
    name, value = case
    return any(_changes(t.having(**{name: value}), base) for base in usual)


def _unmoved(t: Subject, cases: list[Case], usual: list[Trajectory], soon: int) -> list[Case]:
    """Those cases that change no trajectory in so many steps, in a batch that holds all of them: two worlds each."""
    if not cases:
        return []
    rows = np.arange(2 * len(cases) + 2) % 2
    batch = t.batch(len(rows), **_values(t, cases, 2))
    moved = np.zeros(len(rows), np.bool_)
    moved[:2] = True
    for base in usual:
        batch.seed(rows.tolist())
        batch.reset()
        moved |= _differ(batch.observations, base.observations[0, rows])
        for step in range(min(soon, len(base.actions))):
            if moved.all():
                return []
            batch.load_actions(base.actions[step, rows])
            batch.step_inplace()
            _check_finite(batch, step, f"rows of {cases}")
            for name in COMPARED:
                then = getattr(base, name)[step + 1 if name == "observations" else step, rows]
                moved |= _differ(getattr(batch, name), then)
    return [case for row, case in enumerate(cases) if not moved[2 * row + 2 : 2 * row + 4].any()]


def _values(t: Subject, cases: list[Case], worlds: int) -> dict[str, np.ndarray]:
    """Parameters of a batch with some worlds for the defaults, and after these as many for each case."""
    now = vars(Setup(t.world, **t.choices).values)
    values = {name: np.full(worlds * (len(cases) + 1), now[name]) for name, _ in cases}
    for row, (name, value) in enumerate(cases, 1):
        values[name][worlds * row : worlds * (row + 1)] = value
    return values


def _differ(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which rows differ."""
    return (a != b).reshape(len(a), -1).any(axis=1)


def _check_finite(batch: KernelBatch, step: int, what: str) -> None:
    if not (np.isfinite(batch.observations).all() and np.isfinite(batch.terms).all()):
        raise Failed(f"observations or terms are not finite at step {step} with {what}")


def _changes(t: Subject, base: Trajectory) -> bool:
    """Whether a batch, given the actions of a trajectory, departs from it; Failed when it stops being finite."""
    batch = t.batch(base.actions.shape[1])
    batch.seed(range(batch.num_envs))
    batch.reset()
    if difference(batch.observations, base.observations[0]):
        return True
    for step, actions in enumerate(base.actions):
        batch.load_actions(actions)
        batch.step_inplace()
        _check_finite(batch, step, str(dict(t.choices)))
        now = [getattr(batch, name) for name in COMPARED]
        then = [getattr(base, name)[step + 1 if name == "observations" else step] for name in COMPARED]
        if difference(now, then):
            return True
    return False


def sizes_and_levels(t: Subject) -> str:
    """14. Levels, and the smallest, largest and non-square sizes, keep rules 1, 7 and 11 too, and can be drawn; no
    level is the world as it is without one.

    Of sizes that `quick` names, four times the usual one is the largest, unless in the long mode. To mend: read sizes
    from the arrays in kernels, never write them down; refuse the impossible with ParameterError.
    Where no OpenGL works, images that MuJoCo draws cannot be looked at.
    """
    _check_levels(t.world)
    settings = [*({"level": level} for level in t.world.levels), *odd_sizes(t)]
    if not settings:
        raise NotApplicable("the world has neither levels nor sizes")
    dark, without_opengl = [], None
    seen: list[Any] = []  # spaces; where other values alone differ, forms and further players do what they did before
    for setting in settings:
        odd = t.having(**setting)
        t.tell(_text(setting))
        steps = t.scale(24, 8)
        try:
            further = min(2 * odd.horizon, t.scale(64, 24))
            env = odd.env(horizon=steps)
            shown = env.observation_space, env.action_space
            for policy in t.policies[:2] if shown in seen else t.policies:
                batch = odd.batch(2)
                trajectory = roll(batch, further, policy)
                check_values(odd, batch, trajectory, policy)
                check_terms(odd, batch, trajectory, policy)
            if shown not in seen:
                seen.append(shown)
                draw_now(batch)
                _check_forms(odd, env, steps)
        except RenderError as error:
            dark.append(_text(setting))
            without_opengl = error
        except Exception as error:
            raise Failed(f"with {setting}: {type(error).__name__}: {error}") from error
    if without_opengl:
        raise NotApplicable(f"{'; '.join(dark)} (all others hold): {without_opengl}")
    return "; ".join(_text(setting) for setting in settings)


def _check_levels(world: World) -> None:
    """Failed when a level says what holds without it, or the same as another one. It may be one step of a ladder, whose
    other levels set the same otherwise; and one that says nothing is meant: the usual by a name."""
    known = {name: part.default for name, part in (*world.params.items(), *world.options.items())}
    seen: dict[str, str] = {}
    for level, changes in world.levels.items():
        others = [other for name, other in world.levels.items() if name != level]
        ladder = all(any(other.get(name, value) != value for other in others) for name, value in changes.items())
        if not ladder and all(name in known and known[name] == value for name, value in changes.items()):
            raise Failed(f"level {level!r} is the world as it is without a level: {changes}")
        twin = seen.setdefault(repr(sorted(changes.items())), level)
        if twin != level:
            raise Failed(f"the levels {twin!r} and {level!r} are the same: {changes}")


def _check_forms(t: Subject, env: Any, steps: int) -> None:
    """Failed when a single environment does anything else than the rows of a vector form."""
    row = Player(t.vector(2, horizon=steps)).play(steps)
    for seed in range(2):
        single = Player(env, seed).play(steps)
        compare("Env and row of VectorEnv", [o[0] for o in single], [row_of(o[0], seed) for o in row])


def _text(setting: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in setting.items())


def odd_sizes(t: Subject) -> list[dict[str, Any]]:
    """Settings with the smallest, the largest and a non-square size."""
    usual = Setup(t.world, **t.choices)
    now = vars(usual.values)
    sized = []
    found: list[dict[str, Any]] = []
    for name, option in t.world.options.items():
        if not isinstance(option, Integer):
            continue
        high = option.high if t.long or name not in t.world.quick else min(option.high, TIMES * now[name])
        ends = [_feasible(t, name, end, now[name]) for end in (option.low, high)]
        changed = [{name: end} for end, setup in ends if setup and setup.sizes != usual.sizes]
        found += changed
        sized += [name] if changed else []
    for pair in (("height", "width"), ("rows", "columns")):
        if set(pair) <= set(sized):
            for name in pair:
                longer, setup = _feasible(t, name, now[name] + 3, now[name])
                found.append({name: longer if setup else _feasible(t, name, now[name] - 3, now[name])[0]})
    return found


def _feasible(t: Subject, name: str, value: int, usual: int) -> tuple[int, Setup | None]:
    """The value, or the nearest on the way to the usual one that the world takes and that is not too big to check; and
    what it makes, which may take long, nothing for the usual one."""
    while value != usual:
        try:
            setup = Setup(t.world, **{**t.choices, name: value})
        except ParameterError:
            pass
        else:
            numbers = setup.dtypes["state"].itemsize + 4 * setup.agents * setup.scaling.shape[1]
            if value < usual or (setup.agents <= t.scale(MOST_AGENTS, 8) and numbers <= t.scale(MOST_BYTES, 20_000)):
                return value, setup
        value = (value + usual) // 2 if value > usual else usual - (usual - value) // 2
    return value, None
