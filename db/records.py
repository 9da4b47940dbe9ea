"""The rows of the database as plain frozen values: checked once, when made, whoever makes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from reprlib import repr as short
from statistics import median
from typing import Any

from .states import Status, TimeSource

NAME_LENGTH = 255
# In the environment of a trial that a final decided against: the digest of the schedule that won.
LOST_TO = "lost_to"
_LONGEST_SECONDS = 1e6


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class DeviceRecord:
    """A device model.

    Attributes:
        model: the name that the driver gives it, such as ``NVIDIA H200``; devices are told apart by it.
        compute_capability: (major, minor).
        limits: its limits and peak rates as JSON values.

    Raises:
        ValueError: one line, if a value is of the wrong type or out of range.
    """

    model: str
    compute_capability: tuple[int, int]
    limits: Mapping[str, Any]

    def __post_init__(self) -> None:
        _check_name("device model", self.model)
        numbers = self.compute_capability
        if not (
            isinstance(numbers, tuple) and len(numbers) == 2 and all(type(n) is int and 0 <= n < 1000 for n in numbers)
        ):
            raise ValueError(f"compute_capability={short(numbers)}: expected two whole numbers, such as 9 and 0")
        _check_json("limits", self.limits)


@dataclass(frozen=True)
class ProblemRecord:
    """A problem.

    Attributes:
        operator: such as ``sgemm``.
        key: the stable string that names the problem among its operator's.
        fields: shape, layouts and so on as JSON values.

    Raises:
        ValueError: one line, if a value is of the wrong type.
    """

    operator: str
    key: str
    fields: Mapping[str, Any]

    def __post_init__(self) -> None:
        _check_name("operator", self.operator)
        _check_name("problem key", self.key)
        _check_json("fields", self.fields)


@dataclass(frozen=True)
class Trial:
    """One schedule tried on one problem on one device.

    Attributes:
        device, problem: where and what.
        schedule: the schedule's fields as JSON values.
        schedule_digest: names the schedule among its problem's.
        status: how the trial ended.
        time_source: whether the samples are measured or modelled.
        samples: seconds of each timed launch, in the order taken; an ok trial has at least one.
        error: one line that says what went wrong, empty if nothing did.
        max_error: largest absolute error of the output; None where none was found out, or where it is not finite.
        resources: what the kernel uses (registers, spills, …) as JSON values.
        environment: provenance of the times (driver, UUID, …) as JSON values.
        compiler: name and version.
        generator: digest of the code that emitted the source.
        source: digest of the emitted source.
        created_at: when it was tried, with a time zone; stored as UTC.

    Raises:
        ValueError: one line, if a value is of the wrong type or out of range.
    """

    device: DeviceRecord
    problem: ProblemRecord
    schedule: Mapping[str, Any]
    schedule_digest: str
    status: Status
    time_source: TimeSource
    samples: tuple[float, ...] = ()
    error: str = ""
    max_error: float | None = None
    resources: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    compiler: str = ""
    generator: str = ""
    source: str = ""
    created_at: datetime = field(default_factory=_now)

    def __post_init__(self) -> None:
        _check_name("schedule_digest", self.schedule_digest)
        for name in ("compiler", "generator", "source"):
            _check_text(name, getattr(self, name), NAME_LENGTH)
        _check_text("error", self.error)
        for name in ("schedule", "resources", "environment"):
            _check_json(name, getattr(self, name))
        if not (isinstance(self.status, Status) and isinstance(self.time_source, TimeSource)):
            raise ValueError(f"status={self.status!r}, time_source={self.time_source!r}: expected the enums' members")
        self._check_samples()
        self._check_max_error()
        self._check_created_at()

    @property
    def ok(self) -> bool:
        """Whether it has a valid time."""
        return self.status is Status.OK

    @property
    def seconds(self) -> float | None:
        """Median of the samples; None if there are none."""
        return median(self.samples) if self.samples else None

    def _check_samples(self) -> None:
        if not isinstance(self.samples, tuple):
            raise ValueError(f"samples={short(self.samples)}: expected a sequence of seconds")
        for sample in self.samples:
            _check_seconds(sample)
        if self.status is Status.OK and not self.samples:
            raise ValueError("an ok trial needs at least one sample")

    def _check_max_error(self) -> None:
        if self.max_error is None:
            return
        if not isinstance(self.max_error, float) or self.max_error < 0:
            raise ValueError(f"max_error={short(self.max_error)}: expected a float of at least 0, or none")
        if not isfinite(self.max_error):  # neither JSON nor every database holds NaN and infinity
            object.__setattr__(self, "max_error", None)

    def _check_created_at(self) -> None:
        if not isinstance(self.created_at, datetime) or self.created_at.tzinfo is None:
            raise ValueError(f"created_at={short(self.created_at)}: expected a time with its time zone")
        try:
            object.__setattr__(self, "created_at", self.created_at.astimezone(UTC))
        except OverflowError:
            raise ValueError(f"created_at={self.created_at}: expected a year from 1 to 9999 in UTC") from None


@dataclass(frozen=True)
class Tried:
    """What a run that goes on from a trial needs to know of it; the members are as in `Trial`."""

    schedule: Mapping[str, Any]
    schedule_digest: str
    status: Status
    seconds: float | None
    environment: Mapping[str, Any]
    compiler: str
    generator: str

    def __post_init__(self) -> None:
        for name in ("schedule", "environment"):
            _check_json(name, getattr(self, name))
        if self.seconds is not None:
            _check_seconds(self.seconds)


def _check_seconds(value: Any) -> None:
    if not (isinstance(value, float) and 0 < value < _LONGEST_SECONDS):
        raise ValueError(f"sample {short(value)}: expected seconds, a float above 0 and below 1e6")


def _check_name(name: str, value: Any) -> None:
    _check_text(name, value, NAME_LENGTH)
    if not value:
        raise ValueError(f"{name} is empty: expected a name")


def _check_text(name: str, value: Any, longest: int | None = None) -> None:
    if not isinstance(value, str):
        raise ValueError(f"{name}={short(value)}: expected text")
    if longest is not None and len(value) > longest:
        raise ValueError(f"{name}={short(value)} has {len(value)} characters: expected at most {longest}")
    if "\0" in value or not _encodes(value):
        raise ValueError(f"{name}={short(value)}: expected Unicode text without NUL or lone surrogates")


def _encodes(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_json(name: str, value: Any) -> None:
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}={short(value)}: expected an object of JSON values")
    try:
        json.dumps(dict(value), allow_nan=False)
        large = _large(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"{name}={short(value)}: not an object of JSON values ({error})") from None
    if large:
        raise ValueError(f"{name}={short(value)}: expected whole numbers of 64 bits")


def _large(value: Any) -> bool:
    """Whether there is a whole number that not every reader of JSON can hold."""
    if isinstance(value, Mapping):
        return any(map(_large, value.values()))
    if isinstance(value, list | tuple):
        return any(map(_large, value))
    return isinstance(value, int) and not -(2**63) <= value < 2**63
