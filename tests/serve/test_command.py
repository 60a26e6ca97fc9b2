"""`rlenvs serve`: what it refuses."""

import pytest
from typer.testing import CliRunner

from rlenvs.cli import app


def refused(*arguments, **environment):
    done = CliRunner().invoke(app, ["serve", *arguments], env={"RLENVS_TOKEN": "", **environment})
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize("arguments", [["CartPole-v0"], ["CartPole-v0", "--mcp", "--openenv"]])
def test_one_protocol_is_chosen(arguments):
    assert "choose one protocol: --mcp or --openenv" in refused(*arguments)


@pytest.mark.parametrize("ids", [[], ["CartPole-v0", "Acrobot-v0"]])
def test_settings_are_of_one_environment(ids):
    assert "need exactly one ID" in refused(*ids, "--mcp", "--set", "gravity=9")


def test_wrong_names_and_settings_are_refused_before_it_listens():
    assert "CartPole-v0" in refused("CartPol-v0", "--mcp")
    assert "outside its range" in refused("CartPole-v0", "--mcp", "--set", "gravity=1e9")
    assert "is a vector" in refused("mo-DeepSeaTreasure-v0", "--mcp")


def test_others_need_a_token():
    pytest.importorskip("mcp")
    there = ("CartPole-v0", "--mcp", "--port", "8123", "--host", "0.0.0.0")
    assert "set RLENVS_TOKEN to a secret" in refused(*there)
    assert "at least 16" in refused(*there, RLENVS_TOKEN="short")


def test_options_of_texts_are_refused_before_it_listens():
    text = ("CartPole-v0", "--mcp", "--text")
    assert "text_tokens=3 must be 20 or more" in refused(*text, "text_tokens=3")
    assert "Did you mean 'text_history'" in refused(*text, "text_histori=3")
    assert "there is no such option" in refused(*text, "messages=20")  # nobody hears it
    assert "messages=-1 must be a positive integer" in refused(*text, "messages=-1", "--team")
    assert "expected NAME=VALUE" in refused(*text, "fallback")
    assert "needs one client" in refused(*text, "fallback=error", "--team")
