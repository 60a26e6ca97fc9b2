import copy
import json
import pickle

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from threadpoolctl import threadpool_limits

from rlenvs.agents.architecture import check_architecture, expected_tensors
from rlenvs.agents.network import ACTIVATIONS, Network, _blas
from rlenvs.core.declare.errors import ParameterError

BOX = spaces.Box(-1.0, 1.0, (5,), np.float32)
NESTED = spaces.Dict(
    {
        "observation": spaces.Box(-1.0, 1.0, (4,), np.float32),
        "achieved_goal": spaces.Box(-1.0, 1.0, (3,), np.float32),
        "desired_goal": spaces.Box(-1.0, 1.0, (3,), np.float32),
    }
)
NUMBERS = spaces.Box(-1.0, 1.0, (2,), np.float32)
UNEVEN = spaces.Box(np.array([-2.0, 0.0], np.float32), np.array([1.0, 10.0], np.float32))
CHOICE = spaces.Discrete(6)
CELL = spaces.Discrete(16)
CELL_BESIDE = spaces.Dict({"cell": spaces.Discrete(5), "speed": spaces.Box(-1.0, 1.0, (2,), np.float32)})
ROWS = 400


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    try:
        import torch
    except ImportError:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


class Blank(gymnasium.Env):
    """Nothing but spaces."""

    def __init__(self, observation, action):
        self.observation_space, self.action_space = observation, action

    def action_masks(self):
        return np.ones(self.action_space.n, np.bool_)


def model_of(algorithm, observation=BOX, action=NUMBERS, normalised=False, **settings):
    """A model with random weights, and what it was normalised by."""
    sb3 = pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

    contrib = ("MaskablePPO", "RecurrentPPO", "TRPO", "TQC", "QRDQN")
    library = pytest.importorskip("sb3_contrib") if algorithm in contrib else sb3
    kind = "MultiInput" if isinstance(observation, spaces.Dict) else "Mlp"
    policy = f"{kind}LstmPolicy" if algorithm == "RecurrentPPO" else f"{kind}Policy"
    envs = DummyVecEnv([lambda: Blank(observation, action)])
    if normalised:
        envs = VecNormalize(envs, norm_reward=False, clip_obs=1.5)
    model = getattr(library, algorithm)(policy, envs, seed=0, device="cpu", **settings)
    shake(model, envs if normalised else None)
    return model, envs if normalised else None


def shake(model, normalizer):
    import torch

    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter += 0.1 * torch.randn_like(parameter)
    rng = np.random.default_rng(2)
    statistics = getattr(normalizer, "obs_rms", None) or {}
    for found in statistics.values() if isinstance(statistics, dict) else [statistics]:
        found.mean, found.var = rng.normal(size=found.mean.shape), rng.uniform(0.1, 2.0, found.var.shape)


def observations_of(space, rows=ROWS, seed=3):
    space = copy.deepcopy(space)
    space.seed(seed)
    samples = [space.sample() for _ in range(rows)]
    if isinstance(space, spaces.Dict):
        return {name: np.stack([sample[name] for sample in samples]) for name in space.spaces}
    return np.stack(samples)  # of a Discrete space int64 (rows,), as Stable-Baselines3 has them


def network_of(model, normalizer=None):
    """The network, by way of JSON."""
    from rlenvs.agents import export

    architecture, tensors = export.network_of(model, normalizer)
    return Network(json.loads(json.dumps(architecture)), tensors)


def same(actions, expected, network):
    assert actions.shape == expected.shape
    assert actions.dtype == expected.dtype
    if network.numbers:
        assert np.abs(actions - expected).max() < 1e-5
        assert np.ptp(actions, axis=0).min() > 0.01
    else:
        assert actions.tolist() == expected.tolist()
        assert len(set(actions.tolist())) > 1


# --- it does what the libraries do ------------------------------------------------------------------------------------


FORMS = {
    "array": (BOX, False),
    "array, normalised": (BOX, True),
    "dictionary, normalised": (NESTED, True),
    "discrete": (CELL, False),
    "dictionary with a discrete part": (CELL_BESIDE, False),
}
OF_NUMBERS, OF_CHOICES = ("PPO", "A2C", "SAC", "TD3", "DDPG", "TRPO", "TQC"), ("PPO", "A2C", "DQN", "QRDQN")


@pytest.mark.parametrize(("observation", "normalised"), FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    ("algorithm", "action"),
    [*((name, NUMBERS) for name in OF_NUMBERS), *((name, CHOICE) for name in OF_CHOICES)],
    ids=[f"{name}, numbers" for name in OF_NUMBERS] + [f"{name}, choices" for name in OF_CHOICES],
)
def test_actions_are_those_of_the_model(algorithm, action, observation, normalised):
    # means of many quantiles are nearly equal, and one choice is the best everywhere
    few = {"policy_kwargs": {"n_quantiles": 3}} if algorithm == "QRDQN" else {}
    model, normalizer = model_of(algorithm, observation, action, normalised, **few)
    network, observations = network_of(model), observations_of(observation)
    seen = normalizer.normalize_obs(observations) if normalised else observations
    actions, state = network.act(observations)
    same(actions, model.predict(seen, deterministic=True)[0], network)
    assert state is None
    assert not network.masked
    assert any(part["normalised"] for part in network.architecture["observation"]) == normalised


@pytest.mark.parametrize(
    ("algorithm", "settings"),
    [
        ("PPO", {"use_sde": True}),
        ("PPO", {"use_sde": True, "policy_kwargs": {"squash_output": True}}),
        ("SAC", {"use_sde": True, "policy_kwargs": {"clip_mean": 0.5}}),
        ("SAC", {"policy_kwargs": {"net_arch": []}}),
        ("TD3", {"policy_kwargs": {"net_arch": [7, 5, 3]}}),
        ("PPO", {"policy_kwargs": {"net_arch": {"pi": [], "vf": [3]}}}),
        ("PPO", {"policy_kwargs": {"share_features_extractor": False}}),
    ],
)
def test_bounds_exploration_and_shapes_of_networks(algorithm, settings):
    model, _ = model_of(algorithm, action=UNEVEN, **settings)
    network, observations = network_of(model), observations_of(BOX)
    same(network.act(observations)[0], model.predict(observations, deterministic=True)[0], network)


@pytest.mark.parametrize("name", ["Tanh", "ReLU", "LeakyReLU", "ELU", "SiLU", "Sigmoid", "Identity"])
def test_activations(name):
    nn = pytest.importorskip("torch").nn
    model, _ = model_of("PPO", policy_kwargs={"activation_fn": getattr(nn, name)})
    network, observations = network_of(model), 5 * observations_of(BOX)
    expected = model.predict(observations, deterministic=True)[0]
    assert np.abs(network.act(observations)[0] - expected).max() < 1e-5
    assert network.architecture["layers"][0]["activation"] in ACTIVATIONS


def test_extreme_inputs_of_activations_stay_finite():
    x = np.array([-1e30, -200.0, 0.0, 200.0, 1e30], np.float32)
    with np.errstate(over="raise", invalid="raise"):
        for name, function in ACTIVATIONS.items():
            assert np.isfinite(function(x)).all(), name
            assert function(x).dtype == np.float32, name


def test_masks():
    model, _ = model_of("MaskablePPO", action=CHOICE)
    network, observations = network_of(model), observations_of(BOX)
    masks = np.random.default_rng(0).random((ROWS, 6)) < 0.4
    masks[:5] = False  # idle agents
    expected = model.predict(observations, deterministic=True, action_masks=masks)[0]
    actions = network.act(observations, masks)[0]
    assert network.masked
    same(actions, expected, network)
    assert masks[np.arange(ROWS), actions][masks.any(axis=1)].all()
    same(network.act(observations, masks.astype(np.int8))[0], expected, network)
    same(network.act(observations)[0], model.predict(observations, deterministic=True)[0], network)


@pytest.mark.parametrize(
    ("action", "observation", "settings"),
    [
        (NUMBERS, BOX, {}),
        (NUMBERS, NESTED, {"n_lstm_layers": 2}),
        (CHOICE, BOX, {"n_lstm_layers": 2}),
        (CHOICE, BOX, {"enable_critic_lstm": False}),
        (CHOICE, CELL, {}),
    ],
)
def test_the_lstm_keeps_and_forgets_as_the_model_does(action, observation, settings):
    model, _ = model_of("RecurrentPPO", observation, action, policy_kwargs={"lstm_hidden_size": 16, **settings})
    network = network_of(model)
    rng, state, expected_state = np.random.default_rng(0), None, None
    for step in range(12):
        observations = observations_of(observation, 50, seed=step)
        starts = rng.random(50) < 0.3
        actions, state = network.act(observations, None, state, starts)
        expected, expected_state = model.predict(observations, expected_state, starts, deterministic=True)
        if network.numbers:
            assert np.abs(actions - expected).max() < 1e-5
        else:
            assert actions.tolist() == expected.tolist()
        for mine, theirs in zip(state, expected_state, strict=True):
            assert np.abs(mine - theirs).max() < 1e-5
            assert mine.shape == theirs.shape
    _, forgotten = network.act(observations, None, state, np.ones(50, np.bool_))
    _, remembered = network.act(observations, None, state)
    assert np.abs(forgotten[0] - remembered[0]).max() > 0.01


# --- boards and images ----------------------------------------------------------------------------------------------

PLANES = spaces.Box(-3.0, 3.0, (4, 5, 6), np.float32)
IMAGE = spaces.Box(0, 255, (7, 9, 2), np.uint8)
BESIDE = spaces.Dict({"camera": IMAGE, "state": BOX, "wind": spaces.Box(-1.0, 1.0, (2,), np.float32), "cell": CELL})


def board_model(algorithm, observation, action, normalised=False, head="flat", channels=(8, 6), stride=1, **settings):
    pytest.importorskip("torch")
    from torch import nn

    from rlenvs.agents import boards

    found = {"channels": channels, "activation": nn.ReLU, "stride": stride}
    settings["policy_kwargs"] = {
        "features_extractor_class": boards.BoardFeatures,
        "features_extractor_kwargs": found,
        **settings.get("policy_kwargs", {}),
    }
    if head == "flat":
        return model_of(algorithm, observation, action, normalised, **settings)
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    name = "MlpPolicy" if isinstance(observation, spaces.Box) else "MultiInputPolicy"
    policy = boards.with_planes(MaskablePPO.policy_aliases[name])
    settings["policy_kwargs"]["net_arch"] = {"pi": [], "vf": [5]}
    model = MaskablePPO(policy, DummyVecEnv([lambda: Blank(observation, action)]), seed=0, device="cpu", **settings)
    shake(model, None)
    return model, None


@pytest.mark.parametrize(
    ("algorithm", "observation", "action", "planes", "options"),
    [
        ("PPO", PLANES, CHOICE, 0, {}),
        ("PPO", PLANES, NUMBERS, 0, {"normalised": True}),
        ("PPO", IMAGE, CHOICE, 0, {"stride": 2}),
        ("SAC", BESIDE, NUMBERS, 0, {"stride": 2, "channels": (4, 5, 6)}),
        ("DQN", BESIDE, CHOICE, 0, {"channels": (3,)}),
        ("PPO", BESIDE, CHOICE, 0, {"stride": 3}),
        ("MaskablePPO", PLANES, spaces.Discrete(2 + 3 * 30), 3, {"head": "planes"}),
        ("MaskablePPO", BESIDE, spaces.Discrete(1 + 2 * 63), 2, {"head": "planes"}),
        ("MaskablePPO", PLANES, spaces.Discrete(2 * 30), 2, {"head": "planes"}),
    ],
)
def test_convolutions_are_those_of_the_model(algorithm, observation, action, planes, options):
    model, normalizer = board_model(algorithm, observation, action, **options)
    network, observations = network_of(model, normalizer), observations_of(observation)
    seen = normalizer.normalize_obs(observations) if normalizer else observations
    expected = model.predict(seen, deterministic=True)[0]
    actions = network.act(observations)[0]
    same(actions, expected, network)
    assert network.architecture["convolutions"]["planes"] == planes
    if network.choices > 6:
        masks = np.random.default_rng(0).random((ROWS, network.choices)) < 0.1
        expected = model.predict(observations, deterministic=True, action_masks=masks)[0]
        same(network.act(observations, masks)[0], expected, network)


def test_convolutions_that_cannot_become_an_agent():
    nn = pytest.importorskip("torch").nn
    from rlenvs.agents import export

    model, _ = board_model("PPO", PLANES, CHOICE)
    model.policy.features_extractor.activation = nn.GELU()
    with pytest.raises(ParameterError, match="convolutions with GELU"):
        export.network_of(model)
    with pytest.raises(ParameterError, match="an image with convolutions"):
        export.network_of(model_of("PPO", observation=spaces.Box(0, 255, (3, 40, 40), np.uint8))[0])


def test_convolutions_take_one_thread_and_give_the_others_back(monkeypatch):
    """With more, replaying an agent on a busy machine took seven times as long."""

    def threads():
        return [library["num_threads"] for library in _blas().info()]

    look, seen = Network._look, []
    monkeypatch.setattr(Network, "_look", lambda *given: (seen.append(threads()), look(*given))[1])
    agent = network_of(board_model("PPO", PLANES, CHOICE)[0])
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        agent.act(observations_of(PLANES))
        assert threads() == before
    assert seen == [[1] * len(before)]


def test_convolutions_under_an_lstm():
    model, _ = board_model("RecurrentPPO", PLANES, CHOICE, policy_kwargs={"lstm_hidden_size": 8})
    network, observations = network_of(model), observations_of(PLANES)
    expected, expected_state = model.predict(observations, deterministic=True)
    actions, state = network.act(observations)
    same(actions, expected, network)
    assert np.abs(state[0] - expected_state[0]).max() < 1e-5


def test_a_choice_moves_with_what_it_is_a_choice_of():
    model, _ = board_model("MaskablePPO", PLANES, spaces.Discrete(1 + 2 * 30), head="planes", channels=(8,))
    knowing = network_of(model)
    tensors = {name: array.copy() for name, array in knowing.tensors.items()}
    tensors["convolutions.0.weight"][:, -2:] = 0.0  # cells do not know where they are
    network = Network(knowing.architecture, tensors)
    board, masks = np.zeros((1, 4, 5, 6), np.float32), np.ones((1, 61), np.int8)
    board[0, :, 1, 2], masks[0, 0] = 3.0, 0
    plane, cell = divmod(network.act(board, masks)[0][0] - 1, 30)
    moved = np.roll(board, (1, 1), (2, 3))
    assert network.act(moved, masks)[0][0] - 1 == 30 * plane + cell + 6 + 1
    one = np.zeros((1, 4, 5, 6), np.float32)
    ratings = [
        found._look(*found._features(found._columns(one, None)))[1].reshape(2, 5, 6)[0, 1:-1, 1:-1]
        for found in (network, knowing)
    ]
    assert np.ptp(ratings[0]) < 1e-5 < 0.01 < np.ptp(ratings[1])


# --- without the libraries --------------------------------------------------------------------------------------------


def architecture(**changes):
    found = {
        "observation": [{"name": None, "shape": [3], "normalised": True, "image": False}],
        "normalisation": {"epsilon": 1e-8, "clip": 5.0},
        "convolutions": None,
        "memory": {"layers": 1, "units": 4},
        "layers": [
            {"inputs": 4, "units": 5, "activation": "tanh"},
            {"inputs": 5, "units": 2, "activation": "identity"},
        ],
        "action": {"kind": "numbers", "low": [-1.0, -1.0], "high": [1.0, 1.0], "squashed": False, "limit": None},
    }
    return {**found, **changes}


def tensors_for(found, seed=0):
    rng = np.random.default_rng(seed)
    return {name: rng.uniform(0.1, 1.0, shape).astype(dtype) for name, shape, dtype in expected_tensors(found)}


def network(**changes):
    found = architecture(**changes)
    return Network(found, tensors_for(found))


def test_rows_do_not_depend_on_each_other():
    agent, observations = network(), np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    together, (hidden, cell) = agent.act(observations)
    for row in range(20):
        alone, state = agent.act(observations[row : row + 1])
        np.testing.assert_allclose(alone[0], together[row], atol=1e-6)
        np.testing.assert_allclose(state[0][:, 0], hidden[:, row], atol=1e-6)
        np.testing.assert_allclose(state[1][:, 0], cell[:, row], atol=1e-6)
    assert agent.act(observations[:0])[0].shape == (0, 2)


def test_copies_and_pickles_act_alike():
    agent, observations = network(), np.ones((2, 3), np.float32)
    for other in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert np.array_equal(other.act(observations)[0], agent.act(observations)[0])


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ((np.zeros((2, 4)),), r"shape \(2, 4\).*needed: numbers \(rows, 3\)"),
        ((np.zeros(3),), r"shape \(3,\)"),
        ((np.array([["a", "b", "c"]]),), "type <U1"),
        (({"observation": np.zeros((2, 3))},), "are one array"),
        ((np.array([[0, np.nan, 0]]),), "row 0.*number 1 is NaN"),
        ((np.zeros((2, 3)), np.ones((2, 2))), "masks are for choices"),
        ((np.zeros((2, 3)), None, np.zeros((2, 2))), "a state of"),
        ((np.zeros((2, 3)), None, (np.zeros((1, 3, 4)), np.zeros((1, 3, 4)))), r"needed: two arrays \(1, 2, 4\)"),
        ((np.zeros((2, 3)), None, None, np.zeros(3)), r"starts of shape \(3,\)"),
    ],
)
def test_bad_arguments(arguments, reason):
    with pytest.raises(ParameterError, match=reason):
        network().act(*arguments)


def test_bad_masks_and_dictionaries():
    choice = {"kind": "choice", "choices": 2, "masked": True}
    with pytest.raises(ParameterError, match=r"masks of shape \(2, 3\)"):
        network(action=choice).act(np.zeros((2, 3)), np.ones((2, 3), np.int8))
    with pytest.raises(ParameterError, match="type float64"):
        network(action=choice).act(np.zeros((2, 3)), np.ones((2, 2)))
    parts = [{**PART, "name": name, "shape": [size], "normalised": False} for name, size in (("a", 1), ("b", 2))]
    agent = network(observation=parts, normalisation=None)
    with pytest.raises(ParameterError, match=r"dictionary with \['a', 'b'\]; \['a'\] was given"):
        agent.act({"a": np.zeros((1, 1))})
    with pytest.raises(ParameterError, match="ndarray was given"):
        agent.act(np.zeros((1, 3)))
    with pytest.raises(ParameterError, match="different numbers of rows"):
        agent.act({"a": np.zeros((1, 1)), "b": np.zeros((2, 2))})


def test_numbers_of_a_discrete_space_are_seen_one_hot():
    layer = {"inputs": 4, "units": 4, "activation": "identity"}
    choice = {"kind": "choice", "choices": 4, "masked": False}
    found = architecture(observation=[ONE_OF], normalisation=None, memory=None, layers=[layer], action=choice)
    turned = np.roll(np.eye(4, dtype=np.float32), 1, axis=0)  # rates the next number highest
    agent = Network(found, {"layers.0.weight": turned, "layers.0.bias": np.zeros(4, np.float32)})
    assert agent.act(np.arange(4))[0].tolist() == [1, 2, 3, 0]
    assert agent.act(np.array([3, 3], np.uint8))[0].tolist() == [0, 0]
    assert agent.act(np.zeros(0, int))[0].shape == (0,)
    for outside in (4, -1):
        with pytest.raises(ParameterError, match=f"row 1 of observations is {outside}; needed: a whole number from 0"):
            agent.act(np.array([0, outside]))
    for wrong in (np.zeros(2), np.zeros((2, 1), int), np.zeros(2, np.bool_)):
        with pytest.raises(ParameterError, match=r"needed: whole numbers \(rows\)"):
            agent.act(wrong)


PART = {"name": None, "shape": [3], "normalised": True, "image": False}
ONE_OF = {"name": None, "shape": [], "normalised": False, "image": False, "choices": 4}
PLANE = {"name": None, "shape": [2, 3, 4], "normalised": False, "image": False}
CONVOLUTIONS = {"channels": [4], "kernel": 3, "stride": 1, "activation": "relu", "planes": 0}
ON_PLANES = {
    "observation": [PLANE],
    "normalisation": None,
    "memory": None,
    "convolutions": {**CONVOLUTIONS, "planes": 2},
    "layers": [{"inputs": 4, "units": 1, "activation": "identity"}],
    "action": {"kind": "choice", "choices": 25, "masked": True},
}
LAYER = {"inputs": 4, "units": 2, "activation": "tanh"}
ACTION = architecture()["action"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"extra": 1}, "exactly the entries"),
        ({"observation": []}, "observation is \\[\\]"),
        ({"observation": 3}, "observation is 3"),
        ({"observation": [{**PART, "name": 3}]}, "name is 3"),
        ({"observation": [PART, PART]}, "name is None"),
        ({"observation": [{**PART, "name": "a"}] * 2}, "different names"),
        ({"observation": [{**PART, "shape": [-1]}]}, "shape is -1"),
        ({"observation": [{**PART, "shape": [True]}]}, "shape is True"),
        ({"observation": [{**PART, "shape": [10**12]}]}, "shape is 1000000000000"),
        ({"observation": [{**PART, "normalised": 1}]}, "normalised is 1"),
        ({"observation": [{**PART, "image": None}]}, "image is None"),
        ({"observation": [{**PART, "image": True}]}, "an image that is not normalized"),
        ({"observation": [{**ONE_OF, "choices": 0}]}, "choices is 0"),
        ({"observation": [{**ONE_OF, "choices": 2.0}]}, "choices is 2.0"),
        ({"observation": [{**ONE_OF, "shape": [3]}]}, "choices of shape"),
        ({"observation": [{**ONE_OF, "normalised": True}]}, "choices of shape"),
        ({"observation": [{**ONE_OF, "image": True}]}, "choices of shape"),
        ({"observation": [{**ONE_OF, "start": 1}]}, "exactly the entries .*, and optionally choices; given: .*'start'"),
        (
            {"observation": [{**ONE_OF, "choices": 3}], "normalisation": None, "memory": None},
            "the previous layer has 3 outputs",
        ),
        ({"convolutions": CONVOLUTIONS}, "one part with three axes"),
        ({**ON_PLANES, "observation": [{**PLANE, "name": "a"}, {**PLANE, "name": "b"}]}, "one part with three axes"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "channels": []}}, "channels is"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "channels": [4.0]}}, "channels is 4.0"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "kernel": 4}}, "kernel is 4; needed: an odd number"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "kernel": 17}}, "kernel is 17"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "stride": 0}}, "stride is 0"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "stride": 2, "planes": 2}}, "stride is 2; needed: 1"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "activation": "gelu"}}, "no activation 'gelu'"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "planes": -1}}, "planes is -1"),
        ({**ON_PLANES, "convolutions": {**CONVOLUTIONS, "planes": 3}}, "1 units and the planes 36, the action 25"),
        ({**ON_PLANES, "convolutions": CONVOLUTIONS}, "has 4 inputs, but the previous layer has 48 outputs"),
        ({**ON_PLANES, "memory": {"layers": 1, "units": 4}}, "memory is .*; needed: null, with planes"),
        ({"normalisation": None}, "needed: an epsilon"),
        ({"normalisation": {"epsilon": 0.0, "clip": 1.0}}, "epsilon is 0.0"),
        ({"memory": {"layers": 1, "units": 0}}, "units is 0"),
        ({"memory": []}, "exactly the entries layers, units"),
        ({"layers": [{**LAYER, "inputs": 5}]}, "has 5 inputs, but the previous layer has 4 outputs"),
        ({"layers": [{**LAYER, "activation": "tan"}]}, "no activation 'tan'. Did you mean 'tanh'"),
        ({"layers": [{**LAYER, "activation": ["tanh"]}]}, "no activation"),
        ({"layers": [{**LAYER, "units": 3}]}, "3 units, the action 2"),
        ({"action": {"kind": "dance"}}, "unknown kind"),
        ({"action": None}, "unknown kind"),
        ({"action": {**ACTION, "low": [1.0, 1.0]}}, "low < high"),
        ({"action": {**ACTION, "low": ["a", 1.0]}}, "low < high"),
        ({"action": {**ACTION, "limit": -1}}, "limit is -1"),
        ({"action": {"kind": "choice", "choices": 2, "masked": 2}}, "masked is 2"),
    ],
)
def test_bad_architectures(changes, reason):
    with pytest.raises(ParameterError, match=reason):
        check_architecture(architecture(**changes))


def test_a_network_of_planes_needs_its_arrays():
    assert check_architecture(ON_PLANES) is ON_PLANES
    tensors = tensors_for(ON_PLANES)
    assert {"convolutions.0.weight", "convolutions.0.bias", "planes.weight", "planes.bias"} < set(tensors)
    for name in tensors:
        with pytest.raises(ParameterError, match=name):
            Network(ON_PLANES, {other: array for other, array in tensors.items() if other != name})
    agent = Network(ON_PLANES, tensors)
    assert agent.act(np.zeros((3, 2, 3, 4)))[0].shape == (3,)
    assert agent.act(np.zeros((0, 2, 3, 4)))[0].shape == (0,)
    with pytest.raises(ParameterError, match="number 5 is NaN"):
        agent.act(np.where(np.arange(24).reshape(1, 2, 3, 4) == 5, np.nan, 0.0))


@pytest.mark.parametrize(
    ("name", "array", "reason"),
    [
        ("layers.0.bias", None, "'layers.0.bias', which is missing"),
        ("layers.0.bias", np.zeros(6, np.float32), r"float32 \(6,\); the architecture needs float32 \(5,\)"),
        ("layers.0.bias", np.zeros(5), "float64"),
        ("layers.0.bias", np.full(5, np.inf, np.float32), "NaN or infinite"),
        ("layers.9.bias", np.zeros(5, np.float32), r"does not contain the arrays \['layers.9.bias'\]"),
        ("normalisation.0.var", np.array([1.0, 1.0, -1.0]), "negative variances"),
    ],
)
def test_bad_tensors(name, array, reason):
    tensors = tensors_for(architecture())
    tensors.pop(name, None)
    if array is not None:
        tensors[name] = array
    with pytest.raises(ParameterError, match=reason):
        Network(architecture(), tensors)


# --- what cannot become an agent --------------------------------------------------------------------------------------


def test_unknown_modules_spaces_and_algorithms_are_refused():
    torch = pytest.importorskip("torch")
    from rlenvs.agents import export

    gelu, _ = model_of("PPO", policy_kwargs={"activation_fn": torch.nn.GELU})
    with pytest.raises(ParameterError, match="GELU"):
        export.network_of(gelu)
    with pytest.raises(ParameterError, match="MultiDiscrete"):
        export.network_of(model_of("PPO", action=spaces.MultiDiscrete([2, 3], start=[0, 1]))[0])
    image = spaces.Box(0, 255, (3, 40, 40), np.uint8)
    with pytest.raises(ParameterError, match="floats or integers"):
        export.network_of(model_of("PPO", observation=image)[0])
    with pytest.raises(ParameterError, match=r"observations of MultiDiscrete.* are not supported for agents"):
        export.network_of(model_of("PPO", observation=spaces.MultiDiscrete([2, 3]))[0])
    with pytest.raises(ParameterError, match="dict cannot be converted to an agent"):
        export.network_of({})


def test_an_unknown_features_extractor_is_refused():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.torch_layers import FlattenExtractor

    from rlenvs.agents import export

    class Doubled(FlattenExtractor):
        def forward(self, observations):
            return 2 * super().forward(observations)

    model, _ = model_of("PPO", policy_kwargs={"features_extractor_class": Doubled})
    with pytest.raises(ParameterError, match="Doubled"):
        export.network_of(model)
