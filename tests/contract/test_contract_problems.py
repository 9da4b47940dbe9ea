"""What every problem of every operator says about itself."""

import json
import re
from dataclasses import MISSING, fields, replace
from itertools import product

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.tensor import Role
from autotune.contract.operator_cases import NAMES, PROBLEMS, SMALL_PROBLEMS, SPEC, anywhere, cases_of, label
from autotune.search_spaces.contract.registry import operator
from autotune.verification import expected_dtype, scale_name

small = pytest.mark.parametrize(("name", "problem"), SMALL_PROBLEMS, ids=label)


@pytest.mark.parametrize("name", NAMES)
def test_keys_are_those_in_databases(name):
    problems = cases_of(name).PROBLEMS
    assert {key: problem.key for key, problem in problems.items()} == {key: key for key in problems}


@pytest.mark.parametrize("name", NAMES)
def test_sizes_that_are_drawn_are_made_to_fit(name):
    problem_type = operator(name).problem_type
    sizes = [
        name for name, spec in field_specs(problem_type).items() if spec.example is not None and spec.implied is None
    ]
    for values in product((1, 33, 1021, 2**31 - 1), repeat=len(sizes)):
        fitted = problem_type.fitted(dict(zip(sizes, values, strict=True)))
        assert problem_type(**fitted).sizes.keys() >= {*sizes}
    for problem in cases_of(name).PROBLEMS.values():
        assert problem_type.fitted(problem.to_dict()) == problem.to_dict()


@pytest.mark.parametrize("name", NAMES)
def test_suites_are_lists_of_problems(name):
    for path in operator(name).suites.values():
        for entry in json.loads(path.read_text()):
            assert entry.pop("group")
            operator(name).problem_type.from_dict(entry)


@anywhere
def test_plain_values_and_back(name, problem):
    plain = json.loads(json.dumps(problem.to_dict()))
    again = operator(name).problem_type.from_dict(plain)
    assert (again, hash(again), again.key) == (problem, hash(problem), problem.key)


@anywhere
def test_plain_values_are_checked(name, problem):
    plain = problem.to_dict()
    for field in fields(problem):
        with pytest.raises(ValueError, match=field.name):
            type(problem).from_dict(plain | {field.name: "?"})
        if field.default is MISSING:
            with pytest.raises(ValueError, match=f"field '{field.name}' of .* is missing"):
                type(problem).from_dict({name: plain[name] for name in plain if name != field.name})
    with pytest.raises(ValueError, match="nobody"):
        type(problem).from_dict(plain | {"nobody": 1})


@anywhere
def test_numbers_are_whole_and_flags_no_numbers(name, problem):
    for field, value in problem.to_dict().items():
        if type(value) is int:
            refused = [float(value), value + 0.5, True, np.int64(value)]
        else:
            refused = [int(value)] if type(value) is bool else []
        for wrong in refused:
            complaint = f"{field}={wrong!r}: expected {type(value).__name__}, not {type(wrong).__name__}"
            with pytest.raises(ValueError, match=f"^{re.escape(complaint)}$"):
                replace(problem, **{field: wrong})


@anywhere
def test_tensors_hold_what_is_moved(name, problem):
    tensors = problem.tensors
    assert len({tensor.name for tensor in tensors}) == len(tensors)
    for tensor in tensors:
        assert tensor.bytes == tensor.size * tensor.dtype.bytes
        assert tensor.alignment in (1, 2, 4, 8, 16)
        assert tensor.alignment % min(16, tensor.dtype.bytes) == 0
    if not problem.empty:
        assert 0 < problem.work.bytes <= sum((1 + (t.role is Role.IN_OUT)) * t.bytes for t in tensors)
    assert all(count >= 0 for count in problem.work.operations.values())


@small
def test_inputs_are_random_and_reproducible(name, problem):
    read = {tensor.name: tensor for tensor in problem.tensors if tensor.role is not Role.OUTPUT}
    inputs, again, other = (problem.inputs(seed) for seed in (7, 7, 8))
    assert set(inputs) == set(read)
    for tensor_name, array in inputs.items():
        assert (array.shape, array.dtype) == ((read[tensor_name].size,), read[tensor_name].dtype.numpy)
        indices = read[tensor_name].indices
        assert indices is None or indices.tolerant or not indices.why_invalid(array)
        assert array.tobytes() == again[tensor_name].tobytes()
        assert array.tobytes() != other[tensor_name].tobytes()


@small
def test_exact_inputs_have_exact_outputs(name, problem):
    inputs, again, other = (problem.exact_inputs(seed) for seed in (7, 7, 8))
    if inputs is None or again is None or other is None:
        return
    ordinary = problem.inputs(7)
    assert {each: (array.shape, array.dtype) for each, array in inputs.items()} == {
        each: (array.shape, array.dtype) for each, array in ordinary.items()
    }
    numbers = {tensor.name for tensor in problem.tensors if tensor.dtype.is_float}  # others say where, and may be 0
    for tensor, array in inputs.items():
        assert array.tobytes() == again[tensor].tobytes() != other[tensor].tobytes()
        assert (array != 0).all() or tensor not in numbers
    outputs = problem.reference(inputs, problem.scalars)
    for tensor in problem.tensors:
        if tensor.role is not Role.INPUT:
            expected = outputs[tensor.name]
            assert np.isfinite(expected).sum() >= expected.size / 2
            np.testing.assert_array_equal(expected.astype(np.float32), expected)


@small
def test_reference_fills_the_outputs_and_leaves_the_inputs(name, problem):
    written = [tensor for tensor in problem.tensors if tensor.role is not Role.INPUT]
    inputs, before = problem.inputs(7), problem.inputs(7)
    outputs = problem.reference(inputs, problem.scalars)
    stated = {tensor.name: expected_dtype(tensor).numpy for tensor in written}
    scales = {scale_name(tensor): DType.FLOAT64.numpy for tensor in written if scale_name(tensor) in outputs}
    assert {output: array.dtype for output, array in outputs.items()} == stated | scales
    for tensor in written:
        assert outputs[tensor.name].shape == (tensor.size,)
    assert all(inputs[tensor].tobytes() == before[tensor].tobytes() for tensor in inputs)


STORED = [
    stored
    for name, problem in dict(PROBLEMS).items()
    for stored in (problem, operator(name).default(problem, SPEC))
    if stored.renamed
]


@pytest.mark.parametrize("stored", STORED, ids=lambda stored: type(stored).__name__)
def test_old_names_are_read(stored):
    kind, values = type(stored), stored.to_dict()
    assert set(kind.renamed.values()) <= set(values)
    old_names = {new: old for old, new in kind.renamed.items()}
    assert kind.from_dict({old_names.get(name, name): value for name, value in values.items()}) == stored
    for old, new in kind.renamed.items():
        with pytest.raises(ValueError, match=f"field '{old}' of {kind.__name__} is called '{new}' now"):
            kind.from_dict(values | {old: values[new]})


@pytest.mark.parametrize("name", [name for name in NAMES if operator(name).kernel_field])
def test_schedules_of_one_type_for_all_kernels_still_open(name):
    chosen = operator(name)
    problem = cases_of(name).SMALL_PROBLEMS[0]
    others = {field: value for kind in chosen.schedule_types for field, value in kind().to_dict().items()}
    for kernel in chosen.kernels:
        schedule = chosen.first(kernel.name, problem, SPEC)
        stored = {field: value for field, value in {**others, **schedule.to_dict()}.items() if field != "kernel"}
        assert chosen.schedule({**stored, chosen.kernel_field: kernel.name}) == schedule
        assert chosen.parse([f"{chosen.kernel_field}={kernel.name}"], problem, SPEC) == schedule
    with pytest.raises(ValueError, match=r"unknown kernel 'none'.*known: "):
        chosen.schedule({**others, "kernel": "none"})
