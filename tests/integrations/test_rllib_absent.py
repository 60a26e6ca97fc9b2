"""Without Ray: one line that says what to install."""

import subprocess
import sys

import pytest
from support.places import ROOT

EXAMPLES = ROOT / "examples"
WITHOUT_RAY = "import sys; sys.modules['ray'] = None; "


@pytest.mark.parametrize("names", ["RLlibEnv", "register", "RLlibEnv, register"])
def test_import_says_what_to_install(names):
    assert last_line(f"from rlenvs.integrations.rllib import {names}") == (
        "rlenvs.core.declare.errors.MissingExtraError: The RLlib form of an environment needs an optional dependency. "
        "Install it with: pip install 'rlenvs-suite[rllib]'"
    )


@pytest.mark.parametrize("name", ["rllib_single", "rllib_multi", "ray_scale_out"])
def test_examples_say_what_to_install(name):
    line = last_line(f"sys.argv = [{name!r}]; import runpy; runpy.run_path({str(EXAMPLES / name)!r} + '.py')")
    assert line == "This example needs RLlib. Install it with: pip install '.[compile,rllib]'"


def test_the_package_is_imported_without_ray():
    assert run("import rlenvs, rlenvs.integrations; print('fine')").stdout == "fine\n"


def last_line(code):
    done = run(code)
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


def run(code):
    return subprocess.run([sys.executable, "-c", WITHOUT_RAY + code], capture_output=True, text=True, timeout=100)
