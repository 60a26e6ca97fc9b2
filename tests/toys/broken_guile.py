"""Environments broken on purpose where nobody looks: at corners, in pictures, in other processes, in loops."""

import numpy as np

from rlenvs.core import below, f8, uniform, world
from toys.broken_worlds import DECLARATION, KERNELS, Env, VectorEnv, make, reset, step

STATE, PARAMS = DECLARATION["state"], DECLARATION["params"]
SPREAD = hash("of this process") % 10_007 / 1e5  # texts have another hash in each process
WAIT = 1


def step_with_broken_corner(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if p.push > 0.095 and p.drag > 0.45:
        r.near = 0.5


def step_that_pays_late(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.near, s.owed = s.owed, r.near


def reset_by_process(p, s, rng):
    reset(p, s, rng)
    s.x += SPREAD


def reset_until_it_fits(p, s, rng):
    reset(p, s, rng)
    cells = s.lane.shape[0]
    while below(rng, cells) < cells - 2 or cells == 2:
        s.goal = uniform(rng, -1.0, 1.0)


def step_until_it_fits(p, s, a, rng, r):
    step(p, s, a, rng, r)
    while s.lane.shape[0] > 8:
        s.lane[0] = 0.0


def mask_at_whim(p, s, m):
    m[0], m[1], m[2] = s.elapsed % 3 == 0, 1, 1


def draw_the_beginning_wrongly(canvas, p, s):
    [0.0][1 if s.elapsed == 0 else 0] += 1.0


def draw_the_end_wrongly(canvas, p, s):
    [0.0][1 if s.over else 0] += 1.0


def draw_with_dice(canvas, p, s):
    np.random.random()  # noqa: NPY002


Process = world("Process-v0", **DECLARATION)  # found by this name in another process
for role, function in {**KERNELS, "reset": reset_by_process}.items():
    getattr(Process, role)(function)


def drawn(name, draw):
    spec = make(name)
    spec.draw(draw)
    return spec


BROKEN_GUILE = {  # rule: worlds that break it
    10: [make("Corner", step=step_with_broken_corner)],
    12: [drawn("Dicey", draw_with_dice)],
    14: [
        make("NoLevel", levels={"usual": {"drag": 0.1}}),
        make("Twins", levels={"a": {"drag": 0.3}, "b": {"drag": 0.3}}),
    ],
    16: [Process],
    20: [drawn("NoBeginning", draw_the_beginning_wrongly), drawn("NoEnd", draw_the_end_wrongly)],
    27: [make("EndlessReset", reset=reset_until_it_fits), make("EndlessStep", step=step_until_it_fits)],
}
DOUBTFUL_GUILE = {  # rule: worlds that it warns of
    24: [
        make("Late", state={**STATE, "owed": f8}, step=step_that_pays_late),
        make("Whim", mask=mask_at_whim, expert=lambda p, s, a: a.fill(WAIT)),
    ],
}


class BySize(VectorEnv):
    """7: large batches pay more."""

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards + (self.num_envs > 8), *rest


class ByThreads(VectorEnv):
    """7: two threads pay more than one."""

    def __init__(self, world, num_envs=1, *, threads=None, **keywords):
        super().__init__(world, num_envs, threads=threads, **keywords)
        self.extra = threads == 2

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards + self.extra, *rest


class BySeed(Env):
    """7: some seeds are paid more."""

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.extra = seed % 10 == 7
        return super().reset(seed=seed, options=options)

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + self.extra, *rest


class OneFlag(Env):
    """7: what is terminated is never truncated."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated, truncated and not terminated, info


class Sticky(Env):
    """12: options of a reset never go."""

    extra = 0.0

    def reset(self, *, seed=None, options=None):
        self.extra += options is not None
        return super().reset(seed=seed, options=options)

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + self.extra, *rest


class Watched(Env):
    """12: who is looked at goes farther."""

    def render(self):
        self.batch.states["x"] += 0.01
        return super().render()


class Closing(Env):
    """12: closing one closes something in all."""

    closed = set()

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, reward + len(self.closed), *rest

    def close(self):
        self.closed.add(id(self))
        super().close()


class Alike(Env):
    """12: whoever was never seeded has the seed 0."""

    seeded = False

    def reset(self, *, seed=None, options=None):
        seed, self.seeded = (0 if seed is None and not self.seeded else seed), True
        return super().reset(seed=seed, options=options)


BROKEN_FORMS_OF_GUILE = {7: [BySize, ByThreads, BySeed, OneFlag], 12: [Sticky, Watched, Closing, Alike]}
PICTURED = drawn("Pictured", lambda canvas, p, s: None)
