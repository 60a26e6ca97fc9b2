"""Names that were changed: each old one gives the new thing, with a warning that says so."""

import importlib
import inspect

import pytest
from toys import pursuit

import rlenvs
from rlenvs.core.batch.kernel_batch import KernelBatch
from rlenvs.core.catalogue.make import make_batch
from rlenvs.core.declare.errors import MissingExtraError
from rlenvs.core.declare.renamed import KEYWORDS, NAMES, TAGS, new_keywords
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.vector_env import VectorEnv
from rlenvs.wrappers import RoundRobin, Wrapper
from rlenvs.wrappers.recipes import wrapper_from

MADE = {
    "KernelBatch": lambda: KernelBatch(pursuit.SPEC, backend="python"),
    "Env": lambda: Env(pursuit.SPEC, backend="python"),
    "ParallelEnv": lambda: ParallelEnv(pursuit.SPEC, backend="python"),
    "VectorEnv": lambda: VectorEnv(pursuit.SPEC, 1, backend="python"),
    "Wrapper": Wrapper,
    "Curriculum": RoundRobin,
}
PAIRS = [(owner, old, new) for owner, names in NAMES.items() for old, new in names.items()]
OLD_KEYWORDS = [(made, old, new) for made, names in KEYWORDS.items() for old, new in names.items()]


def at(address):
    """The module, or what a module holds under the last name; skips where an extra is missing."""
    home, _, name = address.rpartition(".")
    try:
        return importlib.import_module(address) if name[0].islower() else getattr(importlib.import_module(home), name)
    except MissingExtraError as error:
        pytest.skip(str(error))


def renamed(old, new):
    return pytest.warns(DeprecationWarning, match=rf"\b{old}\b.* was renamed: use .*\b{new}\b")


@pytest.mark.parametrize(("owner", "old", "new"), PAIRS)
def test_old_names_give_the_new_thing(owner, old, new):
    found = at(owner)
    if inspect.isclass(found):
        found = MADE[found.__name__]()
    with renamed(old, new):
        given = getattr(found, old)
    assert given == getattr(found, new)
    assert old not in getattr(found, "__all__", ())


@pytest.mark.parametrize(("made", "old", "new"), OLD_KEYWORDS)
def test_old_keywords_are_the_new_ones(made, old, new):
    found = make_batch if made.endswith(".make_batch") else at(made)
    assert new in inspect.signature(found).parameters
    assert old not in inspect.signature(found).parameters
    assert hasattr(found.__init__ if inspect.isclass(found) else found, "__wrapped__")
    with renamed(old, new):
        assert new_keywords(found, {old: 3, "other": 4}) == {new: 3, "other": 4}


def test_old_keywords_reach_what_they_were_for():
    with renamed("num_worlds", "num_envs") as told:
        assert rlenvs.make_batch("CartPole-v0", num_worlds=3, backend="python").num_envs == 3
    assert {warning.filename for warning in told} == {__file__}
    with renamed("cut", "max_steps"):
        assert rlenvs.wrappers.SnapshotReset([], cut=5).max_steps == 5


@pytest.mark.parametrize(
    ("recipe", "setting"),
    [
        ({"wrapper": "Mask", "channels": "velocity"}, {"channels": "velocity"}),
        ({"wrapper": "rlenvs.wrappers.robustness:Takeover", "agents_taken": 2}, {"adversaries": 2}),
    ],
)
def test_recipes_that_were_written_before(recipe, setting):
    with pytest.warns(DeprecationWarning, match="was renamed"):
        assert wrapper_from(recipe).settings() == setting


@pytest.mark.parametrize(("old", "new"), TAGS.items())
def test_old_tags(old, new):
    with renamed(old, new):
        assert rlenvs.list_envs(old) == rlenvs.list_envs(new) != []


def test_seeds_in_the_place_of_episodes():
    keywords = {"backend": "python", "horizon": 3}
    with pytest.warns(DeprecationWarning, match="seeds are given by name"):
        found = rlenvs.evaluate("CartPole-v0", "idle", [4, 2], **keywords)
    assert found.returns.tolist() == rlenvs.evaluate("CartPole-v0", "idle", seeds=[4, 2], **keywords).returns.tolist()


@pytest.mark.parametrize("module", ["rlenvs.wrappers", "rlenvs.agents.export"])
def test_other_names_are_refused_as_ever(module):
    with pytest.raises(AttributeError, match="has no attribute 'Masc'"):
        importlib.import_module(module).Masc  # noqa: B018
