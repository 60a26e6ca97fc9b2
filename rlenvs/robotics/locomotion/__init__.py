"""Walking and running, simulated by MuJoCo: Gymnasium's robots, with a limit of speed as a cost."""

from rlenvs.core.registry import register

SAFE = ("single", "robotics", "safe", "multi-objective")

register("HalfCheetah-v0", "rlenvs.robotics.locomotion.half_cheetah:SPEC", SAFE)
register("Ant-v0", "rlenvs.robotics.locomotion.ant:SPEC", SAFE)
