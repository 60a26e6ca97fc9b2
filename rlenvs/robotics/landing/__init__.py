"""Landers under rocket power, on the planar rigid bodies of `rlenvs/kits/planar`."""
