"""Problems that are another operator's, too: the same numbers on the same buffers."""

import numpy as np
import pytest

from autotune.codegen.model.tensor import Role
from autotune.contract.operator_cases import CASES, NAMES, PROBLEMS, SMALL_PROBLEMS, label
from autotune.search_spaces.contract.registry import operator

_FEW_BYTES = 1 << 16


def _restatements():
    found = []
    for name, problem in [*PROBLEMS, *SMALL_PROBLEMS, *(case[:2] for case in CASES)]:
        restated = operator(name).restated
        if restated and (other := restated(problem)):
            found.append((name, problem, other))
    return found


def _of_each(cases, most):
    """The first cases of each operator."""
    return [case for name in NAMES for case in [one for one in cases if one[0] == name][:most]]


RESTATED = _restatements()


def test_every_operator_that_restates_has_cases():
    for name in NAMES:
        assert sum(name == one for one, *_ in RESTATED) >= (5 if operator(name).restated else 0)


@pytest.mark.parametrize(("name", "problem", "restated"), _of_each(RESTATED, 30), ids=label)
def test_the_arrays_are_the_same(name, problem, restated):
    tensors = {tensor.name: tensor for tensor in restated.problem.tensors}
    assert {restated.pointers[tensor.name] for tensor in problem.tensors} == set(tensors)
    for own in problem.tensors:
        other = tensors[restated.pointers[own.name]]
        assert (own.dtype, own.role, own.size, own.alignment) == (other.dtype, other.role, other.size, other.alignment)
        assert own.axes == other.axes or own.size <= 1
    by = operator(restated.operator)
    assert by.problem_type is type(restated.problem)
    assert {**by.default_scalars, **problem.scalars}.keys() == restated.problem.scalars.keys()
    assert problem.scalars.items() <= restated.problem.scalars.items()


@pytest.mark.parametrize(
    ("name", "problem", "restated"),
    _of_each([case for case in RESTATED if sum(tensor.bytes for tensor in case[1].tensors) <= _FEW_BYTES], 15),
    ids=label,
)
def test_the_numbers_are_the_same(name, problem, restated):
    inputs = problem.inputs(0)
    renamed = {restated.pointers[tensor]: array for tensor, array in inputs.items()}
    expected = problem.reference({tensor: array.copy() for tensor, array in inputs.items()}, problem.scalars)
    scalars = {**operator(restated.operator).default_scalars, **problem.scalars}
    found = restated.problem.reference(renamed, scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            flat = tensor.view(expected[tensor.name])
            other = tensor.view(found[restated.pointers[tensor.name]])
            np.testing.assert_allclose(other, flat, rtol=1e-12, atol=1e-12)
