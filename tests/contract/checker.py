"""Whether the program that GPUs check outputs with agrees with NumPy."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.tensor import Checked, Role, Tensor
from autotune.devices.verifier import EMPTY_REPORT
from autotune.search_spaces.contract.operator import Operator
from autotune.verification import POISONS, launch_arrays, poisoned


def check_checker(operator: Operator[Any, Any], problem: Problem, run: Callable[..., None]) -> None:
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


def _answers(right: Mapping[str, Array], checked: list[Tensor]) -> Iterator[tuple[str, dict[str, Array]]]:
    """What is right; an output that was never written; and one with an element twice."""
    yield "", dict(right)
    for tensor in checked:
        for poison in POISONS:
            yield tensor.name, right | {tensor.name: poisoned(tensor, poison)}
        twice = right[tensor.name].copy()
        twice[0] = twice[1]
        yield tensor.name, right | {tensor.name: twice}


def _counted(tensor: Tensor, right: Array, outputs: Mapping[str, Array]) -> tuple[int, int]:
    """How many elements are wrong, gaps aside, and the first of them, as a `Report` has it."""
    inside = tensor.counted(outputs[tensor.extent.count]) if tensor.extent else tensor.inside
    wrong = (~right if inside is None else inside & ~right).nonzero()[0]
    return len(wrong), int(wrong[0]) if len(wrong) else 2**64 - 1
