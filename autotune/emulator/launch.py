"""One launch of a kernel in a process of its own."""

from __future__ import annotations
