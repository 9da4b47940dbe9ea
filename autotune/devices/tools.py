"""NVIDIA's tools that watch a program on a GPU."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from .base import DeviceError

_ROOT = Path(__file__).parents[2]
_COME_WITH = {"ncu": "Nsight Compute", "compute-sanitizer": "the CUDA toolkit"}


def found(tool: str) -> str:
    """The path of ``ncu`` or ``compute-sanitizer``.

    Raises:
        DeviceError: it is not installed.
    """
    from cuda.pathfinder import find_nvidia_binary_utility

    path = shutil.which(tool) or find_nvidia_binary_utility(tool)
    if not path:
        raise DeviceError(f"{tool} was not found; install {_COME_WITH[tool]}, and put its folder into PATH")
    return str(path)


def under(
    tool: str, options: Sequence[str], program: Sequence[str | Path], seconds: float | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a Python program, which imports autotune from here, under a tool; what both say is its ``stdout``.

    Args:
        tool: ``ncu`` or ``compute-sanitizer``.
        options: of the tool.
        program: the arguments of the Python interpreter.
        seconds: when to give up, by ``subprocess.TimeoutExpired``.

    Raises:
        DeviceError: the tool is not installed.
    """
    return subprocess.run(
        [found(tool), *options, sys.executable, *program],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])},
        timeout=seconds,
        check=False,
    )


def last_line(text: str) -> str:
    """What a tool that failed said last."""
    return (text.strip().splitlines() or ["no output"])[-1]
