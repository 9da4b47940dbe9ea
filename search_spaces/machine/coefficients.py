"""Coefficients of the time model: what a count costs, as data that `autotune bench model --fit` writes.

Code counts: instructions, bytes, steps. What a count costs is fitted to measured times, and lies in `coefficients/`:
``any.json`` for every device, and files for architectures (``sm_90.json``) and device models (``nvidia_h200.json``)
with what differs there. A file has sections, each of which says what its values were fitted to::

    {"softmax": {"fitted_to": "3441 trials of 57 problems on an H200", "values": {"element": 11.5}}}
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from functools import cache
from math import isfinite
from pathlib import Path
from reprlib import repr as short
from typing import Any, ClassVar, Self, cast

from autotune.base.files import write_text

from .device_spec import DeviceSpec
from .devices import file_stem

FOLDER = Path(__file__).parent / "coefficients"
ANY = "any"  # the file for every device


class Coefficients:
    """A section: a frozen dataclass of numbers, named and explained beside the code that counts with them."""

    section: ClassVar[str]

    def __init_subclass__(cls, section: str) -> None:
        cls.section = section

    @classmethod
    def of(cls, spec: DeviceSpec) -> Self:
        """Those of a device: each value that of its model, else of its architecture, else of any device."""
        key = cls.section, spec.name, spec.arch
        if cls.section in _tried:
            return cast(Self, _tried[cls.section])
        if key not in _known:
            _known[key] = cls(**_merged(cls, spec))
        return cast(Self, _known[key])


_known: dict[tuple[str, str, str], Coefficients] = {}  # by section, device model and architecture
_tried: dict[str, Coefficients] = {}  # sections that are tried out in place of the files'


@contextmanager
def trying(*sections: Coefficients) -> Iterator[None]:
    """Sections in place of the files', for all devices, while a fit tries them."""
    _tried.update({one.section: one for one in sections})
    try:
        yield
    finally:
        for one in sections:
            del _tried[one.section]


def read_file(path: Path) -> dict[str, dict[str, float]]:
    """The values of each section of a file.

    Raises:
        ValueError: it is not such a file; one line.
    """
    try:
        sections = json.loads(path.read_text(encoding="utf-8"))
        found = {section: dict(told["values"]) for section, told in sections.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: not a file of coefficients: {type(error).__name__}: {error}") from None
    for section, values in found.items():
        for name, value in values.items():
            if not (isinstance(value, int | float) and isfinite(value) and value >= 0):
                raise ValueError(f"{path}: {section}.{name} {short(value)}: expected a number of at least 0")
    return found


def write_section(path: Path, section: str, fitted_to: str, values: Mapping[str, float]) -> None:
    """Put a section into a file of coefficients, which may be new, beside what others it has; values of its own stay.

    Raises:
        OSError: it cannot be written.
        ValueError: there is another file; one line.
    """
    found: dict[str, Any] = {}
    if path.exists():
        known = read_file(path)
        found = json.loads(path.read_text(encoding="utf-8"))
        values = {**known.get(section, {}), **values}
    found[section] = {"fitted_to": fitted_to, "values": values}
    write_text(path, json.dumps(found, indent=2, ensure_ascii=False) + "\n")


@cache
def version(spec: DeviceSpec) -> str:
    """Eight hexadecimal digits that name all values that hold for a device."""
    sections = [_values(scope) for scope in (ANY, spec.arch, file_stem(spec.name))]
    return hashlib.sha256(json.dumps(sections, sort_keys=True).encode()).hexdigest()[:8]


def _merged(kind: Any, spec: DeviceSpec) -> dict[str, float]:
    merged: dict[str, float] = {}
    for scope in (ANY, spec.arch, file_stem(spec.name)):
        merged |= _values(scope).get(kind.section, {})
    known = {one.name for one in fields(kind)}
    if merged.keys() != known:
        wrong = ", ".join(sorted(merged.keys() ^ known))
        raise ValueError(f"coefficients of {kind.section}: {wrong}: expected those of {kind.__qualname__} in {FOLDER}")
    return merged


@cache
def _values(scope: str) -> Mapping[str, Mapping[str, float]]:
    path = FOLDER / f"{scope}.json"
    return read_file(path) if path.exists() else {}
