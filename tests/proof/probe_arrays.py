"""Arrays for calls of the proof's operator, and whether what comes back is right."""

import numpy as np
from probe_problem import ProbeProblem

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.verification import judge

ROWS, COLUMNS = 24, 72


def arrays(seed: int, *, biased: bool = True) -> dict[str, Array]:
    """The inputs of a call by name."""
    given = ProbeProblem(ROWS, COLUMNS, biased).inputs(seed)
    return given | {"x": given["x"].reshape(ROWS, COLUMNS)}


def empty_outputs() -> tuple[Array, Array, Array]:
    """Arrays for all outputs of a call."""
    return (
        np.empty((ROWS, COLUMNS), DType.BFLOAT16.numpy),
        np.empty(COLUMNS, np.int32),
        np.zeros((COLUMNS, ROWS), np.int32),
    )


def assert_right(given: dict[str, Array], *outputs: Array) -> None:
    """Judge the outputs of a call; the rows behind the counts are what they were, whatever that is."""
    problem = ProbeProblem(ROWS, COLUMNS, "bias" in given)
    inputs = given | {"x": given["x"].ravel()}
    after = {tensor.name: output.ravel() for tensor, output in zip(problem.tensors[-3:], outputs, strict=True)}
    found = judge(problem, inputs | after, after, problem.reference(inputs, {}))
    assert all(isinstance(one, float) for one in found.values()), found
