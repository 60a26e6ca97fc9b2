"""Quadcopters that hover, follow, avoid, race and fly together. One vehicle model, one file per task;
docs/quadcopters.md is the guide."""
