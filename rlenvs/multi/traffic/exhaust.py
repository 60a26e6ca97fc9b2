"""What a vehicle emits: carbon dioxide by vehicle-specific power.

The power of an engine per mass of the vehicle follows from speed and acceleration (J. L. Jimenez-Palacios,
"Understanding and quantifying motor vehicle emissions with vehicle specific power and TILDAS remote sensing", 1999, on
a level road). A car of 1.4 t burns petrol (67.5 g of carbon dioxide per MJ) with an efficiency of 0.3, and 0.5 g/s at
rest; braking burns no more than that.
"""

from __future__ import annotations

from rlenvs.core import kernel

MASS, ROLLING, DRAG = 1.1, 0.132, 0.000302  # of rotating parts; kW/t per m/s; kW/t per (m/s)^3
PER_POWER, AT_REST = 1.4 * 0.0675 / 0.3, 0.5  # g/s per kW/t, and g/s


@kernel
def exhaust(before: float, after: float, interval: float) -> float:
    """Carbon dioxide [g] of a step in which the speed [m/s] changes evenly."""
    speed, rate = (before + after) / 2.0, (after - before) / interval
    power = speed * (MASS * rate + ROLLING) + DRAG * speed * speed * speed
    return (AT_REST + PER_POWER * max(power, 0.0)) * interval
