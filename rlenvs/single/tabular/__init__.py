"""Finite Markov decision processes, each given by a transition table."""
