"""Congestion: many agents share a few resources, and each makes them worse for the others."""
