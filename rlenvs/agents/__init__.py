"""Policies on worlds: evaluation over fixed seeds, training, and the demo."""
