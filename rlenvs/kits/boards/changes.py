"""Cells of a board that changed since all have seen them, for observations that are written cell by cell.

A state has `changed` (cells, in the order in which they were noted), `changes` (how many there are) and `noted`
(whether a cell is one of them).
"""

from rlenvs.core import kernel


@kernel
def note_change(s, cell):
    """A cell may look different to somebody from now on."""
    if not s.noted[cell]:
        s.noted[cell] = True
        s.changed[s.changes] = cell
        s.changes += 1


@kernel
def forget_changes(s):
    """All have seen what changed."""
    for i in range(s.changes):
        s.noted[s.changed[i]] = False
    s.changes = 0
