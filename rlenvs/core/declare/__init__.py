"""How a world is declared: its records, parameters, spaces, settings and numbers, and what they may be."""
