"""Environments broken on purpose in answer to the rules: at sizes, seeds and calls beyond those that come to mind."""

import numpy as np

from rlenvs.core import f8, param, world
from toys.broken_guile import SPREAD
from toys.broken_worlds import CLOSE, DECLARATION, KERNELS, Env, ParallelEnv, VectorEnv, make, reset, step

STATE, PARAMS = DECLARATION["state"], DECLARATION["params"]


# --- worlds -----------------------------------------------------------------------------------------------------------


def step_that_pays_half_late(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.near, s.owed = 0.5 * s.owed, r.near


def step_with_three_corners(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if p.push > 0.095 and p.drag > 0.45 and p.grip > 1.9:
        r.near = 0.5
    s.x += 1e-3 * (p.grip - 1.0)


def reset_by_process_in_level(p, s, rng):
    reset(p, s, rng)
    if p.drag == 0.3:
        s.x += SPREAD


def mask_nothing_in_places(p, s, m):
    m[0] = m[1] = m[2] = abs(s.x - 0.1) > 0.02


def mask_beside_the_goal(p, s, m):
    m[0] = s.x - s.goal > 4 * CLOSE or s.x < s.goal
    m[1] = 1
    m[2] = s.goal - s.x > 4 * CLOSE or s.x > s.goal


def expert_by_process(p, s, a):
    a[0] = 2 if (int(1e5 * SPREAD) >> int(s.elapsed) % 13) % 2 and s.x < 1.2 else 1


def draw_that_fails_inside(canvas, p, s):
    [0.0][1 if s.x * s.goal < 0.0 else 0] += 1.0


Levels = world("Levels-v0", **DECLARATION)  # found by this name in another process
for role, function in {**KERNELS, "reset": reset_by_process_in_level}.items():
    getattr(Levels, role)(function)
Advised = world("Advised-v0", **DECLARATION)
for role, function in {**KERNELS, "expert": expert_by_process}.items():
    getattr(Advised, role)(function)
Drawn = make("Drawn")
Drawn.draw(draw_that_fails_inside)

BROKEN_RUSES = {  # rule: worlds that break it
    1: [make("Beside", mask=mask_beside_the_goal)],
    10: [
        make("MaskedPlaces", mask=mask_nothing_in_places),
        make("ThreeCorners", params={**PARAMS, "grip": param(1.0, 0.5, 2.0)}, step=step_with_three_corners),
    ],
    16: [Levels, Advised],
    20: [Drawn],
}
DOUBTFUL_RUSES = {24: [make("LateHalf", state={**STATE, "owed": f8}, step=step_that_pays_half_late)]}  # warnings


# --- forms ------------------------------------------------------------------------------------------------------------


class Extra:
    """Rewards with something added, of whatever form."""

    extra = 0.0

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + self.extra, *rest


class Hundred(Extra, VectorEnv):
    """7: batches of more than a hundred pay more."""

    def __init__(self, world, num_envs=1, **keywords):
        super().__init__(world, num_envs, **keywords)
        self.extra = num_envs > 100


class Five(Extra, VectorEnv):
    """7: batches of five pay more."""

    def __init__(self, world, num_envs=1, **keywords):
        super().__init__(world, num_envs, **keywords)
        self.extra = num_envs == 5


class ThreeThreads(Extra, VectorEnv):
    """7: three threads pay more."""

    def __init__(self, world, num_envs=1, *, threads=None, **keywords):
        super().__init__(world, num_envs, threads=threads, **keywords)
        self.extra = (threads or 0) > 2


class Residue(Extra, Env):
    """7: one seed in 97 is paid more."""

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.extra = seed % 97 == 50
        return super().reset(seed=seed, options=options)


class ShortSeeds(Env):
    """7: of a seed the lowest 32 bits count."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=None if seed is None else seed % 2**32, options=options)


class FirstSeed(VectorEnv):
    """8: of a list of seeds the first one counts."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed[0] if isinstance(seed, (list, tuple)) else seed, options=options)


class StickyDrag(Extra, Env):
    """12: one parameter, once given, never goes."""

    def reset(self, *, seed=None, options=None):
        self.extra += "drag" in (options or {}).get("params", {})
        return super().reset(seed=seed, options=options)


class Gallery(Env):
    """12: the fifth picture moves the world."""

    pictures = 0

    def render(self):
        self.pictures += 1
        self.batch.states["x"] += 0.01 * (self.pictures > 4)
        return super().render()


class WatchedRows(VectorEnv):
    """12: rows that are looked at go farther."""

    def render(self):
        self.batch.states["x"] += 0.01
        return super().render()


class OneFilm(Env):
    """4: every picture is the same array."""

    def render(self):
        picture = super().render()
        self.film = self.__dict__.get("film", np.zeros_like(picture))
        self.film[...] = picture
        return self.film


class Worn(Extra, Env):
    """2: from the thirtieth episode on there is more to earn."""

    episodes = 0

    def reset(self, **keywords):
        self.episodes += 1
        self.extra = self.episodes > 30
        return super().reset(**keywords)


class EatsActions(VectorEnv):
    """4: the actions that were given are changed."""

    def step(self, actions):
        found = super().step(actions)
        actions[...] = 0
        return found


class PythonsNumbers(Env):
    """7: a choice that is a number of NumPy is another one."""

    def step(self, action):
        return super().step(1 if isinstance(action, np.integer) else action)


class EmptyOptions(Env):
    """7: a reset with options, empty ones too, begins at the seed 0."""

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=0 if seed is None and options is not None else seed, options=options)


class InOrder(ParallelEnv):
    """7: actions are taken in their order, whose they are said to be."""

    def step(self, actions):
        return super().step(dict(zip(self.agents, actions.values(), strict=False)))


class EatsOptions(Env):
    """12: the options that were given are changed."""

    def reset(self, *, seed=None, options=None):
        found = super().reset(seed=seed, options=dict(options) if options else options)
        if options:
            options.clear()
        return found


class RowsAlike(VectorEnv):
    """12: rows that were never seeded have one seed."""

    seeded = False

    def reset(self, *, seed=None, options=None):
        if seed is None and not self.seeded:
            seed = [int(np.random.default_rng().integers(1000))] * self.num_envs
        self.seeded = True
        return super().reset(seed=seed, options=options)


class ClosesOnce(Env):
    """12: what is closed may not be closed again."""

    def close(self):
        del self.batch
        super().close()


class Thousand(Extra, VectorEnv):
    """7: batches of more than a thousand pay more."""

    def __init__(self, world, num_envs=1, **keywords):
        super().__init__(world, num_envs, **keywords)
        self.extra = num_envs > 1000


class WornOut(Extra, Env):
    """2: from the three hundredth episode on there is more to earn."""

    episodes = 0

    def reset(self, **keywords):
        self.episodes += 1
        self.extra = self.episodes > 300
        return super().reset(**keywords)


BROKEN_FORMS_OF_RUSE = {
    2: [Worn],
    4: [OneFilm, EatsActions],
    7: [Hundred, Five, ThreeThreads, Residue, ShortSeeds, PythonsNumbers, EmptyOptions],
    8: [FirstSeed],
    12: [StickyDrag, Gallery, WatchedRows, EatsOptions, RowsAlike, ClosesOnce],
}
LATE_FORMS_OF_RUSE = {2: [WornOut], 7: [Thousand]}  # that only the long mode finds
