"""Rules on parameters, levels and sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlenvs.core.check.playing import Player, Trajectory, difference, roll
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.values import check_terms, check_values
from rlenvs.core.check.verdicts import Failed, NotApplicable, compare, row_of
from rlenvs.core.errors import ParameterError
from rlenvs.core.setup import Setup
from rlenvs.core.spec import Integer

MOST_AGENTS, MOST_BYTES = 128, 4_000_000  # of a world under rule 14


def parameters_matter(t: Subject) -> str:
    """10. Every parameter, set to the ends of its range, changes some trajectory, and all stays finite there.

    To mend: use the parameter in a kernel (is a derived value computed elsewhere?), or drop it. If it shows only under
    certain settings, declare these in `probe={"name": {...}}`.
    """
    if not t.world.params:
        raise NotApplicable("the world has no parameters")
    seen: dict[str, list[Trajectory]] = {}
    silent = []
    for name, declared in t.world.params.items():
        setting = dict(t.world.probe.get(name, {}))
        key = repr(sorted(setting.items()))
        if key not in seen:
            steps = min(t.horizon, t.scale(400, 60))
            seen[key] = [roll(t.having(**setting).batch(t.scale(8, 3)), steps, policy) for policy in t.policies]
        ends = [{**setting, name: _allowed(t.having(**setting), name, end)} for end in (declared.low, declared.high)]
        if not any(_changes(t.having(**end), base) for base in seen[key] for end in ends):
            silent.append(f"{name} in [{declared.low:g}, {declared.high:g}]")
    if silent:
        raise Failed(f"no trajectory changes with {', '.join(silent)}")
    return f"{len(t.world.params)} parameters at both ends of their ranges"


def _allowed(t: Subject, name: str, end: float) -> float:
    """The end of a parameter's range, or the farthest value towards it that goes together with the others."""
    usual = float(getattr(Setup(t.world, **t.choices).values, name))
    for halvings in range(64):
        value = usual + (end - usual) * 0.5**halvings if halvings else end
        try:
            Setup(t.world, **{**t.choices, name: value})
        except ParameterError:
            continue
        return value
    return usual


def _changes(t: Subject, base: Trajectory) -> bool:
    """Whether a batch, given the actions of a trajectory, departs from it; Failed when it stops being finite."""
    batch = t.batch(base.actions.shape[1])
    batch.seed(range(batch.num_worlds))
    batch.reset()
    if difference(batch.observations, base.observations[0]):
        return True
    for step, actions in enumerate(base.actions):
        batch.load_actions(actions)
        batch.step_loaded()
        if not (np.isfinite(batch.observations).all() and np.isfinite(batch.terms).all()):
            raise Failed(f"observations or terms are not finite at step {step} with {dict(t.choices)}")
        now = (batch.observations, batch.terms, batch.terminated, batch.success)
        then = (base.observations[step + 1], base.terms[step], base.terminated[step], base.success[step])
        if difference(now, then):
            return True
    return False


def sizes_and_levels(t: Subject) -> str:
    """14. Levels, and the smallest, largest and non-square sizes, keep rules 1, 7 and 11 too.

    To mend: read sizes from the arrays in kernels, never write them down; refuse the impossible with ParameterError.
    """
    settings = [*({"level": level} for level in t.world.levels), *_odd_sizes(t)]
    if not settings:
        raise NotApplicable("the world has neither levels nor sizes")
    for setting in settings:
        odd = t.having(**setting)
        steps = t.scale(24, 8)
        try:
            for policy in t.policies:
                check_values(odd, 2, steps, policy)
                check_terms(odd, 2, steps, policy)
            for seed in range(2):
                single = Player(odd.env(horizon=steps), seed).play(steps)
                row = Player(odd.vector(2, horizon=steps)).play(steps)
                compare("Env and row of VectorEnv", [o[0] for o in single], [row_of(o[0], seed) for o in row])
        except Exception as error:
            raise Failed(f"with {setting}: {type(error).__name__}: {error}") from error
    return "; ".join(", ".join(f"{name}={value}" for name, value in setting.items()) for setting in settings)


def _odd_sizes(t: Subject) -> list[dict[str, Any]]:
    """Settings with the smallest, the largest and a non-square size."""
    usual = Setup(t.world, **t.choices)
    now = vars(usual.values)
    sized = []
    found: list[dict[str, Any]] = []
    for name, option in t.world.options.items():
        if not isinstance(option, Integer):
            continue
        ends = [_feasible(t, name, end, now[name]) for end in (option.low, option.high)]
        changed = [
            {name: end}
            for end in ends
            if end != now[name] and Setup(t.world, **{**t.choices, name: end}).sizes != usual.sizes
        ]
        found += changed
        sized += [name] if changed else []
    for pair in (("height", "width"), ("rows", "columns")):
        if set(pair) <= set(sized):
            for name in pair:
                longer = _feasible(t, name, now[name] + 3, now[name])
                found.append({name: longer if longer != now[name] else _feasible(t, name, now[name] - 3, now[name])})
    return found


def _feasible(t: Subject, name: str, value: int, usual: int) -> int:
    """The value, or the nearest on the way to the usual one that the world takes and that is not too big to check."""
    while value != usual:
        try:
            setup = Setup(t.world, **{**t.choices, name: value})
        except ParameterError:
            pass
        else:
            numbers = setup.dtypes["state"].itemsize + 4 * setup.agents * setup.scaling.shape[1]
            if value < usual or (setup.agents <= t.scale(MOST_AGENTS, 8) and numbers <= t.scale(MOST_BYTES, 20_000)):
                return value
        value = (value + usual) // 2 if value > usual else usual - (usual - value) // 2
    return value
