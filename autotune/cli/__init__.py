"""The command line: ``autotune tune|emit|show|explain|warm|export|bench|record|convert|replay|devices|runs|db|…``."""

from .app import main

__all__ = ["main"]
