"""Films: episodes as shapes and numbers, small enough for a web page, in which every state can be inspected.

A film has an episode of each of several policies, from the same seed. `record_film` makes one, `save_film` and
`load_film` keep it as compressed JSON, beside an image where an engine's camera made the frames. `player_script()` and
`player.css` beside this file show it.
"""

from __future__ import annotations

import gzip
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode

from rlenvs.agents.evaluate import Policy, begin_episode
from rlenvs.agents.files import load_agent
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.declare.canvas import HEAD, Canvas, Head
from rlenvs.core.declare.errors import NoAgentError, ParameterError
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.core.forms.recorder import PARTS, Frame, Recorder, Shape, Style, paint
from rlenvs.core.forms.render import EpisodeTotals, compose

__all__ = ["Episode", "Film", "load_film", "record_film", "save_film"]

PAINTER, PLAYER, STYLE = (Path(__file__).with_name(name) for name in ("painter.js", "player.js", "player.css"))
MOST_FRAMES, MOST_STEPS = 200, 2000
MOST_IMAGES = 40  # of an engine's camera, per episode
IMAGE_WIDTH, IMAGE_COLUMNS, IMAGE_QUALITY = 288, 8, 60
LARGEST = 210_000  # bytes of a film's files, which become four thirds of it in a page
THINNABLE = 4  # times too large is too large for fewer frames; images take less
FEWEST_FRAMES = 20  # a shorter episode keeps them all


@dataclass
class Episode:
    """One policy's episode.

    Attributes:
        policy: "random", "expert", "agent" or "yours". label: who that is, for people.
        every: steps from frame to frame; the last frame may follow sooner. cut: whether the episode went on.
        frames: what was seen. steps: of the episode, at each frame.
        rewards, terms, costs: what the own team was paid since the frame before, terms by name and times their weights.
    """

    policy: str
    label: str
    every: int
    cut: bool = False
    frames: list[Frame] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    rewards: list[float] = field(default_factory=list)
    terms: dict[str, list[float]] = field(default_factory=dict)
    costs: dict[str, list[float]] = field(default_factory=dict)


@dataclass
class Film:
    """Episodes of one world, and the images used by their frames.

    Attributes:
        name: of the world. fps: steps per second of simulated time.
        limits: of costs per agent and episode, by name; agents: in the own team.
    """

    name: str
    fps: float
    agents: int
    limits: dict[str, float]
    episodes: list[Episode]
    images: list[np.ndarray]


# --- recording --------------------------------------------------------------------------------------------------------


def record_film(
    id: str,
    seed: int = 0,
    most_frames: int = MOST_FRAMES,
    yours: tuple[str, Policy] | None = None,
    **keywords: Any,
) -> Film:
    """Play an episode with random actions, the scripted expert and the reference agent, if they exist.

    Teams but the first are played by the world's first scripted player.

    Args:
        id: the environment. seed: of all episodes.
        most_frames: of an episode; of longer ones every second or third step is kept, and so on.
        yours: a label, and a policy as for `rlenvs.evaluate` that plays in place of the reference agent.
        keywords: of `rlenvs.make_batch`; the reference agent stays out where they set options.

    Raises:
        UnknownNameError: an id or keyword that does not exist. EngineError: an engine without images.
    """
    world = world_of(id)
    most = min(most_frames, MOST_IMAGES) if world.engine else most_frames
    recorder, episodes = Recorder(), []
    for name, label, policy in _players(world, yours, keywords):
        chosen = {**(policy.card.keywords if name == "agent" else {}), **keywords}
        batch = make_batch(id, 1, autoreset=AutoresetMode.NEXT_STEP, **chosen)
        batch.totals = EpisodeTotals(batch)
        episodes.append(_record_episode(batch, recorder, Episode(name, label, 1), policy, seed, most))
        batch.close()
    setup = Setup(world, **keywords)
    return Film(world.name, float(setup.fps), setup.teams.count(0), world.cost_limits, episodes, recorder.images)


def _players(world: World, yours: tuple[str, Policy] | None, keywords: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    found: list[tuple[str, str, Any]] = [("random", "Random actions", "random")]
    if world.has_expert:
        found.append(("expert", "Scripted expert", "expert"))
    if yours is not None:
        return [*found, ("yours", *yours)]
    if any(name in world.options for name in keywords):  # actions and observations may mean something else
        return found
    try:
        agent = load_agent(world.name, level=keywords.get("level"))
        agent.check(Setup(world, **{**agent.card.keywords, **keywords}))
    except (NoAgentError, ParameterError):
        return found
    how = ", imitating the expert" if agent.card.imitates else ""
    return [*found, ("agent", f"Reference agent ({agent.card.algorithm}{how})", agent)]


def _record_episode(
    batch: KernelBatch,
    recorder: Recorder,
    episode: Episode,
    policy: Policy,
    seed: int,
    most_frames: int,
) -> Episode:
    own = np.flatnonzero(np.array(batch.setup.teams) == 0)
    against = batch.world.players[0] if len(own) < batch.agents and batch.world.players else None
    choose, length = begin_episode(batch, policy, seed, against), 0
    while length < MOST_STEPS and not (length and batch.over[0]):  # only to know how long it is
        batch.step(choose())
        length += 1
    episode.every = max(1, math.ceil(length / most_frames))
    choose = begin_episode(batch, policy, seed, against)
    reel = Reel(batch, recorder, episode, own)
    for _ in range(length):
        batch.step(choose())
        reel.see_step()
    reel.end()
    return episode


class Reel:
    """Takes in an episode while it is played: what was paid in each step, and a frame of every `episode.every` steps.

    Args:
        batch: of one world, at the start of an episode.
        recorder: that draws; episode: that is filled; own: the agents whose rewards count.
        most: frames are dropped so that there are at most twice as many; None for no end.
    """

    def __init__(
        self, batch: KernelBatch, recorder: Recorder, episode: Episode, own: np.ndarray, most: int | None = None
    ) -> None:
        self._batch, self._recorder, self.episode, self._own, self._most = batch, recorder, episode, own, most
        self._names = [*batch.world.terms], [*batch.world.costs]
        self._paid = np.zeros(1 + sum(map(len, self._names)))
        self.length = 0
        self._keep()

    def see_step(self) -> None:
        """The batch has made a step."""
        self.length += 1
        self._paid += _paid(self._batch, self._own)
        if self.length % self.episode.every == 0:
            self._keep()

    def end(self) -> None:
        """The episode is over, or cut here."""
        if self.length % self.episode.every:
            self._keep()
        self.episode.cut = not self._batch.over[0]

    def _keep(self) -> None:
        compose(self._batch, 0, self._recorder)
        episode, (terms, costs) = self.episode, self._names
        episode.frames.append(self._recorder.frame())
        episode.steps.append(self.length)
        reward, *parts = map(_short, self._paid)
        episode.rewards.append(reward)
        for name, value in zip(terms, parts, strict=False):
            episode.terms.setdefault(name, []).append(value)
        for name, value in zip(costs, parts[len(terms) :], strict=True):
            episode.costs.setdefault(name, []).append(value)
        self._paid[:] = 0.0
        if self._most is not None and len(episode.frames) > 2 * self._most:
            self.episode = _thinned_episode(episode, 2)


def _paid(batch: KernelBatch, own: np.ndarray) -> np.ndarray:
    """Reward, weighted terms and costs of the own team in the last step."""
    parts = batch.terms[0][:, own].sum(axis=1)
    parts[: len(batch.world.terms)] *= batch.setup.weights
    return np.array([batch.rewards[0, own].sum(), *parts])


def _short(value: float) -> float:
    number = float(f"{value:.5g}")
    return int(number) if number == int(number) else number


# --- files ------------------------------------------------------------------------------------------------------------


def player_script() -> str:
    """The script that shows films. It works in pages without a server, which load no modules: the painter, a module
    that live pages import, comes before the player, in one scope."""
    painter, player = (path.read_text(encoding="utf-8") for path in (PAINTER, PLAYER))
    return f'"use strict";\n(function () {{\n{painter.replace("export ", "")}\n{player}}})();\n'


def save_film(film: Film, folder: Path, largest: int = LARGEST) -> int:
    """Write <name>.json.gz, and <name>.webp where frames have images; returns the bytes of both.

    A film that would take more than `largest` bytes loses every second frame, or two of three, and so on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    files = small_files(film, largest)
    (folder / f"{film.name}.webp").unlink(missing_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return sum(map(len, files.values()))


def small_files(film: Film, largest: int = LARGEST) -> dict[str, bytes]:
    """What `save_film` writes, by name."""
    files = _files_of(film)
    if not film.images and sum(map(len, files.values())) > THINNABLE * largest:  # scenes of thousands of shapes
        film = pictured(thinned(film, math.ceil(max(len(e.frames) for e in film.episodes) / MOST_IMAGES)))
        files = _files_of(film)
    for share in range(2, 9):
        if sum(map(len, files.values())) <= largest:
            break
        files = _files_of(thinned(film, share))
    return files


def _files_of(film: Film) -> dict[str, bytes]:
    files = {f"{film.name}.json.gz": packed(film)}
    return {**files, f"{film.name}.webp": _strip(film.images)} if film.images else files


def pictured(film: Film) -> Film:
    """The same film with images in place of shapes."""
    canvas = Canvas()
    images: list[np.ndarray] = []
    episodes = [replace(episode, frames=[]) for episode in film.episodes]
    for episode, old in zip(episodes, film.episodes, strict=True):
        for frame in old.frames:
            episode.frames.append(frame._replace(shapes=[Shape(("paste", ""), (len(images),))]))
            paint(frame, canvas, film.images)
            images.append(canvas.pixels()[HEAD : HEAD + frame.scene[1]])
    return replace(film, episodes=episodes, images=images)


def thinned(film: Film, share: int) -> Film:
    """The same film with one frame of `share`; the last ones stay, and so does what was paid."""
    episodes = [_thinned_episode(episode, share) for episode in film.episodes]
    shown = [shape for episode in episodes for frame in episode.frames for shape in frame.shapes]
    used = sorted({shape.numbers[0] for shape in shown if shape.style[0] == "paste"})
    places = {old: new for new, old in enumerate(used)}
    for episode in episodes:
        episode.frames = [frame._replace(shapes=_renumbered(frame.shapes, places)) for frame in episode.frames]
    return replace(film, episodes=episodes, images=[film.images[i] for i in used])


def _renumbered(shapes: Sequence[Shape], places: Mapping[int, int]) -> list[Shape]:
    """Shapes whose images have new numbers."""
    return [Shape(s.style, (places[s.numbers[0]],)) if s.style[0] == "paste" else s for s in shapes]


def _thinned_episode(episode: Episode, share: int) -> Episode:
    last = len(episode.frames) - 1
    if last < FEWEST_FRAMES:
        return replace(episode)
    kept = [*range(0, last, share), last]
    starts = [0, *(place + 1 for place in kept[:-1])]

    def sums(values: Sequence[float]) -> list[float]:
        return [_short(math.fsum(values[a : b + 1])) for a, b in zip(starts, kept, strict=True)]

    return replace(
        episode,
        every=episode.every * share,
        frames=[episode.frames[i] for i in kept],
        steps=[episode.steps[i] for i in kept],
        rewards=sums(episode.rewards),
        terms={name: sums(values) for name, values in episode.terms.items()},
        costs={name: sums(values) for name, values in episode.costs.items()},
    )


def packed(film: Film) -> bytes:
    """A film without its images as compressed JSON, the same bytes for the same film."""
    text = json.dumps(as_json(film), separators=(",", ":"), ensure_ascii=False)
    return gzip.compress(text.encode(), 9, mtime=0)


def as_json(film: Film) -> dict[str, Any]:
    """What the player reads.

    `styles` are [style, how many numbers], `shapes.styles` the number of every shape's style, and `shapes.numbers` all
    coordinates, as differences from what `_Guess` says. A frame is [first shape, how many, ...].
    `looks` are [scene, ground, legend].
    """
    table = _Table()
    episodes = [
        {
            **{name: getattr(episode, name) for name in ("policy", "label", "every", "cut", "steps", "rewards")},
            "terms": episode.terms,
            "costs": episode.costs,
            "frames": [table.runs(frame.shapes) for frame in episode.frames],
            "looks": [table.look(frame) for frame in episode.frames],
            "captions": ["   ".join(frame.captions) for frame in episode.frames],
            "heads": [list(frame.head[2:]) for frame in episode.frames],
        }
        for episode in film.episodes
    ]
    images: dict[str, Any] = {}
    if film.images:
        images = {"columns": IMAGE_COLUMNS, "size": list(_image_size(film.images[0])), "count": len(film.images)}
    return {
        "name": film.name,
        "fps": film.fps,
        "agents": film.agents,
        "limits": film.limits,
        "parts": PARTS,
        "images": images,
        "styles": [[list(style), count] for style, count in table.styles],
        "shapes": table.columns,
        "looks": table.looks,
        "episodes": episodes,
    }


class _Table:
    """The different shapes of a film, numbered as they first come, which is how a reader meets them."""

    def __init__(self) -> None:
        self.styles: dict[tuple[Style, int], int] = {}
        self.looks: list[Any] = []
        self.columns: dict[str, list[int]] = {"styles": [], "numbers": []}
        self._shapes: dict[Shape, int] = {}
        self._guess = _Guess()

    def look(self, frame: Frame) -> int:
        look = [list(frame.scene), frame.ground, [list(entry) for entry in frame.legend]]
        if look not in self.looks:
            self.looks.append(look)
        return self.looks.index(look)

    def runs(self, shapes: Sequence[Shape]) -> list[int]:
        """Numbers of a frame's shapes as [first, how many, ...]."""
        found: list[int] = []
        self._guess.next_frame()
        for shape in shapes:
            number = self._number(shape)
            if found and number == found[-2] + found[-1]:
                found[-1] += 1
            else:
                found += [number, 1]
        return found

    def _number(self, shape: Shape) -> int:
        size = len(shape.numbers)
        style = self.styles.setdefault((shape.style, size), len(self.styles))
        guess = self._guess.of(style, size)
        self._guess.see(style, shape.numbers)
        if shape not in self._shapes:
            self._shapes[shape] = len(self._shapes)
            self.columns["styles"].append(style)
            self.columns["numbers"] += [now - then for now, then in zip(shape.numbers, guess, strict=True)]
        return self._shapes[shape]


class _Guess:
    """Where a shape lies, from the frame before: the n-th one of a style is likely to be near the n-th one there."""

    def __init__(self) -> None:
        self._before: dict[int, list[Sequence[int]]] = {}
        self._now: dict[int, list[Sequence[int]]] = {}

    def next_frame(self) -> None:
        self._before, self._now = self._now, {}

    def of(self, style: int, size: int) -> Sequence[int]:
        before, place = self._before.get(style, []), len(self._now.get(style, []))
        return before[place] if place < len(before) else before[0] if before else [0] * size

    def see(self, style: int, numbers: Sequence[int]) -> None:
        self._now.setdefault(style, []).append(numbers)


def _image_size(image: np.ndarray) -> tuple[int, int]:
    height, width = image.shape[:2]
    return IMAGE_WIDTH, round(IMAGE_WIDTH * height / width)


def _strip(images: Sequence[np.ndarray]) -> bytes:
    """All images in one, in rows of IMAGE_COLUMNS, as WebP."""
    from PIL import Image

    width, height = _image_size(images[0])
    rows = math.ceil(len(images) / IMAGE_COLUMNS)
    sheet = Image.new("RGB", (IMAGE_COLUMNS * width, rows * height))
    for i, image in enumerate(images):
        small = Image.fromarray(image).resize((width, height), Image.Resampling.LANCZOS)
        sheet.paste(small, (i % IMAGE_COLUMNS * width, i // IMAGE_COLUMNS * height))
    with io.BytesIO() as file:
        sheet.save(file, "WEBP", quality=IMAGE_QUALITY, method=6)
        return file.getvalue()


def load_film(name: str, folder: Path) -> Film:
    """Load a film saved by `save_film`."""
    data = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
    reader = _Reader(data)
    episodes = [_episode_of(data, episode, reader) for episode in data["episodes"]]
    images = _images_of(data["images"], folder / f"{name}.webp") if data["images"] else []
    return Film(data["name"], data["fps"], data["agents"], data["limits"], episodes, images)


class _Reader:
    """The other way round than `_Table`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._styles = [(tuple(style), size) for style, size in data["styles"]]
        self._columns, self._start = data["shapes"], 0
        self._shapes: list[tuple[int, Shape]] = []
        self._guess = _Guess()

    def frame(self, runs: Sequence[int]) -> list[Shape]:
        self._guess.next_frame()
        pairs = zip(runs[::2], runs[1::2], strict=True)
        return [self._shape(number) for first, count in pairs for number in range(first, first + count)]

    def _shape(self, number: int) -> Shape:
        if number == len(self._shapes):
            index = self._columns["styles"][number]
            style, size = self._styles[index]
            change = self._columns["numbers"][self._start : self._start + size]
            self._start += size
            guess = self._guess.of(index, size)
            shape = Shape(style, tuple(then + by for then, by in zip(guess, change, strict=True)))
            self._shapes.append((index, shape))
        index, shape = self._shapes[number]
        self._guess.see(index, shape.numbers)
        return shape


def _episode_of(data: Mapping[str, Any], episode: Mapping[str, Any], reader: _Reader) -> Episode:
    frames = []
    columns = (episode[name] for name in ("frames", "looks", "captions", "heads", "steps"))
    for runs, look, caption, head, step in zip(*columns, strict=True):
        scene, ground, legend = data["looks"][look]
        told = Head(data["name"], f"step {step}", *head)
        shapes = reader.frame(runs)
        frames.append(Frame(tuple(scene), ground, shapes, told, (caption,), [tuple(entry) for entry in legend]))
    names = ("policy", "label", "every", "cut", "steps", "rewards", "terms", "costs")
    return Episode(frames=frames, **{name: episode[name] for name in names})


def _images_of(told: Mapping[str, Any], path: Path) -> list[np.ndarray]:
    from PIL import Image

    sheet = np.asarray(Image.open(path).convert("RGB"))
    (width, height), columns = told["size"], told["columns"]
    corners = [(i // columns * height, i % columns * width) for i in range(told["count"])]
    return [sheet[y : y + height, x : x + width] for y, x in corners]
