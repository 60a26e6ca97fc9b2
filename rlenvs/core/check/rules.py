"""The rules of the conformance suite: one function each, run by `rlenvs.core.check`.

A rule looks at a `Subject`. It returns what it looked at, or raises `Failed` or `NotApplicable` with the reason. Its
docstring says what it checks and how to mend a failure. RULES lists them in the order in which they run. A rule is not
run when one that it builds on has failed: mend that one first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from rlenvs.core.check.actions import actions_matter
from rlenvs.core.check.endurance import nothing_rare_breaks
from rlenvs.core.check.episodes import ends_mean_something, starts_differ, time_limit
from rlenvs.core.check.experts import experts_see_what_they_declare
from rlenvs.core.check.forms import (
    copies,
    forms_agree,
    fresh_arrays,
    neighbours_untouched,
    repeatable,
    seeding,
)
from rlenvs.core.check.independence import instances_independent
from rlenvs.core.check.inputs import bad_input
from rlenvs.core.check.kernels import backends_agree, only_steps_write
from rlenvs.core.check.loops import kernels_end
from rlenvs.core.check.records import golden, headings
from rlenvs.core.check.settings import parameters_matter, sizes_and_levels
from rlenvs.core.check.snapshots import past_is_forgotten, snapshots_restore
from rlenvs.core.check.subject import Subject
from rlenvs.core.check.values import no_constant_elements, rewards_add_up, spaces_hold


class Rule(NamedTuple):
    """A rule: its number, its function, and the numbers of the rules that it builds on."""

    number: int
    check: Callable[[Subject], str]
    needs: tuple[int, ...] = ()


# numbers are for good; 17 was a reminder of parity with published originals, which the tests of worlds hold.
# 7 comes late: when forms differ, one of the rules that it builds on tells better what is wrong; so does 10, since
# most parameters show in what actions do
RULES = (
    Rule(27, kernels_end),
    Rule(1, spaces_hold, (27,)),
    Rule(2, repeatable, (1,)),
    Rule(3, copies, (1, 2)),
    Rule(20, only_steps_write, (1,)),
    Rule(4, fresh_arrays, (1,)),
    Rule(5, no_constant_elements, (1,)),
    Rule(6, starts_differ, (1,)),
    Rule(8, neighbours_untouched, (1, 2)),
    Rule(9, time_limit, (1, 2, 8)),
    Rule(11, rewards_add_up, (1,)),
    Rule(12, instances_independent, (1, 2)),
    Rule(21, snapshots_restore, (1, 2, 3, 12, 20)),
    Rule(22, past_is_forgotten, (1, 2, 12, 20)),
    Rule(7, forms_agree, (1, 2, 4, 8, 9, 11, 12, 20, 21, 22)),
    Rule(23, ends_mean_something, (1, 2, 21)),
    Rule(24, actions_matter, (1, 21)),
    Rule(10, parameters_matter, (1, 2, 20, 24)),
    Rule(25, experts_see_what_they_declare, (1, 20, 21)),
    Rule(13, seeding, (1,)),
    Rule(14, sizes_and_levels, (1, 2, 7, 11)),
    Rule(15, headings),
    Rule(16, golden, (1, 2)),
    Rule(18, bad_input, (1,)),
    Rule(19, backends_agree, (1, 2, 21)),
    Rule(26, nothing_rare_breaks, (1, 11, 14)),
)
# what a member of a kind can break by its values, data, levels and texts; the rest is about kernels, which it shares
MEMBER_RULES = (1, 2, 5, 6, 9, 11, 14, 15, 16, 23, 24, 26)
# what tests the core, its forms above all; the rest is about the world, or about what both could break
CORE_RULES = (3, 4, 7, 9, 13, 18)
# what an "mo-" form can break of an environment that is checked without it
VECTOR_RULES = (1, 2, 11)
# those that wrappers on an environment could break; the others are about the world itself
WRAPPER_RULES = (1, 2, 3, 4, 7, 8, 9, 12, 13, 18, 21)
# of these the ones that look at every form by itself, for wrappers that take the parallel form alone
AGENTS_RULES = (1, 2, 3, 4, 12, 21)
