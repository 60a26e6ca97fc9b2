"""Libraries of kernels, made ahead of their use (`rlenvs.core.compiler.ahead`): building and verifying them.

`python -m rlenvs.core.check.libraries` is the command; `python3 run.py kernels` installs what it needs.
"""
