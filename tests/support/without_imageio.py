"""Gymnasium's MuJoCo environments import imageio for images; where it is missing, an empty module stands for it."""

import importlib.util
import sys
from types import ModuleType

if "imageio" not in sys.modules and importlib.util.find_spec("imageio") is None:
    sys.modules["imageio"] = ModuleType("imageio")
