"""`rlenvs serve`: what it refuses."""

import functools
import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

import rlenvs
from rlenvs.bridge import RemoteVectorEnv
from rlenvs.cli import app


def refused(*arguments, **environment):
    done = CliRunner().invoke(app, ["serve", *arguments], env={"RLENVS_TOKEN": "", **environment})
    assert done.exit_code == 2, done.output
    return done.output


@pytest.mark.parametrize("arguments", [["CartPole-v0"], ["CartPole-v0", "--mcp", "--openenv"]])
def test_one_protocol_is_chosen(arguments):
    assert "choose one protocol: --mcp, --openenv, --bridge or --godot" in refused(*arguments)


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
    assert "--team and --text are for" in refused("CartPole-v0", "--bridge", "--team")
    assert "--team and --text are for" in refused("CartPole-v0", "--godot", "--text", "text_history=3")


def test_trainers_are_served_one_environment():
    for protocol in ("--bridge", "--godot"):
        assert "need exactly one ID" in refused(protocol)
        assert "need exactly one ID" in refused("CartPole-v0", "Acrobot-v0", protocol)
        assert "CartPole-v0" in refused("CartPol-v0", protocol)
        assert "is a vector" in refused("mo-DeepSeaTreasure-v0", protocol)
        assert "outside its range" in refused("CartPole-v0", protocol, "--set", "gravity=1e9")


def test_who_may_be_reached_by_others():
    there = ("CartPole-v0", "--host", "0.0.0.0")
    assert "set RLENVS_TOKEN to a secret" in refused(*there, "--bridge")
    assert "has no token" in refused(*there, "--godot", RLENVS_TOKEN="0123456789abcdef")


@pytest.mark.budget(5)
def test_a_trainer_plays_over_the_bridge():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "rlenvs", "serve", "CartPole-v0", "--bridge", "--num", "3", "--port", str(port)]
    environment = {**os.environ, "RLENVS_TOKEN": "0123456789abcdef"}
    # a shell that runs the tests in the background has its processes ignore SIGINT
    heed = functools.partial(signal.signal, signal.SIGINT, signal.default_int_handler)
    options = {"env": environment, "stdout": subprocess.PIPE, "preexec_fn": heed}
    with subprocess.Popen([*command, "--set", "length=0.8"], **options) as process:
        try:
            env = RemoteVectorEnv(port, token="0123456789abcdef", patience=60)
            twin = rlenvs.make_vec("CartPole-v0", 3, length=0.8)
            assert np.array_equal(env.reset(seed=1)[0], twin.reset(seed=1)[0])
            assert np.array_equal(env.step(np.ones(3, int))[0], twin.step(np.ones(3, int))[0])
            env.close()
            process.send_signal(signal.SIGINT)
            assert b"3 worlds of CartPole-v0" in process.communicate(timeout=20)[0]
        finally:
            process.kill()
    assert process.returncode == 0
