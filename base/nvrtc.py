"""The compiler that is installed."""

from __future__ import annotations

from functools import cache


@cache
def installed_nvrtc() -> str | None:
    """Name and version, such as ``NVRTC 13.0``; None if it is not installed."""
    from cuda.bindings import nvrtc
    from cuda.pathfinder import DynamicLibNotFoundError

    try:
        _, major, minor = nvrtc.nvrtcVersion()
    except DynamicLibNotFoundError:
        return None
    return f"NVRTC {major}.{minor}"
