"""What tests share, and how they are chosen and run: `python3 run.py test` calls `python -m support.suite`."""
