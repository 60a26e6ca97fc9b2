"""The table of published results: every entry can be built, and what is kept belongs to it."""

import json

import pytest

from benchmarks import published
from rlenvs.agents.keywords import keywords_of
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.setup import Setup

GROUPS, ENTRIES = published.read_table()


@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_whole(name):
    entry = ENTRIES[name]
    Setup(world_of(entry.id), **entry.settings.train_keywords)
    assert entry.group in GROUPS
    assert entry.figures
    assert set(entry.figures) <= set(published.FIGURES)
    assert all(1 <= len(figure) <= 2 for figure in entry.figures.values())
    assert set(entry.in_units) == {"scale", "offset"}
    assert entry.source
    assert entry.differs
    assert 0 < entry.minutes <= 60  # 30 minutes of two cores


@pytest.mark.parametrize("name", ENTRIES)
def test_its_algorithm_takes_the_settings(name):
    pytest.importorskip("stable_baselines3")
    from rlenvs.agents import train

    entry = ENTRIES[name]
    keywords_of(train._algorithm(entry.id, entry.settings), entry.settings)


def test_results_are_those_of_the_settings():
    results = published.read_results()
    assert published.still_valid(ENTRIES, results) == results


def test_the_page_is_that_of_the_results():
    written = published.page(GROUPS, ENTRIES, published.read_results())
    assert published.PAGE.read_text(encoding="utf-8") == written, "run `python benchmarks/published.py --write`"


def test_a_result_is_told_in_published_units():
    entry = ENTRIES["spread-mappo"]
    one = {"return": [-30.0, 2.0], "success": [0.5], "cost": [0.0], "minutes": 3.0, "settings": {}}
    ((*_, what, there, _, ours, _, _, minutes, _),) = published.rows(entry, {"0": one})
    assert (what, there, ours, minutes) == ("return", "-133.54 ± 3.08 (?)", "-135 ± 4", "3")
    ((*_, two, _, _, _, count),) = published.rows(entry, {"0": one, "1": {**one, "return": [-40.0, 2.0]}})
    assert (two, count) == ("-145 (-155 to -135)", "2")


def test_it_is_told_whether_steps_are_equal():
    assert published.at_equal_steps("50 k", 50_000) == published.at_equal_steps("3 M", 3_000_128) == "yes"
    assert published.at_equal_steps("20 M", 2_500_000) == "no: 0.12 of them"
    assert published.at_equal_steps("at most 10 M", 200_000) == "no: 0.02 of the most"
    assert published.at_equal_steps("600 episodes", 300_000) == "no: 600 episodes there"


def test_a_group_is_run_seed_by_seed(tmp_path, monkeypatch):
    """And what is finished is not run again."""
    entries = published.chosen(["v5", "hover-rpm"], ENTRIES)
    assert [entry.seeds for entry in entries] == [2, 2, 2, 2, 2, 1]
    done = tmp_path / "swimmer-v5-ppo" / "seed-0"
    monkeypatch.setattr(published, "is_complete", lambda folder: folder == done)
    runs = [(entry.name, seed) for entry, seed in published.planned(entries, None, tmp_path)]
    assert runs[:2] == [("hopper-v5-ppo", 0), ("inverted-pendulum-v5-ppo", 0)]
    assert len(runs) == 10
    assert runs[-1] == ("pusher-v5-ppo", 1)
    assert len(published.planned(entries, 7, tmp_path)) == 6
    with pytest.raises(SystemExit, match="no entry or group 'v6'"):
        published.chosen(["v6"], ENTRIES)


def test_results_of_other_settings_are_dropped():
    entry = ENTRIES["hover-one-d"]
    kept = {"settings": json.loads(json.dumps(entry.settings.to_dict()))}
    runs = {"hover-one-d": {"0": kept, "1": {"settings": {}}}, "gone": {"0": kept}}
    assert published.still_valid(ENTRIES, runs) == {"hover-one-d": {"0": kept}}
