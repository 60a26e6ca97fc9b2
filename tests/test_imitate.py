"""DAgger: what is asked, what is kept, and that it is learnt."""

import numpy as np
import pytest

import rlenvs
from rlenvs.core.errors import ParameterError

pytest.importorskip("stable_baselines3")

from rlenvs.agents.imitate import Answers, Pupil, imitate


def model_on(id, num_envs, masked=False, **keywords):
    import stable_baselines3

    venv = rlenvs.sb3_vec_env(id, num_envs, **keywords)
    if masked:
        algorithm = pytest.importorskip("sb3_contrib").MaskablePPO
    else:
        algorithm = stable_baselines3.PPO
    kind = "MultiInputPolicy" if hasattr(venv.observation_space, "spaces") else "MlpPolicy"
    return algorithm(kind, venv, seed=0, device="cpu", n_steps=8)


def test_answers_are_a_ring():
    answers = Answers(5)
    answers.add({"n": np.arange(3)})
    assert len(answers) == 3
    answers.add({"n": np.arange(3, 7)})
    assert len(answers) == 5
    assert sorted(answers.take(np.arange(5))["n"]) == [2, 3, 4, 5, 6]


def test_numbers_are_learnt():
    model = model_on("QuadHover-v0", 64, action="velocity")
    losses = []
    imitate(model, 12_800, rounds=5, epochs=8, batch_size=256, progress=lambda steps, loss: losses.append(loss))
    policy = lambda seen: model.predict(seen, deterministic=True)[0]  # noqa: E731
    found = rlenvs.evaluate("QuadHover-v0", policy, 20, action="velocity")
    expert, random = (rlenvs.evaluate("QuadHover-v0", name, 20, action="velocity") for name in ("expert", "random"))
    assert len(losses) == 5
    assert (found.mean - random.mean) / (expert.mean - random.mean) > 0.8


def test_choices_are_learnt_under_masks():
    model = model_on("DeepSeaTreasure-v0", 16, masked=True)
    imitate(model, 3200, rounds=4, epochs=8, batch_size=64, learning_rate=3e-3)
    venv = rlenvs.sb3_vec_env("DeepSeaTreasure-v0", 4)
    seen = venv.reset()
    for _ in range(5):
        chosen = model.predict(seen, deterministic=True, action_masks=venv.action_masks())[0]
        assert chosen.tolist() == venv.env_method("expert_action")
        seen = venv.step(chosen)[0]


def test_only_the_living_are_asked_and_the_expert_leads_at_first():
    model = model_on("ParticleTag-v0", 4)
    pupil = Pupil(model, 64, 1e-3, 1, np.random.default_rng(0))
    venv = model.get_env()
    seen = venv.reset()
    expected = venv.batch.advise().reshape(-1).copy()
    pupil.step(seen, 1.0)
    assert pupil.answers.take(np.arange(len(pupil.answers)))["answer"].tolist() == expected.tolist()
    venv.batch._states["alive"][0, 0] = False
    before = len(pupil.answers)
    pupil.step(venv._observations(), 1.0)
    assert len(pupil.answers) - before == venv.num_envs - 1


def test_the_same_seed_gives_the_same_weights():
    weights = []
    for _ in range(2):
        model = model_on("QuadHover-v0", 8)
        model.get_env().seed(3)
        imitate(model, 640, rounds=2, epochs=1, batch_size=64, seed=1)
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in model.policy.parameters()]))
    np.testing.assert_array_equal(*weights)


@pytest.mark.parametrize(
    ("settings", "named"),
    [({"steps": 0}, "steps=0"), ({"rounds": 0}, "rounds=0"), ({"learning_rate": 0.0}, "learning_rate=0.0")],
)
def test_bad_numbers_are_refused(settings, named):
    model = model_on("QuadHover-v0", 2)
    with pytest.raises(ParameterError, match=named):
        imitate(model, **{"steps": 10, **settings})


def test_other_models_are_refused():
    from stable_baselines3 import SAC

    model = SAC("MlpPolicy", rlenvs.sb3_vec_env("QuadHover-v0", 2), buffer_size=100)
    with pytest.raises(ParameterError, match="PPO or MaskablePPO"):
        imitate(model, 10)
