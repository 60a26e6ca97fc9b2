"""Worlds that cannot be solved without memory: Memory Gym's three games, and small diagnostic tasks."""
