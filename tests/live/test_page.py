"""The page of a live environment, its server, and what keys do in it."""

import itertools
import re
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.request import urlopen

import numpy as np
import pytest
from typer.testing import CliRunner

from rlenvs.cli import app
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.keys import action_of_keys, steering_keys
from rlenvs.core.declare.setup import Setup
from rlenvs.live.controls import controls_of
from rlenvs.live.export import write_static
from rlenvs.live.page import page_of, write_page
from rlenvs.live.server import served


def held_in_a_page(keys, held):
    """As `Steering.take` of static/steering.js finds an action."""
    return next((action for names, action in keys["held"] if set(names) <= set(held)), keys["none"])


@pytest.mark.parametrize(
    "id", ["CartPole-v0", "Pendulum-v0", "MortarMayhem-v0", "Battle-v0", "Crafting-v0", "QuadHover-v0"]
)
def test_keys_do_in_a_page_what_they_do_in_the_window(id):
    setup = Setup(world_of(id))
    keys = controls_of(setup)["keys"]
    names = list(steering_keys(setup))[:7]
    for held in itertools.chain.from_iterable(itertools.combinations(names, n) for n in range(4)):
        found, wanted = held_in_a_page(keys, held), action_of_keys(setup, held)
        assert np.array_equal(found, keys["none"] if wanted is None else wanted), held


def test_controls_name_actions_and_bounds():
    cart, drone, lander = (controls_of(Setup(world_of(id))) for id in ("CartPole-v0", "QuadHover-v0", "Pendulum-v0"))
    assert cart["choices"] == [2]
    assert cart["labels"] == [["push left", "push right"]]
    assert cart["low"] == cart["high"] == []
    assert drone["numbers"] == [f"rotor {j}" for j in range(4)]
    assert drone["idle"] == [0.0] * 4
    assert (lander["low"], lander["high"]) == ([-2.0], [2.0])
    # a class of its own, which depends on the game
    assert controls_of(Setup(world_of("Breakthrough-v0")))["keys"] is None


def test_few_choices_without_keys_of_their_own_have_digits_and_letters():
    riddle, hanabi = (controls_of(Setup(world_of(id))) for id in ("SwitchRiddle-v0", "Hanabi-v0"))
    assert riddle["keys"]["help"] == [["1", "nothing"], ["2", "switch"], ["3", "tell"]]
    assert riddle["keys"]["none"] is None  # the game waits
    assert ["0", "play card 5"] in hanabi["keys"]["help"]
    assert ["j", "hint 5"] in hanabi["keys"]["help"]
    assert hanabi["labels"][0][10:12] == ["hint R", "hint Y"]


def test_a_page_loads_nothing_from_elsewhere():
    text = page_of(world_of("CartPole-v0"))
    assert "default-src &#x27;none&#x27;" in text
    assert re.findall(r'(?:src|href)="([^"]*)"', text)
    assert not re.findall(r'(?:src|href)="(?!\.\./static/|data:,)[^"]*"', text)


def test_a_server_gives_files_with_their_types_and_no_lists(tmp_path):
    page = write_page(world_of("CartPole-v0"), tmp_path)
    write_static(tmp_path)
    (tmp_path / "kernels.wasm").write_bytes(b"\0asm")
    with served(tmp_path) as address:
        with urlopen(f"{address}/CartPole-v0/") as answer:
            assert answer.read() == page.read_bytes()
        for name, kind in (
            ("static/page.js", "text/javascript"),
            ("static/player.css", "text/css"),
            ("kernels.wasm", "application/wasm"),
        ):
            with urlopen(f"{address}/{name}") as answer:
                assert answer.headers["Content-Type"] == kind
        for wrong in ("static/", "missing.js"):
            with pytest.raises(HTTPError, match="404"):
                urlopen(f"{address}/{wrong}")
        host = address.removeprefix("http://")
        connection = HTTPConnection(host)
        connection.request("GET", "/../../../etc/passwd")
        assert connection.getresponse().status == 404
        connection.close()
    with pytest.raises(OSError):
        urlopen(address)


def test_play_in_a_browser_serves_the_page_until_it_is_stopped(monkeypatch):
    pages = []

    def look(page):
        with urlopen(page) as answer:
            pages.append((page, answer.read().decode()))
        raise KeyboardInterrupt  # Ctrl+C

    monkeypatch.setattr("webbrowser.open", look)
    monkeypatch.setattr("rlenvs.live.export.write_environment", lambda id, folder: write_page(world_of(id), folder))
    answer = CliRunner().invoke(app, ["play", "CartPole-v0", "--browser", "--seed", "3"])
    assert answer.exit_code == 0, answer.output
    [(page, text)] = pages
    assert page.endswith("/CartPole-v0/?seed=3&who=you")
    assert page in answer.output
    assert 'data-world="world.json"' in text
    with pytest.raises(OSError):
        urlopen(page)


def test_play_in_a_browser_takes_no_values():
    answer = CliRunner().invoke(app, ["play", "CartPole-v0", "--browser", "--set", "gravity=1"])
    assert answer.exit_code == 2
    assert "change parameters in the page" in answer.output
