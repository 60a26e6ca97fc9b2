"""More environments broken on purpose: what is only seen by asking twice, by restoring, by waiting, or from outside."""

import numpy as np

from rlenvs.core import below, discrete, f8, i8, param, uniform
from toys.broken_worlds import (
    DECLARATION,
    Env,
    Team,
    expert,
    fill_lane,
    make,
    mask,
    observe,
    reset,
    step,
    team_expert,
)

STATE = DECLARATION["state"]


# --- 20: writing what is not one's own --------------------------------------------------------------------------------


def observe_and_slow_down(p, s, o):
    observe(p, s, o)
    s.speed *= 0.999


def expert_that_stops(p, s, a):
    expert(p, s, a)
    if s.elapsed > 5:
        s.speed = 0.0


def mask_that_changes_drag(p, s, m):
    mask(p, s, m)
    p.drag = 0.2


def step_that_wears_out(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if s.elapsed == 9:
        p.push *= 0.99


def step_with_notes(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x += s.note


def observe_with_notes(p, s, o):
    observe(p, s, o)
    s.note = 1e-3 * (s.elapsed + s.note)


def draw_that_pushes(canvas, p, s):
    s.x += 0.01


def play_for_all(p, s, k, a, rng):
    team_expert(p, s, a)


Pushed = make("Pushed")
Pushed.draw(draw_that_pushes)
Meddling = make(
    "Meddling",
    players=("meddler",),
    **{name: getattr(Team, name) for name in ("agents", "params", "options", "sizes", "state", "observation")},
    costs={},
    levels={},
    **{role: Team.kernels[role] for role in ("reset", "step", "observe", "mask", "expert")},
)
Meddling.player("meddler")(play_for_all)


# --- 21, 22: remembering what is not in the snapshot, or too long -----------------------------------------------------


def observe_now_and_then(p, s, o):
    if s.elapsed % 3 == 0:
        observe(p, s, o)
    else:
        o.x = s.x


class CountsOutside(Env):
    """21: the reward depends on a count that snapshots do not hold."""

    count = 0

    def reset(self, **keywords):
        self.count = 0
        return super().reset(**keywords)

    def step(self, action):
        observation, reward, *rest = super().step(action)
        self.count += 1
        return observation, reward + 0.001 * self.count, *rest


class LosesTime(Env):
    """21: a restored snapshot has all of its time again."""

    def set_state(self, snapshot):
        super().set_state(snapshot)
        self.batch.states["elapsed"] = 0
        return self._observation()


def reset_and_count(p, s, rng):
    reset(p, s, rng)
    s.episodes += 1


def step_until_tired(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if s.episodes > 40:
        s.x -= 0.5 * s.speed


def reset_with_table(p, s, rng):
    reset(p, s, rng)
    if s.table == 0.0:  # computed once, whatever the parameter is later
        s.table = 1.0 - p.drag


def step_by_table(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x += 0.01 * s.table


# --- 23: ends without a meaning ---------------------------------------------------------------------------------------


def step_with_own_limit(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.terminated = r.terminated or s.elapsed + 1 >= 20


def step_with_own_clock(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.clock += 0.1
    r.terminated = r.terminated or s.clock > 1.55


def step_that_always_succeeds(p, s, a, rng, r):
    step(p, s, a, rng, r)
    r.success = True


def five_rounds(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.rounds[s.elapsed] = 1.0
    r.success = s.x > s.goal
    r.terminated = s.rounds[4] > 0.0


# --- 24, 25: actions, masks, experts ----------------------------------------------------------------------------------


def step_without_action(p, s, a, rng, r):
    s.drift += (1.0 - p.drag) * p.push * uniform(rng, -1.0, 1.0)
    step(p, s, WAIT, rng, r)
    s.x += s.drift


WAIT = 1


def mask_all_but_stay(p, s, m):
    m[0], m[1], m[2] = 0, 1, 0


def mask_all_that_moves(p, s, m):
    m[0], m[1], m[2], m[3] = 0, 1, 0, 1


def step_with_two_pauses(p, s, a, rng, r):
    step(p, s, 1 if a == 3 else a, rng, r)


def expert_that_waits(p, s, a):
    a[0] = 1


def mask_right(p, s, m):
    m[0], m[1], m[2] = 1, 1, 0


def expert_that_feels(p, s, a):
    a[0] = 2 if s.goal > s.x + 3.0 * s.speed else 0


def reset_far_from_goal(p, s, rng):
    s.x, s.goal = uniform(rng, -1.0, -0.1), uniform(rng, 0.1, 1.0)
    fill_lane(s)


# --- 6, 10, 14: starts, parameters, levels ----------------------------------------------------------------------------


def reset_in_two_ways(p, s, rng):
    s.x = 0.5 if below(rng, 2) == 1 else -0.5
    s.goal = -s.x
    fill_lane(s)


def reset_in_two_ways_with_noise(p, s, rng):
    reset_in_two_ways(p, s, rng)
    s.x += uniform(rng, 0.0, 1e-9)


def step_with_upper_boost(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x += 0.01 * max(p.boost - 1.0, 0.0)


def step_with_boost_at_the_ends(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if p.boost <= 0.5 or p.boost >= 2.0:
        s.x += 0.01


BOOST = {**DECLARATION["params"], "boost": param(1.0, 0.5, 2.0)}


def step_without_end(p, s, a, rng, r):
    step(p, s, a, rng, r)
    s.x = min(max(s.x, -1.0), 1.0)
    r.terminated = False


def observe_nan_in_level(p, s, o):
    observe(p, s, o)
    if s.elapsed > 20 and p.drag == 0.3:
        o.x = np.nan


# --- 19: compiled otherwise than in Python ----------------------------------------------------------------------------


def step_with_overflow(p, s, a, rng, r):
    step(p, s, a, rng, r)
    huge = (int(s.elapsed) + 4) * 4611686018427387904  # 2**64 in Python, 0 compiled
    if huge > 0:
        r.near *= 0.5


OVERFLOW = make("Overflow", step=step_with_overflow)

BROKEN_HABITS = {  # rule: worlds that break it
    1: [make("ForbiddenExpert", mask=mask_right)],
    6: [
        make("TwoStarts", reset=reset_in_two_ways),
        make("NoisyStarts", reset=reset_in_two_ways_with_noise),
        make("FewerStarts", reset=reset_in_two_ways, starts=5),
    ],
    10: [
        make("UpperBoost", params=BOOST, step=step_with_upper_boost),
        make("EndsOnly", params=BOOST, step=step_with_boost_at_the_ends),
    ],
    14: [make("LateNaN", horizon=30, step=step_without_end, observe=observe_nan_in_level)],
    20: [
        make("SlowedByLooking", observe=observe_and_slow_down),
        make("StoppedByExpert", expert=expert_that_stops),
        make("MaskedDrag", mask=mask_that_changes_drag),
        make("WornOut", step=step_that_wears_out),
        make(
            "Notes",
            state={**STATE, "note": f8},
            step=step_with_notes,
            observe=observe_with_notes,
            scratch=("note",),
        ),
        Pushed,
        Meddling,
    ],
    21: [make("Stale", observe=observe_now_and_then)],
    22: [
        make("Tired", persistent={"episodes": i8}, reset=reset_and_count, step=step_until_tired),
        make("OldTable", persistent={"table": f8}, reset=reset_with_table, step=step_by_table),
    ],
    23: [
        make("OwnLimit", step=step_with_own_limit),
        make("OwnClock", state={**STATE, "clock": f8}, step=step_with_own_clock),
        make("FiveRounds", state={**STATE, "rounds": f8(30)}, step=five_rounds),
        make("AlwaysGood", step=step_that_always_succeeds),
    ],
    24: [
        make("NoEffect", state={**STATE, "drift": f8}, step=step_without_action),
        make("OnlyStay", mask=mask_all_but_stay, expert=expert_that_waits),
        make(
            "OnlyPauses",
            action=discrete("left", "stay", "right", "pause"),
            step=step_with_two_pauses,
            mask=mask_all_that_moves,
            expert=expert_that_waits,
        ),
    ],
}
DOUBTFUL = {  # rule: worlds that it warns of
    23: [make("Waiter", reset=reset_far_from_goal, expert=expert_that_waits)],
    24: [make("NoRight", mask=mask_right, expert=expert_that_waits)],
    25: [make("Feels", expert=expert_that_feels)],
}
BROKEN_FORMS_OF_HABIT = {21: [CountsOutside, LosesTime]}


class DoubleBuffered(Env):
    """4: what is returned is overwritten two steps later."""

    def step(self, action):
        observation, *rest = super().step(action)
        self.buffers = self.__dict__.get("buffers") or [np.zeros_like(observation) for _ in range(2)]
        self.buffers.reverse()
        self.buffers[0][...] = observation
        return self.buffers[0], *rest


BROKEN_FORMS_OF_HABIT[4] = [DoubleBuffered]


# --- 26: once in thousands of steps -----------------------------------------------------------------------------------


def step_with_rare_refund(p, s, a, rng, r):
    step(p, s, a, rng, r)
    if abs(s.x - 0.123) < 4e-4:
        r.speeding = -0.5


RARE = make("RareRefund", step=step_with_rare_refund)
