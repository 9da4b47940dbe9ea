"""What kernels know of a problem whose first elements they select."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from autotune.codegen.model.dtype import DType


class RowsOfX(Protocol):
    """A problem whose operand ``x`` has rows."""

    @property
    def stored(self) -> Mapping[str, tuple[int, int]]:
        """Rows and columns of ``x``."""

    def layout_of(self, operand: str) -> tuple[int, int, int]:
        """Leading dimension, stride and alignment of ``x``."""


class SelectionProblem(RowsOfX, Protocol):
    """The first k elements of each row of ``x``, or of several rows together."""

    @property
    def rows(self) -> int:
        """Of ``x``."""

    @property
    def columns(self) -> int:
        """Of ``x``."""

    @property
    def k(self) -> int:
        """How many are selected."""

    @property
    def dtype(self) -> DType:
        """Of the elements of ``x``."""

    @property
    def widest(self) -> int:
        """Elements of the widest load; a row may begin between such vectors."""
