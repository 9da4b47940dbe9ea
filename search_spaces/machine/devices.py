"""Named devices: the limits of GPUs that need not be here, from data files in which each figure has its source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from reprlib import repr as short
from typing import Any, get_type_hints

from autotune.codegen.model.work import Unit

from .device_spec import DeviceSpec

# What the names of GPUs are made of. They come into comments of C and C++, and into the names of files.
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+@:,()&-]{0,99}")
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
    figures = _values(json.loads((_FOLDER / f"{identifier}.json").read_text(encoding="utf-8")))
    major, minor = map(int, figures["compute_capability"].split("."))
    shared = capability_limits((major, minor))
    rates = shared.pop("rates") | figures.pop("rates", {})
    return DeviceSpec(**figures | shared | {"compute_capability": (major, minor), "rates": rates})


def file_stem(model: str) -> str:
    """What files and folders of a device model are called: ``nvidia_h200`` of ``NVIDIA H200``."""
    return re.sub(r"[^a-z0-9]+", "_", model.lower())


def kin_of(spec: DeviceSpec) -> list[str]:
    """The models of the other named devices of the same compute capability, in alphabetical order."""
    named = map(named_device, named_devices())
    models = {one.name for one in named if one.compute_capability == spec.compute_capability}
    return sorted(models - {spec.name})


def model_rates(name: str, compute_capability: tuple[int, int]) -> dict[Unit, int]:
    """The rates of a device model, as the driver names it: its device file's, else its compute capability's.

    Raises:
        ValueError: no such compute capability; the message lists those that there are.
    """
    models = {spec.name: spec for spec in map(named_device, named_devices())}
    rates: Mapping[Unit, int] = models[name].rates if name in models else capability_limits(compute_capability)["rates"]
    return dict(rates)


def device_spec(values: Mapping[str, Any]) -> DeviceSpec:
    """The limits that JSON values state, as a trial's device has them; nothing of them is trusted.

    Units whose rates they leave out get those of their model.

    Raises:
        ValueError: a member is unknown, missing, of another type, or out of range; one line.
    """
    kinds, plain = _kinds(), completed_spec(values)
    if set(plain) != set(kinds):
        raise ValueError(f"the device's limits are {', '.join(plain)}: expected {', '.join(kinds)}")
    capability = plain.pop("compute_capability")
    if not (isinstance(capability, list | tuple) and len(capability) == 2 and all(type(n) is int for n in capability)):
        raise ValueError(f"compute_capability={short(capability)}: expected two whole numbers")
    rates = _checked_rates(plain.pop("rates"))
    with suppress(ValueError):  # a version may have stored fewer units than are known today
        rates = model_rates(str(plain["name"]), (capability[0], capability[1])) | rates
    for name, value in plain.items():
        kind, least = kinds[name], int(name != "shared_reserved")
        fits = type(value) is kind or (kind is float and type(value) is int)
        if not fits or (not value.isprintable() if kind is str else not least <= value < 1e18):
            expected = "text" if kind is str else f"{kind.__name__} of at least {least}"
            raise ValueError(f"{name}={short(value)} of the device's limits: expected {expected}")
    if not _MODEL.fullmatch(plain["name"]):
        raise ValueError(f"name={short(plain['name'])} of the device's limits: expected a model as drivers name it")
    return DeviceSpec(compute_capability=(capability[0], capability[1]), rates=rates, **plain)


@cache
def _kinds() -> dict[str, Any]:
    """The types of the fields of a `DeviceSpec`: Python compiles their texts anew whenever it is asked."""
    return get_type_hints(DeviceSpec)


def completed_spec(values: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON values of a `DeviceSpec`; those that state FP32 lanes alone get the other rates of their model.

    Values of another shape are returned as they are.
    """
    completed = dict(values)
    if "rates" not in completed and "fp32_lanes" in completed:
        rates: dict[Unit, int] = {}
        with suppress(KeyError, TypeError, ValueError):
            major, minor = completed["compute_capability"]
            rates = model_rates(completed["name"], (major, minor))
        completed["rates"] = rates | {Unit.FP32: completed.pop("fp32_lanes")}
    return completed


def _checked_rates(values: Any) -> dict[Unit, int]:
    """The rates by unit, FP32's among them, each a whole number above 0."""
    wrong = not isinstance(values, dict) or Unit.FP32 not in values or not set(values) <= set(Unit)
    if wrong or any(type(rate) is not int or not 1 <= rate < 1e9 for rate in values.values()):
        raise ValueError(f"rates={short(values)} of the device's limits: expected whole numbers for fp32 and others")
    return {Unit(name): rate for name, rate in values.items()}


def capability_limits(compute_capability: tuple[int, int]) -> dict[str, Any]:
    """The fields of `DeviceSpec` that every device of a compute capability shares.

    Raises:
        ValueError: no such compute capability; the message lists those that there are.
    """
    capabilities = json.loads(_CAPABILITIES.read_text(encoding="utf-8"))
    key = "{}.{}".format(*compute_capability)
    known = [name for name in capabilities if name not in ("sources", "all")]
    if key not in known:
        raise ValueError(f"unknown compute capability {key}; known: {', '.join(known)}")
    return _values(capabilities["all"]) | _values(capabilities[key])


def _values(figures: Mapping[str, Any]) -> dict[str, Any]:
    values = {name: figure["value"] for name, figure in figures.items() if name not in ("sources", "rates")}
    if "rates" in figures:
        values["rates"] = {Unit(name): figure["value"] for name, figure in figures["rates"].items()}
    return values
