"""The name under which the package is installed: `rlenvs` in the package index is another project's."""

import re
import subprocess
import tomllib

import pytest
from support.places import ROOT

from rlenvs.core.catalogue.foreign import check_distribution
from rlenvs.core.declare.errors import DependencyError
from rlenvs.version import AGENTS, DISTRIBUTION, KERNELS

# a requirement of pip: the bare name, with extras, or with a further word
FOREIGN = re.compile(
    r"""pip install[^\n]*?[\s'"]rlenvs(?![\w/-])|(?<![\w./-])rlenvs\\?\[\w|(?<![\w./-])rlenvs-agents\b"""
)


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("pip install rlenvs", True),
        ("pip install --upgrade rlenvs torch", True),
        ("`pip install 'rlenvs[sb3]'`", True),
        ("rlenvs-agents", True),
        ("pip install rlenvs-suite", False),
        ("pip install 'rlenvs-suite[sb3]'", False),
        ("pip install '.[sb3]'; rlenvs doctor", False),
        ("rlenvs.list_envs", False),
    ],
)
def test_what_names_the_other_distribution(text, foreign):
    assert bool(FOREIGN.search(text.partition(";")[0])) is foreign


def test_no_text_names_the_other_distribution():
    named = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [name for name in named.split("\0") if name.endswith((".py", ".md", ".toml", ".txt", ".cff", ".js"))]
    ours = {"CHANGELOG.md", "tests/project/test_names.py"}
    assert len(files) > 1000
    for name in set(files) - ours:
        if (ROOT / name).exists():
            found = FOREIGN.search((ROOT / name).read_text(encoding="utf-8"))
            assert not found, f"{name}: {found[0]!r} names another project's distribution; ours is {DISTRIBUTION}"


def test_the_projects_have_these_names():
    for path, name in (
        ("pyproject.toml", DISTRIBUTION),
        ("agents/pyproject.toml", AGENTS),
        ("kernels/pyproject.toml", KERNELS),
    ):
        assert tomllib.loads((ROOT / path).read_text(encoding="utf-8"))["project"]["name"] == name


def test_the_other_distribution_beside_this_package_is_refused(tmp_path):
    (tmp_path / "rlenvs_suite-0.1.0.dist-info").mkdir()
    check_distribution(tmp_path)
    (tmp_path / "rlenvs-0.0.0.2.dist-info").mkdir()
    with pytest.raises(DependencyError, match=r"'rlenvs' 0\.0\.0\.2, which is not this package.* uninstall -y rlenvs"):
        check_distribution(tmp_path)
