"""`rlenvs front`: ours, the published front, and the difference."""

import pytest
from typer.testing import CliRunner

from rlenvs.cli import app


def said(*arguments, code=0):
    result = CliRunner().invoke(app, ["front", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def test_a_front_that_dominates_the_published_one():
    output = said("ResourceGathering-v0")
    assert "Ours: 1 point, exact, at gamma=1 killed gold gem 1 0 1 1 hypervolume above (-1, -1, -1): 4 " in output
    assert "Published: 3 points, MO-Gymnasium 1.3.2" in output
    assert "hypervolume above (-1, -1, -1): 3.729 " in output
    assert (
        "Difference: 0 points in both, 1 only in ours, 3 only in the published one, 3 of which ours dominates" in output
    )


def test_discounts_differ_from_the_published_ones():
    output = said("ResourceGathering-v0", "--gamma", "0.99")
    assert "hypervolume above (-1, -1, -1): 3.5194087" in output
    assert "hypervolume above (-1, -1, -1): 3.3451103" in output


@pytest.mark.parametrize(("name", "points"), [("DeepSeaTreasure-v0", 10), ("FruitTree-v0", 64)])
def test_fronts_that_agree(name, points):
    output = said(name, "--gamma", "0.98")
    assert f"Difference: {points} points in both, 0 only in ours, 0 only in the published one" in output
    assert ("24 more (use --all to show them)" in output) == (points > 40)
    assert "more (use --all" not in said(name, "--all")


def test_corners_where_there_are_too_many_points():
    output = said("Fishwood-v0", "--gamma", "0.99")
    assert "Ours: 2 corners (the convex coverage set; the front has too many points to list" in output
    assert "Published: no points" in output


def test_a_front_with_room_above_it():
    output = said("Minecart-v0", "--level", "deterministic", "--gamma", "0.98")
    assert "Ours: 60 points, attained, at gamma=0.98" in output
    assert "no policy exceeds all of these" in output
    assert "hypervolume above (-1, -1, -200): 762.6" in output
    assert "hypervolume above (-1, -1, -200): 766.8" in output
    assert "hypervolume above (-1, -1, -200): 723.0" in output
    assert "20 only in the published one, 17 of which ours dominates" in output
    assert "Ours: 22 points, exact" in said("Minecart-v0", "--level", "deterministic")


def test_a_published_front_alone():
    output = said("Minecart-v0")
    assert "Ours: unknown" in output
    assert "under any weights, no policy is worth more than all of these" in output
    assert "Published: 10 points, MO-Gymnasium 1.3.2" in output


def test_options_change_the_front():
    assert "Published: none known" in said("ResourceGathering-v0", "--set", "danger=0")
    assert "Ours: 128 points" in said("FruitTree-v0", "--level", "depth7")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["CartPole-v0"], "no exact Pareto front"),
        (["FruitTree-v0", "--gamma", "2"], "gamma=2"),
        (["Nope-v0"], "Nope-v0"),
    ],
)
def test_what_is_refused(arguments, message):
    assert message in said(*arguments, code=2)
