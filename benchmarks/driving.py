"""Steps per second of driving worlds beside highway-env and EnvPool's port of it, timed in turn.

    python benchmarks/driving.py --peers benchmarks/peers.toml --rounds 3

A step of Highway is a decision, a second of fifty cars in fifteen moments of simulation. Resets count in our batches
and in EnvPool. Behind these stands self-play of 64 cars in DriveTogether, which has no peer that runs on processors:
steps of cars that are on the road. `--write` puts the table into benchmarks/driving.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

CASES = [
    Case("Highway-v0", "single", "highway-env", 200),
    Case("Highway-v0", "single", "envpool-highway", 1),
    Case("Highway-v0", "batch", "envpool-highway-64", 5, num=64),
    Case("Merge-v0", "single", "highway-env-merge", 200),
    Case("Roundabout-v0", "single", "highway-env-roundabout", 200),
    Case("Intersection-v0", "single", "highway-env-intersection", 200),
]
SELF_PLAY = [  # id, worlds, threads, keywords; where mishaps end the episodes of agents, few of random ones are left
    ("DriveTogether-v0", 64, threads, {"agents": 64, **more})
    for more in ({"mishaps": "count"}, {})
    for threads in (1, 2)
]
NOTES = """Random actions, one thread each. Resets count in our batches and in EnvPool.

Episodes of highway-env 1.12.1, recorded with 100 seeds each (`benchmarks/parity/record_highway_env.py WORLD --seeds
100`) and played again from the state behind the reset, actions alone given (at the intersection also the cars that
enter). How many of them agree in all positions to 1e-9 m up to their end, and after how many steps the others begin to
differ:

| world | episodes that agree | first step that differs, of the others |
|---|---|---|
| Highway | 99 | 31 |
| Merge | 99 | 8 |
| Parking | 100 | |
| Roundabout | 44 | 4 to 11, mostly 4 and 5 |
| Intersection | 91 | 6 to 13 |
| TwoWay | 100 | |
| UTurn | 99 | 7 |
| Exit | 99 | 7 |
| LaneKeeping | 100 | |
| Racetrack | 100 | |

In Highway and Merge the cars that differ, by less than 1e-7 m, had just crashed: two sides are as short a way out, and
the last bit says which is taken. At the other two the cars that differ were slower than 0.7 m/s. There highway-env's
steering is unstable, and multiplies differences in the last bit, by 27 in each moment at 0.05 m/s: the slip of a slow
car moves it sideways at a speed that does not depend on its own. The recorded ego cars brake to a halt in every second
episode.

RouteDrive has no peer in this table: CARLA, whose task it is, needs a server and a graphics processor. Steps per
second that a processor worked, one thread, 60 steps of random accelerations near a third in 64 worlds, the median of
three, resets included: 46,900 with 20 cars and 12 pedestrians (46,000 in the single form), 735,000 in an empty town,
20,000 with 40 cars and 30 pedestrians, 17,600 with masks from above."""

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Driving", NOTES, Path(__file__).with_suffix(".md"), SELF_PLAY)
