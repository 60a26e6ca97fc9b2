"""Battles of units on a plane, as in StarCraft's micro-management."""

from rlenvs.core.registry import register

register("Battle-v0", "rlenvs.multi.battle.battle:SPEC", ("multi-agent", "multi-objective"))
register("MoveToBeacon-v0", "rlenvs.multi.battle.minigames.move_to_beacon:SPEC")
register("CollectMineralShards-v0", "rlenvs.multi.battle.minigames.collect_mineral_shards:SPEC")
register("FindAndDefeatZerglings-v0", "rlenvs.multi.battle.minigames.find_and_defeat_zerglings:SPEC")
register("DefeatRoaches-v0", "rlenvs.multi.battle.minigames.defeat_roaches:SPEC")
register("DefeatZerglingsAndBanelings-v0", "rlenvs.multi.battle.minigames.defeat_zerglings_and_banelings:SPEC")
