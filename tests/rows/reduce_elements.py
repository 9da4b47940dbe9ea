"""Elements that are hard to reduce, and schedules of two blocks for each row, strip of columns or segment."""

from dataclasses import replace

import numpy as np
from reduce_cases import ALL, FIRST, FLOAT32, LAST, SEGMENTS

from autotune.codegen.rows.reduce.problem import ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule

# Two blocks for each row or strip of columns, with a tail of rows and of columns.
ROWS, COLUMNS = 131, 267
SPLIT_ROWS = ReduceSchedule(128, 128, 2, 1, splits=2)
SPLIT_COLUMNS = ReduceSchedule(128, 32, 4, 8, splits=2)
SPLIT = {ALL: replace(SPLIT_ROWS, vector_width=4), LAST: SPLIT_ROWS, FIRST: SPLIT_COLUMNS, SEGMENTS: SPLIT_ROWS}
WHOLE = (ALL, LAST, FIRST)  # axes whose results have as many elements each


def with_elements(problem, change):
    """A problem whose inputs, seen as a matrix, are changed."""

    class Changed(ReduceProblem):
        def inputs(self, seed):
            inputs = super().inputs(seed)
            for tensor in self.tensors:
                if tensor.name in ("x", "other"):
                    change(tensor.view(inputs[tensor.name]))
            return inputs

    return Changed.from_dict(problem.to_dict())


def split_problem(op, axis, dtype=FLOAT32):
    """One that `SPLIT` serves."""
    if axis is SEGMENTS:
        return ReduceProblem(ROWS, COLUMNS, op, axis, dtype, segments=67)
    return ReduceProblem(ROWS, COLUMNS, op, axis, dtype, ldx={ALL: 0, LAST: 269, FIRST: 268}[axis])


def constant(value):
    def change(x):
        x[...] = value

    return change


def placed(value, *places):
    def change(x):
        for row, column in places:
            x[min(row, len(x) - 1), column] = value

    return change


def cancelling(x):
    x[...] = 0
    flat = x.reshape(-1)
    flat[: 4 * (flat.size // 4)] = np.resize([6e4, 6e4, -6e4, -6e4], 4 * (flat.size // 4))
