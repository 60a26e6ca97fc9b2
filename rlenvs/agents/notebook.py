"""Interactive players of episodes in notebooks: `rlenvs.show_episode`."""

from __future__ import annotations

import base64
import inspect
from collections.abc import Callable, Iterator
from html import escape
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import ParallelEnv as PettingZooParallelEnv

from rlenvs.agents.evaluate import Policy, check_policy
from rlenvs.agents.film import (
    MOST_FRAMES,
    MOST_IMAGES,
    MOST_STEPS,
    STYLE,
    Episode,
    Film,
    Reel,
    player_script,
    record_film,
    small_files,
)
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.errors import ParameterError, shortened
from rlenvs.core.declare.inputs import first_seed_of
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.recorder import Recorder
from rlenvs.core.forms.render import EpisodeTotals, check_image

__all__ = ["EpisodePlayer", "show_episode"]

Act = Callable[[Any, Any], Any]  # from an observation and an info to an action
LARGEST = 2_000_000  # bytes of a film in a notebook
COLORS = """
:root { color-scheme: light dark; --color-brand-primary: #005f94; --color-background-primary: #fff;
  --color-background-secondary: #f8f9fb; --color-background-border: #dfe1e6; --color-foreground-primary: #16181d;
  --color-foreground-secondary: #5a5c63; --color-foreground-muted: #6b6f76; }
@media (prefers-color-scheme: dark) { :root { --color-brand-primary: #6bbcf0; --color-background-primary: #131416;
  --color-background-secondary: #1a1c1e; --color-background-border: #303335; --color-foreground-primary: #e3e5e8;
  --color-foreground-secondary: #a3a8ae; --color-foreground-muted: #868b92; } }
body { margin: 0; padding: 0 0.5rem; font-family: system-ui, sans-serif; background: var(--color-background-primary); }
.film { max-width: 64rem; }
"""
FIT = """
if (window.frameElement) new ResizeObserver(() => {
  window.frameElement.style.height = document.documentElement.offsetHeight + 8 + "px";
}).observe(document.body);
"""


def show_episode(
    env: Any, policy: Any = None, seed: int = 0, label: str = "This policy", **keywords: Any
) -> EpisodePlayer:
    """Play an episode and return a player for notebooks: it shows every state with reward terms and costs, next to
    random actions and the scripted expert on the same seed. `save` writes an HTML page.

    Args:
        env: an id, or an environment that `gymnasium.make` or `rlenvs.parallel_env` gave, with or without wrappers. An
            environment is played itself, and is left at the end of an episode.
        policy: with an id as for `rlenvs.evaluate`. With an environment a function from what `reset` and `step` give as
            observation to what `step` takes, or what has such a `predict` as a Stable-Baselines3 model has; it may
            be left out.
        seed: of the episodes, which are cut after 2000 steps.
        label: of the policy.
        keywords: with an id those of `rlenvs.make_batch`.

    Raises:
        UnknownNameError: an id or keyword that does not exist. EngineError: an engine without images.
        ParameterError: something else than an environment of this package, or a world without an image.
    """
    seed = first_seed_of(seed)
    if isinstance(env, str):
        return EpisodePlayer(_film_of_id(env, policy, seed, label, keywords))
    form = _form_of(env)
    if keywords:
        raise ParameterError(
            f"{', '.join(keywords)}: keywords cannot be given together with an environment; pass them to make"
        )
    if not (policy is None or callable(policy) or hasattr(policy, "predict")):
        raise ParameterError(
            f"policy={shortened(policy)} is neither a function from observations to actions nor an object with a "
            f"predict method"
        )
    return EpisodePlayer(_film_of_env(env, form, policy, seed, label))


class EpisodePlayer:
    """A film that notebooks display as an interactive player.

    Attributes:
        film: the episodes.
    """

    def __init__(self, film: Film) -> None:
        self.film = film

    def __repr__(self) -> str:
        told = [f"{episode.label} {sum(episode.rewards):.4g}" for episode in self.film.episodes]
        return f"<{self.film.name}: returns {', '.join(told)}; notebooks play it, .save('film.html') writes a page>"

    def _repr_html_(self) -> str:
        frame = f'<iframe srcdoc="{escape(self.page())}" title="Film of {escape(self.film.name)}"'
        return f'{frame} style="width: 100%; height: 640px; border: 0" allowfullscreen></iframe>'

    def page(self) -> str:
        """A self-contained HTML page."""
        files = [base64.b64encode(content).decode() for content in small_files(self.film, LARGEST).values()]
        data, images = (*files, "")[:2]
        name = escape(self.film.name)
        style = STYLE.read_text(encoding="utf-8")
        return (
            f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<style>{COLORS}{style}</style></head>\n"
            f'<body><div class="film" data-film="{name}">The film needs JavaScript.</div>\n'
            f'<script>{player_script()}rlenvsFilm.add("{name}", "{data}", "{images}");{FIT}</script></body></html>\n'
        )

    def save(self, path: str | Path) -> Path:
        """Write the page, creating folders. ParameterError unless the name ends in .html."""
        path = Path(path)
        if path.suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"{path.name!r} must end in .html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.page(), encoding="utf-8")
        return path


# --- with an id -------------------------------------------------------------------------------------------------------


def _film_of_id(id: str, policy: Policy | None, seed: int, label: str, keywords: dict[str, Any]) -> Film:
    world = world_of(id)
    check_image(world)
    if policy is not None:
        check_policy(world, policy)
    return record_film(id, seed, yours=None if policy is None else (label, policy), **keywords)


# --- with an environment ----------------------------------------------------------------------------------------------


def _form_of(env: Any) -> Env | ParallelEnv:
    """The environment below its wrappers; ParameterError where it is none of this package's."""
    form = getattr(env, "unwrapped", None)
    if isinstance(env, (gymnasium.Env, PettingZooParallelEnv)) and isinstance(form, (Env, ParallelEnv)):
        check_image(form.batch.world)
        return form
    raise ParameterError(
        "show_episode takes an id, or an environment made by gymnasium.make or rlenvs.parallel_env, "
        f"not {shortened(env)}"
    )


def _film_of_env(env: Any, form: Env | ParallelEnv, policy: Any, seed: int, label: str) -> Film:
    batch, recorder = form.batch, Recorder()
    batch.totals = batch.totals or EpisodeTotals(batch)
    players: list[tuple[str, str, Any, Act]] = [("random", "Random actions", form, _random_actions(form, seed))]
    if batch.world.has_expert:
        expert = form.expert_actions if isinstance(form, ParallelEnv) else form.expert_action
        players.append(("expert", "Scripted expert", form, lambda observation, info: expert()))
    if policy is not None:
        players.append(("yours", label, env, _actions_of(policy, form)))
    own = np.zeros(1, np.int64) if batch.first_decides else np.flatnonzero(np.array(batch.setup.teams) == 0)
    most = MOST_IMAGES if batch.world.engine else MOST_FRAMES
    episodes = []
    for name, told, played, act in players:
        steps = _play(played, act, seed)
        next(steps)
        reel = Reel(batch, recorder, Episode(name, told, 1), own, most)
        for _ in zip(range(MOST_STEPS), steps, strict=False):
            reel.see_step()
        reel.end()
        episodes.append(reel.episode)
    return Film(batch.world.name, float(batch.setup.fps), len(own), batch.world.cost_limits, episodes, recorder.images)


def _play(env: Any, act: Act, seed: int) -> Iterator[None]:
    """Play an episode; comes back after the reset, and after each step."""
    observation, info = env.reset(seed=seed)
    going = True
    while going:
        yield
        observation, _, terminated, truncated, info = env.step(act(observation, info))
        going = bool(env.agents) if isinstance(env, PettingZooParallelEnv) else not (terminated or truncated)
    yield


def _random_actions(form: Env | ParallelEnv, seed: int) -> Act:
    if isinstance(form, Env):
        space: Any = form.action_space
        space.seed(seed)
        return lambda observation, info: space.sample(info.get("action_mask"))
    spaces: dict[str, gymnasium.Space] = {agent: form.action_space(agent) for agent in form.possible_agents}
    for k, each in enumerate(spaces.values()):
        each.seed(seed + k)
    return lambda observation, info: {
        agent: spaces[agent].sample(info[agent].get("action_mask")) for agent in form.agents
    }


def _actions_of(policy: Any, form: Env | ParallelEnv) -> Act:
    if not hasattr(policy, "predict"):
        return lambda observation, info: policy(observation)
    masked = "action_masks" in inspect.signature(policy.predict).parameters and "mask" in form.batch.world.kernels
    if isinstance(form, ParallelEnv):
        raise ParameterError("in the parallel form policy is a function from the agents' observations to their actions")
    state: Any = None

    def act(observation: Any, info: Any) -> Any:
        nonlocal state
        masks = {"action_masks": form.action_masks()} if masked else {}
        begins = form.batch.at_start
        action, state = policy.predict(observation, state=state, episode_start=begins, deterministic=True, **masks)
        return action

    return act
