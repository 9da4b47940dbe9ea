"""Tuning what calls had no record of, in another process, for those who ask for it."""

from __future__ import annotations

import subprocess
import sys

_AUTOTUNE = "from autotune.cli import main; main()"


class _Settings:
    """What `configure` was told, and the process that tunes, if any was started."""

    def __init__(self) -> None:
        self.background = False
        self.device: int | None = None
        self.tuning: subprocess.Popen[bytes] | None = None


_settings = _Settings()


def configure(*, tune: str, device: int | None = None) -> None:
    """Say whether problems without a record are tuned while the program runs; by default they are not.

    Args:
        tune: ``never``; or ``background``: a call whose problem has no record starts ``autotune tune --from-misses`` in
            another process, one at a time. What it finds serves from the next process on.
        device: the ordinal of the GPU that tunes; by default one of the same model on which nobody computes.

    Raises:
        ValueError: another value.
    """
    if tune not in ("never", "background"):
        raise ValueError(f"tune={tune!r}: expected 'never' or 'background'")
    _settings.background = tune == "background"
    _settings.device = device


def tune_in_background(operator: str, model: str) -> None:
    """Start the process if that was asked for, none is running, and there is a GPU for it."""
    if not _settings.background or (_settings.tuning is not None and _settings.tuning.poll() is None):
        return
    device = idle_gpu(model) if _settings.device is None else _settings.device
    if device is not None:
        _settings.tuning = _started(["tune", operator, "--device", str(device), "--from-misses"])


def _started(arguments: list[str]) -> subprocess.Popen[bytes]:
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
