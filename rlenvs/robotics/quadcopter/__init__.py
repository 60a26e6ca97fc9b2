"""Quadcopters that hover, follow, avoid, race and fly together. One vehicle model, a file per task; docs/quadcopters.md
is their guide."""
