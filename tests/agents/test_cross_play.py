"""Cross-play: who plays which agent, what is counted, what is printed, what is refused."""

import json

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.cross_play import is_one_team
from rlenvs.cli import app
from rlenvs.core.declare.errors import ParameterError, UnknownNameError

ID = "ItemGathering-v0"
MAKE = {"level": "scattered", "reward": "individual"}


def stay(observations, masks, rng):
    return np.zeros(len(observations), np.int64)


def played(first, others, games, **keywords):
    """Mean return over agents of some games, played step by step."""
    batch = rlenvs.make_batch(ID, games, autoreset=AutoresetMode.DISABLED, **keywords)
    batch.seed(range(games))
    batch.reset()
    slots = [first, *[others] * (batch.agents - 1)]
    total = np.zeros(games)
    while not batch.over.all():
        playing = ~batch.over
        batch.actions[...] = 0
        batch.player_actions(slots)
        batch.step_inplace()
        total += np.where(playing, batch.rewards.mean(axis=1), 0.0)
    return total


def test_the_first_agent_is_of_the_row_and_all_others_of_the_column():
    result = rlenvs.cross_play(ID, {"nearest": "nearest", "picky": "picky", "still": stay}, 20, make=MAKE)
    for first, one in (("nearest", "nearest"), ("picky", "picky"), ("still", None)):
        for others, other in (("nearest", "nearest"), ("picky", "picky"), ("still", None)):
            returns = played(one, other, 20, **MAKE)
            mean, half_width = result.pair(first, others)
            assert mean == pytest.approx(returns.mean())
            assert half_width == pytest.approx(1.959964 * returns.std(ddof=1) / np.sqrt(20))
    assert result.pair("nearest", "still") != result.pair("still", "nearest")
    assert result.players[-1] == "still"
    assert result.self_play == pytest.approx(np.diag(result.returns).mean())
    off = [result.returns[i, j] for i in range(3) for j in range(3) if i != j]
    assert result.with_strangers == pytest.approx(np.mean(off))


def test_more_games_add_to_the_earlier_ones():
    few, many = (rlenvs.cross_play(ID, ["nearest", "random"], games, make=MAKE) for games in (1, 300))
    assert few.pair("random", "nearest")[0] == played_random(1)
    assert many.games == 300
    assert np.isinf(few.half_widths).all()
    assert json.loads(json.dumps(few.to_dict(), allow_nan=False))["half_widths"] == [[None, None]] * 2
    assert "1 game per pair" in str(few)
    assert "inf" not in str(few)


def played_random(games):
    return rlenvs.cross_play(ID, ["nearest", "random"], games, make=MAKE).pair("random", "nearest")[0]


def test_the_command_prints_the_matrix(tmp_path):
    file = tmp_path / "pairs.json"
    run = CliRunner().invoke(app, ["tournament", ID, "nearest", "picky", "--games", "3", "-o", str(file)])
    assert run.exit_code == 0, run.output
    assert "with themselves" in run.output
    assert "3 games per pair, seeds from 0; mean return of all agents, of whom the first plays as the row says" in (
        " ".join(run.output.split())
    )
    written = json.loads(file.read_text())
    assert sorted(written["players"]) == ["nearest", "picky"]
    assert np.shape(written["returns"]) == (2, 2)


def test_refusals():
    assert is_one_team(ID)
    assert not is_one_team("Generals-v0")
    with pytest.raises(ParameterError, match="hold a tournament"):
        rlenvs.cross_play("Generals-v0")
    with pytest.raises(ParameterError, match="there is one agent"):
        rlenvs.cross_play("PathFinding-v0", {"a": stay, "b": stay}, agents=1)
    with pytest.raises(ParameterError, match="has no scripted players; give two"):
        rlenvs.cross_play("LidarNavigation-v0")
    with pytest.raises(ParameterError, match="at least two"):
        rlenvs.cross_play(ID, ["nearest"])
    with pytest.raises(UnknownNameError, match="no player 'nearst'"):
        rlenvs.cross_play(ID, ["nearest", "picky"], 1).pair("nearst", "picky")
