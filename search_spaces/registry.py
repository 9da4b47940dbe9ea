"""The operators that there are."""

from __future__ import annotations

from typing import Any

from .layout import transpose
from .matmul import sgemm
from .operator import Operator

OPERATORS: dict[str, Operator[Any, Any]] = {
    operator.name: operator
    for operator in (
        sgemm.OPERATOR,
        transpose.OPERATOR,
    )
}  # fmt: skip


def operator(name: str) -> Operator[Any, Any]:
    """The operator of a name; ``ValueError`` lists those that there are."""
    if name not in OPERATORS:
        raise ValueError(f"unknown operator {name!r}; known: {', '.join(OPERATORS)}")
    return OPERATORS[name]
