"""What the site has beside the Markdown of the repository: films, facts, gallery, families, reference."""

from __future__ import annotations

import functools
import html
import inspect
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path

from live import FOLDER
from parts import raw, search_form, select
from references import linked, references
from score_table import score_page
from search_words import words

import rlenvs
import rlenvs.wrappers
from rlenvs.agents.curves import mean_curves
from rlenvs.agents.film import load_film
from rlenvs.agents.learning import all_curves, steps_text, steps_to
from rlenvs.agents.store import read_card, reference_agents
from rlenvs.core.catalogue.docs import Family, counts, families, shape_text, space_text, summary
from rlenvs.core.catalogue.registry import NAMESPACE, world_of
from rlenvs.core.declare.canvas import HEAD, Canvas
from rlenvs.core.declare.parts import limits_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.core.forms.recorder import paint
from rlenvs.wrappers.wrapper import Wrapper

DOCS = Path(__file__).resolve().parent.parent
FILMS = DOCS / "films"
STILL_WIDTH, STILL_PLACE = 320, 0.4  # of a gallery's image; how far into the episode it is
SHARE = 0.9  # of the expert's score, from which on an environment counts as learnt
SOON = 200_000  # steps: what is learnt within them is quickly learnt
FRONT = (
    "QuadRace-v0",
    "PandaPickAndPlace-v0",
    "Battle-v0",
    "MicroRacer-v0",
    "ParticleTag-v0",
    "MiniGridDoorKey8x8-v0",
    "Generals-v0",
    "SafePointGoal-v0",
)


@functools.cache
def films() -> list[str]:
    """The names of the environments that have a film."""
    return sorted(path.name.partition(".")[0] for path in FILMS.glob("*.json.gz"))


@dataclass(frozen=True)
class Facts:
    """What the gallery filters by, and a page begins with."""

    name: str
    family: str
    task: str
    action: str
    space: str
    observation: str
    agents: int
    tags: tuple[str, ...]
    learnt: str
    difficulty: str


@functools.cache
def all_facts() -> dict[str, Facts]:
    """The facts of all documented worlds by name."""
    return {
        name: _facts(world_of(name), family.title, row.tags)
        for family in families()
        for row, name in zip(family.entries, names_of(family), strict=True)
    }


def _facts(world: World, family: str, tags: tuple[str, ...]) -> Facts:
    setup = Setup(world)
    kind = "continuous" if setup.continuous else "discrete" if setup.action_kind != "multi" else "several choices"
    agents = setup.agents if world.agents else 1
    learnt = [card.algorithm for card in map(read_card, reference_agents(world.name)) if not card.imitates]
    return Facts(
        world.name,
        family,
        summary(world.doc),
        kind,
        space_text(setup),
        shape_text(setup),
        agents,
        tags,
        ", ".join(dict.fromkeys(learnt)),
        _difficulty(world),
    )


def _difficulty(world: World) -> str:
    """How hard it has been to learn: from the shipped curves, against the expert."""
    reached = [steps for _, steps in _reached(world)]
    if not all_curves(world).get(None) or not {"random", "expert"} <= set(world.scores):
        return "not measured"
    return "open" if not reached else "quick" if min(reached) <= SOON else "long"


def _reached(world: World) -> list[tuple[str, float]]:
    """Of every algorithm that reached 0.9 of the expert's score: its name, and after how many steps."""
    if not {"random", "expert"} <= set(world.scores):
        return []
    ends = world.scores["random"].mean, world.scores["expert"].mean
    if ends[0] == ends[1]:
        return []
    means = mean_curves(all_curves(world).get(None, []))
    found = [(mean.algorithm, steps_to(mean, SHARE, *ends)) for mean in means]
    return [(name, steps[0]) for name, steps in found if steps is not None]


# --- the page of an environment ---------------------------------------------------------------------------------------


def environment(name: str, text: str, live: bool = False) -> str:
    """The page of an environment: on top how to make it, its film and facts; at the end how to use and cite it. A live
    one is played in its page."""
    world, (title, task, ids, rest) = world_of(name), text.split("\n\n", 3)
    if world.source:
        ids = ids.replace(world.source, linked(world.source))
    parts = [title, siblings(name), task, making(world), film(name, live), facts_table(name), ids, rest.rstrip()]
    return "\n\n".join([*parts, use(world), *measured(name), citation(world)]) + "\n"


def siblings(name: str) -> str:
    """The family of an environment, and those before and after it there."""
    family = next(family for family in families() if name in names_of(family))
    names = names_of(family)
    place, home = names.index(name), f"../families/{family.title.lower()}.html"
    links = [f'<a href="{home}">{family.title}</a> <span>{place + 1} of {len(names)}</span>']
    if place > 0:
        links.append(f'<a href="{names[place - 1]}.html" rel="prev">← {names[place - 1]}</a>')
    if place + 1 < len(names):
        links.append(f'<a href="{names[place + 1]}.html" rel="next">{names[place + 1]} →</a>')
    return raw(f'<nav class="siblings" aria-label="Family">{"".join(links)}</nav>')


def names_of(family: Family) -> list[str]:
    """The names of a family's environments."""
    return [row.id.removeprefix(f"{NAMESPACE}/") for row in family.entries]


def making(world: World) -> str:
    """The lines that make an environment."""
    lines = ["import gymnasium", "import rlenvs", "", f'env = gymnasium.make("{NAMESPACE}/{world.name}")']
    if has_team(world):
        lines[-1] += "  # the first agent; the scripted expert plays the others"
        lines.append(f'env = rlenvs.parallel_env("{world.name}")  # all agents: PettingZoo')
    return "\n".join(["```python", *lines, "```"])


def has_team(world: World) -> bool:
    """Whether there are several agents by default."""
    return world.agents and Setup(world).agents > 1


def film(name: str, live: bool) -> str:
    """The player of an environment's film, around it what plays it live; nothing where there is neither."""
    player = ""
    if name in films():
        still = f'<img src="../_static/stills/{name}.webp" alt="{name}" width="{STILL_WIDTH}">'
        player = (
            f'<div class="film" data-film="{name}" data-src="../_static/films/{name}.js">'
            f'<p class="film-wait">{still}</p><noscript>The film needs JavaScript.</noscript></div>'
        )
    if live:
        player = f'<div class="live" data-world="../{FOLDER}/{name}/world.json">{player}</div>'
    return raw(player) if player else ""


def facts_table(name: str) -> str:
    """The facts at a glance."""
    facts, world = all_facts()[name], world_of(name)
    setup = Setup(world)
    reached = min(_reached(world), key=lambda pair: pair[1], default=None)
    rows = {
        "Action": facts.space,
        "Observation": facts.observation,
        "Agents": facts.agents,
        "Steps": f"at most {setup.horizon}",
        "Reward terms": len(world.terms),
        "Costs": len(limits_of(world.costs)) or "none",
        "Levels": ", ".join(world.levels) or "none",
        "Learnt by": facts.learnt or "none yet",
        "0.9 of the expert": f"{steps_text(reached[1])} steps ({reached[0]})" if reached else "",
    }
    cells = "".join(
        f"<div><dt>{key}</dt><dd>{html.escape(str(value))}</dd></div>" for key, value in rows.items() if value
    )
    return raw(f'<dl class="facts">{cells}</dl>')


def use(world: World) -> str:
    """How to make, play, train and watch it."""
    name = world.name
    python = f'import gymnasium\nimport rlenvs\n\nenv = gymnasium.make("{NAMESPACE}/{name}", render_mode="rgb_array")'
    many = f'envs = rlenvs.make_vec("{name}", 1024)'
    if has_team(world):
        many = f'team = rlenvs.parallel_env("{name}")\n{many}'
    extra = '\n# needs: pip install ".[compile,mujoco]"' if world.engine else ""
    shell = [f"rlenvs train {name}", f"rlenvs eval {name}", f"rlenvs watch {name}", f"rlenvs bench {name}"]
    return "\n".join(
        [
            "## Train and watch",
            "",
            "::::{tab-set}",
            ":::{tab-item} Python",
            "```python",
            python + extra,
            "observation, info = env.reset(seed=0)",
            many,
            "```",
            ":::",
            ":::{tab-item} Terminal",
            "```sh",
            *shell,
            "```",
            ":::",
            "::::",
        ]
    )


def measured(name: str) -> list[str]:
    """The rows of the benchmarks' tables that are about an environment."""
    parts = []
    for path in sorted((DOCS.parent / "benchmarks").glob("*.md")):
        if path.stem not in ("results", "arms", "multi", "classic", "memory", "puzzles", "exploration"):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for head, rows in _tables(lines):
            own = [row for row in rows if row.startswith(f"| {name} |")]
            if own and "ours" in head[0]:
                told = (
                    f"Steps per second, from [{path.stem}](../../benchmarks/{path.name}), which says on what machine:"
                )
                rows = [line[line.index("|", 1) :] for line in (*head, *own)]  # without the column of names
                parts.append("\n".join([told, "", *rows]))
    return ["## Speed", *parts] if parts else []


def _tables(lines: list[str]) -> list[tuple[list[str], list[str]]]:
    """The head and the rows of every table."""
    found: list[tuple[list[str], list[str]]] = []
    for i, line in enumerate(lines):
        if re.match(r"\|[ -|]*---", line):
            rows = []
            for row in lines[i + 1 :]:
                if not row.startswith("|"):
                    break
                rows.append(row)
            found.append(([lines[i - 1], line], rows))
    return found


def citation(world: World) -> str:
    """BibTeX of this package and of what the declaration names as its source, with the facts that stand there alone."""
    entries = [
        f"@software{{rlenvs,\n  title = {{rlenvs: reinforcement-learning environments}},\n"
        f"  author = {{{{The rlenvs developers}}}},\n  version = {{{rlenvs.__version__}}},\n"
        f"  note = {{Environment {world.name}}}\n}}"
    ]
    for i, source in enumerate(references(world.source)):
        entries.append(bibtex(f"{world.name.partition('-')[0].lower()}-{i + 1}", source))
    text = "\n\n".join(entries)
    return f"## Citation\n\nThis package, and what the environment follows:\n\n```bibtex\n{text}\n```"


def bibtex(key: str, source: str) -> str:
    """One source as an entry: what it says, its arXiv number and its year where they stand in it."""
    fields = {"note": source}
    if number := re.search(r"arXiv (\d{4}\.\d{4,5})", source):
        fields |= {"eprint": number[1], "archivePrefix": "arXiv"}
    years = re.findall(r"\b(?:18|19|20)\d\d\b(?!\.)", source)
    if years:
        fields["year"] = years[-1]
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}\n}}"


# --- stills -----------------------------------------------------------------------------------------------------------


def still(name: str, store: Path) -> bytes:
    """A small WebP of an environment from its film; kept in a folder until the film changes."""
    film, kept = FILMS / f"{name}.json.gz", store / f"{name}.webp"
    if not kept.exists() or kept.stat().st_mtime < film.stat().st_mtime:
        store.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(_draw_still(name))
    return kept.read_bytes()


def _draw_still(name: str) -> bytes:
    from PIL import Image

    film = load_film(name, FILMS)
    episode = {each.policy: each for each in film.episodes}
    frames = next(episode[who] for who in ("agent", "expert", "random") if who in episode).frames
    frame, canvas = frames[round(STILL_PLACE * (len(frames) - 1))], Canvas()
    paint(frame, canvas, film.images)
    width, height = frame.scene
    image = Image.fromarray(canvas.pixels()[HEAD : HEAD + height, :width])
    image = image.resize((STILL_WIDTH, round(STILL_WIDTH * height / width)), Image.Resampling.LANCZOS)
    with io.BytesIO() as file:
        image.save(file, "WEBP", quality=80, method=6)
        return file.getvalue()


# --- pages of many environments ---------------------------------------------------------------------------------------


def generated() -> dict[str, str]:
    """Pages without a file in the repository, by their names."""
    own = {f"families/{family.title.lower()}.md": family_page(family) for family in families()}
    return {"gallery.md": gallery(), "families/index.md": family_index(), "api.md": api(), **own}


def family_page(family: Family) -> str:
    """Cards of a family, and its entries for the side bar."""
    names = names_of(family)
    cards = raw(f'<div class="cards">{"".join(card(all_facts()[name], "../") for name in names)}</div>')
    entries = "\n".join(f"{name} <../environments/{name}>" for name in names)
    files = (DOCS / f"{family.title.lower()}{ending}.md" for ending in ("", "s"))
    guide = "".join(f" There is a [guide](../{path.name})." for path in files if path.exists())
    return f"# {family.title}\n\n{family.about}.{guide}\n\n{cards}\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def family_index() -> str:
    """The families, for the side bar."""
    lines = [
        f"- [{family.title}]({family.title.lower()}.md) ({len(family.entries)}): {family.about}"
        for family in families()
    ]
    entries = "\n".join(family.title.lower() for family in families())
    head = "# Environments\n\nBy family. The [gallery](../gallery.md) has them all on one page, and the "
    head += "[table](../environments/index.md) their spaces."
    return f"{head}\n\n" + "\n".join(lines) + f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def card(facts: Facts, root: str = "") -> str:
    """An environment in the gallery: its still, name, task and labels; what the filter asks for stands in data."""
    labels = [
        facts.action,
        f"{facts.agents} agents" if facts.agents > 1 else "",
        "costs" if "constrained" in facts.tags else "",
    ]
    labels.append("learnt" if facts.learnt else "")
    data = {
        "name": facts.name,
        "family": facts.family,
        "action": facts.action,
        "agents": "several" if facts.agents > 1 else "one",
        "tags": "|".join(facts.tags),
        "learnt": "yes" if facts.learnt else "no",
        "difficulty": facts.difficulty,
        "src": f"{root}_static/films/{facts.name}.js" if facts.name in films() else "",
    }
    attributes = " ".join(f'data-{key}="{html.escape(value)}"' for key, value in data.items())
    image = f'<img src="{root}_static/stills/{facts.name}.webp" alt="" loading="lazy" width="320" height="293">'
    picture = f'<span class="card-picture">{image if facts.name in films() else ""}</span>'
    broken = re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", facts.name)  # where a long name may go on in the next line
    pills = "".join(f"<span>{label}</span>" for label in labels if label)
    return (
        f'<a class="card" href="{root}environments/{facts.name}.html" {attributes}>{picture}'
        f'<strong>{broken}</strong><span class="card-task">{html.escape(facts.task)}</span>'
        f'<span class="card-labels">{pills}</span></a>'
    )


FILTERS = {
    "action": ("Action", {"continuous": "continuous", "discrete": "discrete", "several choices": "several choices"}),
    "agents": ("Agents", {"one": "one", "several": "several"}),
    "tags": ("Kind", {"robotics": "robotics", "constrained": "with costs", "multi-objective": "multi-objective"}),
    "learnt": ("Learnt by RL", {"yes": "an agent ships", "no": "not yet"}),
    "difficulty": (
        "Difficulty",
        {
            "quick": "0.9 of the expert within 200 k steps",
            "long": "with more",
            "open": "not reached",
            "not measured": "not measured",
        },
    ),
}


def gallery() -> str:
    """All environments as cards, with what to filter them by."""
    facts = all_facts().values()
    kinds = {"family": ("Family", {family.title: family.title for family in families()}), **FILTERS}
    selects = "".join(select(key, label, choices) for key, (label, choices) in kinds.items())
    cards = "".join(card(each) for each in facts)
    text = "Every environment, played by its reference agent or scripted expert. A card plays while the pointer or the "
    text += "focus is on it; its page has the whole film, state by state."
    script = '<script src="_static/environments.js"></script>'
    form = search_form("gallery-filters", selects)
    body = raw(f'{script}{form}<div class="cards" id="gallery-cards">{cards}</div>')
    return f"---\nhide-toc: true\n---\n# Gallery\n\n{text}\n\n{body}\n"


def environments_script() -> str:
    """What the gallery and the table of scores search in, as a script that a page can read without a server."""
    found = {
        facts.name: {"family": facts.family, "tags": facts.tags, "words": words(world_of(facts.name))}
        for facts in all_facts().values()
    }
    return f"const rlenvsEnvironments = {json.dumps(found, ensure_ascii=False, separators=(',', ':'))};\n"


def scores(text: str) -> str:
    """The page of scores."""
    return score_page(text, [family.title for family in families()])


def front(text: str) -> str:
    """The first page: its Markdown with numbers and cards filled in."""
    chosen = [all_facts()[name] for name in FRONT if name in all_facts()]
    filled = {
        **counts(),
        "cards": raw(f'<div class="cards cards-front">{"".join(map(card, chosen))}</div>'),
    }
    for name, value in filled.items():
        text = text.replace(f"{{{{{name}}}}}", str(value))
    return text


# --- the reference ----------------------------------------------------------------------------------------------------


def api() -> str:
    """Functions and classes of the public packages with their whole doc strings."""
    parts = ["# API", API]
    for package in (rlenvs, rlenvs.wrappers):
        names = [name for name in package.__all__ if package is rlenvs or name not in rlenvs.__all__]
        parts += [f"## {package.__name__}", *(_entry(package, name) for name in sorted(names, key=str.lower))]
    return "\n\n".join(parts) + "\n"


API = """The names of `rlenvs` and `rlenvs.wrappers`. [All public names](reference.md), those of other modules included,
are listed with their first words; environments have [pages of their own](families/index.md)."""


def _entry(package: object, name: str) -> str:
    found = getattr(package, name)
    kind = "autoclass" if inspect.isclass(found) else "autofunction" if callable(found) else "autodata"
    hooks = ""
    if inspect.isclass(found) and issubclass(found, Wrapper) and found is not Wrapper:  # told once, of the base
        hooks = f"\n   :exclude-members: {', '.join(vars(Wrapper))}"
    return f"```{{eval-rst}}\n.. {kind}:: {package.__name__}.{name}{hooks}\n```"
