"""Tasks of a Panda arm on a table, simulated by MuJoCo. The arm, what all tasks share, a file per task."""

from rlenvs.core.registry import register

GOAL = ("single", "robotics")

register("PandaReach-v0", "rlenvs.robotics.manipulation.reach:SPEC", GOAL)
register("PandaSafeReach-v0", "rlenvs.robotics.manipulation.safe_reach:SPEC", ("single", "robotics", "safe"))
register("PandaPush-v0", "rlenvs.robotics.manipulation.push:SPEC", GOAL)
register("PandaSlide-v0", "rlenvs.robotics.manipulation.slide:SPEC", GOAL)
register("PandaPickAndPlace-v0", "rlenvs.robotics.manipulation.pick_and_place:SPEC", GOAL)
register("PandaStack-v0", "rlenvs.robotics.manipulation.stack:SPEC", GOAL)
register("PandaHandover-v0", "rlenvs.robotics.manipulation.handover:SPEC", ("multi-agent", "robotics", "safe"))
register("PandaFlip-v0", "rlenvs.robotics.manipulation.flip:SPEC", GOAL)
register("PandaDrawer-v0", "rlenvs.robotics.manipulation.drawer:SPEC", GOAL)
register("PandaPegInsertion-v0", "rlenvs.robotics.manipulation.peg_insertion:SPEC", (*GOAL, "safe"))
