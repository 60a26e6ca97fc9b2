"""`python -m rlenvs.core.check.libraries`."""

from rlenvs.core.check.libraries.command import main

if __name__ == "__main__":
    main()
