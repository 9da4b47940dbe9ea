"""What users can call: every operator's function computes what its problem's reference says, in the emulator."""

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from autotune import dispatcher
from autotune.bench.dispatch.example_call import ExampleCall, binding, example_call, problem_of_sizes
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, row_major
from autotune.emulator import launch
from autotune.search_spaces.contract.call import STREAM
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.verification import compare, launch_inputs, poisoned, scale_name

called = pytest.mark.parametrize("name", [name for name in OPERATORS if operator(name).call])
_SIZE = 33  # odd, and more than a warp


def _given(example: ExampleCall, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The input arrays of a call on flat buffers."""
    return {
        array: np.lib.stride_tricks.as_strided(
            inputs[tensor.name], example.shape(array), [n * tensor.dtype.bytes for n in example.strides(array)]
        )
        for array, tensor in example.tensors.items()
        if tensor.role is Role.INPUT
    }


@called
def test_every_parameter_is_documented(name: str) -> None:
    call = operator(name).call
    assert call
    described = re.findall(r"^ {4}(\w+):", getattr(dispatcher, name).__doc__, re.MULTILINE)
    assert {parameter for parameter in call.signature.parameters if parameter != STREAM} <= set(described)


@called
def test_outputs_that_may_be_an_input_are_verified_so(name: str) -> None:
    """The tensors of the call's arrays say it, too."""
    example = example_call(operator(name), problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE))
    pairs = [pair for pair in example.call.in_place if set(pair) <= set(example.tensors)]  # others are left out
    stated = {output: example.tensors[operand].name for output, operand in pairs}
    said = {array: tensor.in_place for array, tensor in example.tensors.items() if tensor.in_place}
    assert said == stated


@called
def test_a_call_computes_the_reference(name: str) -> None:
    problem = problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE)
    example = example_call(operator(name), problem)
    inputs, scalars = launch_inputs(problem, seed=0), dict(problem.scalars)
    bound = example.bound(_given(example, inputs))
    left_out = {example.call.accumulates, *example.scalars}
    factors = {name: scalars[name] for name in example.call.scalars if name in scalars.keys() - left_out}
    returned = getattr(dispatcher, name)(*bound.args, **bound.kwargs, **factors)
    outputs = returned if isinstance(returned, tuple) else (returned,)
    expected = problem.reference(inputs, scalars)
    for array, output in zip(example.call.required_outputs, outputs, strict=True):
        tensor = example.tensors[array]
        flat, scale = expected[tensor.name], expected.get(scale_name(tensor))
        assert isinstance(compare(tensor, output.reshape(-1), flat, poisoned(tensor), scale), float)


def _takes_gaps(example: ExampleCall, array: str) -> bool:
    """Whether an array may have as many gaps as elements in each of its rows."""
    tensor = example.tensors[array]
    *outer, columns = tensor.shape
    apart = replace(tensor, strides=row_major((*outer, 2 * columns)), in_place="")
    with suppress(ValueError):
        binding(replace(example, tensors={**example.tensors, array: apart}))
        return True
    return False


@called
def test_a_call_writes_nothing_but_its_outputs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads may write into the gaps of an output while a kernel runs: to other columns of one matrix.

    Arrays that a call takes only without gaps have none.
    """
    problem = problem_of_sizes(operator(name).problem_type, lambda *_: _SIZE)
    example = example_call(operator(name), problem)
    given, outputs = _given(example, launch_inputs(problem, seed=0)), {}
    memories = []
    for array in example.call.required_outputs:
        *others, columns = example.shape(array)
        tensor = example.tensors[array]
        gaps = columns if not others or _takes_gaps(example, array) else 0
        memory = np.zeros((*others, columns + gaps), tensor.dtype.numpy)
        outputs[array] = memory[..., :columns]
        memories.append((outputs[array], memory[..., columns:]))
    assert any(others.size for _, others in memories)
    command = launch.command

    def command_while_others_write(program: Program, **options: Any) -> list[Path]:
        for _, others in memories:
            others[...] = 7
        return command(program, **options)

    bound = example.bound(given | outputs)
    monkeypatch.setattr(launch, "command", command_while_others_write)
    getattr(dispatcher, name)(*bound.args, **bound.kwargs)
    for written, others in memories:
        assert np.any(written)
        np.testing.assert_array_equal(others, np.full_like(others, 7))
