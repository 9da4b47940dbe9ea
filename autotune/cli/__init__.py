"""The command line: ``autotune tune|emit|show|bench|replay|devices|db|doctor``."""

from .app import main

__all__ = ["main"]
