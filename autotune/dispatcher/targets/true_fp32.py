"""Keeps NVIDIA's libraries from computing FP32 products in anything less."""

from __future__ import annotations

import os

# NVIDIA_TF32_OVERRIDE and the emulation by BF16 act on every library of the process and go before what a call asks for.
_SWITCHES = {"NVIDIA_TF32_OVERRIDE": "0", "CUBLAS_EMULATE_SINGLE_PRECISION": "0"}


def overridden() -> str:
    """Which variable of the environment lowers the precision of this process, with its value; empty if none does."""
    found = (f"{name}={os.environ[name]}" for name, off in _SWITCHES.items() if os.environ.get(name, off) != off)
    return next(found, "")


def enforce() -> None:
    """Let calls say which precision they need, of libraries that are loaded from now on: without these, it is FP32."""
    for name in _SWITCHES:
        os.environ.pop(name, None)
