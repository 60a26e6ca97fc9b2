"""Plans of signals timed for a demand, by Webster's rule.

F. V. Webster, "Traffic signal settings", Road Research Technical Paper 39 (1958): with the flow ratios y of the phases
(the flow of the busiest lane of each, as a part of what passes at green), their sum Y and the lost time L of a cycle,
the delay is about least for a cycle of (1.5 L + 5) / (1 - Y) seconds, whose green time is shared out in proportion to
the y.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from rlenvs.multi.traffic.networks import Flow, Junction, Network, Phase
from rlenvs.multi.traffic.routes import Router

__all__ = ["webster_plan"]

SATURATION = 1800.0  # vehicles per hour that pass a stop line at green, on a lane
CLEARING = 5.0  # s between greens
SHORTEST_GREEN, LONGEST_CYCLE = 5.0, 180.0  # s


def webster_plan(network: Network, flows: Sequence[Flow]) -> Network:
    """The network with plans for its mean demand: of the phases of each junction, in their order, those that open a
    movement that none before has opened, with a clearing phase after each.

    Raises:
        ParameterError: a flow whose route is not possible.
    """
    rates = lane_rates(network, flows)
    return replace(
        network,
        junctions=tuple(each if each.virtual else _planned(each, rates) for each in network.junctions),
    )


def lane_rates(network: Network, flows: Sequence[Flow]) -> dict[tuple[str, str], float]:
    """Vehicles per hour on each of the lanes for a movement, by its two roads."""
    router, rates = Router(network), dict[tuple[str, str], float]()
    for number, flow in enumerate(flows):
        names = [network.roads[road].id for road in router.route(flow, f"flow {number}").roads]
        for pair in itertools.pairwise(names):
            rates[pair] = rates.get(pair, 0.0) + 3600.0 / flow.interval
    for junction in network.signals:
        for movement in junction.movements:
            lanes = len({link.start for link in movement.lane_links})
            if (movement.start, movement.end) in rates:
                rates[movement.start, movement.end] /= max(lanes, 1)
    return rates


def webster_times(ratios: Sequence[float], lost: float) -> list[float]:
    """The green times of phases with these flow ratios, in seconds.

    Args:
        ratios: of the phases.
        lost: time of a cycle in which no phase is green.
    """
    total = sum(ratios)
    cycle = min((1.5 * lost + 5.0) / (1.0 - total), LONGEST_CYCLE) if total < 1.0 else LONGEST_CYCLE
    green = cycle - lost
    return [max(green * ratio / total, SHORTEST_GREEN) if total > 0.0 else SHORTEST_GREEN for ratio in ratios]


def _planned(junction: Junction, rates: dict[tuple[str, str], float]) -> Junction:
    always = set.intersection(*(set(phase.green) for phase in junction.phases))
    chosen: list[Phase] = []
    opened = set(always)
    for phase in junction.phases:
        if not set(phase.green) <= opened:
            chosen.append(phase)
            opened |= set(phase.green)
    if not chosen:
        return junction
    ways = [(movement.start, movement.end) for movement in junction.movements]
    busiest = [max(rates.get(ways[n], 0.0) for n in phase.green if n not in always) for phase in chosen]
    ratios = [rate / SATURATION for rate in busiest]
    times = webster_times(ratios, CLEARING * len(chosen))
    clear = Phase(CLEARING, tuple(sorted(always)))
    pairs = [(Phase(float(round(time)), phase.green), clear) for phase, time in zip(chosen, times, strict=True)]
    return replace(junction, phases=tuple(phase for pair in pairs for phase in pair))
