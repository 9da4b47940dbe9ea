"""Rows whose results do not depend on how many there are, nor on where they are among them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, TypeVar

# Whose schedule serves any number of rows: as many as fill a device.
_ROWS = 4096


class _Rows(Protocol):
    @property
    def batch_invariant(self) -> bool: ...


P = TypeVar("P", bound=_Rows)


def chosen_by_columns(problem: P) -> P | None:
    """`Problem.served_as` of a problem of rows: a schedule by its columns, if results may not depend on the rows."""
    changed: Any = problem
    return replace(changed, rows=_ROWS) if problem.batch_invariant else None
