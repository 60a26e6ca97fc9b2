"""Gathering: agents collect what lies about, for several who want different things."""
