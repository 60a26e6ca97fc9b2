"""Compiled loops of rlenvs: `manifest.json`, libraries by processor, and `_call`, which calls them."""
