"""Deep sea treasure: worth against time. `front.py` has the exact set of best trade-offs."""
