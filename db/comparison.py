"""The times of a schedule and of baselines that compute the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as short
from typing import Any

from .checks import check_seconds, check_text


@dataclass(frozen=True)
class BaselineTimes:
    """Medians of a schedule and of baselines, measured alternately.

    Times of different runs differ by some per cent. Only those that were measured alternately had the same clocks.

    Attributes:
        own: seconds of the schedule.
        others: seconds of each baseline, by name.
        libraries: versions of what the baselines come from, by name.

    Raises:
        ValueError: one line, if a value is of the wrong type or out of range.
    """

    own: float
    others: Mapping[str, float]
    libraries: Mapping[str, str]

    def __post_init__(self) -> None:
        check_seconds("own", self.own)
        for name, values in (("others", self.others), ("libraries", self.libraries)):
            if not isinstance(values, Mapping):
                raise ValueError(f"{name}={short(values)}: expected an object")
        for name, seconds in self.others.items():
            check_text("baseline", name)
            check_seconds(name, seconds)
        for name, version in self.libraries.items():
            check_text("library", name)
            check_text(name, version)

    @property
    def faster(self) -> frozenset[str]:
        """The baselines that are faster than the schedule."""
        return frozenset(name for name, seconds in self.others.items() if seconds < self.own)

    def to_dict(self) -> dict[str, Any]:
        """The members as JSON values."""
        return {"own": self.own, "others": dict(self.others), "libraries": dict(self.libraries)}

    @classmethod
    def from_dict(cls, values: Any) -> BaselineTimes:
        """The inverse of `to_dict`; raises ``ValueError``."""
        names = ("own", "others", "libraries")
        if not isinstance(values, Mapping) or set(values) != set(names):
            raise ValueError(f"comparison={short(values)}: expected an object with {', '.join(names)}")
        return cls(**values)
