"""The version of the library."""

__version__ = "0.3.0.dev0"
