import os

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
os.environ.setdefault("SDL_AUDIODRIVER", "dummy")

from hypothesis import settings

settings.register_profile("rlenvs", deadline=None)
settings.load_profile("rlenvs")
