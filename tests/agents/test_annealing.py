"""Rewards of training that become those of evaluation in its course."""

import numpy as np
import pytest

from rlenvs.agents.hyperparameters.settings import settings_from
from rlenvs.agents.train import Observer, callback_of, new_model
from rlenvs.core.declare.errors import ParameterError

HOVER = "QuadHover-v0"


class Watcher(Observer):
    """Notes the weights of every rollout, behind it."""

    def begin(self):
        self.seen = []

    def after_rollout(self):
        self.seen.append(self.model.env.unwrapped.batch.param_rows["weights"][0].copy())


@pytest.mark.parametrize(
    ("algorithm", "hyperparameters"),
    [("PPO", {"n_steps": 10, "batch_size": 20, "n_epochs": 1}), ("SAC", {"learning_starts": 1000, "train_freq": 10})],
)
def test_weights_go_to_those_of_evaluation(algorithm, hyperparameters):
    table = {"algorithm": algorithm, "steps": 200, "num_envs": 2, "hyperparameters": hyperparameters}
    weights = {"training": {"weights": {"distance": 5.0}}, "anneal": {"share": 0.5}}
    model = new_model(HOVER, settings_from({**table, **weights}, "these settings"), 0)
    setup, watcher = model.env.unwrapped.batch.setup, Watcher()
    model.learn(200, callback=callback_of(watcher))
    place, own = list(setup.world.terms).index("distance"), setup.world.terms["distance"].weight
    gone = np.minimum(np.arange(10) * 20 / 100, 1.0)
    np.testing.assert_allclose([row[place] for row in watcher.seen], 5.0 + gone * (own - 5.0))
    others = np.delete(np.array(watcher.seen), place, axis=1)
    assert (others == np.delete(setup.weights, place)).all()


def test_weights_stay_until_after():
    table = {"algorithm": "PPO", "steps": 200, "num_envs": 2, "training": {"weights": {"distance": 5.0}}}
    table["hyperparameters"] = {"n_steps": 10, "batch_size": 20, "n_epochs": 1}
    model = new_model(HOVER, settings_from({**table, "anneal": {"share": 0.6, "after": 0.2}}, "these settings"), 0)
    setup, watcher = model.env.unwrapped.batch.setup, Watcher()
    model.learn(200, callback=callback_of(watcher))
    place, own = list(setup.world.terms).index("distance"), setup.world.terms["distance"].weight
    gone = np.array([0.0, 0.0, 0.0, 0.25, 0.5, 0.75, 1.0, 1.0, 1.0, 1.0])
    np.testing.assert_allclose([row[place] for row in watcher.seen], 5.0 + gone * (own - 5.0))


@pytest.mark.parametrize("anneal", [{"after": 0.1}, {"share": 0.5, "after": 0.5}, {"share": 0.0, "after": 0.1}])
def test_annealing_ends_later_than_it_begins(anneal):
    with pytest.raises(ParameterError, match="must be smaller"):
        settings_from({"algorithm": "PPO", "steps": 200, "num_envs": 2, "anneal": anneal}, "these settings")


def test_who_imitates_has_no_reward():
    table = {"algorithm": "DAgger", "steps": 200, "num_envs": 2, "anneal": {"share": 0.5}}
    with pytest.raises(ParameterError, match="algorithms that learn from rewards, not for DAgger"):
        settings_from(table, "these settings")
