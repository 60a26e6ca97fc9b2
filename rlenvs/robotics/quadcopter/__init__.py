"""Quadcopters: one vehicle model, a file per task."""

from rlenvs.core.registry import register

register("QuadHover-v0", "rlenvs.robotics.quadcopter.hover:SPEC", ("single", "robotics", "safe", "multi-objective"))
register("QuadTakeoff-v0", "rlenvs.robotics.quadcopter.takeoff:SPEC", ("single", "robotics", "safe", "multi-objective"))
register("QuadTrack-v0", "rlenvs.robotics.quadcopter.track:SPEC", ("single", "robotics", "safe", "multi-objective"))

SWARM = ("multi-agent", "robotics", "safe", "multi-objective")
register("QuadMultiHover-v0", "rlenvs.robotics.quadcopter.multi_hover:SPEC", SWARM)
register("QuadLeaderFollower-v0", "rlenvs.robotics.quadcopter.leader_follower:SPEC", SWARM)
register("QuadFlock-v0", "rlenvs.robotics.quadcopter.flock:SPEC", SWARM)
register("QuadMeetup-v0", "rlenvs.robotics.quadcopter.meetup:SPEC", SWARM)
register(
    "QuadObstacles-v0", "rlenvs.robotics.quadcopter.obstacles:SPEC", ("single", "robotics", "safe", "multi-objective")
)
register("QuadGate-v0", "rlenvs.robotics.quadcopter.gate:SPEC", ("single", "robotics", "safe", "multi-objective"))
register("QuadRace-v0", "rlenvs.robotics.quadcopter.race:SPEC", ("single", "robotics", "safe", "multi-objective"))
register("QuadSwarmRace-v0", "rlenvs.robotics.quadcopter.swarm_race:SPEC", SWARM)
