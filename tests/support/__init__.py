"""How the tests are chosen and run: `python3 run.py test` calls `python -m support.suite`."""
