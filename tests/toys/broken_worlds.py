"""One small healthy world, a team of it, and environments broken on purpose: each breaks one rule of
`rlenvs.check_env`."""

import numpy as np

from rlenvs.core import block, cost, discrete, f4, f8, integer, kernel, param, term, uniform, world
from rlenvs.core.catalogue.docs import HEADINGS
from rlenvs.core.forms.gym_env import Env
from rlenvs.core.forms.parallel_env import ParallelEnv
from rlenvs.core.forms.vector_env import VectorEnv

DOC = "Reach a goal on a line.\n\n" + "\n\n".join(f"## {heading}\nText." for heading in HEADINGS)
EDGE, CLOSE = 1.5, 0.1
HIDDEN = np.random.default_rng()  # what no kernel may draw from


@kernel
def fill_lane(s):
    lane, x = s.lane, s.x
    count = lane.shape[0]
    for j in range(count):
        lane[j] = min(1.0, abs(x - EDGE * (2.0 * j / (count - 1) - 1.0)) / (2.0 * EDGE))


def reset(p, s, rng):
    s.x = uniform(rng, -1.0, 1.0)
    s.goal = uniform(rng, -1.0, 1.0)
    fill_lane(s)


def step(p, s, a, rng, r):
    s.speed = (1.0 - p.drag) * s.speed + p.push * (a - 1)
    s.x += s.speed
    fill_lane(s)
    distance = abs(s.x - s.goal)
    r.near = -min(distance, 3.0)
    r.speeding = 1.0 if abs(s.speed) > 0.2 else 0.0
    r.success = distance < CLOSE
    r.terminated = r.success or abs(s.x) > EDGE


def observe(p, s, o):
    o.x = s.x
    o.goal = s.goal
    seen, lane = o.lane, s.lane
    for j in range(lane.shape[0]):
        seen[j] = lane[j]


def mask(p, s, m):
    m[0] = s.x > -1.2
    m[1] = 1
    m[2] = s.x < 1.2


def expert(p, s, a):
    a[0] = 2 if s.goal > s.x else 0


KERNELS = {"reset": reset, "step": step, "observe": observe, "mask": mask, "expert": expert}
DECLARATION = {
    "doc": DOC,
    "params": {"push": param(0.05, 0.02, 0.1, "m", "push per step"), "drag": param(0.1, 0.0, 0.5, "", "loss of speed")},
    "options": {"cells": integer(5, 2, 9, "numbers in the lane")},
    "sizes": lambda v: {"cells": v.cells},
    "state": {"x": f8, "speed": f8, "goal": f8, "lane": f8("cells")},
    "observation": {
        "x": block(low=-2.0, high=2.0),
        "goal": block(low=-1.0, high=1.0),
        "lane": block("cells", low=0.0, high=1.0),
    },
    "action": discrete("left", "stay", "right"),
    "terms": {"near": term(-3.0, 0.0, 0.5)},
    "costs": {"speeding": cost(5.0)},
    "horizon": 20,
    "levels": {"easy": {"drag": 0.3}},
}


def failed(report):
    """The numbers of the rules that failed."""
    return [outcome.number for outcome in report.failures]


def make(name, **changes):
    """The healthy world with another declaration, or other kernels under their names."""
    declaration = {key: changes.get(key, value) for key, value in DECLARATION.items()}
    declaration |= {key: value for key, value in changes.items() if key not in KERNELS}
    spec = world(f"{name}-v0", **declaration)
    for role, function in KERNELS.items():
        getattr(spec, role)(changes.get(role, function))
    globals()[name] = spec  # a pickled world is the address of a global
    return spec


make("Healthy")


# --- worlds with a goal form ------------------------------------------------------------------------------------------


@kernel
def goal_outcome(p, achieved, desired, r):
    distance = abs(achieved[0] - desired[0])
    r.near = -min(distance, 3.0)
    r.success = distance < CLOSE
    r.terminated = r.success


def goal_reset(p, s, rng):
    reset(p, s, rng)
    s.achieved[0], s.desired[0] = s.x, s.goal


def goal_step(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.achieved[0] = min(max(s.x, -2.0), 2.0)
    goal_outcome(p, s.achieved, s.desired, r)


def drifting_goal_step(p, s, a, rng, r):
    """11: the observation shows another goal than the one that was graded."""
    goal_step(p, s, a, rng, r)
    s.desired[0] = min(s.desired[0] + 0.001, 1.0)


def goal_observe(p, s, o):
    o.x = min(max(s.x, -2.0), 2.0)
    o.achieved[0], o.desired[0] = s.achieved[0], s.desired[0]


def make_goal(name, stepping):
    goals = {part: block(1, low=-2.0, high=2.0, raw=True) for part in ("achieved", "desired")}
    spec = make(
        name,
        state={**DECLARATION["state"], "achieved": f4(1), "desired": f4(1)},
        observation={"x": DECLARATION["observation"]["x"], **goals},
        goal=("achieved", "desired"),
        reset=goal_reset,
        step=stepping,
        observe=goal_observe,
    )
    spec.goal_outcome(goal_outcome)
    return spec


Goal = make_goal("Goal", goal_step)
Drifting = make_goal("Drifting", drifting_goal_step)


# --- broken worlds ----------------------------------------------------------------------------------------------------


def observe_nan(p, s, o):
    observe(p, s, o)
    if s.elapsed > 3:
        o.x = np.nan


def mask_nothing(p, s, m):
    for j in range(3):
        m[j] = s.elapsed < 3


def step_with_hidden_state(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x += 0.01 * HIDDEN.random()


def observe_forgetfully(p, s, o):
    observe(p, s, o)
    o.goal = 0.0


def reset_always_alike(p, s, rng):
    s.x, s.goal = -0.5, 0.5
    fill_lane(s)


def step_out_of_bounds(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.speeding = 2.0 * r.speeding


def observe_five_cells(p, s, o):
    o.x, o.goal = s.x, s.goal
    for j in range(5):
        o.lane[j] = s.lane[j]


def step_with_boolean_arithmetic(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.goal += 1e-6 * ((s.x > 0.0) - (s.speed > 0.0))


UNUSED = {**DECLARATION["params"], "unused": param(1.0, 0.5, 2.0)}
SWAPPED = DOC.replace("## Costs", "## Swap").replace("## Rewards", "## Costs").replace("## Swap", "## Rewards")
EXAMPLE = DOC.replace("## Rewards\nText.", "## Rewards\n>>> 1 + 1\n3\n")

GOAL_FIXED = {**DECLARATION["observation"], "goal": block(low=-1.0, high=1.0, constant=True)}

BROKEN_WORLDS = {  # rule: worlds that break it
    1: [make("NotANumber", observe=observe_nan), make("MaskedOut", mask=mask_nothing)],
    2: [make("HiddenGenerator", step=step_with_hidden_state)],
    5: [make("Forgetful", observe=observe_forgetfully, expert_sees="state")],
    6: [make("SameStart", reset=reset_always_alike, observation=GOAL_FIXED)],
    10: [make("UnusedParameter", params=UNUSED)],
    11: [make("OutOfBounds", step=step_out_of_bounds), Drifting],
    14: [make("FixedSize", observe=observe_five_cells), make("BadLevel", levels={"none": {"cells": 77}})],
    15: [make("WrongOrder", doc=SWAPPED), make("WrongExample", doc=EXAMPLE)],
}
BOOLEAN = make("Boolean", step=step_with_boolean_arithmetic)


# --- broken forms -----------------------------------------------------------------------------------------------------


class Wide(Env):
    """1: observations of another type than the space."""

    def reset(self, **keywords):
        observation, info = super().reset(**keywords)
        return observation.astype(np.float64), info

    def step(self, action):
        observation, *rest = super().step(action)
        return observation.astype(np.float64), *rest


class ForgetsOnCopy(Env):
    """3: a copy starts with another state."""

    def __setstate__(self, state):
        self.__dict__.update(state)
        self.batch.states["speed"] = 0.0


class Reuses(Env):
    """4: every step returns the same array."""

    def step(self, action):
        return self.batch.observations[0, 0], *super().step(action)[1:]


class ReusesInfo(VectorEnv):
    """4: the infos are views of the batch."""

    def _infos(self, mask):
        infos = super()._infos(mask)
        infos["is_success"] = self.batch.success[:, 0]
        return infos


class Narrow(VectorEnv):
    """7: rewards lose digits on the way."""

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, rewards.astype(np.float32), *rest


class ResetsAll(VectorEnv):
    """8: when one world ends, all start anew."""

    def step(self, actions):
        observations, rewards, terminated, truncated, infos = super().step(actions)
        if (terminated | truncated).any() and not (terminated | truncated).all():
            self.batch.reset()
            observations = self._observations()
        return observations, rewards, terminated, truncated, infos


class EndsAtLimit(Env):
    """9: the time limit terminates."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, False, info


class WrongFinal(VectorEnv):
    """9: the final observation is the first one of the next episode."""

    def _add_final(self, infos, ended):
        super()._add_final(infos, ended)
        for i in np.flatnonzero(ended):
            infos["final_obs"][i] = self.batch.observations[i, 0].copy()


class Doubles(Env):
    """11: the reward is not the sum of its terms."""

    def step(self, action):
        observation, reward, *rest = super().step(action)
        return observation, 2.0 * reward, *rest


class Shares(Env):
    """12: instances share a class attribute."""

    start = 0

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            type(self).start = seed
        return super().reset(seed=seed, options=options)

    def step(self, action):
        *rest, info = super().step(action)
        return *rest, {**info, "start": type(self).start}


class UsesGlobalGenerator(Env):
    """13: NumPy's global generator moves."""

    def step(self, action):
        np.random.random()  # noqa: NPY002
        return super().step(action)


class ReseedsSpace(Env):
    """13: reset undoes the seeding of the action space."""

    def reset(self, *, seed=None, options=None):
        self.action_space.seed(seed)
        return super().reset(seed=seed, options=options)


class Lenient(Env):
    """18: an action that is no choice is taken for another."""

    def step(self, action):
        return super().step(min(action, 2) if isinstance(action, int) else action)


class Swallows(Env):
    """18: unknown keywords are ignored."""

    def __init__(self, spec, **keywords):
        super().__init__(spec, **{key: value for key, value in keywords.items() if key != "pushx"})


BROKEN_FORMS = {  # rule: classes that break it
    1: [Wide],
    3: [ForgetsOnCopy],
    4: [Reuses, ReusesInfo],
    7: [Narrow],
    8: [ResetsAll],
    9: [EndsAtLimit, WrongFinal],
    11: [Doubles],
    12: [Shares],
    13: [UsesGlobalGenerator, ReseedsSpace],
    18: [Lenient, Swallows],
}


# --- a team -----------------------------------------------------------------------------------------------------------


def team_reset(p, s, rng):
    for k in range(s.x.shape[0]):
        s.x[k] = uniform(rng, -1.0, 1.0)
        s.goal[k] = uniform(rng, -1.0, 1.0)


def team_step(p, s, a, rng, r):
    for k in range(s.x.shape[0]):
        if not s.alive[k]:
            continue
        s.x[k] += p.push * (a[k] - 1)
        distance = abs(s.x[k] - s.goal[k])
        r.near[k] = -min(distance, 3.0)
        r.success[k] = distance < CLOSE
        r.terminated[k] = r.success[k] or abs(s.x[k]) > EDGE


def team_observe(p, s, k, o):
    o.x = s.x[k]
    o.goal = s.goal[k]


def team_mask(p, s, k, m):
    m[0] = s.x[k] > -1.2
    m[1] = 1
    m[2] = s.x[k] < 1.2


def team_expert(p, s, a):
    for k in range(s.x.shape[0]):
        a[k] = 2 if s.goal[k] > s.x[k] else 0


Team = make(
    "Team",
    agents=True,
    params={"push": DECLARATION["params"]["push"]},
    options={"agents": integer(3, 1, 20)},
    sizes=lambda v: {"agents": v.agents},
    state={"x": f8("agents"), "goal": f8("agents")},
    observation={"x": block(low=-2.0, high=2.0), "goal": block(low=-1.0, high=1.0)},
    costs={},
    levels={},
    reset=team_reset,
    step=team_step,
    observe=team_observe,
    mask=team_mask,
    expert=team_expert,
)


class Redistributes(ParallelEnv):
    """7: every agent gets the reward of the first."""

    def step(self, actions):
        observations, rewards, *rest = super().step(actions)
        return observations, dict.fromkeys(rewards, next(iter(rewards.values()))), *rest
