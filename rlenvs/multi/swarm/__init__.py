"""Swarms: aggregation, synchrony, flocking and an epidemic, with 2 to 1000 agents that are all alike."""
