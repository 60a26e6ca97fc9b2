"""Engines: other people's rigid-body dynamics and contacts behind the records of a world."""
