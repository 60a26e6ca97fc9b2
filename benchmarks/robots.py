"""Steps per second of Gymnasium's MuJoCo robots beside EnvPool's and Gymnasium's, timed in turn in one run.

    python benchmarks/robots.py --peers benchmarks/peers.toml [--only Hopper] [--cpu] [--write]

Models, time steps, integrators and control rates are the same on all sides. `--write` puts the table into
benchmarks/robots.md.
"""

from pathlib import Path

from run import Case, write_beside_peers

HERE = Path(__file__).parent
ROBOTS = {  # and what the file of peers calls them
    "Ant-v0": "ant",
    "HalfCheetah-v0": "half-cheetah",
    "Hopper-v0": "hopper",
    "Humanoid-v0": "humanoid",
    "HumanoidStandup-v0": "humanoid-standup",
    "InvertedDoublePendulum-v0": "inverted-double-pendulum",
    "InvertedPendulum-v0": "inverted-pendulum",
    "Pusher-v0": "pusher",
    "Reacher-v0": "reacher",
    "Swimmer-v0": "swimmer",
    "Walker2d-v0": "walker2d",
}
WIDE = {"num": 64, "threads": 2}
CASES = [
    case
    for id, robot in ROBOTS.items()
    for case in (
        Case(id, "vector", f"envpool-{robot}", 1.3, **WIDE),
        Case(id, "vector", f"gymnasium-{robot}-8", 2, **WIDE),
        Case(id, "single", f"gymnasium-{robot}", 1),
    )
]
NOTES = (
    "Random actions. EnvPool: 64 environments, 2 threads. -8: eight processes (Gymnasium's AsyncVectorEnv). Resets are "
    "counted in vectors, not in single ones. Of a step of 64 hoppers 3,510 us of processor time go by in MuJoCo, 13 in "
    "all else (2026-11-25)."
)

if __name__ == "__main__":
    write_beside_peers(CASES, __doc__, "Robots that run, swim and reach", NOTES, HERE / "robots.md")
