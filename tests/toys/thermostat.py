"""A small world for tests of the core: the one of examples/own_world.py."""

import importlib.util
import sys
from pathlib import Path

PATH = Path(__file__).parents[2] / "examples" / "own_world.py"


def load():
    """The example as the module "own_world"; not registered, or the tests of all ids would take it up."""
    if "own_world" not in sys.modules:
        spec = importlib.util.spec_from_file_location("own_world", PATH)
        module = importlib.util.module_from_spec(spec)
        sys.modules["own_world"] = module
        spec.loader.exec_module(module)
    return sys.modules["own_world"].SPEC
