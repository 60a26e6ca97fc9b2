"""Particle worlds: parity with mpe2, InforMARL and FACMAC, players, forms and bad input."""

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test, parallel_api_test
from support.particles import DOWN, LEFT, MODULES, NONE, RIGHT, UP, make, play, put, spec_of, state_of
from support.places import DATA

import rlenvs
from rlenvs.core.declare.setup import Setup
from rlenvs.multi.particle.graph import graph
from rlenvs.multi.particle.render import spoken

RECORDED = DATA / "mpe2.npz"
GRAPHS = DATA / "informarl.npz"
WORLDS = (
    "Simple",
    "Spread",
    "Tag",
    "Adversary",
    "Push",
    "SpeakerListener",
    "Reference",
    "Crypto",
    "WorldComm",
    "Navigation",
)
PARITY = {
    "simple": ("simple", {}),
    "spread": ("spread", {}),
    "spread_5": (
        "spread",
        {"agents": 5, "weights": {"distance": 0.75, "collision": 0.25}, "end_on_success": True},
    ),
    "tag": ("tag", {}),
    "tag_7": ("tag", {"good": 3, "adversaries": 4, "obstacles": 3}),
    "adversary": ("adversary", {}),
    "adversary_4": ("adversary", {"good": 4}),
    "push": ("push", {}),
    "speaker_listener": ("speaker_listener", {}),
    "reference": ("reference", {}),
    "crypto": ("crypto", {}),
    "world_comm": ("world_comm", {}),
    "world_comm_5": ("world_comm", {"good": 3, "adversaries": 2, "obstacles": 2, "food": 3, "forests": 1}),
}


# --- parity with mpe2 -------------------------------------------------------------------------------------------------


def synchronise(batch, scenario, recorded):
    """Bring all worlds to the recorded starts."""
    for i in range(batch.num_envs):
        s = state_of(batch, i)
        for name in ("position", "velocity"):
            if name in s.dtype.names:
                s[name] = recorded(name)[i, 0]
        if "landmark" in s.dtype.names:
            s["landmark"] = recorded("landmark")[i]
        if "words" in s.dtype.names:
            s["words"] = 0.0
        hidden = recorded("hidden")[i].astype(int)
        if scenario == "crypto":
            s["message"], s["key"] = hidden
        elif "goal" in s.dtype.names:
            s["goal"] = hidden if len(hidden) > 1 else hidden[0]
        batch.set_state(batch.get_state(i), i)


def as_mpe2(scenario, actions):
    """Recorded numbers, right and up and words in [-1, 1], as mpe2 took them: none, left, right, down, up, words."""
    words = (actions + 1.0) / 2.0
    if scenario == "crypto":
        return words
    right, up = actions[..., :1], actions[..., 1:2]
    moves = [0.0 * right, *(np.maximum(x, 0.0) for x in (-right, right, -up, up))]
    if scenario != "speaker_listener":
        return np.concatenate([*moves, words[..., 2:]], axis=-1)
    found = np.concatenate(moves, axis=-1)
    found[..., 0, :3] = words[..., 0, :3]
    return found


@pytest.mark.parametrize("kind", ["discrete", "continuous", "scaled"])
@pytest.mark.parametrize("scenario", PARITY)
def test_parity_with_mpe2(scenario, kind):
    module, choices = PARITY[scenario]
    data = np.load(RECORDED)
    scaled = kind == "scaled"
    kind = "continuous" if scaled else kind

    def recorded(name):
        return data[f"{scenario}/{kind}/{name}"]

    backend = (
        "numba" if (scenario, kind) == ("spread", "discrete") else "python"
    )  # the others would take minutes to compile
    choices = {**choices, "actions": kind, "scaled": scaled, "horizon": 100}
    batch = make(module, len(recorded("hidden")), backend=backend, **choices)
    synchronise(batch, scenario, recorded)
    assert_observed(batch, recorded("observation")[:, 0])
    actions = recorded("actions")
    if kind == "continuous" and not scaled:
        actions = as_mpe2(scenario, actions)
    for t in range(actions.shape[1]):
        batch.step(actions[:, t].astype(np.float64 if kind == "continuous" else np.int64))
        assert_observed(batch, recorded("observation")[:, t + 1])
        np.testing.assert_allclose(batch.rewards, recorded("rewards")[:, t], rtol=0, atol=1e-12)
        assert (batch.terminated.any(axis=1) == recorded("ended")[:, t]).all()
        for i in range(batch.num_envs):
            s = state_of(batch, i)
            for name in ("position", "velocity"):
                if name in s.dtype.names:
                    np.testing.assert_allclose(s[name], recorded(name)[i, t + 1], rtol=0, atol=1e-12)
            if "words" in s.dtype.names:
                words = recorded("words")[i, t + 1]
                np.testing.assert_array_equal(s["words"], words if s["words"].ndim == 2 else words[0])


def assert_observed(batch, wanted):
    np.testing.assert_allclose(batch.observations, wanted, rtol=1e-6, atol=1e-6)


# --- parity with InforMARL and FACMAC ---------------------------------------------------------------------------------


def episode(name):
    return {key.removeprefix(f"{name}/"): rows for key, rows in np.load(GRAPHS).items() if key.startswith(f"{name}/")}


@pytest.mark.parametrize("k", range(6))
def test_parity_with_informarl(k):
    data = episode(f"navigation{k}")
    agents, radius = data["position"].shape[1], 0.5
    choices = {"agents": agents, "obstacles": len(data["obstacle"]), "side": float(data["side"])}
    batch = make("navigation", backend="python", connection_radius=radius, observation="graph", **choices)

    def compare(t):
        own, nodes, edges = graph(batch.observations[0])
        np.testing.assert_allclose(own, data["observation"][t], rtol=0, atol=1e-6)
        if t % 6 == 0:
            np.testing.assert_allclose(nodes, data["nodes"][t // 6], rtol=0, atol=1e-6)
            distances = data["distances"][t // 6]
            wanted = np.where(distances < radius, distances, 0.0)
            wanted[agents:] = 0.0  # only agents receive
            for edge in edges:
                np.testing.assert_allclose(edge, wanted, rtol=0, atol=1e-6)

    put(batch, goal=data["goal"], obstacle=data["obstacle"])
    put(batch, position=data["position"][0], velocity=data["velocity"][0])
    compare(0)
    for t, actions in enumerate(data["actions"]):
        s = play(batch, actions)
        compare(t + 1)
        for name in ("position", "velocity"):
            np.testing.assert_allclose(s[name], data[name][t + 1], rtol=0, atol=1e-10)  # contacts amplify rounding
        np.testing.assert_allclose(batch.rewards[0], data["rewards"][t], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(s.contacts, data["contacts"][t])
    arrival = data["arrival"][-1]
    np.testing.assert_array_equal(s.arrival, np.where(arrival < 0, 0, np.round(arrival / 0.1)))
    assert s.contacts.any()
    assert (s.arrival > 0).any()


@pytest.mark.parametrize("k", range(6))
def test_parity_with_facmac(k):
    """The prey's force depends on another generator: here it is given as an action."""
    data = episode(f"predators{k}")
    hunters = data["actions"].shape[1]
    batch = make("tag", backend="python", level=f"facmac_{hunters}a", prey="agents")
    put(batch, landmark=data["landmark"])
    put(batch, position=data["position"][0], velocity=data["velocity"][0])
    for t, actions in enumerate(data["actions"]):
        np.testing.assert_allclose(batch.observations[0, :hunters], data["observation"][t], rtol=0, atol=1e-6)
        s = play(batch, [*actions, *(data["prey"][t].astype(np.float64) / 4.0)])
        for name in ("position", "velocity"):
            np.testing.assert_allclose(s[name], data[name][t + 1], rtol=0, atol=1e-10)  # contacts amplify rounding
        np.testing.assert_allclose(batch.rewards[0, :hunters], data["rewards"][t], rtol=0, atol=1e-12)


def test_scripted_prey_runs_from_the_nearest_adversary():
    batch = make("tag", backend="python", level="facmac_3a")
    assert batch.agents == 3
    assert batch.setup.values.view_radius == 1.5
    hunters = [[0.3, 0.0], [-0.9, 0.0], [-0.9, 0.1]]
    forces = []
    for _ in range(20):
        put(batch, position=[*hunters, [0.0, 0.0]], velocity=0.0)
        s = play(batch, np.zeros((3, 2)))
        forces.append(s.force[3].copy())
    lengths = np.linalg.norm(forces, axis=1)
    assert (lengths <= 1.0).all()
    assert lengths.mean() > 0.9  # the best of 100 points lies at the rim
    assert np.mean(forces, axis=0)[0] < -0.8
    assert np.max(forces, axis=0)[0] < -0.5
    assert np.std(forces, axis=0).max() > 0.01
    put(batch, position=[[0.0, 0.01], [0.01, 0.0], [0.0, -0.01], [0.0, 0.0]], velocity=0.0, landmark=5.0)
    own = play(batch, np.zeros((3, 2)))  # the nearest may not be passed, but points beyond it may be taken
    assert np.linalg.norm(own.position[3]) < 0.2


def test_levels_of_tag():
    counts = {"facmac_3a": (3, 1, 2), "facmac_6a": (6, 2, 4), "facmac_9a": (9, 3, 6)}
    for level, wanted in counts.items():
        values = Setup(spec_of("tag"), level=level).values
        assert (values.adversaries, values.good, values.obstacles) == wanted
        assert (values.prey, values.first, values.view_radius) == ("scripted", "velocity", 1.5)
    for level, share in (("easy", 0.5), ("medium", 0.75), (None, 1.0)):
        values = Setup(spec_of("tag"), level=level).values
        assert (values.good_speed, values.good_acceleration) == pytest.approx((1.3 * share, 4.0 * share))


# --- players ----------------------------------------------------------------------------------------------------------


def returns_of(module, slots, count=30, **choices):
    """Mean return of each agent, and how often it succeeds in the end."""
    batch = make(module, count, backend="python", **choices)
    dice = np.random.default_rng(0)
    numbers = np.array([role.action for role in batch.setup.roles])
    total = np.zeros(batch.agents)
    while not batch.over.all():
        if slots is None:
            batch.step(dice.integers(0, numbers, (count, batch.agents)))
        else:
            batch.step(batch.player_actions(slots))
        total += batch.rewards.mean(axis=0)
    return total, batch.success.mean(axis=0)


@pytest.mark.parametrize("module", ["simple", "spread", "speaker_listener", "reference", "navigation"])
def test_experts_of_teams_beat_chance(module):
    expert, solved = returns_of(module, spec_of(module).players[0], 12)
    chance, _ = returns_of(module, None, 12)
    assert expert.sum() > chance.sum() + 0.3 * abs(chance.sum())
    assert module == "spread" or solved.mean() > 0.7  # large agents block each other's landmarks


@pytest.mark.parametrize("module", ["adversary", "push", "tag", "world_comm"])
def test_an_expert_does_better_against_an_expert_than_nobody_does(module):
    spec = spec_of(module)
    sides = np.array(Setup(spec).teams)
    playing, _ = returns_of(module, spec.players[0], 6)
    for side in range(2):
        idle, _ = returns_of(module, [None if k == side else spec.players[0] for k in sides], 6)
        assert playing[sides == side].sum() > idle[sides == side].sum()


def test_pursuit_catches_what_chance_does_not():
    hunters = ["pursuit"] * 3
    caught, _ = returns_of("tag", [*hunters, None], 8)
    fleeing, _ = returns_of("tag", [*hunters, "pursuit"], 8)
    chance, _ = returns_of("tag", None, 8)
    assert caught[0] > fleeing[0] > chance[0]


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_players_play_both_kinds_of_actions(kind):
    for module in ("spread", "reference", "world_comm", "speaker_listener"):
        batch = make(module, backend="python", actions=kind)
        played = batch.player_actions(batch.world.players[0])
        assert np.isfinite(played).all()
        batch.step(played)


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WORLDS)
@pytest.mark.filterwarnings("ignore")
def test_pettingzoo_s_own_tests(name, capsys):
    for actions in ("discrete", "continuous"):
        parallel_api_test(rlenvs.parallel_env(f"Particle{name}-v0", backend="python", actions=actions), 30)
    api_test(rlenvs.aec_env(f"Particle{name}-v0", backend="python"), 10)
    capsys.readouterr()


def test_agents_are_called_and_sized_as_in_mpe2():
    sizes = {
        "Simple": {"agent_0": (4, 5)},
        "Spread": {f"agent_{k}": (18, 5) for k in range(3)},
        "Tag": {**{f"adversary_{k}": (16, 5) for k in range(3)}, "agent_0": (14, 5)},
        "Adversary": {"adversary_0": (8, 5), "agent_0": (10, 5), "agent_1": (10, 5)},
        "Push": {"adversary_0": (8, 5), "agent_0": (19, 5)},
        "SpeakerListener": {"speaker_0": (3, 3), "listener_0": (11, 5)},
        "Reference": {"agent_0": (21, 50), "agent_1": (21, 50)},
        "Crypto": {"eve_0": (4, 4), "bob_0": (8, 4), "alice_0": (8, 4)},
        "WorldComm": {
            "leadadversary_0": (34, 20),
            **{f"adversary_{k}": (34, 5) for k in range(3)},
            **{f"agent_{k}": (28, 5) for k in range(2)},
        },
    }
    for name, wanted in sizes.items():
        env = rlenvs.parallel_env(f"Particle{name}-v0", backend="python")
        observations, _ = env.reset(seed=0)
        found = {agent: (env.observation_space(agent).shape[0], int(env.action_space(agent).n)) for agent in wanted}
        assert (list(observations), found) == (list(wanted), wanted)
        assert {agent: len(row) for agent, row in observations.items()} == {a: n for a, (n, _) in wanted.items()}
        for agent, (numbers, _) in wanted.items():
            assert env.observation_space(agent) == gymnasium.spaces.Box(-np.inf, np.inf, (numbers,), np.float32)
            assert observations[agent].dtype == np.float32
        joined = np.concatenate([observations[agent] for agent in wanted])
        assert env.state_space == gymnasium.spaces.Box(-np.inf, np.inf, joined.shape, np.float32)
        assert np.array_equal(env.state(), joined)


def test_continuous_actions_are_mpe2s():
    sizes = {  # numbers of each agent's action
        "Simple": [5],
        "Spread": [5] * 3,
        "Tag": [5] * 4,
        "Adversary": [5] * 3,
        "Push": [5] * 2,
        "SpeakerListener": [3, 5],
        "Reference": [15] * 2,
        "Crypto": [4] * 3,
        "WorldComm": [9] + [5] * 5,
    }
    for name, wanted in sizes.items():
        env = rlenvs.parallel_env(f"Particle{name}-v0", backend="python", actions="continuous")
        env.reset(seed=0)
        boxes = [gymnasium.spaces.Box(0.0, 1.0, (count,), np.float32) for count in wanted]
        assert [env.action_space(agent) for agent in env.possible_agents] == boxes
        chosen = env.expert_actions()
        assert all(env.action_space(agent).contains(action) for agent, action in chosen.items())


@pytest.mark.parametrize("module", MODULES)
def test_experts_play_both_forms_of_numbers_alike(module):
    """What an expert does is the same motion and the same words in the scaled form, but for rounding."""
    batches = [make(module, 2, actions="continuous", scaled=scaled, backend="python") for scaled in (True, False)]
    for batch in batches:
        batch.seed(0)
        batch.reset()
    for _ in range(12):
        for batch in batches:
            batch.expert_actions()
            batch.step_inplace()
        np.testing.assert_allclose(batches[0].observations, batches[1].observations, rtol=0, atol=1e-6)
        np.testing.assert_allclose(batches[0].rewards, batches[1].rewards, rtol=0, atol=1e-9)


def test_one_episode_is_the_same_in_single_and_parallel_form():
    env = rlenvs.parallel_env("ParticleSpread-v0")
    batch = make("spread", 2)
    observations, _ = env.reset(seed=1)
    batch.seed([0, 1])
    batch.reset()
    for t in range(25):
        actions = np.full((2, 3), t % 5)
        batch.step(actions)
        observations, rewards, _, cut, _ = env.step(dict.fromkeys(env.agents, t % 5))
        np.testing.assert_array_equal(np.stack(list(observations.values())), batch.observations[1])
        assert list(rewards.values()) == batch.rewards[1].tolist()
    assert all(cut.values())


@pytest.mark.parametrize("name", WORLDS)
def test_images(name):
    env = rlenvs.parallel_env(f"Particle{name}-v0", render_mode="rgb_array", backend="python")
    env.reset(seed=0)
    env.step(dict.fromkeys(env.agents, 1))
    image = env.render()
    assert image.shape == (512, 512, 3)
    assert len(np.unique(image.reshape(-1, 3), axis=0)) > 20


def test_words_in_images():
    assert [spoken(words) for words in ([0.0, 0.0], [0.0, 1.0], [0.25, 0.5])] == ["_", "B", "B 0.5 A 0.2"]
    batch = make("crypto", backend="python")
    put(batch, message=1, key=0)
    play(batch, [0, 1, 2])
    assert (
        spec_of("crypto").functions["text"](*batch.records(0))
        == "message B, key A: Alice says C, Bob says B, Eve says A"
    )


def test_keys():
    pressed = ({"left"}, {"right"}, {"down"}, {"up"}, {"up", "left"}, set())
    values = Setup(spec_of("spread")).values
    assert [spec_of("spread").functions["keys"](keys, values) for keys in pressed] == [
        LEFT,
        RIGHT,
        DOWN,
        UP,
        LEFT,
        NONE,
    ]
    values = Setup(spec_of("tag"), actions="continuous").values
    assert spec_of("tag").functions["keys"]({"up", "left"}, values) == [0.0, 1.0, 0.0, 0.0, 1.0]
    values = Setup(spec_of("tag"), actions="continuous", scaled=True).values
    assert spec_of("tag").functions["keys"]({"up", "left"}, values) == [-1.0, 1.0]
