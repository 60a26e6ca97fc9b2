"""Draw the pictures of docs/concepts.md, docs/notebooks.md and docs/swarm.md: python docs/pictures.py.

Needs matplotlib, and for the player Playwright and Chromium.
"""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

import rlenvs
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.canvas import AGENT_COLORS, COLORS, HEAD
from rlenvs.multi.swarm import mean_field

IMAGES = Path(__file__).resolve().parent / "images"
QUALITY = 82


def color(name: str) -> tuple[float, ...]:
    """A colour of the palette as matplotlib wants it."""
    return tuple(part / 255 for part in COLORS[name])


def save(figure: Any, name: str) -> None:
    """Write a figure as WebP."""
    figure.canvas.draw()
    image = Image.fromarray(np.asarray(figure.canvas.buffer_rgba())).convert("RGB")
    image.save(IMAGES / f"{name}.webp", quality=QUALITY, method=6)
    plt.close(figure)


def axes(width: float = 7.2, height: float = 2.6) -> tuple[Any, Any]:
    """A figure with one plot."""
    figure, plot = plt.subplots(figsize=(width, height), dpi=130, layout="constrained")
    plot.spines[["top", "right"]].set_visible(False)
    return figure, plot


def terms(id: str = "QuadRace-v0", steps: int = 400) -> None:
    """The weighted terms of the expert's reward, one on the other, and their sum."""
    env = rlenvs.make(id)
    env.reset(seed=0)
    names = list(world_of(id).terms)
    weights = env.unwrapped.batch.setup.weights
    paid, rewards = [], []
    for _ in range(steps):
        _, reward, terminated, _, info = env.step(env.unwrapped.expert_action())
        paid.append([weight * info[f"reward_{name}"] for name, weight in zip(names, weights, strict=True)])
        rewards.append(reward)
        if terminated:
            break
    figure, plot = axes()
    plot.plot(rewards, color=color("light"), linewidth=4.5, label="reward: their sum")
    for i, values in enumerate(np.array(paid).T):
        if np.any(values):
            plot.plot(values, color=color(AGENT_COLORS[i]), label=names[i], linewidth=1.6)
    plot.set_ylim(*np.percentile(paid, [0, 99.8]) * 1.4)
    plot.set(xlabel="step", title=f"{id}: weighted terms")
    plot.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    save(figure, "terms")


def contexts(lengths: tuple[float, ...] = (0.25, 0.5, 0.8, 1.1)) -> None:
    """The same state with four poles."""
    tiles = []
    for length in lengths:
        env = rlenvs.make("CartPole-v0", length=length, render_mode="rgb_array")
        env.reset(seed=3)
        for _ in range(5):
            env.step(1)
        image = env.render()[HEAD + 30 : 400, 90:-90]
        tiles.append(np.asarray(Image.fromarray(image).resize((260, 260 * image.shape[0] // image.shape[1]))))
    gap = np.full((tiles[0].shape[0], 12, 3), 255, np.uint8)
    row = np.hstack([part for tile in tiles for part in (tile, gap)][:-1])
    Image.fromarray(row).save(IMAGES / "contexts.webp", quality=QUALITY, method=6)


def snapshots(plans: int = 40, steps: int = 40) -> None:
    """Angles of the pole in many futures of one state, the best of them marked."""
    env = rlenvs.make("CartPole-v0")
    env.reset(seed=0)
    for _ in range(15):
        env.step(env.unwrapped.expert_action())
    snapshot, rng = env.unwrapped.get_state(), np.random.default_rng(0)
    figure, plot = axes()
    futures = []
    for _ in range(plans):
        env.unwrapped.set_state(snapshot)
        angles = []
        for _ in range(steps):
            observation, _, terminated, _, _ = env.step(int(rng.integers(2)))
            angles.append(np.degrees(observation[2]))
            if terminated:
                break
        futures.append(angles)
    best = max(futures, key=len)
    for angles in futures:
        shade = color("grey") if angles is not best else color("blue")
        plot.plot(angles, color=shade, linewidth=0.9 if angles is not best else 2.4, zorder=1 + (angles is best))
    plot.set(xlabel="steps from the snapshot", ylabel="angle [degrees]", title=f"{plans} futures of one state")
    save(figure, "snapshots")


def settled(id: str, term: str, player: str, agents: int, **keywords: Any) -> np.ndarray:
    """The order parameter of a swarm in each context, over the last 200 of 600 steps."""
    worlds = max(np.size(value) for value in keywords.values())
    batch = rlenvs.make_batch(id, worlds, agents=agents, horizon=600, **keywords)
    batch.seed(range(worlds))
    batch.reset()
    column, found = list(world_of(id).terms).index(term), []
    for _ in range(600):
        batch.step(batch.player_actions(player) if player else np.zeros_like(batch.actions))
        found.append(batch.terms[:, column, 0].copy())
    return np.mean(found[-200:], axis=0)


def swarms() -> None:
    """Order parameters of swarms over coupling, rate of infection and noise, beside the limit of many agents."""
    couplings, rates, noises = np.linspace(0.2, 4.0, 20), np.linspace(0.05, 1.2, 20), np.linspace(0.0, 6.0, 20)
    still = {"noise": 0.0}
    rows: list[tuple[str, str, str, str, np.ndarray, dict[str, Any], list[float]]] = [
        ("SwarmKuramoto-v0", "order", "", "coupling", couplings, still,
         [mean_field.kuramoto_order(each, 1.0) for each in couplings]),
        ("SwarmSIS-v0", "prevalence", "", "infection", rates, {}, [mean_field.endemic_level(r, 0.2) for r in rates]),
        ("SwarmVicsek-v0", "alignment", "mean", "noise", noises, {"max_turn": np.pi},
         [mean_field.vicsek_order(each) for each in noises]),
    ]  # fmt: skip
    figure, plots = plt.subplots(1, 3, figsize=(9.6, 2.9), dpi=130, layout="constrained")
    for plot, (id, term, player, name, values, keywords, limit) in zip(plots, rows, strict=True):
        for agents, shade in ((20, "sky"), (100, "blue"), (1000, "black")):
            found = settled(id, term, player, agents, **{name: values}, **keywords)
            plot.plot(values, found, "o", color=color(shade), markersize=3.5, label=f"{agents} agents")
        plot.plot(values, limit, color=color("orange"), linewidth=1.6, label="limit")
        plot.spines[["top", "right"]].set_visible(False)
        plot.set(title=id, xlabel=f"{name} [{world_of(id).params[name].unit}]", ylabel=term, ylim=(-0.03, 1.05))
    plots[0].legend(frameon=False, fontsize=8)
    save(figure, "swarms")


def player() -> None:
    """A look at the player that `rlenvs.show_episode` returns."""
    from playwright.sync_api import sync_playwright

    with TemporaryDirectory() as folder, sync_playwright() as started:
        path = Path(folder) / "film.html"
        rlenvs.show_episode("CartPole-v0").save(path)
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 700})
        page.goto(path.as_uri())
        page.wait_for_timeout(1500)
        image = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        browser.close()
    image.save(IMAGES / "player.webp", quality=QUALITY, method=6)


if __name__ == "__main__":
    terms()
    contexts()
    snapshots()
    swarms()
    player()
