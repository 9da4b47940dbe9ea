"""Whether the programs that GPUs check outputs with, and verify with, agree with NumPy."""

from dataclasses import replace

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Checked, Role, Tensor, Within
from autotune.devices.verifier import EMPTY_REPORT
from autotune.verification import POISONS, compare, launch_arrays, poisoned, scale_name


def check_checker(operator, problem, run):
    """Run an operator's checker on the reference, which is right, and on answers that are not.

    It must find as many wrong elements as `Problem.check`, and the same first one. `run` is like `emulator.run`.
    """
    arrays = launch_arrays(problem, seed=1)
    inputs = {tensor.name: arrays[tensor.name] for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
    checked = [tensor for tensor in problem.tensors if isinstance(tensor.judged, Checked)]
    tensors = [replace(tensor, role=Role.INPUT) for tensor in problem.tensors]
    tensors += [replace(t, name=f"{t.name}_before", role=Role.INPUT) for t in problem.tensors if t.role is Role.IN_OUT]
    tensors += [Tensor.flat(f"{tensor.name}_report", DType.UINT64, 3, Role.IN_OUT, 8) for tensor in checked]
    before = {f"{name}_before": array for name, array in inputs.items()}
    for damaged, outputs in _answers(problem.reference(inputs, problem.scalars), checked):
        found = {f"{tensor.name}_report": EMPTY_REPORT.copy() for tensor in checked}
        words = {name: report.view("u8") for name, report in found.items()}
        run(operator.checked_by(problem), tensors, arrays | before | outputs | words, problem.scalars)
        verdict = problem.check(inputs, outputs, problem.scalars)
        stated = {f"{t.name}_report": _counted(t, verdict[t.name], outputs) for t in checked}
        assert {name: report.tolist()[0][:2] for name, report in found.items()} == stated
        assert any(count for count, _ in stated.values()) == bool(damaged), damaged


def _answers(right, checked):
    """What is right; an output that was never written; and one with an element twice."""
    yield "", dict(right)
    for tensor in checked:
        for poison in POISONS:
            yield tensor.name, right | {tensor.name: poisoned(tensor, poison)}
        twice = right[tensor.name].copy()
        twice[0] = twice[1]
        yield tensor.name, right | {tensor.name: twice}


def _counted(tensor, right, outputs):
    """How many elements are wrong, gaps aside, and the first of them, as a `Report` has it."""
    inside = tensor.counted(outputs[tensor.extent.count]) if tensor.extent else tensor.inside
    wrong = (~right if inside is None else inside & ~right).nonzero()[0]
    return len(wrong), int(wrong[0]) if len(wrong) else 2**64 - 1


_ROUNDING = 2.0**-46  # relative error of a few operations in float64
_SCALE = 2.0**-32  # relative error of a scale, of which a few digits do
_FINER = DType.FLOAT64.roundoff / DType.FLOAT32.roundoff  # than kernels that compute in float32


def check_reference_kernel(operator, problem, run):
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


def _rows(outputs):
    """Rows of the outputs that a reference may compute a few of."""
    return max(tensor.rows_end for tensor in outputs if tensor.row_axes)


def _widened(tensor, scaled):
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


def _scale(tensor):
    return replace(tensor, name=scale_name(tensor), role=Role.OUTPUT, judged=Within(relative=_SCALE))
