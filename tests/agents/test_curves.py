"""Curves that ship: their files, how fast an environment is learnt, pages, images, and algorithms compared."""

import re
import sys

import numpy as np
import pytest
from support.agent_helpers import run
from support.places import ROOT

from rlenvs.agents import aggregate, curves, learning, plots
from rlenvs.agents.curves import PUBLISHED, Curve, curves_of, mean_curve, mean_curves, published_curve, read_curves
from rlenvs.agents.hyperparameters.settings import ALGORITHMS
from rlenvs.agents.runs import COLUMNS
from rlenvs.agents.score_page import known
from rlenvs.agents.store import read_card, reference_stem
from rlenvs.core.catalogue.docs import documented, page
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import MissingExtraError, NoAgentError, ParameterError, RunError, UnknownNameError

ID = "CartPole-v0"  # random 21.05, expert 500, bound 500
HEAD = ",".join(PUBLISHED) + "\n"
RISING = HEAD + "1000,1.5,21.05,2,0,0\n2000,2.5,260.525,20,0.25,0\n3000,3.5,500,0,1,0\n"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """A store of its own in place of all others: writes a curve, and gives its path."""
    monkeypatch.setattr(curves, "stores", lambda: [tmp_path / "store"])

    def write(name, text=RISING, id=ID):
        path = tmp_path / "store" / id / "curves" / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    return write


def curve(returns, steps=(100, 200, 300), seed=0, algorithm="PPO"):
    steps = np.array(steps, float)
    columns = dict.fromkeys(PUBLISHED, np.zeros(len(steps)))
    return Curve(
        ID, None, algorithm, seed, {**columns, "steps": steps, "seconds": steps / 10, "return": np.array(returns)}
    )


# --- from a run to its curve ------------------------------------------------------------------------------------------

PROGRESS = f"""{",".join(COLUMNS)}
4096,5.09771,1.42684,0,803.499,,,,
8192,5.38151,1.32366,0,1522.25,,,,
8192,5.40000,1.32366,0,1517.04,-0.0512345678,1.25000,0.333333,0
1000000,61.2345678,12.5,0,16331.1,1234567,0.00012345678,,2.5
1000000,61.5,12.5,0,16260.2,1234567.5,0,1,2.5
"""


def test_a_row_per_evaluation_and_short_numbers(tmp_path):
    (tmp_path / "progress.csv").write_text(PROGRESS)
    assert published_curve(tmp_path / "progress.csv") == (
        "steps,seconds,return,half_width,success,cost\n"
        "8192,5.4,-0.051235,1.25,0.33333,0\n"
        "1000000,61.5,1234600,0,1,2.5\n"  # of two evaluations at one step the later
    )


def test_a_shipped_curve_says_what_the_run_did(tmp_path, store):
    rows = PROGRESS.replace("1000000,61.2345678", "900000,61.2345678")
    (tmp_path / "progress.csv").write_text(rows)
    store("PPO-seed-3", published_curve(tmp_path / "progress.csv"))
    (found,) = curves_of("rlenvs/CartPole-v0")
    assert (found.id, found.level, found.algorithm, found.seed) == (ID, None, "PPO", 3)
    assert found.columns["steps"].tolist() == [8192, 900000, 1000000]
    assert found.columns["return"].tolist() == [-0.051235, 1234567, 1234600]
    assert np.isnan(found.columns["success"]).tolist() == [False, True, False]
    assert found.columns["cost"].tolist() == [0, 2.5, 2.5]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "No such file"),
        (f"{','.join(COLUMNS)}\n4096,5,1,0,803,,,,\n", "contains no evaluation yet"),
        ("steps,seconds\n1,2\n", "no columns of evaluations"),
        ("a,b\n1,2\n", "no columns steps and seconds"),
        ("steps,seconds\n1,x\n", "could not convert string to float: 'x'"),
        ("\x00\xff", "not a progress table of a run"),
    ],
)
def test_what_is_no_progress(tmp_path, text, said):
    if text is not None:
        (tmp_path / "progress.csv").write_text(text, encoding="latin-1")
    with pytest.raises(RunError, match=said):
        published_curve(tmp_path / "progress.csv")


def test_the_table_of_a_run_that_goes_on_is_read(tmp_path):
    (tmp_path / "progress.csv").write_text(PROGRESS + "1004096,62.1,12")
    (found,) = read_curves(tmp_path)
    assert found.of("mean_return")[0].tolist()[-1] == 1004096
    assert found.of("evaluated_return", "seconds")[0].tolist() == [5.4, 61.2345678, 61.5]


# --- files of stores --------------------------------------------------------------------------------------------------


def test_curves_by_level_algorithm_and_store(store, tmp_path, monkeypatch):
    for name in ("PPO-seed-10", "PPO-seed-2", "DQN-seed-0", "hard-PPO-seed-0"):
        store(name)
    found = [(curve.algorithm, curve.seed) for curve in curves_of(ID)]
    assert found == [("DQN", 0), ("PPO", 2), ("PPO", 10)]
    assert [curve.seed for curve in curves_of(ID, algorithm="PPO")] == [2, 10]
    assert [curve.level for curve in curves_of(ID, "hard")] == ["hard"]
    assert curves_of(ID, "easy") == curves_of("Pendulum-v0") == []
    with pytest.raises(UnknownNameError, match="hrad"):
        curves_of(ID, "hrad")
    front = tmp_path / "front" / ID / "curves"
    front.mkdir(parents=True)
    (front / "DQN-seed-0.csv").write_text(HEAD + "7,1,2,3,0,0\n")
    monkeypatch.setattr(curves, "stores", lambda: [tmp_path / "front", tmp_path / "store"])
    assert [curve.columns["steps"][0] for curve in curves_of(ID)] == [7, 1000, 1000]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RISING[:-1], "it is truncated"),
        (RISING + "4000,4\n", "line 5 has 2 cells, the head 6"),
        (RISING.replace("260.525", "26o"), "could not convert string to float: '26o'"),
        (RISING.replace("260.525", "inf"), "return must be a finite number"),
        (RISING.replace("260.525", ""), "return must be a finite number"),
        (RISING.replace("2000", "1000"), "steps must increase"),
        (RISING.replace("2.5", "0.5"), "seconds must not decrease"),
        (RISING.replace("cost", "costs"), "its columns are .*costs; needed: .*cost"),
        (HEAD, "it has no rows"),
        ("", "it is truncated"),
    ],
)
def test_damaged_files(store, text, said):
    path = store("PPO-seed-0", text)
    with pytest.raises(RunError, match=f"{re.escape(str(path))} is not a curve, or is damaged: .*{said}"):
        curves_of(ID)


def test_names_that_are_none_of_a_curve(store):
    path = store("PPO-0")
    with pytest.raises(RunError, match=r"such as PPO-seed-0\.csv"):
        curves_of(ID)
    path.rename(path.with_name("hrad-PPO-seed-0.csv"))
    with pytest.raises(RunError, match=r"a level that CartPole-v0 does not have\. Did you mean 'hard'"):
        curves_of(ID)


# --- means and how fast -----------------------------------------------------------------------------------------------


def test_the_mean_over_seeds_interpolates_where_evaluations_differ():
    mean = mean_curve([curve([0.0, 10.0, 20.0]), curve([10.0, 30.0, 50.0], (150, 250, 350), seed=1)])
    assert mean.columns["steps"].tolist() == [150, 200, 250, 300]
    assert mean.columns["return"].tolist() == [7.5, 15, 22.5, 30]
    assert mean.low["return"].tolist() == [5, 10, 15, 20]
    assert mean.high["return"].tolist() == [10, 20, 30, 40]
    assert mean.ends["return"].tolist() == [20, 50]
    with pytest.raises(RunError, match="no step in common"):
        mean_curve([curve([0.0, 1.0, 2.0]), curve([0.0, 1.0, 2.0], (400, 500, 600))])


def test_steps_to_a_score_by_hand():
    mean = mean_curve([curve([20.0, 40.0, 100.0])])  # at steps 100, 200, 300 and seconds 10, 20, 30
    assert learning.steps_to(mean, 0.3, 0.0, 100.0) == (150.0, 15.0)
    assert learning.steps_to(mean, 0.7, 0.0, 100.0) == (250.0, 25.0)
    assert learning.steps_to(mean, 0.4, 0.0, 100.0) == (200.0, 20.0)
    assert learning.steps_to(mean, 0.1, 0.0, 100.0) == (100.0, 10.0)  # the first evaluation had it
    assert learning.steps_to(mean, 0.9, 0.0, 200.0) is None
    assert learning.steps_to(mean, 0.9, 50.0, 50.0) is None
    assert learning.steps_to(mean, 0.5, -60.0, 120.0) == (150.0, 15.0)


def test_the_first_time_counts():
    mean = mean_curve([curve([0.0, 80.0, 0.0, 90.0], (0, 100, 200, 300))])
    assert learning.steps_to(mean, 0.4, 0.0, 100.0) == (50.0, 5.0)


def test_steps_and_times_in_words():
    texts = [learning.steps_text(steps) for steps in (0, 7.4, 999.4, 999.9, 62_464, 999_900, 2_002_944)]
    assert texts == ["0", "7.4", "999", "1 k", "62.5 k", "1 M", "2 M"]
    texts = [learning.time_text(seconds) for seconds in (0.647, 59.96, 86.4, 3599, 45_000)]
    assert texts == ["0.647 s", "1 min", "1.44 min", "1 h", "12.5 h"]


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_table_of_a_page(store):
    store("PPO-seed-0")
    store("PPO-seed-1", RISING.replace("500,0", "490,1"))
    store("DQN-seed-0", HEAD + "50000,90,20,1,0,0\n")
    text = learning.learning_section(world_of(ID))
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert rows == [
        "| Policy | Return | Score | Success | Steps | Time | Seeds | To 0.5 | To 0.9 |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
        "| random | 21.05 | 0.000 | 0 % |  |  |  |  |  |",
        "| expert | 500 | 1.000 | 100 % |  |  |  |  |  |",
        "| DQN | 20 | -0.002 | 0 % | 50 k | 1.5 min | 1 | not reached | not reached |",
        "| PPO | 495 (490 to 500) | 0.990 | 100 % | 3 k | 3.5 s | 2 | 2 k, 2.5 s | 2.82 k, 3.32 s |",
        "| bound | 500 | 1.000 |  |  |  |  |  |  |",
    ]
    assert text.endswith("![Learning curves of CartPole-v0](curves/CartPole-v0.webp)")


def test_what_a_table_leaves_out(store):
    """Levels without scores of their own; worlds without success, expert or bound."""
    store("hard-PPO-seed-0")
    text = learning.learning_section(world_of(ID))
    assert 'Level "hard":\n\n| Policy | Return | Success | Steps | Time | Seeds |\n' in text
    store("PPO-seed-0", id="Ant-v0")
    text = learning.learning_section(world_of("Ant-v0"))
    assert "| Policy | Return | Cost | Limit | Steps | Time | Seeds |" in text
    assert "| PPO | 500 | velocity 0 | 25 | 3 k | 3.5 s | 1 |" in text


def test_a_level_is_compared_with_what_the_card_of_its_agent_holds(store):
    own = read_card(reference_stem("SameGame-v0", "small")).score
    store("small-MaskablePPO-seed-0", id="SameGame-v0")
    assert plots.panels_of("SameGame-v0")[0].references == {"random": own.random, "expert": own.expert}
    text = learning.learning_section(world_of("SameGame-v0"))
    assert f"| expert | {own.expert:.4g} | 1.000 | {100 * own.expert_success:.0f} % |" in text
    assert learning.LEVELS in text
    store("PPO-seed-0")
    assert learning.LEVELS not in learning.learning_section(world_of(ID))


@pytest.mark.parametrize(("spent", "success"), [("2.4", "100 %"), ("3.6", "100 %, unsafe")])
def test_a_world_with_a_cost_says_what_an_agent_spent(store, spent, success):
    """Curves hold the sum over three agents, and the limit of each is 1."""
    store("PPO-seed-0", RISING.replace("0,1,0", f"0,1,{spent}"), id="ParticleSpread-v0")
    text = learning.learning_section(world_of("ParticleSpread-v0"))
    assert "| Policy | Return | Score | Success | Cost | Limit | Steps |" in text
    assert f"| {success} | contact {float(spent) / 3:.3g} | 1 | 3 k | 3.5 s | 1 |" in text
    assert learning.SEVERAL_COSTS not in text
    random = world_of("ParticleSpread-v0").scores["random"]
    assert f"| contact {random.costs['contact']:.3g} | 1 |  |" in text


def test_of_several_costs_that_of_the_agent_is_told(store):
    """Curves hold the sum of all alone."""
    store("PPO-seed-0", RISING.replace("0,1,0", "0,1,99"), id="QuadHover-v0")
    store("DDPG-seed-0", RISING.replace("0,1,0", "0,1,99"), id="QuadHover-v0")
    text = learning.learning_section(world_of("QuadHover-v0"))
    costs = read_card(reference_stem("QuadHover-v0", algorithm="PPO")).score.costs
    assert learning.SEVERAL_COSTS in text
    assert f"| 100 % | tilt {costs['tilt']:.3g} | 25 | 3 k | 3.5 s | 1 |" in text
    assert "| 100 % |  |  | 3 k | 3.5 s | 1 |" in text
    assert "99" not in text


@pytest.mark.budget(4)
def test_a_row_says_what_its_agent_was_trained_on():
    """Of all environments and levels, as the table of scores says it; of curves without an agent by the settings."""
    checked = 0
    for one in known():
        means = mean_curves(curves_of(one.name, one.level))
        text = learning.learning_section(world_of(one.name))
        rows = [line for line in text.splitlines() if line.startswith("| ")]
        for card in one.learnt.values():
            if any(mean.algorithm == card.algorithm for mean in means):
                assert any(row.startswith(f"| {card.described} | ") for row in rows), card.described
                assert learning.CONDITIONS in text or card.described == card.algorithm
                checked += card.described != card.algorithm
    assert checked > 50
    with_pixels = world_of("CarRacing-v0")
    assert "| PPO (observation=vector) | " in learning.learning_section(with_pixels)
    assert learning.described("SAC", with_pixels).startswith("SAC (observation=vector")


def test_a_score_that_the_first_evaluation_had_already(store):
    store("PPO-seed-0", HEAD + "4000,2,450,2,0,0\n8000,4,500,2,1,0\n")
    assert "| at most 4 k, 2 s | at most 4 k, 2 s |" not in learning.learning_section(world_of(ID))
    assert "| at most 4 k, 2 s | 4." in learning.learning_section(world_of(ID))


def test_a_page_without_curves_is_as_it_was(store):
    world = world_of(ID)
    assert learning.learning_section(world) == ""
    assert page(world, learning.learning_section(world)) == page(world)
    store("PPO-seed-0")
    whole = page(world, learning.learning_section(world))
    before, section, after = whole.partition("### Learning\n")
    assert section
    assert "## Reference Scores" in before
    assert "## Version History" in after


def test_images_of_pages_show_the_curves_that_ship():
    """By the digests that they hold: what matplotlib draws of them differs between its versions."""
    for row in documented():
        for name, panel in plots.images_of(world_of(row.id)).items():
            path = ROOT / "docs" / "environments" / name
            assert plots.digest_of_image(path) == panel.digest, "run `python docs/generate.py`"
            assert path.stat().st_size < 15_000


# --- images -----------------------------------------------------------------------------------------------------------


def has_color(path, color):
    from PIL import Image

    wanted = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((abs(np.asarray(Image.open(path).convert("RGB")).astype(int) - wanted).max(axis=2) < 12).any())


def test_every_algorithm_has_a_colour_of_its_own():
    assert set(ALGORITHMS) <= set(plots.COLOR_OF)
    assert len({*plots.COLOR_OF.values(), plots.OTHERS}) == len(plots.COLOR_OF) + 1


@pytest.mark.filterwarnings("error")
def test_plot_of_environments(store, tmp_path):
    pytest.importorskip("matplotlib")
    store("TD3-seed-0", HEAD + "2000,2,100,1,0,0\n")  # a single evaluation
    for name in ("PPO-seed-0", "PPO-seed-1", "DQN-seed-0", "hard-PPO-seed-0"):
        store(name)
    store("SAC-seed-0", RISING.replace("500", "0"), id="Pendulum-v0")
    path = tmp_path / "new" / "curve.png"
    assert f"wrote {path}" in run("plot", ID, "-o", path)
    assert has_color(path, plots.color_of("PPO"))
    assert has_color(path, plots.color_of("TD3"))
    assert not has_color(path, plots.color_of("SAC"))
    run("plot", ID, "Pendulum-v0", "-o", path, "--x", "seconds")
    assert has_color(path, plots.color_of("SAC"))
    for y in plots.Y:
        run("plot", ID, "-o", tmp_path / f"{y}.svg", "--y", y)
        assert b"<svg" in (tmp_path / f"{y}.svg").read_bytes()


def test_panels(store):
    store("PPO-seed-0")
    store("hard-DQN-seed-0")
    default, hard = plots.panels_of(ID)
    assert (default.title, hard.title) == (ID, "CartPole-v0, hard")
    assert dict(default.references) == {"expert": 500, "random": world_of(ID).scores["random"].mean, "bound": 500}
    assert dict(plots.panels_of(ID, "success")[0].references) == {"expert": 1, "random": 0}
    assert dict(plots.panels_of(ID, "cost")[0].references) == dict(hard.references) == {}
    with pytest.raises(
        NoAgentError, match="there is no published learning curve for Pendulum-v0; train one with: rlenvs train"
    ):
        plots.panels_of("Pendulum-v0")


@pytest.mark.parametrize(("bound", "drawn"), [(600.0, True), (5000.0, False)])
def test_a_bound_that_would_flatten_all_else_is_left_out(bound, drawn):
    pytest.importorskip("matplotlib")
    panel = plots.Panel("", mean_curves([curve([0.0, 200.0, 500.0])]), {"expert": 500.0, "bound": bound})
    (axes,) = plots.figure_of_panels([panel]).axes
    assert ("bound" in axes.get_legend_handles_labels()[1]) == drawn
    assert (axes.get_ylim()[1] > bound) == drawn


def test_the_image_of_a_page_is_small_and_the_same_again(store, tmp_path):
    pytest.importorskip("matplotlib")
    noise = np.random.default_rng(0)
    for algorithm in ("PPO", "SAC", "TD3"):
        for k in range(3):
            rows = [f"{1000 * t},{t},{20 * t + noise.normal() * 80:.5g},1,0,0\n" for t in range(1, 21)]
            store(f"{algorithm}-seed-{k}", HEAD + "".join(rows))
    (panel,) = plots.panels_of(ID)
    first, second = tmp_path / "a.webp", tmp_path / "b.webp"
    plots.save_for_page(panel, first)
    plots.save_for_page(panel, second)
    assert first.read_bytes() == second.read_bytes()
    assert len(first.read_bytes()) < 15_000
    assert all(has_color(first, plots.color_of(algorithm)) for algorithm in ("PPO", "SAC", "TD3"))
    assert plots.digest_of_image(first) == panel.digest
    assert plots.digest_of_image(tmp_path / "none.webp") == ""
    store("PPO-seed-0")
    assert plots.panels_of(ID)[0].digest != panel.digest


def test_plot_of_runs_against_time(tmp_path):
    pytest.importorskip("matplotlib")
    (tmp_path / "progress.csv").write_text(PROGRESS)
    run("plot", tmp_path, "--x", "seconds", "--y", "cost")
    assert has_color(tmp_path / "learning_curve.png", plots.COLORS[0])


def test_plots_that_are_refused(store, tmp_path, monkeypatch):
    store("PPO-seed-0")
    run("plot", ID, "-o", tmp_path / "a.gif", code=2)
    run("plot", ID, tmp_path, code=2)
    for axes in (("time", "return"), ("steps", "reward")):
        with pytest.raises(ParameterError, match="is not one of"):
            plots.check_axes(*axes)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[sb3\]"):
        plots.check_plotting()


# --- algorithms compared ----------------------------------------------------------------------------------------------


def scores(**values):
    return {id: np.array(own, float) for id, own in values.items()}


def test_the_interquartile_mean_by_hand():
    pytest.importorskip("scipy")
    own = scores(a=[0.0, 0.2], b=[0.4], c=[0.6, 0.6, 0.6], d=[9.0])  # means 0.1, 0.4, 0.6, 9: the middle half is 0.5
    found = aggregate.interquartile_mean(own)
    assert found.value == pytest.approx(0.5)
    assert found.environments == 4
    assert 0.1 <= found.low < 0.5 < found.high <= 9.0
    assert aggregate.interquartile_mean(own) == found
    one = aggregate.interquartile_mean(scores(a=[0.0, 0.5]))
    assert one.value == 0.25
    assert np.isnan(one.low)


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    """Scores of 40 environments, uniform in [0, 1]: the interquartile mean is 0.5."""
    pytest.importorskip("scipy")
    generator = np.random.default_rng(1)
    samples = [{str(i): values[None] for i, values in enumerate(generator.uniform(size=40))} for _ in range(100)]
    found = [aggregate.interquartile_mean(own) for own in samples]
    assert 88 <= sum(one.low <= 0.5 <= one.high for one in found) <= 100
    assert np.mean([one.high - one.low for one in found]) < 0.5


def test_the_probability_of_improvement_by_hand():
    pytest.importorskip("scipy")
    one = scores(a=[1.0, 2.0, 3.0], b=[0.5], c=[1.0])
    other = scores(a=[2.0, 0.0], b=[0.5], d=[7.0])
    # on a: 1 > 0, 2 = 2, 2 > 0, 3 > 2, 3 > 0: 4.5 of 6 pairs; on b one pair that is equal
    found = aggregate.improvement(one, other)
    assert found.value == pytest.approx((0.75 + 0.5) / 2)
    assert found.environments == 2
    assert aggregate.improvement(other, one).value == pytest.approx(1 - found.value)
    assert aggregate.improvement(one, scores(d=[1.0])) is None


def test_algorithms_over_environments(store, monkeypatch):
    pytest.importorskip("scipy")
    store("PPO-seed-0")
    store("PPO-seed-1", RISING.replace("500,0", "140.7,0"))
    store("DQN-seed-0", RISING.replace("500,0", "21.05,0"))
    store("hard-DQN-seed-0")  # levels do not count
    expert = world_of("Pendulum-v0").scores["expert"].mean
    store("PPO-seed-0", f"{HEAD}1,1,{expert},1,0,0\n", id="Pendulum-v0")
    store("PPO-seed-0", id="Ant-v0")  # no expert, so no score
    found = aggregate.final_scores()
    assert list(found) == ["DQN", "PPO"]
    assert list(found["PPO"]) == [ID, "Pendulum-v0"]
    assert found["PPO"][ID] == pytest.approx([1.0, 0.25], abs=1e-3)
    assert found["PPO"]["Pendulum-v0"] == pytest.approx([1.0])
    assert found["DQN"][ID] == pytest.approx([0.0], abs=1e-3)
    assert aggregate.score_rows(found)[1][:4] == ("PPO", "2", "3", "0.81")
    assert aggregate.pair_rows(found) == [("PPO", "DQN", "1", "1.00", "")]
    output = run("scores", "--aggregate")
    assert re.search(r"PPO +2 +3 +0\.81 +0\.62 to 1\.00", output)
    assert re.search(r"PPO +DQN +1 +1\.00", output)


def test_without_curves_or_scipy(store, monkeypatch):
    run("scores", "--aggregate", code=2)
    store("PPO-seed-0")
    monkeypatch.setitem(sys.modules, "scipy", None)
    with pytest.raises(MissingExtraError, match=r"rlenvs-suite\[exact\]"):
        aggregate.interquartile_mean(scores(a=[1.0]))
