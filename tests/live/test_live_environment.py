"""Exported environments, played by Node.js: the same numbers as in Python, links both ways, no harm by strangers'."""

import importlib.util
import json

import numpy as np
import pytest
from support.node import needs_node, run_node
from toys import crossroads
from typer.testing import CliRunner

import rlenvs
from rlenvs.agents.evaluate import chooser
from rlenvs.cli import app
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, SnapshotError, UnknownNameError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.forms.render import EpisodeTotals, head_of
from rlenvs.live.describe import params_of
from rlenvs.live.export import world_at, write_environment
from rlenvs.live.networks import networks_of

IDS = ["CartPole-v0", "MiniGridDoorKey5x5-v0", "ConnectFour-v0"]
STEPS = 60
IMPORTS = [("loadEnvironment, fromLink", "environment")]
linked = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None,
    reason="the linkers of ziglang are not installed: pip install 'rlenvs-suite[kernels]', or python3 run.py kernels",
)
exported = [needs_node, linked, pytest.mark.budget(40)]  # of which compiling takes most, once


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the environments of IDS."""
    folder = tmp_path_factory.mktemp("live")
    for id in IDS:
        done = CliRunner().invoke(app, ["export", id, str(folder)])
        assert done.exit_code == 0, done.output
        assert (folder / id / "index.html").exists()
    return folder


def url_of(folder, id):
    return (folder / id / "world.json").as_uri()


def in_node(script, folder, id, *arguments):
    head = "const [url, ...rest] = given, options = { read: u => read(u) };"
    return run_node(head + script, url_of(folder, id), *arguments, imports=IMPORTS, static=folder / "static")


class TestExported:
    pytestmark = exported

    @pytest.mark.parametrize("id", IDS)
    def test_the_proof_holds_and_can_fail(self, folder, id):
        said = in_node(
            "const env = await loadEnvironment(new URL(url), options), first = await env.proof();"
            "env.exports.memory.buffer; env.description.proof.seed = 1; tell([first, await env.proof()]);",
            folder,
            id,
        )
        assert said[0]["equal"], said
        assert not said[1]["equal"]

    @pytest.mark.parametrize("policy", ["random", "expert", "idle"])
    @pytest.mark.parametrize("id", IDS)
    def test_an_episode_is_that_of_python(self, folder, id, policy):
        said = in_node(
            "const env = await loadEnvironment(new URL(url), { ...options, seed: 5 });"
            "const choose = await env.policy(rest[0]), first = env.observations();"
            "tell([first.map(v => Array.from(v)), Array.from({ length: rest[1] }, () => {"
            "  const out = env.step(choose(env));"
            "  const seen = env.observations().map(v => Array.from(v));"
            "  return [seen, out.rewards, out.agent_costs, out.terms, out.over, out.success, env.head()];"
            "})])",
            *(folder, id, policy, STEPS),
        )
        batch = KernelBatch(world_of(id))
        batch.totals = EpisodeTotals(batch)
        batch.seed([5])
        batch.reset()
        choose = chooser(batch, policy, [5])
        flat = (batch.agents, -1)
        assert np.array_equal(said[0], batch.observations[0].reshape(flat))
        for seen, rewards, costs, terms, over, success, head in said[1]:
            batch.step(choose())
            assert np.array_equal(seen, batch.observations[0].reshape(flat))
            assert (rewards, costs) == (batch.rewards[0].tolist(), batch.costs[0].tolist())
            weighted = batch.terms[0, : len(terms), 0] * batch.setup.weights
            assert list(terms.values()) == weighted.tolist()
            assert (over, success) == (batch.over[0], batch.success[0, 0])
            assert head == head_of(batch, 0)._asdict()

    def test_levels_and_parameters_are_those_of_python(self, folder):
        said = in_node(
            "const env = await loadEnvironment(new URL(url),"
            "  { ...options, level: 'hard', seed: 2, params: { gravity: 5 } });"
            "env.params.set('length', 1); const choose = await env.policy('expert');"
            "const seen = Array.from({ length: 20 }, () => Array.from(env.step(choose(env)).observation));"
            "tell([seen, env.params.get('gravity'), env.description.level])",
            folder,
            "CartPole-v0",
        )
        env = rlenvs.make("CartPole-v0", level="hard")
        env.reset(seed=2, options={"params": {"gravity": 5.0, "length": 1.0}})
        seen = [env.step(env.unwrapped.expert_action())[0].tolist() for _ in range(20)]
        assert said == [seen, 5.0, "hard"]

    def test_what_python_refuses_is_refused(self, folder):
        said = in_node(
            "const env = await loadEnvironment(new URL(url), options), before = env.snapshot().params.join();"
            "const tries = [() => env.params.set('gravity', -1), () => env.params.set('gravity', NaN),"
            "  () => env.params.set('gravity', '9'), () => env.params.set('no', 1), () => env.params.get('no'),"
            "  () => env.params.set('initial_state_lower', 0.1), () => env.step(2), () => env.step(-1),"
            "  () => env.step(0.5), () => env.step([0, 1]), () => env.step('left'), () => env.step(undefined)];"
            "const told = tries.map(attempt => { try { attempt(); return ''; } catch (e) { return e.message; } });"
            "tell([told, before === env.snapshot().params.join(), env.elapsed])",
            folder,
            "CartPole-v0",
        )
        assert all(said[0]), said
        assert "initial_state_lower is at most initial_state_upper" in said[0][5]
        assert said[1:] == [True, 0]

    @pytest.mark.parametrize("id", IDS)
    def test_links_lead_from_python_to_pages_and_back(self, folder, id):
        env = rlenvs.parallel_env(id) if world_of(id).agents else rlenvs.make(id)
        env.reset(seed=4)
        env.unwrapped.batch.step(env.unwrapped.batch.expert_actions())
        given = env.unwrapped.link("https://example.org/")
        said = in_node(
            "const env = await fromLink(rest[0], new URL(url), options.read);"
            "const back = await env.link(), again = await fromLink(back, new URL(url), options.read);"
            "const choose = await env.policy('expert'); env.step(choose(env));"
            "tell([back, await again.link(), env.bytes('states').join(), await env.link(), again.head().totals])",
            *(folder, id, given),
        )
        make = rlenvs.parallel_env if world_of(id).agents else rlenvs.make
        assert said[0] == said[1]
        assert rlenvs.from_link(said[0], make).unwrapped.get_state() == env.unwrapped.get_state()
        assert "-" in said[4]  # the return is not known
        env.unwrapped.batch.step(env.unwrapped.batch.expert_actions())
        after = rlenvs.from_link(said[3], make).unwrapped.get_state()
        assert after == env.unwrapped.get_state()
        assert list(map(int, said[2].split(","))) == list(after.state)

    @pytest.mark.parametrize("id", IDS)
    def test_mutated_links_do_no_harm_in_pages(self, folder, id):
        said = in_node(
            "const env = await loadEnvironment(new URL(url), { ...options, seed: 1 }), text = await env.link();"
            "const { readLink, restoreLink } = await import(rest[0]);"
            "const { fault } = env.description.guarded ? await import(new URL('fault.js', url)) : { fault: () => '' };"
            "const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';"
            "let state = 1, refused = 0, other = []; const next = n => (state = (state * 48271) % 2147483647) % n;"
            "for (let n = 0; n < rest[1]; n++) {"
            "  const mutated = [...text];"
            "  for (let k = 0; k < [1, 2, 8][next(3)]; k++) mutated[next(text.length)] = letters[next(64)];"
            "  const before = env.snapshot(), cut = n % 5 ? text.length : next(text.length);"
            "  try { const { header, body } = await readLink(mutated.slice(0, cut).join(''));"
            "    restoreLink(env, header, body, fault); }"
            "  catch (error) { refused++; if (!(error instanceof Error)) other.push(String(error)); }"
            "  if (Buffer.compare(env.bytes('states'), before.state)) other.push('changed'); }"
            "tell([refused, other])",
            *(folder, id, (folder / "static" / "links.js").as_uri(), 1500),
        )
        assert said[1] == []
        assert said[0] > 1400

    def test_states_that_are_not_finite_are_refused(self, folder):
        said = in_node(
            "const env = await loadEnvironment(new URL(url), options), before = env.snapshot();"
            "const place = env.field('states', 'x').byteOffset - env.base - env.description.arrays.states.place;"
            "tell([NaN, Infinity, -Infinity, 1].map(value => { const state = before.state.slice();"
            "  new DataView(state.buffer).setFloat64(place, value, true);"
            "  try { env.restore({ ...before, state }); return true; } catch { return false; } }))",
            *(folder, "CartPole-v0"),
        )
        assert said == [False, False, False, True]

    @pytest.mark.parametrize("id", IDS)
    def test_forged_states_are_refused_as_in_python(self, folder, id):
        """What the checks of Python refuse, those of pages refuse, and the other way round."""
        batch, rng = KernelBatch(world_of(id)), np.random.default_rng(0)
        batch.seed([0])
        batch.reset()
        snapshot = batch.get_state()
        forged = [bytearray(snapshot.state) for _ in range(200)]
        for state in forged:
            for _ in range(rng.choice((1, 2, 8))):
                state[rng.integers(len(state))] = rng.integers(256)
        said = in_node(
            "const env = await loadEnvironment(new URL(url), options), before = env.snapshot();"
            "const { restoreSnapshot } = await import(rest[0]);"
            "const { fault } = env.description.guarded ? await import(new URL('fault.js', url)) : { fault: () => '' };"
            "tell(rest[1].map(hex => { env.restore(before); const state = new Uint8Array(Buffer.from(hex, 'hex'));"
            "  try { restoreSnapshot(env, { state, params: before.params }, fault); return true; }"
            "  catch { return false; } }))",
            *(folder, id, (folder / "static" / "links.js").as_uri(), [state.hex() for state in forged]),
        )
        for state, accepted in zip(forged, said, strict=True):
            try:
                batch.set_state(type(snapshot).of(snapshot.world, bytes(state), snapshot.params))
                assert accepted
            except SnapshotError:
                assert not accepted


def test_engines_have_no_modules():
    with pytest.raises(ParameterError, match="physics engine"):
        write_environment("Ant-v0", None)


@pytest.mark.parametrize("address", ["no_such_module:SPEC", "toys.crossroads:NOTHING", "toys.crossroads:__doc__"])
def test_addresses_of_no_world_are_refused(address):
    with pytest.raises(UnknownNameError, match=r"no world at|is not a world"):
        world_at(address)


def test_worlds_of_ones_own_have_addresses():
    assert world_at("toys.crossroads:SPEC") is crossroads.SPEC
    assert world_at("rlenvs:CartPole-v0") is world_of("CartPole-v0")


def test_a_level_without_agents_has_those_that_fit(tmp_path):
    (usual,), (hard,) = (networks_of(Setup(world_of("CartPole-v0"), level=level), tmp_path) for level in (None, "hard"))
    assert usual["mean"] == 500.0
    assert hard == {**usual, "mean": None}
    wild = networks_of(Setup(world_of("QuadHover-v0"), level="wild"), tmp_path)
    assert [network["file"] for network in wild] == ["wild-PPO.safetensors"]
    assert {path.name for path in tmp_path.iterdir()} == {"PPO.safetensors", "wild-PPO.safetensors"}


def test_sliders_are_of_what_acts_at_once():
    """Not those from which Python computes data, nor those with a rule that only Python knows."""
    live = {param["name"]: param["live"] for param in params_of(Setup(world_of("QuadHover-v0")))}
    assert live["mass"]
    assert live["thrust_coefficient"]
    assert not live["inertia_x"]
    fixed = [param["name"] for param in params_of(Setup(world_of("CartPole-v0"))) if not param["live"]]
    assert fixed == ["x_threshold", "theta_threshold_radians"]  # which bound what is seen


def test_descriptions_are_json_without_infinity(tmp_path):
    for id in ("CartPole-v0", "Pendulum-v0"):
        json.dumps(params_of(Setup(world_of(id))), allow_nan=False)
