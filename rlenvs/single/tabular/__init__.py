"""Finite Markov decision processes, each a table."""
