"""The part of the driver's template that checks actions, and turns them from one form into another."""


def check_actions(b):
    """Clip continuous actions to their bounds. Returns 4 * (world * agents + agent) + reason, or FINE."""
    for i in range(b.worlds):
        if asleep_of(b, i).value:
            continue
        s = state_of(b, i)
        if s.over:
            never_seeded = s.rng[0] == 0 and s.rng[1] == 0
            if b.autoreset == DISABLED or never_seeded:
                return 4 * i * agents_of(b) + EPISODE_OVER
            continue
        values, bounds = action_values_of(b, i).value, action_scaling_of(b, 0)
        for k in range(agents_of(b)):
            if not s.alive[k]:
                continue
            for j in range(k * b.action_numbers, (k + 1) * b.action_numbers):
                value = values[j]
                if CONTINUOUS:
                    if value != value:
                        return 4 * (i * agents_of(b) + k) + NOT_A_NUMBER
                    n = j - k * b.action_numbers
                    values[j] = min(max(value, bounds.low[n]), bounds.high[n])
                elif value < 0 or value >= choices_of(b, 0).value[j]:
                    return 4 * (i * agents_of(b) + k) + NOT_A_CHOICE
    return FINE


def convert_actions(b, i):
    """Write what kernels see of the actions, where that is something else."""
    if FLAT:
        split_action(b, i)
    if CONTINUOUS and b.converted:
        given, seen, scaling = action_values_of(b, i).value, split_values_of(b, i).value, action_scaling_of(b, 0)
        for j in range(seen.size):
            n = j % b.action_numbers
            seen[j] = given[j] * scaling.gain[n] + scaling.offset[n]


def convert_advice(b, i, k):
    """Write an agent's action as users give it, where what its expert or player wrote is something else."""
    if FLAT:
        join_advice(b, i, k)
    if CONTINUOUS and b.converted:
        given, seen, scaling = action_values_of(b, i).value, split_values_of(b, i).value, action_scaling_of(b, 0)
        for n in range(b.action_numbers):
            j = k * b.action_numbers + n
            given[j] = (seen[j] - scaling.offset[n]) / scaling.gain[n]


def split_action(b, i):
    """Write the choices for which flat actions stand, the last running fastest."""
    counts, flat, split = dimensions_of(b, 0).value, action_values_of(b, i).value, split_values_of(b, i).value
    for k in range(agents_of(b)):
        left = flat[k]
        for j in range(counts.size - 1, -1, -1):
            split[k * counts.size + j] = left % counts[j]
            left //= counts[j]


def join_advice(b, i, k):
    """The flat action of an agent for the choices that its expert or player made."""
    counts, split = dimensions_of(b, 0).value, split_values_of(b, i).value
    flat = 0
    for j in range(counts.size):
        flat = flat * counts[j] + split[k * counts.size + j]
    action_values_of(b, i).value[k] = flat


def join_mask(b, row):
    """The mask of flat actions: what all their choices are allowed to be."""
    counts, split, mask = dimensions_of(b, 0).value, split_mask_of(b, row).value, mask_of(b, row).value
    for flat in range(mask.size):
        left, end = flat, split.size
        allowed = 1
        for j in range(counts.size - 1, -1, -1):
            end -= counts[j]
            allowed &= split[end + left % counts[j]]
            left //= counts[j]
        mask[flat] = allowed
