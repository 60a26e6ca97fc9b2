"""Stores of reference agents: a few are in this package, the others in the data package `rlenvs-suite-agents`.

A store is a folder with one folder per environment. In it lie an agent's two files, named after the algorithm, behind
the level where it is for one: `QuadRace-v0/hard-PPO.safetensors`; a further seed of the training is `PPO-seed-1`.
Learning curves of all seeds are `curves/hard-PPO-seed-<k>.csv` beside them. `SHA256SUMS` holds the hashes of all files
of a store, as `sha256sum -c` reads them: a wheel that was cut or mixed up shows, whatever its cards say.
"""

from __future__ import annotations

import hashlib
import importlib.util
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from rlenvs.agents.card import CARD, Card
from rlenvs.agents.writing import replace_file
from rlenvs.core.catalogue.registry import world_of
from rlenvs.core.catalogue.score_cells import cost_cells
from rlenvs.core.declare.errors import AgentFileError, NoAgentError, ParameterError
from rlenvs.core.declare.parts import Score, limits_of
from rlenvs.core.declare.setup import Setup
from rlenvs.core.declare.spec import World
from rlenvs.core.declare.user_files import read_file
from rlenvs.version import AGENTS, DISTRIBUTION

__all__ = ["reference_agents", "write_sums", "wrong_sums"]

REFERENCE = Path(__file__).with_name("reference")
CHECKOUT = Path(__file__).parents[2] / "agents" / "rlenvs_agents"  # beside this package, where it is a checkout's
PACKAGE, INSTALL = "rlenvs_agents", f"the package {AGENTS}: pip install ./agents, in a clone of the repository"
SUMS, CURVES, RUN_AGENT = "SHA256SUMS", "curves", "agent"
LARGEST_SUMS = 1 << 24  # bytes
NAME = re.compile(r"(?:(?P<level>\w+)-)?(?P<algorithm>\w+?)(?:-seed-(?P<seed>\d+))?")


class Name(NamedTuple):
    """What the name of an agent's files says; without a level they are for the defaults, without a seed they are what
    `load_agent` gives."""

    level: str | None
    algorithm: str
    seed: int | None


def parse_name(name: str) -> Name:
    """What a name says; ParameterError where it is none."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ParameterError(f"{name!r} is not an agent name; needed: [LEVEL-]ALGORITHM[-seed-K], such as hard-PPO")
    seed = found["seed"]
    return Name(found["level"], found["algorithm"], None if seed is None else int(seed))


# --- finding ----------------------------------------------------------------------------------------------------------


def stores() -> list[Path]:
    """The folders in which agents are looked for, in this order: this package's own, the checkout's, the installed
    data package."""
    found = [REFERENCE, CHECKOUT] if is_checkout() else [REFERENCE]
    spec = importlib.util.find_spec(PACKAGE)
    found += [Path(folder) for folder in (spec.submodule_search_locations if spec else None) or []]
    return found


def is_checkout() -> bool:
    """Whether this package lies beside the folder of the data package, as in the repository."""
    return (CHECKOUT.parent / "pyproject.toml").exists()


def reference_agents(world: str = "*") -> list[Path]:
    """All reference agents: their file names without extension, sorted by environment and name.

    Where two stores have an agent of the same name, it is the first one's.

    Args:
        world: "Name-v0", for those of one environment.
    """
    found: dict[tuple[str, str], Path] = {}
    for store in stores():
        for path in store.glob(f"{world}/*{CARD}"):
            found.setdefault((path.parent.name, path.stem), path.with_suffix(""))
    return [found[key] for key in sorted(found)]


def title(stem: Path) -> str:
    """How a reference agent is called: "QuadRace-v0/hard-PPO"."""
    return f"{stem.parent.name}/{stem.name}"


def read_card(stem: Path) -> Card:
    """The card of an agent, its weights unread; AgentFileError where it is none."""
    try:
        return Card.from_json(stem.with_name(stem.name + CARD).read_bytes())
    except (OSError, AgentFileError) as reason:
        raise AgentFileError(f"{title(stem)}: {reason}") from None


def rank_key(card: Card) -> tuple[float, ...]:
    """By what agents are compared, greater is better: success rate within the limits of costs, success rate, score,
    return; unmeasured ones last."""
    score = card.score
    if score is None:
        return (-1.0,)
    scale = float("-inf") if score.normalized is None else score.normalized
    return score.success_rate if card_costs(card)[2] else 0.0, score.success_rate, scale, score.mean


def card_costs(card: Card) -> tuple[str, str, bool]:
    """Of a measured agent the cost that is highest beside its limit, that limit, and whether all limits hold.

    A card of old names no costs; they are known where the world has one alone.
    """
    world, score = world_of(card.id).level(card.keywords.get("level")), card.score
    assert score is not None
    costs = score.costs
    if not costs and len(world.costs) == 1:
        costs = {name: score.cost / Setup(world, **card.keywords).agents for name in world.costs}
    return cost_cells(costs, limits_of(world.costs))


def reference_stem(id: str, level: str | None = None, algorithm: str | None = None) -> Path:
    """Where the reference agent of an environment lies.

    A level without agents takes those of the defaults. Of several algorithms it is the best one that learned by
    reinforcement, and one that imitates the expert where there is no other.

    Raises:
        UnknownNameError: no such environment or level; NoAgentError: no such agent.
    """
    name = world_of(id).level(level).name
    found = own_agent(name, level, algorithm) or own_agent(name, None, algorithm)
    if found is None:
        raise NoAgentError(_no_agent(name, algorithm, [stem.name for stem in reference_agents(name)]))
    return found


def own_agent(world: str, level: str | None = None, algorithm: str | None = None) -> Path | None:
    """As `reference_stem`, for just this level (None: the defaults); None where there is no such agent.

    Args:
        world: "Name-v0".
    """
    there = [(stem, parse_name(stem.name)) for stem in reference_agents(world)]
    own = [
        stem
        for stem, name in there
        if name.level == level and name.seed is None and algorithm in (None, name.algorithm)
    ]
    return own[0] if len(own) == 1 else max(own, key=lambda stem: _rank(read_card(stem)), default=None)


def references_of(world: World, level: str | None = None) -> Mapping[str, Score]:
    """The scores of the random policy, of doing nothing, of the expert and the bound, as far as they are known.

    Those that are declared, as the environment's page shows them; of a level without any those that the card of its
    agent holds, of the agent's seeds.
    """
    declared = world.level(level).scores
    if declared or level is None:
        return declared
    stem = own_agent(world.name, level)
    score = read_card(stem).score if stem else None
    if score is None:
        return {}
    measured = {
        "random": (score.random, None),
        "idle": (score.idle, None),
        "expert": (score.expert, score.expert_success),
    }
    return {name: Score(mean, math.nan, success=rate) for name, (mean, rate) in measured.items() if mean is not None}


def _rank(card: Card) -> tuple[bool, tuple[float, ...]]:
    return not card.imitates, rank_key(card)


def _no_agent(name: str, algorithm: str | None, others: list[str]) -> str:
    if algorithm is not None and others:
        text = f"there is no reference agent of {algorithm!r} for {name}; there are: {', '.join(others)}"
        return text if len(stores()) > 1 else f"{text}; more come with: {INSTALL}"
    if len(stores()) > 1:
        return f"there is no reference agent for {name} yet; train one with: rlenvs train {name}"
    return (
        f"there is no reference agent for {name} in this installation. Install all reference agents with {INSTALL}, "
        f"or train one with: rlenvs train {name}"
    )


def training_seeds(stem: Path) -> set[int]:
    """The seeds that were trained as an agent was: its card's, and those whose curves or weights lie beside it."""
    further = [path.stem for path in stem.parent.glob(f"{stem.name}-seed-*{CARD}")]
    further += [path.stem for path in (stem.parent / CURVES).glob(f"{stem.name}-seed-*.csv")]
    return {*read_card(stem).seeds, *(seed for name in further if (seed := parse_name(name).seed) is not None)}


# --- hashes -----------------------------------------------------------------------------------------------------------


def write_sums(store: Path) -> Path:
    """Write the hashes of all files in a store; returns the path of the list."""
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name}\n" for name, path in _files(store).items()]
    replace_file(store / SUMS, [line.encode() for line in lines])
    return store / SUMS


def wrong_sums(store: Path) -> list[str]:
    """Files that do not match the hashes of a store: "NAME was changed", "is missing" or "is not listed"."""
    listed, there = _sums(store), _files(store)
    wrong = [f"{name} is not listed" for name in there if name not in listed]
    for name, wanted in listed.items():
        if name not in there:
            wrong.append(f"{name} is missing")
        elif hashlib.sha256(there[name].read_bytes()).hexdigest() != wanted:
            wrong.append(f"{name} was changed")
    return wrong


def check_sum(path: Path, data: bytes) -> None:
    """AgentFileError where a file of a store is not what the store's list of hashes says."""
    place = path.resolve()
    for store in stores():
        if len(place.parents) > 1 and place.parents[1] == store.resolve():
            wanted = _sums(store).get(f"{place.parent.name}/{place.name}")
            if wanted not in (None, hashlib.sha256(data).hexdigest()):
                raise AgentFileError(f"{path.name} is damaged: it does not match {SUMS}. {_remedy(store)}")


def _remedy(store: Path) -> str:
    if store == CHECKOUT or (store == REFERENCE and is_checkout()):
        return "Restore it from git, or after your own change run: python benchmarks/make_agents.py --sums"
    return f"Reinstall: pip install --force-reinstall --no-deps {DISTRIBUTION if store == REFERENCE else AGENTS}"


def _files(store: Path) -> dict[str, Path]:
    """All files of a store but the list itself, by their names in it; those that are just being written are hidden."""
    paths = [path for path in sorted(store.rglob("*")) if not path.name.startswith(".") and path.suffix != ".pyc"]
    found = {path.relative_to(store).as_posix(): path for path in paths if path.is_file()}
    return {name: path for name, path in found.items() if name != SUMS}


def _sums(store: Path) -> dict[str, str]:
    """The hashes that a store's list holds; empty where it has none."""
    try:
        lines = read_file(store / SUMS, LARGEST_SUMS).decode().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise AgentFileError(f"{store / SUMS} cannot be read: {error}") from None
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def file_name(level: str | None, algorithm: str, seed: int | None = None) -> str:
    """The name of an agent's files, or with a seed of a curve, without ending: what `parse_name` reads."""
    parts: Iterable[str | None] = (level, algorithm, None if seed is None else f"seed-{seed}")
    return "-".join(part for part in parts if part is not None)
