"""What experiments have in common: what they find, and how they insist on right results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from autotune.codegen.model.program import Program
from autotune.devices.base import DeviceError
from autotune.search_spaces.machine.calibration import Curve, Figure, Point

_WORDS = 1 << 32  # different words


@dataclass(frozen=True)
class Found:
    """What an experiment measured."""

    figures: Mapping[Figure, float] = field(default_factory=dict)
    curves: Mapping[Curve, Sequence[Point]] = field(default_factory=dict)


def check_result(program: Program, found: float, expected: float) -> None:
    """Make sure that a kernel computed what it must: one whose loads or operations were left out proves nothing.

    Raises:
        DeviceError: it did not.
    """
    if found != expected:
        raise DeviceError(f"{program.name} of the calibration is wrong: it found {found}, expected {expected}")


def sum_of_words(words: int, first: int = 0) -> int:
    """The sum of so many words, the first of which is `first`, as it is left in 32 bits."""
    return (words * first + words * (words - 1) // 2) % _WORDS


def wrapped(total: int) -> int:
    """A sum as it is left in 32 bits."""
    return total % _WORDS
