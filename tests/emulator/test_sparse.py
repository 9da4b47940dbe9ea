"""Buffers with gaps of gigabytes, of which only the elements exist."""

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor
from autotune.emulator import EmulatorError, run

PITCH = 2**31 + 3  # elements from one row of 8 to the next
COPY = "const long long place = t / 8 * 2147483651 + t % 8; y[place] = x[place];"


def rows(name: str, role: Role) -> Tensor:
    return Tensor(name, DType.FLOAT32, (2, 4, 8), (8 * PITCH, PITCH, 1), role, 4)


def copied(program: Program) -> tuple[Array, Array]:
    """The rows of x and y, after the first was copied to the second."""
    tensors = rows("x", Role.INPUT), rows("y", Role.OUTPUT)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
    flat = {t.name: np.frombuffer(mmap.mmap(-1, t.bytes, flags=flags), np.float32, t.size) for t in tensors}
    x, y = (tensor.view(flat[tensor.name]) for tensor in tensors)
    x[...] = np.arange(1, 65, dtype=np.float32).reshape(2, 4, 8)
    run(program, tensors, flat, {"n": 64})
    return x, y


def source(kernel: Callable[..., Program], body: str) -> Program:
    return kernel(body.replace("t / 8 *", "(t / 8 % 4 + t / 32 * 8) *"))


def test_rows_far_apart(kernel: Callable[..., Any]) -> None:
    x, y = copied(source(kernel, COPY))
    np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("= x[place]", "= x[place + (t == 63)]", "reads bytes .* of x, which has"),
        ("= x[place]", "= x[place + (t == 7)]", "reads bytes 32 to 35 of x, which lie in a gap"),
        ("y[place]", "y[place - (t == 8)]", "writes bytes 8589934600 to 8589934603 of y, which lie in a gap"),
    ],
)
def test_an_access_to_a_gap_is_an_error(old: str, new: str, error: str, kernel: Callable[..., Any]) -> None:
    with pytest.raises(EmulatorError, match=error):
        copied(source(kernel, COPY.replace(old, new)))
