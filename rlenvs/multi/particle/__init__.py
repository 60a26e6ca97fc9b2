"""Particle worlds: discs that push, chase and communicate."""
