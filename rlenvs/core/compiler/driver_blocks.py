"""The part of the driver's template that steps several worlds at a time; its names are those of `driver`.

`advance_lanes` and `show_lanes` are the lane forms of `advance_block` and `show_block`.
"""


def run_blocks(address, start, stop, job):
    """STEP of worlds start ... stop - 1, as `run_worlds` does it, WIDTH worlds at a time; one by one who is asleep,
    begins a new episode, or is left over."""
    b = batch_at(address, 0)
    place = b.blocks
    while atomic_set(place, 1) != 0:  # blocks begin with whether a thread works in them
        place += b.block_bytes
        if place == b.blocks_end:
            place = b.blocks
    block = block_at(place, 0)
    count = 0
    for i in range(start, stop):
        if asleep_of(b, i).value or state_of(b, i).over:
            call_loop(b.run_worlds, address, i, i + 1, STEP)
            continue
        block.worlds[count] = i
        count += 1
        if count == WIDTH:
            fetch_ahead(b, i + 1, min(i + 1 + WIDTH, stop))
            step_block(b, block, address)
            count = 0
    for j in range(count):
        call_loop(b.run_worlds, address, block.worlds[j], block.worlds[j] + 1, STEP)
    atomic_set(place, 0)
    return FINE


def fetch_ahead(b, first, last):
    """Let the processor load the states of worlds first ... last - 1 meanwhile."""
    for place in range(b.state + first * b.state_size, b.state + last * b.state_size, CACHE_LINE):
        prefetch(place)


def step_block(b, block, address):
    """One step of the worlds of a block, none of which begins an episode."""
    c = batch_at(block.batch, 0)
    in_order = block.worlds[WIDTH - 1] - block.worlds[0] == WIDTH - 1
    worlds = lanes_from(block.worlds[0])
    if not in_order:
        worlds = lanes_of(block.worlds)
    copy_rows(block, worlds, TAKE_IN, in_order)
    broken = advance_lanes(c, 0)
    set_lanes(block.broken, broken)  # whose last observation stays
    copy_rows(block, worlds, GIVE_BACK, in_order)
    unfinished = some(show_lanes(c, 0))
    copy_rows(block, worlds, GIVE_SEEN, in_order and not some(broken))
    if unfinished:
        for lane in range(WIDTH):
            call_loop(b.run_worlds, address, block.worlds[lane], block.worlds[lane] + 1, FINISH)


def advance_block(b, i):
    """The kernels of a step. Returns whether the episode is to be broken off."""
    advance_world(b, i)
    return failed_of(b, i).value != UNBROKEN


def show_block(b, i):
    """Observe after a step. Returns whether something is to follow, see FINISH."""
    failed = failed_of(b, i)
    if failed.value == UNBROKEN and not observe_world(b, i):
        failed.value = OBSERVATION_NOT_FINITE
    return failed.value != UNBROKEN or (b.autoreset == SAME_STEP and state_of(b, i).over)


def block_is_finite(b, i):
    """The lane form of `state_is_finite`."""
    block = block_at(b.block, 0)
    spoilt = no_lanes()
    for n in range(block.first[CHECKED], block.first[CHECKED + 1]):
        run = run_of(block, n)
        place = run.block
        if run.bytes_each == 8:
            numbers = lanes_at_8(place)
            nothing = numbers - numbers  # or NaN
            for _ in range(run.count - 1):
                place += 8 * WIDTH
                numbers = lanes_at_8(place)
                nothing = nothing + (numbers - numbers)
            spoilt = spoilt | (nothing != 0.0)
        else:
            halves = lanes_at_4(place)
            empty = halves - halves
            for _ in range(run.count - 1):
                place += 4 * WIDTH
                halves = lanes_at_4(place)
                empty = empty + (halves - halves)
            spoilt = spoilt | (empty != 0.0)
    return outside(spoilt)


def copy_rows(block, worlds, phase, in_order):
    """Copy what a phase copies, of worlds that may lie one behind the other, all of them wanted: `in_order`."""
    for n in range(block.first[phase], block.first[phase + 1]):
        run = run_of(block, n)
        if in_order and run.dense:
            copy_dense(run, run.rows + block.worlds[0] * run.step, phase)
            continue
        rows = worlds * run.step + run.rows
        if phase == GIVE_SEEN and not in_order:
            spare = lanes_of(block.broken)  # not before: it waits for `set_lanes`
            rows = rows * (1 - spare) + spare * block.spare
        if phase == TAKE_IN:
            if run.bytes_each == 8:
                take_8(rows, run.block, run.count)
            elif run.bytes_each == 4:
                take_4(rows, run.block, run.count)
            elif run.bytes_each == 2:
                take_2(rows, run.block, run.count)
            else:
                take_1(rows, run.block, run.count)
        elif run.bytes_each == 8:
            give_8(rows, run.block, run.count)
        elif run.bytes_each == 4:
            give_4(rows, run.block, run.count)
        elif run.bytes_each == 2:
            give_2(rows, run.block, run.count)
        else:
            give_1(rows, run.block, run.count)


def copy_dense(run, place, phase):
    """The same of rows that lie one behind the other from an address on."""
    if phase == TAKE_IN:
        if run.bytes_each == 8:
            take_dense_8(place, run.block, run.count)
        elif run.bytes_each == 4:
            take_dense_4(place, run.block, run.count)
        elif run.bytes_each == 2:
            take_dense_2(place, run.block, run.count)
        else:
            take_dense_1(place, run.block, run.count)
    elif run.bytes_each == 8:
        give_dense_8(place, run.block, run.count)
    elif run.bytes_each == 4:
        give_dense_4(place, run.block, run.count)
    elif run.bytes_each == 2:
        give_dense_2(place, run.block, run.count)
    else:
        give_dense_1(place, run.block, run.count)
