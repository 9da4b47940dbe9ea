"""What users can call: every operator's function computes what its problem's reference says, in the emulator."""

import re
from contextlib import suppress
from dataclasses import replace
from math import prod

import numpy as np
import pytest

from autotune import dispatcher
from autotune.bench.dispatch.example_call import binding, example_call, problem_of_sizes
from autotune.codegen.model.tensor import Role, row_major
from autotune.contract.operator_cases import NAMES
from autotune.emulator import launch
from autotune.search_spaces.contract.call import STREAM
from autotune.search_spaces.contract.registry import operator
from autotune.verification import compare, launch_inputs, scale_name

called = pytest.mark.parametrize("name", [name for name in NAMES if operator(name).call])
_SIZE = 33  # odd, and more than a warp


def _given(example, inputs):
    """The input arrays of a call on flat buffers."""
    return {
        array: np.lib.stride_tricks.as_strided(
            inputs[tensor.name], example.shape(array), [n * tensor.dtype.bytes for n in example.strides(array)]
        )
        for array, tensor in example.tensors.items()
        if tensor.role is not Role.OUTPUT
    }


@called
def test_every_parameter_is_documented(name):
    call = operator(name).call
    assert call
    described = ", ".join(re.findall(r"^ {4}(\w+(?:, \w+)*):", getattr(dispatcher, name).__doc__, re.MULTILINE))
    assert {parameter for parameter in call.signature.parameters if parameter != STREAM} <= {*described.split(", ")}


@called
def test_outputs_that_may_be_an_input_are_verified_so(name):
    """The tensors of the call's arrays say it, too."""
    example = example_call(operator(name), problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE))
    pairs = [pair for pair in example.call.in_place if set(pair) <= set(example.tensors)]  # others are left out
    stated = {output: example.tensors[operand].name for output, operand in pairs}
    said = {array: tensor.in_place for array, tensor in example.tensors.items() if tensor.in_place}
    assert said == stated


@called
def test_a_call_computes_the_reference(name):
    problem = problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE)
    example = example_call(operator(name), problem)
    inputs, scalars = launch_inputs(problem, seed=0), dict(problem.scalars)
    bound = example.bound(_given(example, updated := {name: array.copy() for name, array in inputs.items()}))
    left_out = {example.call.accumulates, *example.scalars}
    factors = {name: scalars[name] for name in example.call.scalars if name in scalars.keys() - left_out}
    returned = getattr(dispatcher, name)(*bound.args, **bound.kwargs, **factors)
    outputs = returned if isinstance(returned, tuple) else (returned,) * bool(example.call.required_outputs)
    expected = problem.reference(inputs, scalars)
    tensors = [example.tensors[array] for array in example.call.required_outputs]
    found = {tensor.name: output.reshape(-1) for tensor, output in zip(tensors, outputs, strict=True)}
    for tensor in tensors:
        given, flat, scale = found[tensor.name], expected[tensor.name], expected.get(scale_name(tensor))
        counts = found[tensor.extent.count] if tensor.extent else None  # what is behind them was there before
        assert isinstance(compare(tensor, given, flat, given, scale, counts), float)
    for tensor in (example.tensors[array] for array in example.call.updates if array in example.tensors):
        np.testing.assert_array_equal(updated[tensor.name], expected[tensor.name])


def _takes_gaps(example, array):
    """Whether an array may have as many gaps as elements in each of its rows."""
    tensor = example.tensors[array]
    *outer, columns = tensor.shape
    apart = replace(tensor, strides=row_major((*outer, 2 * columns)), in_place="")
    with suppress(ValueError):
        binding(replace(example, tensors={**example.tensors, array: apart}))
        return True
    return False


@called
def test_a_call_writes_nothing_but_its_outputs(name, monkeypatch):
    """Other threads may write into the gaps of an output while a kernel runs: to other columns of one matrix.

    Arrays that a call takes only without gaps have others behind them.
    """
    problem = problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE)
    example = example_call(operator(name), problem)
    inputs, outputs = launch_inputs(problem, seed=0), {}
    given = {name: array for name, array in _given(example, inputs).items() if name not in example.call.updates}
    memories = []
    for array in example.call.required_written:
        *others, columns = example.shape(array) or (1,)
        tensor = example.tensors[array]
        if others and not _takes_gaps(example, array):
            others, columns = [], prod((*others, columns))
        memory = np.zeros((*others, 2 * columns), tensor.dtype.numpy)
        own = memory[..., :columns].reshape(example.shape(array) or (1,))
        if array in example.call.updates:
            own[...] = tensor.view(inputs[tensor.name])
        outputs[array] = own if example.shape(array) else own.reshape(())
        memories.append((outputs[array], memory[..., columns:]))
    assert memories
    command = launch.command

    def command_while_others_write(program, **options):
        for _, others in memories:
            others[...] = 7
        return command(program, **options)

    bound = example.bound(given | outputs)
    monkeypatch.setattr(launch, "command", command_while_others_write)
    getattr(dispatcher, name)(*bound.args, **bound.kwargs)
    for written, others in memories:
        assert np.any(written) or not written.size
        np.testing.assert_array_equal(others, np.full_like(others, 7))
