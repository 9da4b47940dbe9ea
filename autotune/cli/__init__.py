"""The command line: ``autotune tune|emit|show|devices|db|doctor``."""

from .app import main

__all__ = ["main"]
