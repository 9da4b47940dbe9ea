"""Calls of the proof's operator and what is right of them, its device, and bugs planted in its sources."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from probe import OPERATOR, ProbeProblem

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.devices.base import Device
from autotune.devices.select import device
from autotune.search_spaces.contract.registry import OPERATORS
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


def device_with_probe(selector: str) -> Device:
    """`device`, in a process of its own."""
    OPERATORS[OPERATOR.name] = OPERATOR
    return device(selector)


def edited(old: str, new: str) -> Callable[[Program], Program]:
    """What puts a text in the place of another, which each source has once at most."""

    def edit(program: Program) -> Program:
        assert {module.source.count(old) for module in program.modules} in ({1}, {0, 1})
        first, *others = (replace(module, source=module.source.replace(old, new)) for module in program.modules)
        return replace(program, source=first.source, others=tuple(others))

    return edit
