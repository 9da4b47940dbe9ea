"""The command line: ``autotune tune|emit|show|explain|warm|bench|devices|db|doctor``."""

from .app import main

__all__ = ["main"]
