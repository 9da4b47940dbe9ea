"""Arrays for calls of the proof's operator, and whether what comes back is right."""

from __future__ import annotations

import numpy as np
from probe_problem import ProbeProblem

from autotune.codegen.model.problem import Array
from autotune.verification import compare

ROWS, COLUMNS = 24, 72


def arrays(seed: int, *, biased: bool = True) -> dict[str, Array]:
    """The inputs of a call by name."""
    given = ProbeProblem(ROWS, COLUMNS, biased).inputs(seed)
    return given | {"x": given["x"].reshape(ROWS, COLUMNS)}


def assert_right(given: dict[str, Array], y: Array, kept: Array) -> None:
    """Compare the outputs of a call with the reference."""
    problem = ProbeProblem(ROWS, COLUMNS, "bias" in given)
    expected = problem.reference(given | {"x": given["x"].ravel()}, {})
    for tensor, actual in zip(problem.tensors[-2:], (y, kept), strict=True):
        before = np.zeros(tensor.size, tensor.dtype.numpy)  # without gaps
        assert isinstance(compare(tensor, actual.ravel(), expected[tensor.name], before), float)
