"""The package's version, for those below its top."""

__version__ = "0.1.0"
