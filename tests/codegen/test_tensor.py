"""Element types, where a tensor's elements lie, and what hardware takes as a tensor map."""

import subprocess
import sys
from ctypes import sizeof
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor import Role, Tensor, Within, row_major
from autotune.codegen.model.tensor_map import Swizzle, TensorMap

FLOATS = [dtype for dtype in DType if dtype.is_float]


@pytest.mark.parametrize("dtype", DType)
def test_sizes_agree_with_numpy(dtype):
    assert dtype.numpy.itemsize == dtype.bytes == max(8, dtype.bits) // 8
    assert dtype.is_float == (dtype.roundoff > 0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_limits_agree_with_numpy(dtype):
    limits = ml_dtypes.finfo(dtype.numpy)
    assert dtype.roundoff == float(limits.eps) / 2
    assert dtype.largest == float(limits.max)
    assert dtype.smallest == float(limits.smallest_subnormal)


@pytest.mark.parametrize("dtype", [DType.FLOAT16, DType.BFLOAT16])
@given(value=st.floats(-65000, 65000))
def test_rounding_stays_within_what_is_said_of_it(dtype, value):
    rounded = Within.rounded(dtype)
    error = abs(float(np.float64(value).astype(dtype.numpy)) - value)
    assert error <= rounded.absolute + rounded.relative * abs(value)


def test_ml_dtypes_is_imported_when_it_is_needed():
    program = "import sys, autotune.dispatcher; sys.exit('ml_dtypes' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


@pytest.mark.parametrize(
    ("shape", "strides", "axes", "size"),
    [
        ((2, 3, 4), (12, 4, 1), ((24, 1),), 24),
        ((2, 3, 4), (16, 5, 1), ((2, 16), (3, 5), (4, 1)), 16 + 10 + 4),
        ((2, 3, 4), (4, 8, 1), ((24, 1),), 24),  # rows of all matrices in turns
        ((2, 3, 4), (5, 11, 1), ((3, 11), (2, 5), (4, 1)), 22 + 5 + 4),
        ((2, 3, 4), (0, 4, 1), ((12, 1),), 12),  # broadcast
        ((2, 3, 4, 2), (32, 10, 2, 1), ((2, 32), (3, 10), (8, 1)), 32 + 20 + 8),
        ((7,), (0,), (), 1),
        ((1, 1), (99, 99), (), 1),
        ((), (), (), 1),
        ((2, 0), (9, 1), (), 0),
        ((3, 3), (1, 1), ((3, 1), (3, 1)), 5),  # windows
    ],
)
def test_axes(shape, strides, axes, size):
    tensor = Tensor("x", DType.FLOAT32, shape, strides, Role.INPUT, 4)
    assert (tensor.axes, tensor.size, tensor.bytes) == (axes, size, 4 * size)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 12)), max_size=4))
def test_a_tensor_reaches_what_its_indices_reach(axes):
    shape, strides = tuple(n for n, _ in axes), tuple(step for _, step in axes)
    indices = list(product(*map(range, shape)))
    places = [sum(i * step for i, step in zip(index, strides, strict=True)) for index in indices]
    tensor = Tensor("x", DType.INT32, shape, strides, Role.INPUT, 4)
    assert tensor.size == max(places, default=-1) + 1
    inside = np.ones(tensor.size, bool) if tensor.inside is None else tensor.inside
    assert np.flatnonzero(inside).tolist() == sorted(set(places))
    flat = np.arange(tensor.size)
    assert tensor.view(flat).ravel().tolist() == places
    if len(set(places)) < len(places):
        with pytest.raises(ValueError, match="overlap"):
            Tensor("x", DType.INT32, shape, strides, Role.OUTPUT, 4)


def test_an_output_may_lie_as_matrices_whose_rows_take_turns():
    Tensor("y", DType.FLOAT32, (2, 3, 4), (5, 11, 1), Role.OUTPUT, 4)


@pytest.mark.parametrize(("shape", "strides"), [((2,), ()), ((2, 3), (-3, 1)), ((-1,), (1,))])
def test_a_tensor_that_cannot_be(shape, strides):
    with pytest.raises(ValueError, match="x of shape"):
        Tensor("x", DType.FLOAT32, shape, strides, Role.INPUT, 4)


def test_row_major():
    assert (row_major((2, 3, 4)), row_major((5,)), row_major(())) == ((12, 4, 1), (1,), ())


def test_packed_elements_share_bytes():
    assert Tensor.flat("x", DType.INT4, 7, Role.INPUT, 1).bytes == 4


@pytest.mark.parametrize("dtype", [dtype for dtype in DType if not dtype.is_float or dtype.bits >= 32])
def test_a_scalar_is_packed_in_as_many_bytes(dtype):
    assert sizeof(Argument("s", dtype.cuda).ctype) == dtype.bytes


def test_an_argument_that_nothing_gives_is_named():
    program = Program(
        "", (Argument("x", "const float*"), Argument("by", "float")), (Launch("scale", (1, 1, 1), (1, 1, 1)),)
    )
    with pytest.raises(ValueError, match="scale takes x, which is none of a, b"):
        program.pack({"a": 0, "b": 0}, {"by": 1.0})
    with pytest.raises(ValueError, match="scale takes by, which is none of to"):
        program.pack({"x": 0}, {"to": 1.0})


RIGHT = {"dtype": "bfloat16", "shape": (70, 100), "strides": (104, 1), "box": (8, 64), "swizzle": Swizzle.B128}


test_what_hardware_refuses_is_refused_in_one_line = refused(
    lambda **changes: TensorMap("x", **RIGHT | changes),
    [
        ({"shape": (1,) * 6, "strides": (8,) * 5 + (1,), "box": (1,) * 5 + (64,)}, "6 dimensions: expected 1 to 5"),
        ({"strides": (104,)}, "expected as many of each"),
        ({"box": (1, 8, 64)}, "expected as many of each"),
        ({"shape": (0, 100)}, r"shape \(0, 100\): expected 1 to 2\^32"),
        ({"shape": (2**32 + 1, 100)}, "expected 1 to 2"),
        ({"strides": (104, 2)}, "the last stride 2: expected 1"),
        ({"strides": (100, 1)}, r"strides of \[200\] bytes: expected multiples of 16"),
        ({"strides": (2**39, 1)}, "below 2"),
        ({"box": (257, 64)}, r"box \(257, 64\): expected 1 to 256"),
        ({"box": (0, 64)}, "expected 1 to 256"),
        ({"box": (8, 60), "swizzle": Swizzle.NONE}, "rows of the box of 120 bytes: expected a multiple of 16"),
        ({"box": (8, 32)}, "rows of the box of 64 bytes and a swizzle of 128B: expected as many bytes"),
        ({"offset": 8}, "an offset of 8 bytes: expected a multiple of 16"),
        ({"dtype": "bfloat16", "tf32": True}, "elements of bfloat16 rounded to TF32: expected float32"),
    ],
)
