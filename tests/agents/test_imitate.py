"""DAgger: what is asked, what is kept, and that it is learnt."""

from dataclasses import replace

import numpy as np
import pytest

import rlenvs
from rlenvs.agents.hyperparameters import settings_for
from rlenvs.core.declare.errors import ParameterError

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")

from rlenvs.agents.export import agent_from_sb3
from rlenvs.agents.imitate import Answers, bc_class, dagger_class
from rlenvs.agents.train import greedy, train


def settings_of(id, steps, num_envs, normalize=True, **hyperparameters):
    found = settings_for(id, algorithm="DAgger", steps=steps, num_envs=num_envs, hyperparameters=hyperparameters)
    return replace(found, normalize={"observations": normalize}, network={"layers": [64, 64], "activation": "relu"})


def model_on(id, num_envs, masked=False, **keywords):
    return dagger_class(masked)("MlpPolicy", rlenvs.sb3_vec_env(id, num_envs), seed=0, device="cpu", **keywords)


def begin(model):
    model._setup_learn(1)
    return model.get_env()


def test_answers_are_a_ring():
    answers = Answers(5)
    answers.add({"n": np.arange(3)})
    assert len(answers) == 3
    answers.add({"n": np.arange(3, 7)})
    assert len(answers) == 5
    assert sorted(answers.take(np.arange(5))["n"]) == [2, 3, 4, 5, 6]


def test_answers_take_room_as_they_come():
    answers = Answers(10**12)
    for k in range(100):
        answers.add({"n": np.full(7, k, np.int8)})
        assert answers.columns["n"].nbytes < 4 * len(answers)
    assert answers.take(slice(700))["n"].tolist() == np.repeat(np.arange(100), 7).tolist()


@pytest.mark.parametrize("rows", [0, 3, 7])
def test_answers_go_on_from_their_state(rows):
    answers, again = Answers(5), Answers(5)
    if rows:
        answers.add({"n": np.arange(rows)})
    again.state = answers.state
    for one in (answers, again):
        one.add({"n": np.arange(10, 13)})
    assert (again.count, len(again)) == (answers.count, len(answers))
    np.testing.assert_array_equal(again.take(slice(5))["n"], answers.take(slice(5))["n"])


@pytest.mark.parametrize(("make", "asked"), [(bc_class, False), (dagger_class, True)])
def test_with_behaviour_cloning_the_expert_always_acts(make, asked, monkeypatch):
    model = make(False)("MlpPolicy", rlenvs.sb3_vec_env("QuadHover-v0", 4), rounds=3, seed=0, device="cpu")
    predict, calls = model.predict, []
    monkeypatch.setattr(model, "predict", lambda *given, **more: calls.append(1) or predict(*given, **more))
    model.learn(240)
    assert bool(calls) == asked
    assert len(model.answers) == 240


@pytest.mark.parametrize("normalize", [False, True])
def test_numbers_are_learnt(normalize):
    settings = settings_of("QuadHover-v0", 12_800, 64, normalize, rounds=5, epochs=8, batch_size=256)
    settings = replace(settings, environment={"action": "velocity"})
    reports = []
    model = train("QuadHover-v0", settings, progress=reports.append)
    assert [report.steps for report in reports] == [2560 * k for k in range(1, 6)]
    agent = agent_from_sb3(
        model, "QuadHover-v0", keywords=settings.environment, settings={}, steps=12_800, seeds=[0], seconds=1.0
    )
    assert agent.card.algorithm == "DAgger"
    found, expert, random = (
        rlenvs.evaluate("QuadHover-v0", policy, 20, action="velocity") for policy in (agent, "expert", "random")
    )
    assert (found.mean - random.mean) / (expert.mean - random.mean) > 0.8


def test_choices_are_learnt_under_masks():
    settings = settings_of("DeepSeaTreasure-v0", 3200, 16, rounds=4, epochs=8, batch_size=64, learning_rate=3e-3)
    model = train("DeepSeaTreasure-v0", settings)
    venv = rlenvs.sb3_vec_env("DeepSeaTreasure-v0", 4)
    seen = venv.reset()
    for _ in range(5):
        normal = model.get_vec_normalize_env().normalize_obs(seen)
        chosen = model.predict(normal, deterministic=True, action_masks=venv.action_masks())[0]
        assert chosen.tolist() == venv.env_method("expert_action")
        seen = venv.step(chosen)[0]


def test_whole_numbers_of_a_discrete_space_are_imitated_without_normalisation():
    """An agent that copies the expert's answer to each of the sixteen cells plays as well as it."""
    settings = settings_of("FrozenLake-v0", 3200, 16, True, rounds=4, epochs=8, batch_size=64, learning_rate=3e-3)
    model = train("FrozenLake-v0", settings)
    made = {"keywords": {}, "settings": {}, "steps": 3200, "seeds": [0], "seconds": 1.0}
    agent = agent_from_sb3(model, "FrozenLake-v0", **made)
    assert not agent.network.architecture["observation"][0]["normalised"]
    found, expert = (rlenvs.evaluate("FrozenLake-v0", policy, 50) for policy in (agent, "expert"))
    assert found.mean == pytest.approx(expert.mean, abs=0.1)


@pytest.mark.parametrize(
    ("id", "masked"), [("DeepSeaTreasure-v0", True), ("ParticleWorldComm-v0", True), ("ParticleTag-v0", False)]
)
def test_masks_are_learnt_where_not_every_choice_is_allowed(id, masked):
    """In ParticleWorldComm no mask forbids anything, but agents have different numbers of choices."""
    model = train(id, settings_of(id, 64, 4, rounds=1, epochs=1))
    assert ("MaskablePPO" in [cls.__name__ for cls in type(model).__mro__]) is masked


def test_only_the_living_are_asked_and_the_expert_leads_at_first():
    model = model_on("ParticleTag-v0", 4)
    venv = begin(model)
    expected = venv.batch.expert_actions().reshape(-1).copy()
    model._ask(1.0)
    assert model.answers.take(slice(len(model.answers)))["answer"].tolist() == expected.tolist()
    venv.batch.states["alive"][0, 0] = False
    before = len(model.answers)
    model._ask(1.0)
    assert len(model.answers) - before == venv.num_envs - 1


def test_answers_are_kept_as_they_were_before_normalisation():
    model = train("QuadHover-v0", settings_of("QuadHover-v0", 64, 4, rounds=1, epochs=1))
    venv = rlenvs.sb3_vec_env("QuadHover-v0", 4)
    venv.seed(0)
    np.testing.assert_array_equal(model.answers.take(slice(4))["seen "], venv.reset())


def test_the_same_seed_gives_the_same_weights():
    weights = []
    for _ in range(2):
        model = train("QuadHover-v0", settings_of("QuadHover-v0", 640, 8, rounds=2, epochs=1), seed=3)
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()]))
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize("given", [{"rounds": 0}, {"epochs": True}, {"batch_size": 2.5}, {"learning_rate": 0.0}])
def test_bad_numbers_are_refused(given):
    (name, value), *_ = given.items()
    with pytest.raises(ParameterError, match=f"{name}={value!r}"):
        train("QuadHover-v0", settings_of("QuadHover-v0", 64, 4, **given))


def test_what_cannot_be_imitated_is_refused():
    from stable_baselines3.common.env_util import make_vec_env

    pytest.importorskip("mujoco")
    with pytest.raises(ParameterError, match="no scripted expert"):
        model_on("Ant-v0", 2)
    with pytest.raises(ParameterError, match="sb3_vec_env"):
        dagger_class(False)("MlpPolicy", make_vec_env("rlenvs/QuadHover-v0", 2))


def test_the_callback_can_end_it():
    from stable_baselines3.common.callbacks import BaseCallback

    class Enough(BaseCallback):
        def _on_step(self):
            return self.num_timesteps < 8

    model = model_on("QuadHover-v0", 4)
    model.learn(400, callback=Enough())
    assert model.num_timesteps == 8


def test_policies_act_alone():
    model = train("QuadTakeoff-v0", settings_of("QuadTakeoff-v0", 6400, 64, normalize=False, rounds=2))
    assert np.isfinite(rlenvs.evaluate("QuadTakeoff-v0", greedy(model), 2).mean)
