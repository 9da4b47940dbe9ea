"""In which order results are."""

from __future__ import annotations

from enum import StrEnum


class Order(StrEnum):
    """The order of a row's results."""

    SORTED = "sorted"  # the first one comes first
    INDEX = "index"  # by index, ascending
