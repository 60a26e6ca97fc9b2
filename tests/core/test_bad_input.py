"""Whatever is passed to a form that does not fit is refused with an error of this package, and changes nothing."""

import functools

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toys import countdown, thermostat

import rlenvs
from rlenvs.agents.replay import Recorder
from rlenvs.agents.video import video
from rlenvs.core.batch.engines import new_batch
from rlenvs.core.declare.errors import ActionError, ParameterError, RlenvsError, SnapshotError, UnknownNameError
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.text_env import TextEnv, TextParallelEnv
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.integrations.sb3 import SB3VecEnv

THERMOSTAT = thermostat.load()
SEA = "rlenvs.single.treasure.deep_sea_treasure:SPEC"
MAZE = "rlenvs.multi.pathfinding.path_finding:SPEC"
BATTLE = "rlenvs.multi.battle.battle:SPEC"
EXAMPLES = [pytest.param(25, id="few"), pytest.param(1500, id="many", marks=pytest.mark.slow)]


def examples(count):
    return settings(max_examples=count, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])


class Hostile:
    """Raises at whatever is asked of it."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")

    def __index__(self):
        raise RuntimeError("no index")


NUMBERS = st.one_of(
    st.integers(-5, 40),
    st.sampled_from([2**31, 2**63, -(2**63), 10**30]),
    st.floats(),
    st.complex_numbers(max_magnitude=3),
    st.booleans(),
)
LEAVES = st.one_of(
    st.none(),
    NUMBERS,
    st.text(max_size=5),
    st.binary(max_size=5),
    st.sampled_from([np.int64(3), np.float32(0.5), np.bool_(True), np.str_("a"), np.datetime64("2020-01-01")]),
    st.sampled_from([object(), int, len, range(3), Hostile(), iter([1]), slice(None), Ellipsis, np.ma.masked]),
    st.builds(
        np.zeros,
        st.sampled_from([(), (1,), (2,), (4,), (0,), (2, 3)]),
        st.sampled_from(["f4", "f8", "i4", "u1", "u8", "?", "c8", "O", "U1", "M8[s]", "f2"]),
    ),
)
JUNK = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(st.one_of(st.text(max_size=5), st.integers(0, 3)), inner, max_size=3),
        st.sampled_from(["params", "reset_mask", "temperature", "agent_0", "agent_1", "comfort"]).flatmap(
            lambda name: st.fixed_dictionaries({name: inner})
        ),
    ),
    max_leaves=6,
)


def only_ours(call):
    """The call's result; None where it raised an error of this package."""
    try:
        return call()
    except RlenvsError:
        return None


def keywords_of(world, *more):
    names = [*world.params, *world.options, "level", "horizon", "weights", "randomize", "max_episode_steps"]
    return st.sampled_from([*names, "render_mode", "backend", "nonsense", *more])


FORMS = {
    "env": (Env, ("vector_reward", "others", "illegal", "render_text")),
    "vector": (
        functools.partial(VectorEnv, num_envs=2),
        ("autoreset_mode", "copy", "vector_reward", "others", "illegal", "render_text", "threads"),
    ),
    "sb3": (functools.partial(SB3VecEnv, num_envs=2), ("threads", "monitor", "render_text")),
    "text": (TextEnv, ("others",)),
    "parallel": (
        ParallelEnv,
        ("max_cycles", "vector_reward", "masks", "finished", "pad", "illegal", "render_text"),
    ),
    "text parallel": (TextParallelEnv, ("max_cycles",)),
}


def world_of(form, address):
    return address if not isinstance(address, str) else rlenvs.core.declare.spec.load_world(address)


@pytest.mark.budget(4)
@pytest.mark.parametrize(
    ("form", "world"),
    [
        *(("env", w) for w in (THERMOSTAT, SEA, MAZE)),
        *(("vector", w) for w in (THERMOSTAT, MAZE)),
        ("sb3", THERMOSTAT),
        ("parallel", countdown.SPEC),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", EXAMPLES)
def test_keywords(form, world, count):
    make, more = FORMS[form]

    @examples(count)
    @given(keywords_of(world_of(form, world), *more), JUNK)
    def play(name, value):
        env = only_ours(lambda: make(world, **{name: value}))
        if env is not None:
            env.reset()
            env.close()

    play()


def generators(env):
    """The states of the generators that a reset with a seed changes."""
    found = [getattr(env, name, None) for name in ("np_random", "_generator")]
    return [generator.bit_generator.state for generator in found if isinstance(generator, np.random.Generator)]


def unchanged_when_refused(env, batch, call):
    """Whether a call was refused; then nothing may have changed."""
    before = [batch.get_state(i) for i in range(batch.num_envs)], generators(env)
    try:
        call()
    except RlenvsError:
        assert ([batch.get_state(i) for i in range(batch.num_envs)], generators(env)) == before
        return True
    return False


def begin(env, form):
    env.seed(0) if form == "sb3" else None
    env.reset() if form == "sb3" else env.reset(seed=0)


def reset(env, form, seed, options):
    if form == "sb3":
        env.seed(seed)
        env.set_options(options)
        env.reset()
    else:
        env.reset(seed=seed, options=options)


@pytest.mark.filterwarnings("ignore:.*reset ignores the options")
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", EXAMPLES)
def test_resets(form, count):
    world = BATTLE if "text" in form else countdown.SPEC if "par" in form else THERMOSTAT
    env = FORMS[form][0](world)
    batch = env.numeric.batch if "text" in form else env.batch
    begin(env, form)
    params = st.fixed_dictionaries({"params": st.dictionaries(st.sampled_from([*batch.world.params, "x"]), JUNK)})
    masks = st.fixed_dictionaries({"reset_mask": JUNK})

    @examples(2 * count)
    @given(st.one_of(st.none(), JUNK), st.one_of(st.none(), JUNK, params, masks))
    def play(seed, options):
        if form == "sb3" and seed is None:
            seed = 0  # drawn from NumPy's global generator otherwise
        unchanged_when_refused(env, batch, lambda: reset(env, form, seed, options))

    play()


@pytest.mark.parametrize(
    ("form", "world"),
    [
        *((form, world) for form in ("env", "vector", "sb3") for world in (THERMOSTAT, SEA)),
        *((form, MAZE) for form in ("env", "vector", "parallel", "sb3")),
        *((form, BATTLE) for form in ("text", "text parallel")),
    ],
    ids=str,
)
@pytest.mark.parametrize("count", EXAMPLES)
def test_steps(form, world, count):
    env = FORMS[form][0](world)
    batch = env.numeric.batch if "text" in form else env.batch
    agents = getattr(env, "possible_agents", [])
    by_agent = st.fixed_dictionaries(dict.fromkeys(agents, JUNK)) if agents else JUNK

    @examples(2 * count)
    @given(st.one_of(JUNK, by_agent))
    def play(actions):
        begin(env, form)
        unchanged_when_refused(env, batch, lambda: env.step(actions))

    play()


@pytest.mark.parametrize("world", [THERMOSTAT, SEA, MAZE], ids=str)
@pytest.mark.parametrize("count", EXAMPLES)
def test_plans(world, count):
    env = Env(world)
    batch = env.batch
    begin(env, "env")

    @examples(2 * count)
    @given(st.one_of(JUNK, st.lists(st.lists(LEAVES, max_size=3), max_size=3)))
    def play(plans):
        unchanged_when_refused(env, batch, lambda: rlenvs.rollout_plans(env, plans))

    play()


@pytest.mark.parametrize("world", [THERMOSTAT, SEA, MAZE], ids=str)
@pytest.mark.parametrize("count", EXAMPLES)
def test_arrays_of_batches(world, count):
    """The batch itself: steps, seeds, slots, goals and proposals."""
    batch = new_batch(world_of("batch", world), 2)
    batch.seed(0)
    batch.reset()
    calls = st.sampled_from(["step", "seed", "player_actions", "compute_reward", "barriers"])

    @examples(2 * count)
    @given(calls, JUNK)
    def play(name, junk):
        def call():
            try:
                getattr(batch, name)(*([junk] * (2 if name == "compute_reward" else 1)))
            except NotImplementedError:
                raise ParameterError("the world has none") from None

        unchanged_when_refused(batch, batch, call)
        if batch.over.any():
            batch.reset()

    play()


@pytest.mark.parametrize("form", [form for form in FORMS if form != "sb3"])
@pytest.mark.parametrize("count", EXAMPLES)
def test_snapshots(form, count):
    world = BATTLE if "text" in form else countdown.SPEC if "par" in form else THERMOSTAT
    env = FORMS[form][0](world)
    batch = env.numeric.batch if "text" in form else env.batch
    begin(env, form)

    @examples(count)
    @given(JUNK)
    def play(snapshot):
        assert unchanged_when_refused(env, batch, lambda: env.set_state(snapshot))

    play()


def test_names_of_agents():
    env = rlenvs.parallel_env("PathFinding-v0")
    for name in ("nobody", None, [], 0):
        with pytest.raises(UnknownNameError, match="there are"):
            env.observation_space(name)
        with pytest.raises(UnknownNameError, match="there are"):
            env.action_space(name)


def test_parameters_of_rows():
    """Of many rows of Stable-Baselines3's form none is set when one is refused."""
    env = SB3VecEnv(THERMOSTAT, 2)
    begin(env, "sb3")
    name, declared = next(iter(THERMOSTAT.params.items()))
    for wrong in ("0.1", declared.high + 1, [1, 2], None):
        env.set_options([{"params": {name: declared.low}}, {"params": {name: wrong}}])
        assert unchanged_when_refused(env, env.batch, env.reset)
        env.set_options()
    with pytest.raises(ParameterError, match="3 options were given for 2"):
        env.set_options([{}] * 3)
    env.set_options([{"params": {name: declared.low}}, {}])
    env.reset()
    assert [env.batch.get_params(i)[name] for i in range(2)] == [declared.low, declared.default]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"horizon": 2**63}, r"horizon=9223372036854775808 must be an integer in \[1, "),
        ({"weights": {"hover": "a"}}, r"weights\['hover'\]='a' must be a number"),
        ({"weights": {"hover": [1.0, 2.0]}}, r"weights\['hover'\]=\[1.0, 2.0\] must be one finite number"),
        ({"weights": [1]}, r"weights=\[1\] must be a dictionary with names as keys, such as \{'hover': 2.0\}"),
        ({"weights": "hover"}, "weights='hover' must be a dictionary"),
        ({"randomize": "mass"}, r"randomize='mass' must be a dictionary with names as keys, such as \{"),
        ({"randomize": {"mass": "small"}}, r"randomize\['mass'\]='small' must be a number"),
        ({"mass": "0.03"}, "mass='0.03' must be a number"),
        ({"mass": True}, "mass=True must be a number"),
        ({"level": ["easy"]}, r"no level \['easy'\]"),
        ({"others": 3}, "others=3 is not one of"),
        ({"horizon": [1, 2]}, r"horizon=\[1, 2\] must be an integer in \[1, "),
        ({"horizon": np.zeros(2)}, r"horizon=array\(\[0., 0.\]\) must be an integer"),
        ({"backend": "cuda"}, "backend='cuda' is not one of 'numba', 'python'"),
        ({"render_text": "no"}, "render_text='no' must be True or False"),
        ({"vector_reward": 1}, "vector_reward=1 must be True or False"),
    ],
    ids=str,
)
def test_messages_of_keywords(keywords, message):
    with pytest.raises((ParameterError, UnknownNameError), match=message):
        rlenvs.make("QuadHover-v0", **keywords)


@pytest.mark.parametrize("make", [rlenvs.make, rlenvs.make_batch, rlenvs.parallel_env, rlenvs.aec_env, rlenvs.text_env])
def test_ids_that_are_no_strings(make):
    for id in (None, 3, b"QuadHover-v0", ["QuadHover-v0"]):
        with pytest.raises(UnknownNameError, match="an id is a string such as"):
            make(id)


def test_messages_of_calls():
    env = rlenvs.make("QuadHover-v0")
    for seed in (-1, float("nan"), 1.5, "1", b"1", {}, {0: 1}, [1], True):
        with pytest.raises(ParameterError, match="must be an integer, 0 or more"):
            env.reset(seed=seed)
    with pytest.raises(ParameterError, match="options='junk' must be a dictionary"):
        env.reset(options="junk")
    with pytest.raises(ParameterError, match=r"options\['params'\]=None must be a dictionary"):
        env.reset(options={"params": None})
    with pytest.raises(ParameterError, match=r"reset does not support the options \['mass'\]; it supports 'params'"):
        env.reset(options={"mass": 0.03})
    env.reset(seed=0)
    with pytest.raises(ActionError, match=r"QuadHover-v0: \[\[1\], \[1, 2\]\] cannot be read as an action"):
        env.step([[1], [1, 2]])
    team = rlenvs.parallel_env("PathFinding-v0")
    team.reset(seed=0)
    with pytest.raises(ActionError, match="actions=None must be a dictionary with an action for each agent"):
        team.step(None)
    for plans in ([[1], [1, 2]], [[[0.0] * 4], [[0.0] * 3]]):
        with pytest.raises(ActionError, match=r"QuadHover-v0: .* cannot be read as an action"):
            rlenvs.rollout_plans(env, plans)
    with pytest.raises(ActionError, match=r"QuadHover-v0: action sequences of shape \(\) were given"):
        rlenvs.rollout_plans(env, None)
    envs = rlenvs.make_vec("QuadHover-v0", 2)
    with pytest.raises(ParameterError, match="3 seeds were given for 2 environments"):
        envs.reset(seed=[1, 2, 3])
    with pytest.raises(ParameterError, match="a list with one"):
        envs.reset(seed={0: 1, 1: 2})
    with pytest.raises(ParameterError, match="needed: a list of 2 snapshots"):
        envs.set_state(envs.get_state()[:1])
    with pytest.raises(SnapshotError):
        envs.set_state([1, 2])


def test_choices_that_are_too_large_for_64_bits():
    for team in ("idle", "expert"):
        env = rlenvs.make("PathFinding-v0", others=team)
        env.reset(seed=0)
        with pytest.raises(ActionError, match=r"action 9223372036854775808 is not one of 0 \.\.\. 4"):
            env.step(2**63)


@pytest.mark.parametrize("seeds", [0, -1, True, "12", 10**30, [], [1.5], [-1], ["1"], [None], {1: 2}], ids=str)
def test_seeds_that_are_none(seeds):
    with pytest.raises(ParameterError, match="seed"):
        rlenvs.evaluate("DeepSeaTreasure-v0", "random", seeds=seeds)


@pytest.mark.parametrize("seed", [np.int64(5), np.uint8(5), np.array(5)])
def test_integers_of_numpy_as_seeds(seed):
    for make in (rlenvs.make, functools.partial(rlenvs.make_vec, num_envs=2)):
        env = make("DeepSeaTreasure-v0")
        same = env.reset(seed=seed)[0], env.reset(seed=5)[0]
        assert np.array_equal(*same)
    for make in (rlenvs.parallel_env, rlenvs.text_env, rlenvs.text_parallel_env, rlenvs.aec_env):
        make("Battle-v0").reset(seed=seed)
    assert rlenvs.sb3_vec_env("DeepSeaTreasure-v0", 2).seed(seed) == [5, 6]
    batch = rlenvs.make_batch("DeepSeaTreasure-v0", 2)
    batch.seed(seed)
    evaluate = functools.partial(rlenvs.evaluate, "DeepSeaTreasure-v0", "random")
    assert evaluate(seeds=[seed]) == evaluate(seeds=[5])
    assert next(video("DeepSeaTreasure-v0", "random", seed=seed)).shape == (512, 512, 3)
    recorder = Recorder(rlenvs.make("DeepSeaTreasure-v0"))
    recorder.reset(seed=seed)
    rlenvs.make_vec("DeepSeaTreasure-v0", 2).reset(seed=[seed, None])
    rlenvs.make_vec("DeepSeaTreasure-v0", 2).reset(seed=np.array([1, 2]))
