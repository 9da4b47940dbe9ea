"""Named devices: the limits of GPUs that need not be here, from data files in which each figure has its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from .device_spec import DeviceSpec

_FOLDER = Path(__file__).parent / "devices"
_CAPABILITIES = Path(__file__).parent / "compute_capabilities.json"


@cache
def named_devices() -> tuple[str, ...]:
    """The identifiers that `named_device` knows, such as ``h200``, in alphabetical order."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.json")))


@cache
def named_device(identifier: str) -> DeviceSpec:
    """The limits of a named device, under the model name that the driver gives it.

    Raises:
        ValueError: no such device; the message lists those that there are.
    """
    if identifier not in named_devices():
        raise ValueError(f"unknown device {identifier!r}; known: {', '.join(named_devices())}")
    figures = _values(json.loads((_FOLDER / f"{identifier}.json").read_text()))
    major, minor = map(int, figures["compute_capability"].split("."))
    figures |= capability_limits((major, minor)) | {"compute_capability": (major, minor)}
    return DeviceSpec(**figures)


def capability_limits(compute_capability: tuple[int, int]) -> dict[str, Any]:
    """The fields of `DeviceSpec` that every device of a compute capability shares.

    Raises:
        ValueError: no such compute capability; the message lists those that there are.
    """
    capabilities = json.loads(_CAPABILITIES.read_text())
    key = "{}.{}".format(*compute_capability)
    known = [name for name in capabilities if name not in ("sources", "all")]
    if key not in known:
        raise ValueError(f"unknown compute capability {key}; known: {', '.join(known)}")
    return _values(capabilities["all"]) | _values(capabilities[key])


def _values(figures: Mapping[str, Any]) -> dict[str, Any]:
    return {name: figure["value"] for name, figure in figures.items() if name != "sources"}
