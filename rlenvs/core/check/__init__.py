"""The conformance suite: `rlenvs.check_env("Name-v0")` holds an environment to the rules that all of them keep.

    python -m rlenvs.core.check Name-v0            print the report
    python -m rlenvs.core.check --long Name-v0     look for what is rare, too: a million steps, all levels to their ends
    python -m rlenvs.core.check --record Name-v0   record the numbers of rule 16 again

Without ids, all take all that are registered. The rules are listed in `rlenvs.core.check.rules`.

What no rule can see: a mask that forbids or allows what the task means otherwise, where the kernels do the same with
all choices (what moves the world although it is often forbidden is a warning); a reward of the state before the step,
which is meant in some worlds (one that is kept in the state, or a multiple of it, and paid later is a warning, if it
is no rare one); a fault in less than one of a million steps, at one of many seeds (of the first 104 each is tried), or
at a size, a number of threads or a combination of options that was not tried; options without any effect;
an endless loop in one of very many draws, which stops the check itself when it is compiled; what depends on the machine
or the time of day; data that differ from process to process where numbers are recorded, which are compared instead;
and whether the numbers are those of what the page names as source.
"""

from __future__ import annotations

import inspect
import json
import traceback
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rlenvs.core.catalogue.registry import catalogue, entry, world_of
from rlenvs.core.check.records import golden_digest, read_golden
from rlenvs.core.check.rules import AGENTS_RULES, MEMBER_RULES, RULES, VECTOR_RULES, WRAPPER_RULES, Rule
from rlenvs.core.check.subject import Subject, golden_file, subject_of
from rlenvs.core.check.verdicts import Doubt, Failed, NotApplicable
from rlenvs.core.declare.errors import ConformanceError, ParameterError, RenderError
from rlenvs.core.declare.progress import progress
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World


@dataclass(frozen=True)
class Outcome:
    """What came of one rule: status is "passed", "warning", "failed", "not applicable" or "not run"."""

    number: int
    name: str
    status: str
    reason: str


@dataclass(frozen=True)
class Report:
    """The outcomes of all rules for one environment. `print(report)` shows them as a table."""

    subject: str
    outcomes: tuple[Outcome, ...]

    @property
    def passed(self) -> bool:
        """Whether no rule failed."""
        return not self.failures

    @property
    def failures(self) -> tuple[Outcome, ...]:
        """The outcomes of the rules that failed."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "failed")

    @property
    def warnings(self) -> tuple[Outcome, ...]:
        """The outcomes of the rules that found what may be wrong, and may be meant."""
        return tuple(outcome for outcome in self.outcomes if outcome.status == "warning")

    def raise_on_failure(self) -> None:
        """ConformanceError with the whole report when a rule failed."""
        if not self.passed:
            raise ConformanceError(f"\n{self}")

    def __str__(self) -> str:
        wide = max(len(outcome.name) for outcome in self.outcomes)
        lines = [f"{o.number:2d}  {o.name:<{wide}}  {o.status:<14}  {o.reason}" for o in self.outcomes]
        verdict = "passed" if self.passed else f"{len(self.failures)} failed"
        verdict += f", {len(self.warnings)} to look at" if self.warnings else ""
        return "\n".join([f"rlenvs.check_env {self.subject}: {verdict}", *lines])


def record_golden(ids: Sequence[str] = ()) -> None:
    """Record the numbers of rule 16 for some ids, all by default, in the folders of their families."""
    for world in dict.fromkeys(map(world_of, ids or list(catalogue))):
        path = golden_file(world)
        assert path is not None
        recorded = {**read_golden(path), world.name: golden_digest(world)}
        path.write_text(json.dumps(dict(sorted(recorded.items())), indent=1) + "\n", encoding="utf-8")


def check_env(
    subject: Any,
    *,
    backend: str = "numba",
    golden: Path | str | None = None,
    only: Collection[int] | None = None,
    whole: bool = True,
    without: Collection[int] = (),
    long: bool = False,
    **choices: Any,
) -> Report:
    """Check an environment against all rules of the package.

    Args:
        subject: an id, a World, or an environment of this package in any form (its class, its keywords, its backend and
            its wrappers are then what is checked; other wrappers are not looked at).
        backend: "numba", or "python" to do without compiling, with fewer and shorter rollouts.
        golden: the file of recorded numbers for rule 16; None for golden.json beside the world's file.
        only: numbers of rules, to look at these and at those that they build on; None for all.
        whole: False for a member of a kind that was checked whole: look only at what its values, data, levels and texts
            can break, not at the kernels that it shares; and of an "mo-" id, whose other form is checked, only at what
            vectors of rewards can. `only` may name no other rules then.
        without: numbers of rules to leave out, whatever builds on them; such as CORE_RULES of `rlenvs.core.check.rules`
            for a world that is like others to the core, see `one_per_shape`.
        long: also look for what is rare: a million steps, all levels up to their horizons, two thousand episodes of one
            instance, a thousand rows and seeds. Takes from seconds to some minutes, with a physics engine longer.
        choices: keywords of `make` to check the environment under.

    Returns:
        A Report: print it, or call its `raise_on_failure()`.

    Raises:
        UnknownNameError: there is no such id.
        ParameterError: there is no such rule, or it looks at kernels and `whole` is False.
        TypeError: `subject` is none of the above.
    """
    target = subject_of(subject, backend, Path(golden) if golden else None, choices)
    outcomes: dict[int, Outcome] = {}
    rules = _chosen(only, None if whole else VECTOR_RULES if target.vector_reward else MEMBER_RULES)
    _known("without", without, RULES)
    rules = [rule for rule in rules if rule.number not in without]
    with progress(f"checking {target.name}", len(rules)) as task:
        title = ""

        def tell(text: str) -> None:
            task(detail=f"{title}: {text}")

        target = replace(target, long=long, forms_only=target.vector_reward and not whole, tell=tell)
        for done, rule in enumerate(rules):
            title = f"rule {rule.number}, {_title(rule)}"
            task(done, title)
            outcomes[rule.number] = _run(rule, target, outcomes)
    return Report(target.name, tuple(outcomes[number] for number in sorted(outcomes)))


def one_per_kind(ids: Iterable[str]) -> list[str]:
    """Those of some ids that are to be checked whole: the first of each kind, and members with kernels of their own.
    For the others, and for "mo-" forms, `check_env(id, whole=False)` is enough."""
    found: dict[World, str] = {}
    for id in ids:
        world = world_of(id)
        if "/mo-" not in entry(id).id:
            found.setdefault(world if world.has_own_kernels else world.kind, id)
    return list(found.values())


def one_per_shape(ids: Iterable[str]) -> list[str]:
    """Those of some ids that together show the core everything: the first for each combination of agents, actions,
    images, engine, lanes, masks, goal, sides, turns, roles and incremental observations."""
    found: dict[tuple[Any, ...], str] = {}
    for id in ids:
        found.setdefault(_shape(world_of(id)), id)
    return list(found.values())


def _shape(world: World) -> tuple[Any, ...]:
    """What of a declaration makes the core work another way."""
    setup = Setup(world)
    actions = "continuous" if setup.continuous else f"{min(len(setup.mask_lengths), 2)} choices"
    declared = (world.images, world.lanes, world.goal, world.teams, world.turns, world.roles, world.incremental)
    engines = world.engine, tuple(world.engines)
    return world.agents, actions, "mask" in world.kernels, engines, bool(world.central), *map(bool, declared)


def _chosen(only: Collection[int] | None, looked_at: Collection[int] | None) -> list[Rule]:
    """The rules with some numbers and those that they build on, in order; all by default.

    Args:
        only: numbers.
        looked_at: numbers of those that there are, all where it is None.
    """
    open_rules = [rule for rule in RULES if looked_at is None or rule.number in looked_at]
    if only is None:
        return open_rules
    _known("only", only, open_rules, "" if looked_at is None else " with whole=False")
    wanted = set(only)
    for rule in reversed(open_rules):
        wanted |= set(rule.needs) if rule.number in wanted else set()
    return [rule for rule in open_rules if rule.number in wanted]


def _known(keyword: str, asked: Collection[int], rules: Iterable[Rule], where: str = "") -> None:
    """ParameterError unless the numbers that are asked for are those of rules."""
    numbers = sorted(rule.number for rule in rules)
    if unknown := sorted(set(asked) - set(numbers), key=str):
        among = ", ".join(map(str, numbers))
        raise ParameterError(f"{keyword}={asked}: there are no rules {unknown}{where}; there are {among}")


def _run(rule: Rule, target: Subject, done: Mapping[int, Outcome]) -> Outcome:
    name = _title(rule)
    if target.rewrap and rule.number not in WRAPPER_RULES:
        return Outcome(rule.number, name, "not applicable", "a rule of the world itself; check it without wrappers")
    if target.for_agents and rule.number not in AGENTS_RULES:
        return Outcome(rule.number, name, "not applicable", "these wrappers take the parallel form alone")
    looked_at = [number for number in rule.needs if number in done]
    broken = [number for number in looked_at if done[number].status in ("failed", "not run")]
    if broken:
        return Outcome(rule.number, name, "not run", f"needs rule {broken[0]}")
    try:
        found = rule.check(target)
        return Outcome(rule.number, name, "warning" if isinstance(found, Doubt) else "passed", found)
    except (NotApplicable, RenderError) as reason:  # a machine without OpenGL is no fault of the environment
        return Outcome(rule.number, name, "not applicable", str(reason))
    except Failed as reason:
        return Outcome(rule.number, name, "failed", str(reason))
    except Exception as error:  # an environment that breaks down breaks the rule that was being looked at
        why = f"{type(error).__name__}: {_shortened(str(error))}{_place(error, target.world)}"
        return Outcome(rule.number, name, "failed", why)


def _place(error: Exception, world: World) -> str:
    """Where a kernel that ran as plain Python broke down; of an index out of bounds, what compiled code makes of it."""
    files = {inspect.unwrap(kernel).__code__.co_filename for kernel in world.kernels.values()}
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    if not lines:
        return ""
    unseen = ". Compiled code does not look at indices: it reads and writes beside the array"
    told = unseen if isinstance(error, IndexError) else ""
    return f" ({lines[-1].filename}:{lines[-1].lineno}, {lines[-1].line}){told}"


def _title(rule: Rule) -> str:
    return rule.check.__name__.replace("_", " ")


def _shortened(message: str, most: int = 500) -> str:
    """A message that fits into a report. numba's name the cause behind pages of types."""
    if "raised a specific error:" in message:
        message = message.rpartition("raised a specific error:")[2].partition("During: Pass")[0]
        message = message.partition("nopython frontend)")[2] or message
    lines = " ".join(line.strip() for line in message.splitlines() if line.strip())
    return lines if len(lines) <= most else f"{lines[:most]} ..."
