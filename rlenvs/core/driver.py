"""The loops over worlds: step, time limit, autoreset, observe, roll out. Written once, for every world.

This file is a template, not a module to import: `rlenvs.core.build` puts the kernels of one world and the accessors
of its records (`state_of(b, i)`, ...) in front of it, and compiles the functions in ENTRY_POINTS with numba, or runs
them as plain Python. `b` is the record of the batch, `i` a world, `k` an agent.
"""

ENTRY_POINTS = (
    *("check_actions", "act_worlds", "step_worlds", "begin_worlds", "observe_worlds", "advise_worlds", "roll_worlds"),
    *("command_worlds", "load_worlds", "judge_worlds", "placed_worlds", "grade_goals"),
    *("play_worlds", "central_worlds", "bar_worlds"),
)
NEXT_STEP, SAME_STEP, DISABLED = 0, 1, 2
FINE, EPISODE_OVER, NOT_A_NUMBER, NOT_A_CHOICE = 0, 1, 2, 3
NAN = float("nan")


def agents_of(b):
    """The number of agents, a constant where there is but one."""
    return 1 if ALONE else b.agents


def check_actions(address):
    """Clip continuous actions to [-1, 1]. Returns 4 * (world * agents + agent) + reason; FINE when all are valid."""
    b = batch_at(address, 0)
    for i in range(b.worlds):
        if asleep_of(b, i).value:
            continue
        s = state_of(b, i)
        if s.over:
            never_seeded = s.rng[0] == 0 and s.rng[1] == 0
            if b.autoreset == DISABLED or never_seeded:
                return 4 * i * agents_of(b) + EPISODE_OVER
            continue
        values = action_values_of(b, i).value
        for k in range(agents_of(b)):
            if not s.alive[k]:
                continue
            for j in range(k * b.action_numbers, (k + 1) * b.action_numbers):
                value = values[j]
                if CONTINUOUS:
                    if value != value:
                        return 4 * (i * agents_of(b) + k) + NOT_A_NUMBER
                    values[j] = min(max(value, -1.0), 1.0)
                elif value < 0 or value >= choices_of(b, 0).value[k]:
                    return 4 * (i * agents_of(b) + k) + NOT_A_CHOICE
    return FINE


def act_worlds(address):
    """Check all actions and, when they are valid, advance all worlds. Returns what `check_actions` returns."""
    code = check_actions(address)
    if code == FINE:
        step_worlds(address, 0, batch_at(address, 0).worlds)
    return code


def step_worlds(address, start, stop):
    """Advance worlds start ... stop - 1 by one step, with autoreset, and observe them; who is asleep stays as it is."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        if asleep_of(b, i).value:
            continue
        if state_of(b, i).over:
            begin_world(b, i)
            clear_outcome(b, i)
            observe_world(b, i)
            continue
        advance_world(b, i)
        observe_world(b, i)
        if state_of(b, i).over and b.autoreset == SAME_STEP:
            keep_final(b, i)
            begin_world(b, i)
            observe_world(b, i)


def begin_worlds(address, start, stop):
    """Start a new episode in those of the worlds start ... stop - 1 whose `begin` flag is set."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        if begin_of(b, i).value:
            begin_world(b, i)
            clear_outcome(b, i)
            observe_world(b, i)


def observe_worlds(address, start, stop):
    """Write the observations of worlds start ... stop - 1 again, after their states were set from outside."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        note_shown(state_of(b, i), False)
        observe_world(b, i)


def advise_worlds(address, start, stop):
    """Write the scripted expert's actions for worlds start ... stop - 1."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        expert(params_of(b, i), state_of(b, i), advice_of(b, i).value)


def play_worlds(address, start, stop):
    """Write the actions of the living agents whose seats scripted players hold; a seat of -1 is left alone."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        s = state_of(b, i)
        seats = seat_of(b, i).value
        for k in range(agents_of(b)):
            if seats[k] >= 0 and s.alive[k] and not s.over:
                play(seats[k], params_of(b, i), s, k, advice_of(b, i).value, players_rng(s))


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


def roll_worlds(address, start, stop):
    """Play the planned actions in each of the worlds start ... stop - 1, up to the end of its episode."""
    b = batch_at(address, 0)
    steps = b.plan_steps
    for i in range(start, stop):
        for t in range(steps):
            if state_of(b, i).over:
                break
            planned = plan_action_of(b, i * steps + t).value
            values = action_values_of(b, i).value
            for j in range(values.size):
                values[j] = planned[j]
            advance_world(b, i)
            gained, spent = plan_reward_of(b, i * steps + t).value, plan_cost_of(b, i * steps + t).value
            reward, spending = reward_of(b, i).value, cost_of(b, i).value
            for k in range(agents_of(b)):
                gained[k] = reward[k]
                spent[k] = spending[k]
        observe_world(b, i)


def command_worlds(address, start, stop):
    """First half of a step whose motion is an engine's: new episodes begin (their `begin` flag is set then), or act.
    Returns how many begin."""
    b = batch_at(address, 0)
    begun = 0
    for i in range(start, stop):
        begins = state_of(b, i).over and not asleep_of(b, i).value
        begin_of(b, i).value = begins
        if begins:
            begun += 1
            begin_world(b, i)
            clear_outcome(b, i)
            observe_world(b, i)
        elif not asleep_of(b, i).value:
            act(params_of(b, i), state_of(b, i), action_of(b, i).value, state_of(b, i).rng)
    return begun


def load_worlds(address, start, stop):
    """What an engine applies in its next physics step."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        load(params_of(b, i), state_of(b, i), state_of(b, i).rng)


def judge_worlds(address, start, stop):
    """Second half of a step whose motion was an engine's, for the worlds awake that have not just begun. Returns how
    many begin anew (SAME_STEP)."""
    b = batch_at(address, 0)
    begun = 0
    for i in range(start, stop):
        if begin_of(b, i).value or asleep_of(b, i).value:
            continue
        clear_result(b, i)
        if failed_of(b, i).value:
            break_off(b, i)
        else:
            judge(params_of(b, i), state_of(b, i), action_of(b, i).value, state_of(b, i).rng, result_of(b, i))
            settle_world(b, i)
        observe_world(b, i)
        if state_of(b, i).over and b.autoreset == SAME_STEP:
            keep_final(b, i)
            begin_world(b, i)
            observe_world(b, i)
            begin_of(b, i).value = True
            begun += 1
    return begun


def placed_worlds(address, start, stop):
    """Finish the new episodes of the worlds whose `begin` flag is set, when an engine has placed their bodies."""
    b = batch_at(address, 0)
    for i in range(start, stop):
        if begin_of(b, i).value:
            placed(params_of(b, i), state_of(b, i), state_of(b, i).rng)
            observe_world(b, i)


def grade_goals(address, count):
    """The reward and the termination of `count` pairs of goals, by the parameters of the first world."""
    b = batch_at(address, 0)
    weights = weights_of(b, 0).value
    for j in range(count):
        terms = graded_parts_of(b, 0).terms
        for t in range(terms.shape[0]):
            terms[t, 0] = 0.0
        graded_of(b, 0).terminated = False
        pair = goals_of(b, j)
        grade(params_of(b, 0), pair.achieved, pair.desired, graded_of(b, 0))
        grades_of(b, j).reward = 0.0
        for t in range(weights.size):
            grades_of(b, j).reward += weights[t] * terms[t, 0]
        grades_of(b, j).terminated = graded_of(b, 0).terminated


def begin_world(b, i):
    """A new episode: all state blank but the generator and the memo, random parameters drawn, the world reset."""
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
    clear_result(b, i)
    reset(params_of(b, i), s, s.rng)


def advance_world(b, i):
    """One step of one world."""
    p = params_of(b, i)
    s = state_of(b, i)
    clear_result(b, i)
    step(p, s, action_of(b, i).value, s.rng, result_of(b, i))
    settle_world(b, i)


def settle_world(b, i):
    """After the kernels of a step: time, rewards, costs, ends."""
    s = state_of(b, i)
    s.elapsed += 1
    late = s.elapsed >= b.horizon
    parts = parts_of(b, i)
    weights = weights_of(b, 0).value
    reward, total_cost = reward_of(b, i).value, cost_of(b, i).value
    terminated, truncated = terminated_of(b, i).value, truncated_of(b, i).value
    s.over = True
    for k in range(agents_of(b)):
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
            reward[k] += weights[t] * parts.terms[t, k]
            vector[t] = parts.terms[t, k]
        for t in range(weights.size, parts.terms.shape[0]):
            if b.cost_maximum:
                total_cost[k] = max(total_cost[k], parts.terms[t, k])
            else:
                total_cost[k] += parts.terms[t, k]
        terminated[k] = parts.terminated[k]
        truncated[k] = late
        s.alive[k] = not terminated[k]  # who is cut off by the time limit is alive in the final observation
        if s.alive[k] and not late and (k == 0 or not b.first_decides):
            s.over = False


def break_off(b, i):
    """End the episode of a world that the engine could not move: truncated, without a reward."""
    s = state_of(b, i)
    s.elapsed += 1
    s.over = True
    for k in range(agents_of(b)):
        reward_of(b, i).value[k] = 0.0
        cost_of(b, i).value[k] = 0.0
        terminated_of(b, i).value[k] = False
        truncated_of(b, i).value[k] = s.alive[k]


def observe_world(b, i):
    """Observations of all agents, scaled and clipped, and their action masks."""
    p = params_of(b, i)
    s = state_of(b, i)
    for k in range(agents_of(b)):
        observe_agent(p, s, k, observation_of(b, i * agents_of(b) + k))
        mask = mask_of(b, i * agents_of(b) + k).value
        mask_agent(p, s, k, mask)
        for j in range(choices_of(b, 0).value[k], mask.size):
            mask[j] = 0
        if b.pictured:
            look_agent(p, s, k, images_of(b, i * agents_of(b) + k))
        if b.scaled:
            scale(observation_values_of(b, i * agents_of(b) + k).value, scaling_of(b, 0))
    note_shown(s, True)


def scale(values, scaling):
    """From physical units to the observation space, clipped."""
    for j in range(values.size):
        value = values[j] * scaling.gain[j] + scaling.offset[j]
        values[j] = min(max(value, scaling.low[j]), scaling.high[j])


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
