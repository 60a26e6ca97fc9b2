"""Quadcopters that hover, follow, avoid, race and fly together. One vehicle model, a file per task; docs/quadcopters.md
is their guide."""

from rlenvs.core.registry import register

HERE = "rlenvs.robotics.quadcopter"
ALONE = ("single", "robotics", "safe", "multi-objective")
TOGETHER = ("multi-agent", "robotics", "safe", "multi-objective")

register("QuadHover-v0", f"{HERE}.hover:SPEC", ALONE)
register("QuadTakeoff-v0", f"{HERE}.takeoff:SPEC", ALONE)
register("QuadTrack-v0", f"{HERE}.track:SPEC", ALONE)
register("QuadGate-v0", f"{HERE}.gate:SPEC", ALONE)
register("QuadRace-v0", f"{HERE}.race:SPEC", ALONE)
register("QuadObstacles-v0", f"{HERE}.obstacles:SPEC", ALONE)
register("QuadMultiHover-v0", f"{HERE}.multi_hover:SPEC", TOGETHER)
register("QuadLeaderFollower-v0", f"{HERE}.leader_follower:SPEC", TOGETHER)
register("QuadFlock-v0", f"{HERE}.flock:SPEC", TOGETHER)
register("QuadMeetup-v0", f"{HERE}.meetup:SPEC", TOGETHER)
register("QuadSwarmRace-v0", f"{HERE}.swarm_race:SPEC", TOGETHER)
