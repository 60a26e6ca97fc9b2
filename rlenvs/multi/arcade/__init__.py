"""Arcade games for two sides."""
