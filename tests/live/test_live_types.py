"""The types in the comments of live pages' scripts hold, as TypeScript's compiler sees it."""

import shutil
import subprocess
from pathlib import Path

import pytest

TSC = shutil.which("tsc")


@pytest.mark.budget(20)
@pytest.mark.skipif(TSC is None, reason="TypeScript's compiler is not on the PATH: npm install -g typescript")
def test_types_hold():
    done = subprocess.run([TSC, "-p", Path(__file__).with_name("tsconfig.json")], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
