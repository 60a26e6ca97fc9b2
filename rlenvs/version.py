"""The package's version and the names under which it is installed, for those below its top.

`rlenvs` is the name of another project's distribution.
"""

__version__ = "0.1.0"
DISTRIBUTION = "rlenvs-suite"
AGENTS = f"{DISTRIBUTION}-agents"
KERNELS = f"{DISTRIBUTION}-kernels"
