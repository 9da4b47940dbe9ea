"""NVIDIA's compute-sanitizer: a program on a GPU, every access watched."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .base import DeviceError
from .tools import last_line, under

TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
_FOUND = 99
# Errors of the driver's own probing are none of ours. Padding tells one allocation from the next.
_OPTIONS = ("--report-api-errors", "no", "--padding", "4096", "--launch-timeout", "120")


def watched(tool: str, program: Sequence[str | Path], seconds: float | None = None) -> tuple[bool, str]:
    """Run a Python program under one of `TOOLS`: whether nothing was found, and all that was said.

    Args:
        tool: what to look for.
        program: the arguments of the Python interpreter.
        seconds: when to give up.

    Raises:
        DeviceError: compute-sanitizer is not installed or does not support the GPU, or the program failed by itself.
    """
    options = ("--tool", tool, *_OPTIONS, "--error-exitcode", str(_FOUND))
    done = under("compute-sanitizer", options, program, seconds)
    if "Device not supported" in done.stdout:
        raise DeviceError("compute-sanitizer does not support this GPU")
    if done.returncode not in (0, _FOUND) and not re.search(r"SUMMARY: [1-9]", done.stdout):
        raise DeviceError(f"the process under {tool} ended with exit code {done.returncode}: {last_line(done.stdout)}")
    return done.returncode == 0, done.stdout
