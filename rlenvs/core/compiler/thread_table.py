"""The table that all threads of a pool share, in rows of a cache line, and how long helpers wait."""

from __future__ import annotations

LOOKS = 200_000  # for the next job, before a helper begins to nap: some 0.1 ms
# naps of a helper that looks between them whether there is a job, before it goes to sleep: some 20 ms. To go to sleep,
# and to be woken, takes Python's lock, which the caller may need for what it does between two jobs
NAPS, NAP = 500, 20  # how many, microseconds
LINE = 8
JOBS, DONE, GATE, LOOP, FIRST = (LINE * k for k in range(5))  # FIRST: per thread the next world, and its range's end
SLEEP = LOOP + 4  # the address of the system's function by which helpers nap; 0 where it has none
CLOSED = 1 << 32  # in GATE, which counts who has come to help with the job: who comes now is too late
