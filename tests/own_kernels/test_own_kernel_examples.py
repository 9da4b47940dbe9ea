"""The examples are right in the emulator, by several schedules; bugs planted in them are found."""

from dataclasses import replace

import numpy as np
import pytest
from own_kernels.conftest import EXAMPLES

from autotune import dispatcher, emulator
from autotune.own_kernels.load import declared_in
from autotune.search_spaces.machine.devices import named_device

H200 = named_device("h200")
SCHEDULES = [
    ("vector_add", "block_size=64 per_thread=4"),
    ("matmul", "block_x=16 block_y=8 tile_x=2 tile_y=4"),
    ("convolution", "block_x=16 block_y=4 tile_x=2 use_shared=1 use_padding=1"),
    ("convolution", "block_x=32 block_y=2 tile_y=2 use_shared=0"),
    ("pnpoly", "block_size=64 per_thread=3 between=1 counting=2 stored_slopes=1"),
    ("pnpoly", "block_size=128 per_thread=1 between=2 counting=1"),
]
BUGS = [
    ("vector_add", "&& i < n", "", "reads"),
    ("matmul", "    __syncthreads();\n#pragma", "#pragma", "race"),
    ("matmul", "begin += depth", "begin += 2 * depth", "wrong"),
    ("convolution", "x < halo_wide;", "x < halo_wide - 1;", "wrong"),
    ("pnpoly", "point.x < slope", "point.x <= 2 * slope", "wrong"),
]


def verify(name, words="", edit=lambda program: program):
    operator = declared_in(str(EXAMPLES / f"{name}.py"))
    problem = operator.problem_type.from_dict(operator.problem_type.declaration.problem)
    schedule = operator.parse(words.split(), problem, H200)
    for small, like in operator.checks(problem, schedule):
        emulator.verify(small, edit(operator.program(small, like, H200)))


@pytest.mark.parametrize(("name", "words"), SCHEDULES)
def test_examples_are_right(name, words):
    verify(name, words)


@pytest.mark.parametrize(("name", "old", "new", "found"), BUGS)
def test_a_bug_is_found(name, old, new, found):
    def edit(program):
        assert old in program.source
        return replace(program, source=program.source.replace(old, new))

    with pytest.raises(emulator.EmulatorError, match=found):
        verify(name, edit=edit)


def test_a_kernel_is_called_as_operators_are():
    operator = declared_in(str(EXAMPLES / "matmul.py"))
    a, b = np.arange(64 * 32, dtype=np.float32).reshape(64, 32) % 7, np.ones((32, 64), np.float32)
    assert (getattr(dispatcher, operator.name)(a, b) == a @ b).all()
    del dispatcher.matmul
    with pytest.raises(ValueError, match=r"b has shape \(31, 64\): expected \(32, 64\)"):
        dispatcher.matmul(a, b[1:])
