"""Wrappers as layers: one definition for every API form, `wrap(env, Sensor("position", noise=0.02), ...)`."""
