"""Deep sea treasure: value against time. `front.py` has the exact set of optimal trade-offs."""
