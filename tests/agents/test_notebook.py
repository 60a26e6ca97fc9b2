"""`rlenvs.show_episode`: the episode that is shown is the one that is played, and its page needs nothing else."""

import html
import re

import gymnasium
import numpy as np
import pytest

import rlenvs
from rlenvs.agents.film import MOST_FRAMES, Episode, Reel
from rlenvs.core.declare.errors import ParameterError, UnknownNameError
from rlenvs.core.forms.recorder import Recorder

pytestmark = pytest.mark.usefixtures("sockets_closed")


def lean(observation):
    return int(observation[2] > 0)


def returned(env, policy, seed):
    """What an episode pays."""
    observation, _ = env.reset(seed=seed)
    total, steps, over = 0.0, 0, False
    while not over:
        observation, reward, terminated, truncated, _ = env.step(policy(observation))
        total, steps, over = total + reward, steps + 1, terminated or truncated
    return total, steps


def test_the_episode_of_an_environment_is_shown_as_its_wrappers_give_it():
    env = gymnasium.make("rlenvs/CartPole-v0", length=0.8)
    env = gymnasium.wrappers.TransformAction(env, lambda action: 1 - action, env.action_space)
    film = rlenvs.show_episode(env, lambda seen: 1 - lean(seen), seed=5, label="mine").film
    mine = film.episodes[-1]
    total, steps = returned(gymnasium.make("rlenvs/CartPole-v0", length=0.8), lean, 5)
    assert (mine.policy, mine.label, sum(mine.rewards), mine.steps[-1]) == ("yours", "mine", total, steps)
    assert [episode.policy for episode in film.episodes] == ["random", "expert", "yours"]
    assert mine.terms["balance"] == mine.rewards
    expert = film.episodes[1]
    assert sum(expert.rewards) == rlenvs.evaluate("CartPole-v0", "expert", seeds=[5], length=0.8).mean


def test_with_an_id_a_policy_gets_rows_and_nothing_else_stands_for_it():
    film = rlenvs.show_episode("CartPole-v0", lambda rows: (rows[:, 2] > 0).astype(int), seed=5).film
    assert sum(film.episodes[-1].rewards) == returned(gymnasium.make("rlenvs/CartPole-v0"), lean, 5)[0]
    assert [episode.policy for episode in film.episodes] == ["random", "expert", "yours"]
    assert [episode.policy for episode in rlenvs.show_episode("CartPole-v0").film.episodes] == [
        "random",
        "expert",
        "agent",
    ]


def test_the_reference_agent_stays_out_where_it_does_not_fit():
    film = rlenvs.show_episode("QuadHover-v0", action="velocity", horizon=20).film
    assert [episode.policy for episode in film.episodes] == ["random", "expert"]


@pytest.mark.parametrize("name", ["QuadHover-v0", "DeepSeaTreasure-v0"])
def test_what_has_a_predict_plays(name):
    agent = rlenvs.load_agent(name)
    film = rlenvs.show_episode(gymnasium.make(f"rlenvs/{name}"), agent, seed=2).film
    wanted = rlenvs.evaluate(name, agent, seeds=[2]).mean
    assert sum(film.episodes[-1].rewards) == pytest.approx(wanted, rel=1e-3)  # frames' sums are kept with five digits


def test_teams_in_the_parallel_form():
    env = rlenvs.parallel_env("ParticleTag-v0")
    film = rlenvs.show_episode(env, lambda seen: dict.fromkeys(seen, 0)).film
    env.reset(seed=0)
    paid = 0.0
    while env.agents:
        _, rewards, *_ = env.step(dict.fromkeys(env.agents, 0))
        paid += sum(reward for name, reward in rewards.items() if name.startswith("adversary"))
    assert sum(film.episodes[-1].rewards) == pytest.approx(paid)
    assert film.agents == 3  # the hunters; the prey is the other team
    with pytest.raises(ParameterError, match="function from the agents' observations"):
        rlenvs.show_episode(env, rlenvs.load_agent("ParticleTag-v0"))


def test_masked_choices_are_drawn_among_those_allowed():
    env = gymnasium.make("rlenvs/DeepSeaTreasure-v0", illegal="error")
    assert rlenvs.show_episode(env).film.episodes[0].steps[-1] > 0


def test_long_episodes_lose_frames_and_keep_their_sums():
    batch = rlenvs.make_batch("CartPole-v0", 1, horizon=2000, backend="python")
    batch.seed([0])
    batch.reset()
    reel = Reel(batch, Recorder(), Episode("expert", "", 1), np.zeros(1, np.int64), most=20)
    for _ in range(333):
        batch.step(batch.expert_actions())
        reel.see_step()
    reel.end()
    episode = reel.episode
    assert 20 <= len(episode.frames) <= 42 < MOST_FRAMES
    assert (episode.steps[0], episode.steps[-1], sum(episode.rewards), episode.cut) == (0, 333, 333, True)
    assert np.diff(episode.steps)[:-1].tolist() == [episode.every] * (len(episode.steps) - 2)


def test_the_page_needs_nothing_else(tmp_path):
    showing = rlenvs.show_episode("CartPole-v0", horizon=20)
    path = showing.save(tmp_path / "deep" / "film.html")
    page = path.read_text(encoding="utf-8")
    assert not re.search(r"""(?<!-)(src|href)\s*=\s*["'](?!data:)|@import|url\(""", page)
    assert 'class="film" data-film="CartPole-v0"' in page
    frame = re.search(r'srcdoc="([^"]*)"', showing._repr_html_())
    assert html.unescape(frame[1]) == page
    assert "Random actions" in repr(showing)
    with pytest.raises(ParameterError, match="must end in"):
        showing.save(tmp_path / "film.gif")


@pytest.mark.parametrize("given", [3, gymnasium.make("CartPole-v1"), "vector"])
def test_what_is_no_environment_of_ours_is_refused(given):
    env = rlenvs.make_vec("CartPole-v0", 2) if given == "vector" else given
    with pytest.raises(ParameterError, match="show_episode takes an id, or an environment made by"):
        rlenvs.show_episode(env)


def test_bad_arguments_are_refused():
    env = gymnasium.make("rlenvs/CartPole-v0")
    with pytest.raises(ParameterError, match="keywords cannot be given together"):
        rlenvs.show_episode(env, length=0.8)
    with pytest.raises(ParameterError, match="neither a function"):
        rlenvs.show_episode(env, "expert")
    with pytest.raises(UnknownNameError):
        rlenvs.show_episode("CartPol-v0")
    with pytest.raises(ParameterError):
        rlenvs.show_episode("CartPole-v0", 3)


@pytest.mark.slow
def test_a_curve_grows_in_a_notebook():
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("stable_baselines3")
    cells = [
        "import rlenvs\nfrom stable_baselines3 import PPO\n"
        "model = PPO('MlpPolicy', rlenvs.sb3_vec_env('CartPole-v0', 8), n_steps=16, batch_size=64, device='cpu')\n"
        "curve = rlenvs.LiveCurveCallback('CartPole-v0', every=0.0)\n_ = model.learn(256, callback=curve)",
        "print(len(curve.steps), curve.steps[-1], sorted(curve.references))",
        "rlenvs.show_episode('CartPole-v0', horizon=20)",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
    drawn, told, shown = ([dict(output) for output in cell.outputs] for cell in notebook.cells)
    assert [output["output_type"] for output in drawn if "image/png" in output.get("data", {})] == ["display_data"]
    count, last, *names = told[0]["text"].split(maxsplit=2)
    assert int(count) > 5
    assert int(last) == 256
    assert "random" in names[0]
    assert shown[0]["data"]["text/html"].startswith("<iframe")
