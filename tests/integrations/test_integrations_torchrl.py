"""TorchRL: plain ids, vector environments and batches of teams under its own checker, and an update of PPO on each."""

import logging

import numpy as np
import pytest

import rlenvs
from rlenvs.core.declare.errors import EpisodeOverError, UnknownKeywordError

pytest.importorskip("torchrl")

import torch
from tensordict.nn import TensorDictModule
from tensordict.nn.distributions import NormalParamExtractor
from torchrl.collectors import Collector
from torchrl.envs import GymEnv, GymWrapper, PettingZooWrapper
from torchrl.envs.utils import check_env_specs
from torchrl.modules import MaskedCategorical, MultiAgentMLP, ProbabilisticActor, TanhNormal, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from rlenvs.integrations.torchrl import BatchEnv

TEAMS = [id for id in rlenvs.list_envs("multi-agent") if "/mo-" not in id]
HOVER = "rlenvs/QuadHover-v0"


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.INFO)
    torch.set_num_threads(1)
    yield
    logging.disable(logging.NOTSET)


def vector(mode="DISABLED", count=8, **keywords):
    return GymWrapper(rlenvs.make_vec(HOVER, count, autoreset_mode=mode, **keywords))


@pytest.mark.parametrize("id", [HOVER, "rlenvs/DeepSeaTreasure-v0", "rlenvs/mo-DeepSeaTreasure-v0"])
def test_plain_ids(id):
    env = GymEnv(id)
    check_env_specs(env)
    rewards = env.rollout(3, break_when_any_done=False)["next", "reward"]  # random actions may find a treasure
    assert rewards.shape == (3, 2 if "/mo-" in id else 1)


def test_an_unknown_keyword_is_still_refused():
    with pytest.raises(UnknownKeywordError, match="'mas'"):
        GymEnv(HOVER, mas=0.03)


@pytest.mark.parametrize("mode", ["DISABLED", "SAME_STEP"])
def test_vector_environments(mode):
    env = vector(mode, horizon=20)
    assert env.batch_size == (8,)
    check_env_specs(env)
    env.set_seed(5)
    found = env.rollout(60, break_when_any_done=False)
    assert found["next", "done"].sum() >= 16


def test_vector_environments_step_as_ours_do():
    env, ours = vector(horizon=20), rlenvs.make_vec(HOVER, 8, horizon=20)
    env.set_seed(5)
    found = env.rollout(15, break_when_any_done=True)
    ours.reset(seed=5)
    observations, _ = ours.reset()  # TorchRL begins with another reset
    assert np.array_equal(found["observation"][:, 0], observations)
    for t in range(found.shape[1]):
        observations, rewards, *_ = ours.step(found["action"][:, t].numpy())
        assert np.array_equal(found["next", "observation"][:, t], observations)
        assert found["next", "reward"][:, t, 0].numpy() == pytest.approx(rewards)


def test_vector_environments_that_begin_anew_in_the_same_step():
    """The data have the last observation of each episode, and the next one begins where ours does."""
    env = vector("SAME_STEP", horizon=20)
    ours = rlenvs.make_vec(HOVER, 8, autoreset_mode="SAME_STEP", horizon=20)
    env.set_seed(5)
    found = env.rollout(50, break_when_any_done=False)
    ours.reset(seed=5)
    observations, _ = ours.reset()
    ends = 0
    for t in range(50):
        assert np.array_equal(found["observation"][:, t], observations)
        observations, rewards, terminated, truncated, infos = ours.step(found["action"][:, t].numpy())
        done, last = terminated | truncated, observations.copy()
        if done.any():
            last[done] = np.stack(list(infos["final_obs"][done]))
        assert np.array_equal(found["next", "observation"][:, t], last)
        assert np.array_equal(found["next", "done"][:, t, 0], done)
        assert found["next", "reward"][:, t, 0].numpy() == pytest.approx(rewards)
        ends += done.sum()
    assert ends >= 16


def network(inputs, outputs):
    return torch.nn.Sequential(torch.nn.Linear(inputs, 32), torch.nn.Tanh(), torch.nn.Linear(32, outputs))


def update(collector, actor, loss, gae):
    """One pass of data, one step of Adam; the actor's weights have changed and are finite."""
    before = [weight.detach().clone() for weight in actor.parameters()]
    optimizer = torch.optim.Adam(loss.parameters(), 1e-3)
    for data in collector:
        gae(data)
        losses = loss(data.reshape(-1))
        sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
        optimizer.step()
    collector.shutdown()
    after = list(actor.parameters())
    assert all(torch.isfinite(weight).all() for weight in after)
    assert any(not torch.equal(a, b) for a, b in zip(before, after, strict=True))


@pytest.mark.parametrize("mode", ["DISABLED", "SAME_STEP"])
def test_ppo_updates_on_a_vector_environment(mode):
    torch.manual_seed(0)
    env = vector(mode, count=16, horizon=50)
    body = torch.nn.Sequential(network(env.observation_spec["observation"].shape[-1], 8), NormalParamExtractor())
    actor = ProbabilisticActor(
        TensorDictModule(body, ["observation"], ["loc", "scale"]),
        spec=env.action_spec,
        in_keys=["loc", "scale"],
        distribution_class=TanhNormal,
        return_log_prob=True,
    )
    critic = ValueOperator(network(env.observation_spec["observation"].shape[-1], 1))
    collector = Collector(env, actor, frames_per_batch=1024, total_frames=1024)
    update(collector, actor, ClipPPOLoss(actor, critic), GAE(gamma=0.98, lmbda=0.95, value_network=critic))


# --- teams ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("id", ["rlenvs/ParticleSpread-v0", "rlenvs/ParticleWorldComm-v0"])
@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested using")
def test_pettingzoos_form(id):
    env = PettingZooWrapper(rlenvs.parallel_env(id))
    check_env_specs(env)


@pytest.mark.parametrize("id", [*TEAMS, HOVER, "rlenvs/DeepSeaTreasure-v0"])
def test_batches(id):
    env = BatchEnv(id, 3, seed=1, central_state=True)
    check_env_specs(env)
    found = env.rollout(30, break_when_any_done=False)
    assert found.batch_size == (3, 30)
    assert found["agents", "mask"][:, 0].all()
    env.close()
    env.close()


def test_batches_step_as_ours_do():
    env, ours = (
        BatchEnv("ParticleSpread-v0", 4, seed=7, horizon=12),
        rlenvs.make_batch("ParticleSpread-v0", 4, horizon=12),
    )
    found = env.rollout(12)
    assert found.batch_size == (4, 12)
    ours.seed(range(7, 11))
    ours.reset()
    for t in range(12):
        assert np.array_equal(found["agents", "observation"][:, t], ours.observations)
        ours.step(found["agents", "action"][:, t].numpy())
        assert np.array_equal(found["next", "agents", "reward"][:, t, :, 0], ours.rewards.astype(np.float32))
    assert np.array_equal(found["next", "agents", "observation"][:, -1], ours.observations)
    assert found["next", "truncated"][:, -1].all()
    assert not found["next", "terminated"].any()
    assert found["next", "agents", "truncated"][:, -1].all()


def test_some_worlds_begin_anew_and_the_others_go_on():
    env = BatchEnv("QuadMeetup-v0", 6, seed=0)
    found = env.rollout(150, break_when_any_done=False)
    done = found["next", "done"][..., 0]
    elapsed = torch.zeros(6, dtype=int)
    assert done.any()
    for t in range(150):
        alive = found["agents", "mask"][:, t]
        assert alive[elapsed == 0].all(), "an episode begins with all agents"
        assert torch.equal(found["next", "agents", "done"][:, t, :, 0], ~found["next", "agents", "mask"][:, t])
        elapsed = torch.where(done[:, t], 0, elapsed + 1)
    died = ~found["next", "agents", "mask"] & ~done[..., None]
    assert died.any(), "nobody died before the end; take another seed"


def test_a_step_after_the_end_is_refused():
    env = BatchEnv("ParticleSpread-v0", 2, horizon=3, seed=0)
    last = env.rollout(3)[:, -1]["next"]
    with pytest.raises(EpisodeOverError, match="ParticleSpread"):
        env.step(env.rand_action(last.exclude("done", "terminated", "truncated")))


def test_roles_with_fewer_choices_are_masked():
    env = BatchEnv("ParticleSpeakerListener-v0", 2, seed=0)
    first = env.reset()
    sizes = [role.action for role in env.batch.setup.roles]
    assert first["agents", "action_mask"].sum(-1).tolist() == [sizes, sizes]
    for _ in range(50):
        assert (env.rand_action(first)["agents", "action"] < torch.tensor(sizes)).all()


def test_costs_and_seeds():
    env = BatchEnv("ParticleSpread-v0", 3, seed=4)
    found = env.rollout(20)
    assert found["next", "agents", "cost"].shape == (3, 20, 3, 1)
    assert (found["next", "agents", "cost"] >= 0).all()
    again = BatchEnv("ParticleSpread-v0", 3, seed=4).reset()
    assert torch.equal(again["agents", "observation"], found["agents", "observation"][:, 0])
    assert not torch.equal(
        BatchEnv("ParticleSpread-v0", 3).reset()["agents", "observation"], again["agents", "observation"]
    )


@pytest.mark.parametrize("id", ["ParticleSpread-v0", "ConnectFour-v0", "CartPole-v0"])
def test_specs_of_one_world_are_those_of_all(id):
    env = BatchEnv(id, 4, backend="python")
    for kind in ("observation", "action", "reward", "done"):
        whole, one = getattr(env, f"full_{kind}_spec"), getattr(env, f"full_{kind}_spec_unbatched")
        assert (one.zero() == whole.zero()[0]).all()
        assert one.is_in(whole.zero()[0])
    assert env.group_map == {"agents": [role.name for role in env.batch.setup.roles]}


def test_ppo_updates_on_a_batch_of_teams():
    """Parameter sharing, a central critic, and masks."""
    torch.manual_seed(0)
    env = BatchEnv("ParticleSpeakerListener-v0", 8, seed=0)
    agents, inputs = env.batch.agents, env.observation_spec["agents", "observation"].shape[-1]
    choices = env.batch.setup.action_size

    def shared(outputs, centralized):
        return MultiAgentMLP(inputs, outputs, agents, centralized=centralized, share_params=True, depth=1, num_cells=32)

    actor = ProbabilisticActor(
        TensorDictModule(shared(choices, False), [("agents", "observation")], [("agents", "logits")]),
        spec=env.full_action_spec,
        in_keys={"logits": ("agents", "logits"), "mask": ("agents", "action_mask")},
        out_keys=[("agents", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("agents", "log_prob"),
    )
    critic = ValueOperator(shared(1, True), in_keys=[("agents", "observation")], out_keys=[("agents", "state_value")])
    collector = Collector(env, actor, frames_per_batch=256, total_frames=256)
    loss = ClipPPOLoss(actor, critic, normalize_advantage=False)
    loss.set_keys(
        action=("agents", "action"),
        sample_log_prob=("agents", "log_prob"),
        value=("agents", "state_value"),
        reward=("agents", "reward"),
        done=("agents", "done"),
        terminated=("agents", "terminated"),
    )
    loss.make_value_estimator()
    update(collector, actor, loss, loss.value_estimator)


@pytest.mark.parametrize("encoding", ["unit", "uint8", "integer"])
def test_other_kinds_of_numbers(encoding):
    env = BatchEnv("PathFinding-v0", 2, encoding=encoding)
    check_env_specs(env)
    seen = env.reset()["agents", "observation"]
    assert seen.dtype == {"unit": torch.float32, "uint8": torch.uint8, "integer": torch.int32}[encoding]
    assert int(seen.max()) == (255 if encoding == "uint8" else 1)
    env.close()
