"""The twins of Hopper's instructions against an H100 or H200, element by element."""

import numpy as np
import pytest
import test_tensor_boxes as boxes
from cuda.core import Device
from on_gpu import execute_on_gpu
from tensor_programs import execute, tensor_program
from test_im2col import CASES as PIXELS
from test_tile_product import BODY, DEEP, EXPECTED, REGISTERS, WRITTEN, A, B
from tile_product import tile_product
from wgmma_forms import FORMS

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def hopper():
    if Device(0).compute_capability != (9, 0):
        pytest.skip("the instructions are those of compute capability 9.0")


def both(program, arrays, output):
    """What the GPU and the emulator make of an output."""
    results = []
    for run in (execute_on_gpu, execute):
        own = {name: array.copy() for name, array in arrays.items()}
        run(program, own, (output,))
        results.append(own[output])
    return results[0], results[1]


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_products_of_every_form(form):
    arrays = form.arrays()
    found, emulated = both(form.program(), arrays, "z")
    np.testing.assert_array_equal(found, emulated)
    np.testing.assert_array_equal(found.reshape(64, -1), form.expected(arrays))


@pytest.mark.parametrize("case", PIXELS, ids=str)
def test_pixels(case):
    found, emulated = both(case.program(), case.arrays(), "y")
    np.testing.assert_array_equal(found, emulated)
    np.testing.assert_array_equal(found, case.expected())


@pytest.mark.parametrize("body", [BODY, DEEP, WRITTEN], ids=["plain", "a group under way", "written by threads"])
def test_products_of_tiles(body):
    arrays = {"x": A.ravel(), "y": B.ravel(), "z": np.full(EXPECTED.size, np.nan, np.float32)}
    found, emulated = both(tile_product(body), arrays, "z")
    np.testing.assert_array_equal(found, emulated)
    np.testing.assert_array_equal(found, EXPECTED.ravel())


@pytest.mark.parametrize("shape", boxes.SHAPES, ids=len)
def test_boxes(shape):
    program, arrays, expected = boxes.copied(shape)
    found, emulated = both(program, arrays, "y")
    np.testing.assert_array_equal(found, emulated)
    np.testing.assert_array_equal(found, expected.ravel())


def test_floats_rounded_to_tf32():
    found, emulated = both(*boxes.rounded(), "y")
    np.testing.assert_array_equal(found, emulated)


@pytest.mark.parametrize("body", [boxes.SHARED, boxes.BY_ONE], ids=["all arrive", "one arrives"])
def test_boxes_for_a_cluster(body):
    found, emulated = both(boxes.shared(body), {"x": boxes.X, "y": np.full(768, np.nan, np.float32)}, "y")
    np.testing.assert_array_equal(found, emulated)
    np.testing.assert_array_equal(found, np.tile(boxes.X, 2))


def test_stores():
    found, emulated = both(boxes.stored(boxes.STORE), {"y": np.full(boxes.ROWS * boxes.COLUMNS, -1, np.float32)}, "y")
    np.testing.assert_array_equal(found, emulated)


@pytest.mark.parametrize("dtype", ["float32", "int32", "float16", "bfloat16"])
def test_sums_in_place(dtype):
    found, emulated = both(*boxes.added(dtype)[:2], "y")
    np.testing.assert_array_equal(found, emulated)


def test_named_barriers():
    program = tensor_program(boxes.NAMED, {}, {"y": "float*"})
    found, emulated = both(program, {"y": np.full(96, np.nan, np.float32)}, "y")
    np.testing.assert_array_equal(found, emulated)


def test_register_counts():
    body = f"{REGISTERS} arguments.y[t] = t;"
    program = tensor_program(body, {}, {"y": "float*"}, threads=384, headers=("register_count",))
    found, _ = both(program, {"y": np.zeros(384, np.float32)}, "y")
    np.testing.assert_array_equal(found, np.arange(384))
