"""The command line: ``autotune tune|emit|show|explain|warm|export|bench|devices|db|doctor``."""

from .app import main

__all__ = ["main"]
