"""Walkers in the plane, on the planar rigid bodies of `rlenvs/kits/planar`."""
