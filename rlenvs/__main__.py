"""`python -m rlenvs`: the command line."""

from rlenvs.cli import app

app(prog_name="rlenvs")
