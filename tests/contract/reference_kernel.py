"""Whether the kernel that GPUs verify with agrees with NumPy."""

from collections.abc import Callable
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Checked, Role, Tensor, Within
from autotune.search_spaces.contract.operator import Operator
from autotune.verification import compare, launch_arrays, poisoned, scale_name

_ROUNDING = 2.0**-46  # relative error of a few operations in float64
_SCALE = 2.0**-32  # relative error of a scale, of which a few digits do
_FINER = DType.FLOAT64.roundoff / DType.FLOAT32.roundoff  # than kernels that compute in float32


def check_reference_kernel(operator: Operator[Any, Any], problem: Problem, run: Callable[..., None]) -> None:
    """Run an operator's reference kernel, and compare its outputs with NumPy's, to float64's accuracy.

    Args:
        operator: the operator.
        problem: a small problem.
        run: takes a source, tensors, arrays and scalars, and leaves the outputs in the arrays, as `emulator.run` does.
    """
    arrays = launch_arrays(problem, seed=1)
    inputs = {tensor.name: arrays[tensor.name] for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
    copied, rows = {name: array.copy() for name, array in inputs.items()}, problem.sampled_rows(1)
    expected = problem.reference(copied, problem.scalars)
    if rows is not None:
        expected = problem.reference_rows(copied, problem.scalars, rows)
    outputs = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
    written = [_widened(tensor, scale_name(tensor) in expected) for tensor in outputs]
    written += [_scale(tensor) for tensor in written if scale_name(tensor) in expected]
    before = {t.name: inputs[t.name].astype(t.dtype.numpy) if t.name in inputs else poisoned(t) for t in written}
    after = {name: array.copy() for name, array in before.items()}
    read = [tensor for tensor in problem.tensors if tensor.role is Role.INPUT]
    program = operator.reference(problem)
    pointers = {argument.name: argument.cuda_type for argument in program.arguments}
    for tensor in written:
        expected_type = f"{tensor.dtype.cuda}*"
        if isinstance(tensor.judged, Within):
            found_type = pointers.get(tensor.name)
            assert found_type == expected_type, f"{tensor.name} of the reference: {found_type}, not {expected_type}"
    scalars = dict(problem.scalars)
    if "sampled_rows" in pointers:
        listed = np.arange(_rows(outputs)) if rows is None else rows
        read.append(Tensor.flat("sampled_rows", DType.INT64, listed.size, Role.INPUT, 8))
        arrays["sampled_rows"], scalars["sampled_count"] = listed, listed.size
    run(program, (*read, *written), arrays | after, scalars)
    for tensor in written:
        if isinstance(tensor.judged, Checked):
            continue
        scale, counts = expected.get(scale_name(tensor)), after[tensor.extent.count] if tensor.extent else None
        sampled = rows if tensor.row_axes else None
        found = compare(tensor, after[tensor.name], expected[tensor.name], before[tensor.name], scale, counts, sampled)
        assert isinstance(found, float), f"{tensor.name}: {found}"


def _rows(outputs: list[Tensor]) -> int:
    """Rows of the outputs that a reference may compute a few of."""
    return next(prod(tensor.shape[: tensor.row_axes]) for tensor in outputs if tensor.row_axes)


def _widened(tensor: Tensor, scaled: bool) -> Tensor:
    """An output in the type that the reference states, with as much less of a tolerance.

    A scale has the errors before rounding in units of that, whatever it is.
    What is computed is no less exact for results of 8 bits.
    """
    if not isinstance(tensor.judged, Within):
        return tensor
    finer = DType.FLOAT64.roundoff / min(tensor.dtype.roundoff or 1.0, DType.BFLOAT16.roundoff)
    relative = (_FINER if scaled else finer) * tensor.judged.relative
    judged = Within(finer * tensor.judged.absolute, max(_ROUNDING, relative))
    return replace(tensor, dtype=DType.FLOAT64, alignment=max(8, tensor.alignment), judged=judged)


def _scale(tensor: Tensor) -> Tensor:
    return replace(tensor, name=scale_name(tensor), role=Role.OUTPUT, judged=Within(relative=_SCALE))
