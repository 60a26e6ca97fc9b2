"""Car-steps per second of F1Tenth beside F1TENTH's simulator: two cars, 1080 beams each, timed in turn.

    python benchmarks/racing.py --peer-python /path/to/f1/bin/python --clone /path/to/f1tenth_gym
    ... --cpu --output benchmarks/racing.md    counts the time that processors worked, where others use the machine

A step is one of 0.01 s with two scans, on the track "club"; the peer has it as an image of 5 cm cells, as its own maps
have. Random actions, episodes end at contact. A car that has touched something is out: it counts no steps, and the
peer puts both back then. Resets are counted in our batches, and nowhere else. Without `--peer-python` ours alone are
timed. Behind them stands self-play of eight cars in MicroRacerRace, which has no peer. The docstring of
peers/f1tenth_gym.py says how the peer is installed.
"""

import argparse
import os
import platform
import statistics
import sys
from datetime import date
from pathlib import Path

from run import BY_CPU, Case, Worker, ours, rate_alone

CARS = 2
SAME = {"agents": CARS, "level": "original", "beams": 1080}  # as the peer steps
FORMS = [("batch", 1, 1, 20.0), ("batch", 64, 1, 20.0), ("batch", 256, 2, 200.0)]  # form, worlds, threads, aim
SELF_PLAY = ("MicroRacerRace-v0", 512, {"agents": 8})  # id, worlds, keywords

NOTES = """## Where the time of a car that races goes

Microseconds of processor time of a step, the least of several turns: 64 worlds of two cars, one thread of an EPYC
processor at 4.2 GHz with other work beside it; with all, without noise, without the other car, and with one beam.

| part | before | now |
|---|---|---|
| motion, place on the road, neighbours, reward, ends; one beam, and the walk along the borders | 0.95 | 1.1 |
| 1080 distances to borders, scaled to the observation's range | 2.2 | 1.4 |
| the body of the other car | 0.6 | 0.3 |
| noise of 1080 beams | 0.8 | 0.35 |
| together | 4.6 | 3.2 |

Before, beams were looked at one after the other until one missed a piece of a border: a wrong guess of the processor
for nearly each of 66 pieces. Now the angle of a border's vertex tells the beam, two products check it, eight beams are
written at once, and what the next cell needs is computed before it is asked where this one's beams end.

200 times the peer on two threads is 2.3 us a car and step. What is left has a floor near that: 68 rounds of 16 beams of
noise with some 45 vector operations each, at two a cycle, are 0.36 us; 68 divisions of 16 numbers 0.16 us; scaling and
writing 0.2 us; 124 vertices with some 60 operations each, at three a cycle, 0.6 us; motion, places and contacts 0.9 us.
These are 2.2 us if no guess is wrong and nothing waits for memory. With the track's roads read by all worlds from one
place, 256 worlds still take a tenth longer than 64. Below it lies only less work: fewer cells where the road
is straight, or motion of several worlds in one vector.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer-python", help="an interpreter that has what the peer needs")
    parser.add_argument("--clone", help="where the peer's repository was cloned to")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5, help="per turn")
    parser.add_argument("--cpu", action="store_true", help="count the time that processors worked")
    parser.add_argument("--output", type=Path, help="where to write the table")
    options = parser.parse_args()
    lines = [
        "# F1Tenth: car-steps per second",
        "",
        f"Measured on {date.today()}: {platform.machine()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}.",
        f"Two cars, 1080 beams, random actions; {options.rounds} turns of {options.seconds} s; medians. Only cars that",
        "race count steps.",
        *[BY_CPU] * options.cpu,
        "",
        "| id | form | peer | ours | theirs | ratio (min - max) | aim |",
        "|---|---|---|---|---|---|---|",
    ]
    print(*lines[-2:], sep="\n")
    peer = None
    if options.peer_python:
        command = [options.peer_python, "f1tenth_gym.py", "--clone", options.clone, "--cars", str(CARS)]
        peer = Worker([*command, *["--cpu"] * options.cpu])
    for form, num, threads, goal in FORMS:
        case = Case("F1TenthRace-v0", form, "f1tenth-gym", goal, num=num, threads=threads)
        mine = ours("F1Tenth-v0", form, num, threads, SAME, False, options.cpu, living=True)
        pairs = [
            (mine.rate(options.seconds), peer.rate(options.seconds) if peer else float("nan"))
            for _ in range(options.rounds)
        ]
        mine.close()
        a, b = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in pairs)
        told = f"{statistics.median(ratios):,.3g} ({ratios[0]:,.3g} - {ratios[-1]:,.3g})" if peer else "-"
        lines.append(
            f"| F1Tenth-v0 | {case.label} | f1tenth_gym | {a:,.0f} | "
            f"{f'{b:,.0f}' if peer else '-'} | {told} | {goal:g} |"
        )
        print(lines[-1], flush=True)
    if peer:
        peer.close()
    id, num, keywords = SELF_PLAY
    for threads in (1, 2):
        lines.append(rate_alone(id, num, threads, keywords, options.rounds, options.seconds, options.cpu))
        print(lines[-1], flush=True)
    if options.output:
        options.output.write_text("\n".join([*lines, "", NOTES]), encoding="utf-8")


if __name__ == "__main__":
    main()
