"""Gated pairs: a gate, to which an activation is applied, and its factor."""

from __future__ import annotations

from enum import StrEnum

from autotune.codegen.model.problem import Array


class Gate(StrEnum):
    """Where the factors of gated pairs are."""

    NONE = "none"
    SEPARATE = "separate"  # in an array of their own
    HALVES = "halves"  # behind the gates in each row
    INTERLEAVED = "interleaved"  # behind each gate

    @property
    def packed(self) -> bool:
        """Whether rows hold gates and factors."""
        return self in (Gate.HALVES, Gate.INTERLEAVED)

    def separated(self, rows: Array) -> tuple[Array, Array]:
        """Views of the gates and the factors of packed rows."""
        if self is Gate.HALVES:
            half = rows.shape[-1] // 2
            return rows[..., :half], rows[..., half:]
        return rows[..., 0::2], rows[..., 1::2]


PACKED = (Gate.NONE, Gate.HALVES, Gate.INTERLEAVED)  # as products have it, whose columns are pairs
