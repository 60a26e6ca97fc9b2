"""The loops over worlds: step, time limit, autoreset, observe, roll out. Written once, for every world.

This file is a template, with `driver_actions` and `driver_blocks`, which use its names: `rlenvs.core.compiler.build`
puts the kernels of one world and the accessors of its records
(`state_of(b, i)`, ...) in front of it, and compiles the functions in ENTRY_POINTS with numba, or runs them as plain
Python. `b` is the record of the batch, `i` a world, `k` an agent.
"""

import math

# each is compiled when it is first called; all that steps, resets and observes is one function, so that kernels are
# compiled once
ENTRY_POINTS = (
    *("run_worlds", "run_blocks", "advise_worlds", "play_worlds", "central_worlds", "bar_worlds", "grade_goals"),
)
# functions for the sake of lanes: a call would cost small worlds that go one by one some percent
INLINED = ("advance_world", "check_world", "write_mask")
FETCHED_WORLDS, FETCHED_LINES = 3, 8  # how far ahead the beginning of a state is loaded, in lines of the cache
# what `run_worlds` does
ACT, CHECK, STEP, BEGIN, OBSERVE, ROLL, COMMAND, LOAD, JUDGE, PLACE, FINISH = range(11)
# when rows are copied between the worlds and a block, and those that have to be finite
TAKE_IN, GIVE_BACK, GIVE_SEEN, CHECKED = range(4)
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
FINE, EPISODE_OVER, NOT_A_NUMBER, NOT_A_CHOICE = 0, 1, 2, 3
# why the episode of a world was broken off
UNBROKEN, STATE_NOT_FINITE, REWARD_NOT_FINITE, OBSERVATION_NOT_FINITE, NOT_MOVED = 0, 1, 2, 3, 4
NAN = float("nan")


def run_worlds(address, start, stop, job):
    """Do a job on worlds start ... stop - 1, and observe them.

    ACT: check the actions of all worlds and, when they are valid, STEP. Returns what `check_actions` returns.
    CHECK: check alone.
    STEP: one step, with autoreset. Who is asleep stays as it is.
    BEGIN: a new episode where the `begin` flag is set.
    OBSERVE: write the observations again, after the states were set from outside.
    ROLL: play the planned actions, up to the end of the episode.
    COMMAND: the first half of a step whose motion is an engine's: new episodes begin (their `begin` flag is set then),
        or act. Returns how many begin.
    LOAD: what an engine applies in its next physics step.
    JUDGE: the second half of such a step. Returns how many begin anew (SAME_STEP).
    PLACE: finish the new episodes whose `begin` flag is set, when an engine has placed their bodies.
    FINISH: what follows a step that was made in a block: break off, and begin anew (SAME_STEP).
    """
    b = batch_at(address, 0)
    if job in (ACT, CHECK):
        code = check_actions(b)
        if code != FINE or job == CHECK:
            return code
    begun = 0
    for i in range(start, stop):
        if FETCHES and i + 1 < stop:
            fetch_worlds(b, i)
        begun += run_world(b, i, STEP if job == ACT else job)
    return begun if job in (COMMAND, JUDGE) else FINE


def fetch_worlds(b, i):
    """Let the processor load what the worlds behind this one will read."""
    far = min(i + FETCHED_WORLDS, b.worlds - 1)
    for line in range(FETCHED_LINES):
        prefetch_row(words_of(b, far).value, line * 16)
    fetch(params_of(b, i + 1), state_of(b, i + 1))


def run_world(b, i, job):
    """One world's part of `run_worlds`. Returns 1 where an episode begins in a step whose motion is an engine's."""
    s = state_of(b, i)
    awake = not asleep_of(b, i).value
    begins = False
    if job == STEP:
        if not awake:
            return 0
        begins = s.over
        if not begins:
            move_world(b, i, job)
    elif job == ROLL:
        move_world(b, i, job)
    elif job == BEGIN:
        begins = begin_of(b, i).value
        if not begins:
            return 0
    elif job == OBSERVE:
        failed_of(b, i).value = UNBROKEN
        note_shown(s, False)
    elif job == COMMAND:
        begins = s.over and awake
        begin_of(b, i).value = begins
        if not begins:
            if awake:
                failed_of(b, i).value = UNBROKEN
                convert_actions(b, i)
                act(params_of(b, i), s, action_of(b, i).value, s.rng)
            return 0
    elif job == JUDGE:
        if begin_of(b, i).value or not awake:
            return 0
        judge_world(b, i)
    elif job == LOAD:
        before_physics(params_of(b, i), s, s.rng)
        return 0
    elif job == PLACE:
        if not begin_of(b, i).value:
            return 0
        after_reset(params_of(b, i), s, s.rng)
    elif job == FINISH:
        check_world(b, i)
    if begins:
        clear_outcome(b, i)
    again = show_world(b, i, job, begins)
    if job == JUDGE:
        begin_of(b, i).value = again
    return 1 if again or job == COMMAND else 0


def show_world(b, i, job, begins):
    """Begin an episode if asked to, and observe; then begin and observe the next one, where the step that ended an
    episode does that. Returns whether it did."""
    stepped = job in (STEP, JUDGE, FINISH)
    begun = begins
    for _ in range(2):
        if begun:
            begin_world(b, i)
        seen = job == FINISH and not begun  # in the block already
        if failed_of(b, i).value == UNBROKEN and not seen and not observe_world(b, i) and stepped and not begun:
            break_off(b, i, OBSERVATION_NOT_FINITE)
        if begun or not stepped or not state_of(b, i).over or b.autoreset != SAME_STEP:
            break
        keep_final(b, i)
        begun = True
    return begun and not begins


def move_world(b, i, job):
    """One step, or with ROLL as many as are planned."""
    s = state_of(b, i)
    for t in range(b.plan_steps if job == ROLL else 1):
        if s.over:
            break
        if job == ROLL:
            take_plan(b, i, t)
        advance_world(b, i)
        check_world(b, i)
        if job == ROLL:
            note_plan(b, i, t)


def advance_world(b, i):
    """The kernels of a step, and what came of it."""
    s = state_of(b, i)
    failed_of(b, i).value = UNBROKEN
    clear_result(b, i)
    convert_actions(b, i)
    step(params_of(b, i), s, action_of(b, i).value, s.rng, result_of(b, i))
    settle_world(b, i)


def check_world(b, i):
    """Break off the episode of a world that is no longer finite."""
    if failed_of(b, i).value != UNBROKEN:
        break_off(b, i, failed_of(b, i).value)


def judge_world(b, i):
    """The end of a step whose motion was an engine's."""
    s = state_of(b, i)
    clear_result(b, i)
    if failed_of(b, i).value != UNBROKEN:
        s.elapsed += 1
        clear_outcome(b, i)
        break_off(b, i, NOT_MOVED)
    else:
        outcome(params_of(b, i), s, action_of(b, i).value, s.rng, result_of(b, i))
        settle_world(b, i)
        check_world(b, i)


def take_plan(b, i, t):
    """Load the planned actions of step t."""
    planned = plan_action_of(b, i * b.plan_steps + t).value
    values = action_values_of(b, i).value
    for j in range(values.size):
        values[j] = planned[j]


def note_plan(b, i, t):
    """Set aside what step t of a plan gave."""
    gained, spent = plan_reward_of(b, i * b.plan_steps + t).value, plan_cost_of(b, i * b.plan_steps + t).value
    reward, spending = reward_of(b, i).value, cost_of(b, i).value
    for k in range(agents_of(b)):
        gained[k] = reward[k]
        spent[k] = spending[k]


def agents_of(b):
    """The number of agents, a constant where there is but one."""
    return 1 if ALONE else b.agents


def advise_worlds(address, start, stop):
    """Write the scripted expert's actions for worlds start ... stop - 1."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        expert(params_of(b, i), state_of(b, i), advice_of(b, i).value)
        for k in range(agents_of(b)):
            convert_advice(b, i, k)


def play_worlds(address, start, stop):
    """Write the actions of the living agents whose slots scripted players hold; a slot of -1 is left alone."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        s = state_of(b, i)
        slots = slot_of(b, i).value
        for k in range(agents_of(b)):
            if slots[k] >= 0 and s.alive[k] and not s.over:
                play(slots[k], params_of(b, i), s, k, advice_of(b, i).value, players_rng(s))
                convert_advice(b, i, k)


def central_worlds(address, start, stop):
    """Write the central states of worlds start ... stop - 1."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        central(params_of(b, i), state_of(b, i), central_of(b, i))
        scale(central_values_of(b, i).value, central_scaling_of(b, 0))


def bar_worlds(address, start, stop):
    """Write the barriers of worlds start ... stop - 1 for the proposed actions."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        barrier = barrier_of(b, i)
        for j in range(b.action_numbers):
            barrier.low[j] = -1.0
            barrier.high[j] = 1.0
            barrier.brake[j] = NAN
        bar(params_of(b, i), state_of(b, i), proposal_of(b, i).value, barrier)


def grade_goals(address, count):
    """The reward and the termination of `count` pairs of goals, by the parameters of the first world."""
    b = batch_at(address, 0)
    for j in range(count):
        terms, weights = graded_parts_of(b, 0).terms, params_of(b, 0).weights
        for t in range(terms.shape[0]):
            terms[t, 0] = 0.0
        graded_of(b, 0).terminated = False
        pair = goals_of(b, j)
        goal_outcome(params_of(b, 0), pair.achieved, pair.desired, graded_of(b, 0))
        grades_of(b, j).reward = 0.0
        for t in range(weights.size):
            grades_of(b, j).reward += weights[t] * terms[t, 0]
        grades_of(b, j).terminated = graded_of(b, 0).terminated


def begin_world(b, i):
    """A new episode: the state is blank but for generator and persistent fields; parameters are drawn, then reset."""
    s = state_of(b, i)
    first, second = s.rng[0], s.rng[1]
    memory, blank = episode_bytes_of(b, i).value, blank_of(b, 0).value
    for j in range(memory.size):
        memory[j] = blank[j]
    s.rng[0] = first
    s.rng[1] = second
    for j in range(b.randomized):
        drawn = random_range_of(b, j)
        param_numbers_of(b, i).value[drawn.index] = uniform(s.rng, drawn.low, drawn.high)
    for k in range(agents_of(b)):
        s.alive[k] = True
    failed_of(b, i).value = UNBROKEN
    clear_result(b, i)
    reset(params_of(b, i), s, s.rng)


def settle_world(b, i):
    """After the kernels of a step: time, rewards, costs, ends; and whether the world is still finite."""
    s, p = state_of(b, i), params_of(b, i)
    s.elapsed += 1
    late = s.elapsed >= p.horizon
    parts = parts_of(b, i)
    weights = p.weights
    finite = True
    reward, total_cost = reward_of(b, i).value, cost_of(b, i).value
    terminated, truncated = terminated_of(b, i).value, truncated_of(b, i).value
    s.over = True
    for k in range(agents_of(b)):
        gained, spent = 0.0, 0.0  # not in memory, where each sum would wait for the one before
        reward[k] = 0.0
        total_cost[k] = 0.0
        if not s.alive[k]:
            for t in range(parts.terms.shape[0]):
                parts.terms[t, k] = 0.0
            parts.success[k] = False
            terminated[k] = False
            truncated[k] = False
            continue
        vector = reward_vector_of(b, i * agents_of(b) + k).value
        for t in range(weights.size):
            gained += weights[t] * parts.terms[t, k]
            vector[t] = parts.terms[t, k]
        for t in range(weights.size, parts.terms.shape[0]):
            if b.cost_maximum:
                spent = max(spent, parts.terms[t, k])
            else:
                spent += parts.terms[t, k]
        reward[k], total_cost[k] = gained, spent
        finite = finite and math.isfinite(gained) and math.isfinite(spent)
        terminated[k] = parts.terminated[k]
        truncated[k] = late
        s.alive[k] = not terminated[k]  # who is cut off by the time limit is alive in the final observation
        if s.alive[k] and not late and (k == 0 or not b.first_decides):
            s.over = False
    if not finite:
        failed_of(b, i).value = REWARD_NOT_FINITE
    elif not state_is_finite(b, i):
        failed_of(b, i).value = STATE_NOT_FINITE


def break_off(b, i, reason):
    """End the episode of a world that is no longer finite, or that the engine could not move: truncated, without a
    reward. The last observation stays."""
    s = state_of(b, i)
    failed_of(b, i).value = reason
    clear_result(b, i)
    for k in range(agents_of(b)):
        s.alive[k] = s.alive[k] or terminated_of(b, i).value[k]
        reward_of(b, i).value[k] = 0.0
        cost_of(b, i).value[k] = 0.0
        terminated_of(b, i).value[k] = False
        truncated_of(b, i).value[k] = s.alive[k]
    s.over = True


def state_is_finite(b, i):
    """Whether no float of the state is NaN or infinite, by the bits of their exponents."""
    words, bits = words_of(b, i).value, exponents_of(b, 0)
    found = False
    for j in range(words.size):
        found = found | ((words[j] & bits.mask[j]) == bits.full[j])
    return not found


def observe_world(b, i):
    """Observations of all agents, scaled and clipped, and their action masks. Returns whether all numbers are."""
    p = params_of(b, i)
    s = state_of(b, i)
    sound = True
    for k in range(agents_of(b)):
        observe_agent(p, s, k, observation_of(b, i * agents_of(b) + k))
        if MASKED:  # otherwise all is allowed, as `memory` writes it
            write_mask(b, i, k)
        if not IN_LANES and b.has_images:
            look_agent(p, s, k, images_of(b, i * agents_of(b) + k))
        values, scaling = observation_values_of(b, i * agents_of(b) + k).value, scaling_of(b, 0)
        if b.scaled:
            scale(values, scaling)
        if not INCREMENTAL and has_nan(values):
            sound = False
            for j in range(values.size):
                values[j] = scaling.low[j] if values[j] != values[j] else values[j]
    note_shown(s, True)
    return sound


def write_mask(b, i, k):
    """What agent k may choose."""
    p, s = params_of(b, i), state_of(b, i)
    mask = mask_of(b, i * agents_of(b) + k).value
    if FLAT:
        mask_agent(p, s, k, split_mask_of(b, i * agents_of(b) + k).value)
        join_mask(b, i * agents_of(b) + k)
    else:
        mask_agent(p, s, k, mask)
    for j in range(mask_length_of(b, 0).value[k], mask.size):
        mask[j] = 0


def has_nan(values):
    """Whether one of the numbers is NaN."""
    found = False
    for j in range(values.size):
        found = found | (values[j] != values[j])
    return found


def scale(values, scaling):
    """From physical units to the observation space, clipped."""
    gain, offset, low, high = scaling.gain, scaling.offset, scaling.low, scaling.high  # views: several at a time
    for j in range(values.size):
        value = values[j] * gain[j] + offset[j]
        values[j] = min(max(value, low[j]), high[j])


def keep_final(b, i):
    """Set the last observation, mask and result of an episode aside before the next one begins (SAME_STEP)."""
    for k in range(agents_of(b)):
        source = observation_values_of(b, i * agents_of(b) + k).value
        target = final_observation_of(b, i * agents_of(b) + k).value
        for j in range(source.size):
            target[j] = source[j]
        pixels = image_bytes_of(b, i * agents_of(b) + k).value
        final_pixels = final_image_bytes_of(b, i * agents_of(b) + k).value
        for j in range(pixels.size):
            final_pixels[j] = pixels[j]
        mask, final_mask = mask_of(b, i * agents_of(b) + k).value, final_mask_of(b, i * agents_of(b) + k).value
        for j in range(mask.size):
            final_mask[j] = mask[j]
    final_failed_of(b, i).value = failed_of(b, i).value
    result = result_bytes_of(b, i).value
    kept = final_result_of(b, i).value
    for j in range(result.size):
        kept[j] = result[j]
    total_cost, final_cost = cost_of(b, i).value, final_cost_of(b, i).value
    for k in range(agents_of(b)):
        final_cost[k] = total_cost[k]
        total_cost[k] = 0.0


def clear_result(b, i):
    """No terms, no success, no end."""
    memory = result_bytes_of(b, i).value
    for j in range(memory.size):
        memory[j] = 0
    for k in range(agents_of(b)):
        vector = reward_vector_of(b, i * agents_of(b) + k).value
        for t in range(vector.size):
            vector[t] = 0.0


def clear_outcome(b, i):
    """No reward, no cost, no end: the outcome of a reset."""
    for k in range(agents_of(b)):
        reward_of(b, i).value[k] = 0.0
        cost_of(b, i).value[k] = 0.0
        terminated_of(b, i).value[k] = False
        truncated_of(b, i).value[k] = False
