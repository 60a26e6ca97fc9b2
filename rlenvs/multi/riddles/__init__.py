"""Riddles: small worlds that show whether agents communicate, with known best returns."""
