"""The command line: ``autotune tune|emit|show|bench|devices|db|doctor``."""

from .app import main

__all__ = ["main"]
