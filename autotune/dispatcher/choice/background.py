"""Tuning of untuned calls in another process, if the program asks for it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from autotune.dispatcher.settings import settings

if TYPE_CHECKING:
    import subprocess

_AUTOTUNE = "from autotune.cli import main; main()"


_tuning: list[subprocess.Popen[bytes]] = []  # the process that tunes, if any was started


def tune_in_background(operator: str, model: str) -> None:
    """Start tuning if the program asked for it, no tuning is running, and a GPU is idle."""
    if settings.tune != "background" or any(process.poll() is None for process in _tuning):
        return
    device = idle_gpu(model) if settings.device is None else settings.device
    if device is not None:
        _tuning[:] = [_started(["tune", operator, "--device", str(device), "--untuned"])]


def _started(arguments: list[str]) -> subprocess.Popen[bytes]:
    import subprocess

    command, quiet = [sys.executable, "-c", _AUTOTUNE, *arguments], subprocess.DEVNULL
    # A session of its own: Ctrl-C in the terminal is for the program, not for it.
    return subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)


def idle_gpu(model: str) -> int | None:
    """The ordinal of a GPU of this model on which no process computes, this one included; None if there is none."""
    from cuda.core import system

    try:
        idle = [
            gpu for gpu in system.Device.get_all_devices() if gpu.name == model and not gpu.compute_running_processes
        ]
        return int(idle[0].to_cuda_device().device_id) if idle else None
    except (RuntimeError, system.NvmlError):  # a container may have the driver without its management library
        return None
