"""The expert of MultiWalker: the gait of `rlenvs/kits/planar/gait.py`, with parameters tuned for three walkers at once.

A walker that lags behind its place under the package walks faster, and one under a low part of the package stretches.
The parameters were found with `benchmarks/planar_gaits.py`.
"""

from __future__ import annotations

from rlenvs.core import f8, kernel
from rlenvs.kits.planar import gait
from rlenvs.multi.planar.walkers import hull_seen, leg_seen, package_length, package_seen, start_of

GAIT = (
    *(0.372, 0.478, 1.217, -0.477, 0.225, 0.147, 1.0, 0.741, -0.14, 0.022),
    *(0.408, 0.116, 1.821, 0.183, 0.862, 1.023, 7.812, 0.042, 0.5, 0.0, 0.05),
)

STATE = {"gait": f8("agents", gait.MEMORY)}  # its memory


@kernel
def load_seen(p, s, k):
    """How far walker k is behind its place under the package, and the package too low there [m]."""
    place = start_of(p, k) - 0.5 * (start_of(p, 0) + start_of(p, s.fallen.size - 1))
    away, _, slant = package_seen(s, k)
    return away * package_length(s) + place, -slant * place


@kernel
def plan(p, s, k):
    """What the joints of walker k are to do next."""
    late, low = load_seen(p, s, k)
    gait.plan(p.gait_numbers, s.gait[k], hull_seen(p, s, k)[2], leg_seen(p, s, k, 0), leg_seen(p, s, k, 1), late, low)


@kernel
def follow(p, s, k, leg):
    """Actions of the hip and the knee of a leg."""
    return gait.follow(p.gait_numbers, s.gait[k], hull_seen(p, s, k), leg_seen(p, s, k, leg), leg)
