"""Commands on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer
from rich.markup import escape
from rich.table import Table

from rlenvs.cli.common import (
    app,
    console,
)
from rlenvs.core.progress import progress

if TYPE_CHECKING:
    from rlenvs.doctor import Line

PANEL = "This machine"


@app.command(rich_help_panel=PANEL)
def doctor() -> None:
    """Show what is installed and what is missing, and test that environments work here."""
    from rlenvs import doctor as findings

    _print_lines("Packages", findings.package_lines(), "red")
    _print_lines("Extras", findings.extra_lines(), "yellow")
    _print_lines("Machine", findings.machine_lines(), "yellow")
    with progress("flying QuadHover"):
        result = findings.self_test()
    _print_lines("Test", [result], "red")
    if not result.fine:
        raise typer.Exit(1)


def _print_lines(title: str, lines: list[Line], bad: str) -> None:
    table = Table(title, "", "", box=None, pad_edge=False, show_header=False)
    table.columns[1].min_width = 13
    for line in lines:
        mark = "[green]ok[/green]" if line.fine else f"[{bad}]--[/{bad}]"
        table.add_row(mark, line.subject, escape(line.text))
    console().print(f"[bold]{title}[/bold]")
    console().print(table)
