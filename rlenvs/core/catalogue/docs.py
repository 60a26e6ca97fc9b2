"""The page of a world: the prose of its docstring merged with tables made from its declaration.

What can be computed is never written by hand, so a page cannot contradict the code.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

from rlenvs.core.catalogue.dimensions import dimension_rows, space_text
from rlenvs.core.catalogue.markdown import markdown_table
from rlenvs.core.catalogue.member_pages import beside_kind, kind_with_page
from rlenvs.core.catalogue.originals import original_tables
from rlenvs.core.catalogue.registry import NAMESPACE, Entry, catalogue, world_of
from rlenvs.core.catalogue.score_cells import COST, cost_cells, success_cell
from rlenvs.core.declare.declared_spaces import Published
from rlenvs.core.declare.options import Choice, Flag, Integer, Option
from rlenvs.core.declare.parts import Term, limits_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World

LEARNT, MOST_ROWS = "Learnt agents: [scores](../scores.md).", 52  # of a table of actions; more are told in one
OWN = ("Action Space", "Observation Space", "Reference Scores")  # sections that a member's page has whole
GUIDE = re.compile(r"(?<![\w/.])docs/(\w+\.md)")
NO_COST = "It is always 0 with the options of this environment."
HEADINGS = (
    "Description",
    "Action Space",
    "Observation Space",
    "Rewards",
    "Costs",
    "Starting State",
    "Episode End",
    "Parameters",
    "Reference Scores",
    "Version History",
)


def sections(doc: str) -> dict[str, str]:
    """The text under each "## Heading" of a docstring, in order; what stands before the first one is under ""."""
    found: dict[str, list[str]] = {"": []}
    current = ""
    for line in doc.splitlines():
        if line.startswith("## "):
            current = line[3:].strip()
            found[current] = []
        else:
            found[current].append(line)
    return {heading: "\n".join(lines).strip() for heading, lines in found.items()}


def summary(doc: str) -> str:
    """The first line of a docstring, without the full stop."""
    return doc.strip().partition("\n")[0].strip().rstrip(".")


def sentence(doc: str) -> str:
    """The first line of a docstring, with a full stop, a question mark or an exclamation mark."""
    text = summary(doc)
    return text if text.endswith(("?", "!")) else f"{text}."


def check_headings(doc: str) -> list[str]:
    """What is wrong with the headings of a world's docstring; empty when nothing is.

    It needs a first line, then exactly the HEADINGS in their order, each with a text under it.
    """
    found = sections(doc)
    written = [line[3:].strip() for line in doc.splitlines() if line.startswith("## ")]
    complaints = (
        [] if summary(doc) and not doc.strip().startswith("#") else ["the first line has to say what the world is"]
    )
    complaints += [f"the heading {name!r} is missing" for name in HEADINGS if name not in found]
    complaints += [
        f"the heading {name!r} is unknown; allowed: {', '.join(HEADINGS)}" for name in written if name not in HEADINGS
    ]
    complaints += [f"the heading {name!r} comes twice" for name in dict.fromkeys(written) if written.count(name) > 1]
    complaints += [f"nothing stands under {name!r}" for name in HEADINGS if name in found and not found[name]]
    known = [name for name in written if name in HEADINGS]
    if not complaints and known != list(HEADINGS):
        complaints.append(f"the headings are in the order {', '.join(known)}; wanted: {', '.join(HEADINGS)}")
    return complaints


# --- the page ---------------------------------------------------------------------------------------------------------


def page(world: World, learning: str = "", whole: bool = True) -> str:
    """The world's page as Markdown: title, ids, and the ten sections with prose and tables.

    Args:
        world: what the page is of.
        learning: what there is to say of learnt agents; it ends the reference scores.
        whole: whether a member's page repeats what the page of its kind says. Its spaces and scores are always there.
    """
    kind = None if whole else kind_with_page(world)
    parts = [f"# {world.name}", sentence(world.doc), _ids(world)]
    for heading in HEADINGS:
        text = _section(world, heading)
        if kind and heading not in OWN:
            text = beside_kind(text, _section(kind, heading), kind.name, heading)
        ending = learning or LEARNT * bool(world.scores) if heading == "Reference Scores" else ""
        parts += [f"## {heading}", text, *[ending] * bool(ending)]
    return GUIDE.sub(r"[\g<0>](../\1)", "\n\n".join(parts)) + "\n"


def _section(world: World, heading: str) -> str:
    texts = [sections(world.doc).get(heading, ""), *(TABLES[heading](world) if heading in TABLES else [])]
    return "\n\n".join(text for text in texts if text)


def _ids(world: World) -> str:
    rows = [
        row for row in catalogue.values() if row.id in (f"{NAMESPACE}/{world.name}", f"{NAMESPACE}/mo-{world.name}")
    ]
    if not rows:
        return f"World `{world.name}`, not registered."
    ids = " and ".join(f"`{row.id}`" for row in rows)
    told = [f"Ids: {ids}.", f"Tags: {', '.join(rows[0].tags)}."]
    if world.source:
        told.append(f"Source: {world.source}.")
    told.append(f"Episodes are truncated after {Setup(world).horizon} steps.")
    return " ".join([*told, *_sight_of_expert(world)])


def _sight_of_expert(world: World) -> list[str]:
    if not world.has_expert:
        return []
    state = world.expert_sees == "state"
    return [f"The expert sees: the {'state, more than a learner' if state else 'observation'}."]


def _action_tables(world: World) -> list[str]:
    """The action of the defaults, and of every value of an option that makes it another one."""
    setup = Setup(world)
    parts = [_action_table(setup)]
    for name, option in world.options.items():
        if not isinstance(option, Choice):
            continue
        for value in option.values[1:]:
            chosen: dict[str, Any] = {name: value}
            other = Setup(world, **chosen)
            if (other.action, other.choices, other.action_size) != (setup.action, setup.choices, setup.action_size):
                parts += [f'With `{name}="{value}"`:', _action_table(other)]
                parts += _scaled_action_table(other, chosen)
    return [parts[0], *_scaled_action_table(setup, {}), *parts[1:]]


def _scaled_action_table(setup: Setup, chosen: Mapping[str, Any]) -> list[str]:
    """The action of the scaled form, where it is another one."""
    if setup.in_scaled_form:
        return []
    other = Setup(setup.world, **chosen, scaled=True)
    if other.action_space == setup.action_space:
        return []
    text = ", ".join(f'`{name}="{value}"`' for name, value in chosen.items())
    return [f"With {text + ' and ' if text else ''}`scaled=True`:", _action_table(other)]


def _action_table(setup: Setup) -> str:
    each = " for each agent" if setup.world.agents else ""
    if setup.action_kind == "multi":
        table = markdown_table(("Dimension", "Name", "Choices"), dimension_rows(setup))
        return f"`{space_text(setup)}`{each}: {setup.action.doc or 'choices made together'}.\n\n{table}"
    rows: list[tuple[Any, str]] = list(enumerate(labels := setup.action.labels))
    if not 0 < len(labels) <= MOST_ROWS:
        some = f": {labels[0]}, {labels[1]}, ..., {labels[-1]}" if labels else ""
        rows = [(f"0 ... {setup.action_size - 1}", f"{setup.action.doc}{some}".removeprefix(": "))]
    if setup.continuous:
        ends = [f"[{low:g}, {high:g}]" for low, high in setup.action_scaling[2:].T]
        ranges = [(*row, end) for row, end in zip(rows, ends, strict=False)]
        table = markdown_table(("Index", "Action", "Range"), ranges)
    else:
        table = markdown_table(("Choice", "Action"), rows)
    return f"`{space_text(setup)}`{each}.\n\n{table}"


def _observation_tables(world: World) -> list[str]:
    setup = Setup(world)
    each = ", for each agent" if world.agents else ""
    if not world.observation:
        return _image_tables(setup, each)
    lines, start = [], 0
    for name, part in world.observation.items():
        shape = tuple(setup.sizes[d] if isinstance(d, str) else d for d in part.shape)
        count = int(np.prod(shape, dtype=int))
        place = f"{start} ... {start + count - 1}" if count > 1 else str(start) if count else "none by default"
        if len(world.observation) == 1 and len(shape) > 1:
            place = "all"
        unit = f" {part.unit}" if part.unit else ""
        scale = "unscaled" if part.raw else "[-1, 1]"
        low, high = part.bounds(setup.values, tuple(max(size, 1) for size in shape))
        lines.append((place, f"`{name}`", f"[{low.min():.4g}, {high.max():.4g}]{unit}", scale, part.doc))
        start += count
    head = f"`Box`, float32, shape {setup.observation_shape}{each}. Values outside a range are clipped to it."
    scaled = "Scaled to"
    if world.published is not None:
        head, scaled = _published_note(setup, world.published, each), "With `scaled=True`"
    if isinstance(setup.observation_space, spaces.Discrete):
        head = f"`{setup.observation_space}`{each}."
    table = markdown_table(("Index", "Name", "Physical range", scaled, "Meaning"), lines)
    if setup.alone:
        return [*_image_tables(setup, each), "Other forms have numbers:", table]
    return [head, table, *_goal_note(world), *_tables_of_images(world)]


def _published_note(setup: Setup, published: Published, each: str) -> str:
    """What the default spaces are, and what the scaled form is."""
    space: Any = setup.observation_space
    low, high = space.low.reshape(-1), space.high.reshape(-1)
    ends = f"from {low[0]:g} to {high[0]:g}"
    if len({*low.tolist()}) > 1 or len({*high.tolist()}) > 1:
        ends = "from " + ", ".join(f"{number:g}" for number in low) + " to " + ", ".join(f"{n:g}" for n in high)
    units = "units, clipped to it (the original's observations leave it)" if published.clipped else "units"
    return (
        f"`Box`, {space.dtype}, {ends}, shape {setup.observation_shape}{each}: the space of {published.id}, in its "
        f"{units}. `scaled=True` gives the form of this package's own worlds: float32, clipped to the ranges below."
    )


def _image_tables(setup: Setup, each: str) -> list[str]:
    """Of observations without numbers."""
    lines = [(f"`{name}`", str(setup.image_shapes[name]), setup.world.images[name].doc) for name in setup.image_shapes]
    head = f"`Box`, uint8, 0 to 255{each}: one image."
    head = head if setup.alone else f"`Dict` of images, uint8, 0 to 255{each}."
    return [head, markdown_table(("Name", "Shape", "Meaning"), lines)]


def _goal_note(world: World) -> list[str]:
    if not world.goal:
        return []
    achieved, desired = world.goal
    return [
        f'With `form="goal"` an observation is a dictionary of "observation" (the rows above without the last two), '
        f'"achieved_goal" (`{achieved}`) and "desired_goal" (`{desired}`), and '
        "`compute_reward(achieved_goal, desired_goal, info)` gives the reward of one pair of goals or of many."
    ]


def _tables_of_images(world: World) -> list[str]:
    if not world.images:
        return []
    lines = [(f"`{name}`", part.doc) for name, part in world.images.items()]
    head = 'With images, observations are dictionaries of "state" (the vector above) and uint8 arrays:'
    return [head, markdown_table(("Name", "Meaning"), lines)]


def _reward_tables(world: World) -> list[str]:
    parts = [_table_of_terms(world.terms)]
    for name in world.levels:
        terms = world.level(name).terms
        if terms is not world.terms:
            parts += [f"At the level `{name}`:", _table_of_terms(terms)]
    return parts


def _table_of_terms(terms: Mapping[str, Term]) -> str:
    lines = [(f"`{name}`", f"{t.weight:g}", f"[{t.low:g}, {t.high:g}]", t.doc) for name, t in terms.items()]
    return markdown_table(("Term", "Weight", "Bounds", "Meaning"), lines)


def _cost_tables(world: World) -> list[str]:
    costs = {name: each for name, each in world.costs.items() if each.occurs}
    if not costs:
        return [NO_COST] if world.costs else []
    lines = [(f"`{name}`", f"{c.limit:g}", f"{c.high:g}", c.doc) for name, c in costs.items()]
    together = "largest" if world.combine_costs == "max" else "sum"
    head = ("Cost", "Limit per episode", "Highest per step", "Meaning")
    return [markdown_table(head, lines), f'`info["cost"]` is their {together}.']


def _parameter_tables(world: World) -> list[str]:
    parts = []
    if world.params:
        lines = [
            (f"`{name}`", f"{p.default:g}", f"[{p.low:g}, {p.high:g}]", p.unit, p.doc)
            for name, p in world.params.items()
        ]
        parts.append(markdown_table(("Parameter", "Default", "Range", "Unit", "Meaning"), lines))
    parts += [f"{_listed(rule.names)}: {rule.doc}." for rule in world.constraints]
    if world.options:
        rows = [(f"`{name}`", f"`{o.default!r}`", _values(o), o.doc) for name, o in world.options.items()]
        parts.append(markdown_table(("Option", "Default", "Values", "Meaning"), rows))
        parts += [_preset_table(name, o) for name, o in world.options.items() if isinstance(o, Choice) and o.sets]
    if world.levels:
        levels = [(f"`{level}`", _changes(changes) or "the defaults") for level, changes in world.levels.items()]
        parts.append(markdown_table(("Level", "Sets"), levels))
    return parts + original_tables(world)


def _changes(changes: Mapping[str, Any]) -> str:
    """What a level changes: values as they are, parts of the declaration by name."""
    plain = (bool, int, float, str, list, tuple)
    shown = {name: value for name, value in changes.items() if name != "scores"}
    parts = [f"`{name}={value!r}`" if isinstance(value, plain) else f"other {name}" for name, value in shown.items()]
    return ", ".join(parts)


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names]
    return f"{', '.join(quoted[:-1])} and {quoted[-1]}" if len(quoted) > 1 else quoted[0]


def _preset_table(name: str, option: Choice) -> str:
    lines = [
        (f"`{value!r}`", ", ".join(f"`{key}={number:.5g}`" for key, number in option.sets.get(value, {}).items()))
        for value in option.values
    ]
    return markdown_table((f"`{name}`", "Sets, unless given"), lines)


def _values(option: Option) -> str:
    if isinstance(option, Choice):
        return ", ".join(f"`{value!r}`" for value in option.values)
    if isinstance(option, Integer):
        return f"[{option.low}, {option.high}]"
    return "`True`, `False`" if isinstance(option, Flag) else "see the text"


def _score_tables(world: World) -> list[str]:
    at_levels = {name: world.level(name) for name in world.levels}
    parts = [
        part for name, each in at_levels.items() if each.scores for part in (f'Level "{name}":', _score_table(each))
    ]
    if not (world.scores or parts):
        return _dataset_table(world)
    text = 'Score: 0 is the random policy, 1 the scripted expert. "idle" does nothing.'
    if any("exploit" in each.scores for each in [world, *at_levels.values()]):
        text += ' "exploit" is a script that does without the skill that the task asks for.'
    if len(set(Setup(world).teams)) > 1 and world.players:
        text += (
            f" Every seed is played once from each team against `{world.players[0]}`; returns are those of the policy's"
        )
        text += " own team, summed over these games."
    if limits_of(world.costs):
        text += f" {COST}"
    own = [_score_table(world)] if world.scores else []
    return [text, *own, *parts, *_dataset_table(world)]


def _dataset_table(world: World) -> list[str]:
    """The data sets that a world declares."""
    declared = world.functions.get("datasets")
    if declared is None:
        return []
    rows = []
    for name, recipe in declared().items():
        horizon = max(Setup(world, **each).horizon for each in recipe.places)
        episodes = recipe.total
        kept = f"{recipe.kept} steps of each of {episodes}" if recipe.kept else f"{episodes}"
        rows.append([f"`{name}`", f"{episodes * (recipe.kept or horizon)}", kept, recipe.doc])
    text = f"Data sets, made by `rlenvs dataset {world.name} --quality NAME` (`all`: each of them):"
    return [text, markdown_table(["Data set", "Steps, at most", "Episodes", "Of whom"], rows)]


def _score_table(world: World) -> str:
    random, expert = (world.scores[name].mean if name in world.scores else None for name in ("random", "expert"))
    lines = []
    for name, score in world.scores.items():
        scale = ""
        if random is not None and expert is not None and random != expert:
            scale = f"{(score.mean - random) / (expert - random):.3f}"
        worst, limit, safe = cost_cells(score.costs, limits_of(world.costs))
        success = success_cell(score.success, safe)
        lines.append((name, f"{score.mean:.4g} ± {score.half_width:.2g}", scale, success, worst, limit, score.note))
    head = ["Policy", "Mean return", "Score", "Success", "Cost", "Limit", "Note"]
    kept = [
        i
        for i, title in enumerate(head)
        if title not in ("Success", "Cost", "Limit", "Note") or any(line[i] for line in lines)
    ]
    return markdown_table([head[i] for i in kept], [[line[i] for i in kept] for line in lines])


TABLES: dict[str, Callable[[World], list[str]]] = {
    "Action Space": _action_tables,
    "Observation Space": _observation_tables,
    "Rewards": _reward_tables,
    "Costs": _cost_tables,
    "Parameters": _parameter_tables,
    "Reference Scores": _score_tables,
}


# --- the gallery ------------------------------------------------------------------------------------------------------


def documented() -> list[Entry]:
    """The entries that have a page: every registered world once, without its "mo-" form."""
    prefix = f"{NAMESPACE}/mo-"
    return [catalogue[id] for id in sorted(catalogue) if id.startswith(f"{NAMESPACE}/") and not id.startswith(prefix)]


@dataclass(frozen=True)
class Family:
    """The worlds of a folder: its name as a title, what its package says of itself, its entries."""

    title: str
    about: str
    entries: tuple[Entry, ...]


def families() -> list[Family]:
    """All documented worlds by the package of their files, in the order of the packages' names."""
    found: dict[str, list[Entry]] = {}
    for row in documented():
        found.setdefault(str(row.address).partition(":")[0].rpartition(".")[0], []).append(row)
    return [
        Family(name.rpartition(".")[2].capitalize(), _about(name), tuple(rows)) for name, rows in sorted(found.items())
    ]


def _about(package: str) -> str:
    """The first sentence of a package's docstring."""
    return " ".join((importlib.import_module(package).__doc__ or "").split()).partition(". ")[0].rstrip(".")


def families_table(guides: Iterable[str] = ()) -> str:
    """The table of families for the page of all; a file in docs/ with the name of a family is its guide (`guides`)."""
    lines = []
    for family in families():
        name = family.title.lower()
        title = f"[{family.title}](#{name})"
        guide = next((f"[guide](../{file})" for file in (f"{name}.md", f"{name}s.md") if file in guides), "")
        lines.append((title, len(family.entries), family.about, guide))
    return markdown_table(("Family", "Environments", "What they are", ""), lines)


def gallery(guides: Iterable[str] = ()) -> str:
    """The page of all environments: the families, then a table for each, whose names link to the pages beside it."""
    parts = ["# Environments", GALLERY.format_map(counts()), families_table(guides)]
    for family in families():
        parts += [f"## {family.title}", f"{family.about}.", gallery_table(family.entries)]
    return "\n\n".join(parts) + "\n"


GALLERY = """{environments} environments by family. Each name leads to its page: what it simulates and where it comes
from, spaces, reward terms, costs, parameters, levels, reference scores. {experts} have a scripted expert, {parameters}
physical parameters that can be varied, {costs} costs with limits, {vectors} several reward terms and so an id with
`mo-`, {levels} levels. "Terms" counts the named parts of the reward, "Costs" the constraint costs. `rlenvs list` and
`rlenvs info ID` show the same in a terminal; [scores](../scores.md) has the learnt agents."""


def counts() -> dict[str, int]:
    """How many environments there are, and how many of them have what not all have."""
    worlds = [world_of(row.id) for row in documented()]
    return {
        "environments": len(worlds),
        "experts": sum(world.has_expert for world in worlds),
        "parameters": sum(bool(world.params) for world in worlds),
        "costs": sum(bool(limits_of(world.costs)) for world in worlds),
        "vectors": sum(f"{NAMESPACE}/mo-{world.name}" in catalogue for world in worlds),
        "levels": sum(bool(world.levels) for world in worlds),
    }


def gallery_table(entries: Iterable[Entry]) -> str:
    """A table of environments as Markdown; names link to pages in the same folder."""
    lines = []
    for row in entries:
        world = world_of(row.id)
        setup = Setup(world)
        name = f"[{world.name}]({world.name}.md)"
        agents = setup.agents if world.agents else 1
        numbers = (agents, len(world.terms), len(limits_of(world.costs)) or "-")
        lines.append((name, ", ".join(row.tags), summary(world.doc), space_text(setup), shape_text(setup), *numbers))
    head = ("Environment", "Tags", "Task", "Action", "Observation", "Agents", "Terms", "Costs")
    return markdown_table(head, lines)


def shape_text(setup: Setup) -> str:
    """The shapes of a setup's observation, such as "15" or "9 x 9 and 64 x 64 x 3"; a Discrete space as it is."""
    if isinstance(setup.observation_space, spaces.Discrete):
        return f"Discrete({setup.observation_space.n})"
    vector = [setup.observation_shape] if setup.world.observation and not setup.alone else []
    shapes = [*vector, *setup.image_shapes.values()]
    return " and ".join(" x ".join(map(str, shape)) for shape in shapes if np.prod(shape))
