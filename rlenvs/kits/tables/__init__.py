"""Finite Markov decision processes: tables, one set of kernels that plays them all, exact solutions."""
