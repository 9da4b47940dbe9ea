"""A problem of one operator that is a problem of another one, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from autotune.codegen.model.problem import Problem


class EquivalentProblem(NamedTuple):
    """The same computation on the same arrays, as another operator's problem.

    Attributes:
        operator: the other operator's name. Scalars that it takes beside those of the problem that is restated have
            their defaults (`Operator.default_scalars`).
        problem: its problem.
        pointers: for each tensor of the problem that is restated, the other problem's tensor.
    """

    operator: str
    problem: Problem
    pointers: Mapping[str, str]
