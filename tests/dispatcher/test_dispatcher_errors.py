"""Bad arguments of sgemm get one line, and nothing is launched."""

from functools import partial

import numpy as np
import pytest
from refusals import refused

from autotune import dispatcher
from autotune.dispatcher.arrays import arrays

pytestmark = pytest.mark.usefixtures("no_launch")


def ones(*shape, dtype="f4"):
    return np.ones(shape, dtype)


test_bad_operands = refused(
    dispatcher.sgemm,
    [
        (([[1.0]], ones(1, 1)), "TypeError: a is a list: expected a NumPy array, or one with DLPack"),
        ((ones(4, 5), 3.0), "TypeError: b is a float: expected"),
        ((ones(4, 5), np.float32(3)), "TypeError: b is a float32: expected a plain array"),
        (
            (np.ma.masked_array(np.ones((4, 5), "f4")), ones(5, 6)),
            "TypeError: a is a MaskedArray: expected a plain array",
        ),
        ((ones(4, 5, dtype="f8"), ones(5, 6)), "TypeError: a has dtype float64: sgemm takes float32"),
        ((ones(4, 5), ones(5, 6, dtype=">f4")), "TypeError: b has dtype >f4: sgemm takes float32"),
        ((ones(4), ones(4, 4)), r"a has shape \(4,\): expected a matrix"),
        ((ones(2, 3, 4, 5), ones(3, 2, 5, 6)), "expected the same batch, or a batch of 1"),
        ((ones(2, 3, 4, 5)[:, ::2], ones(5, 6)), "matrices that are not evenly spaced; call contiguous"),
        ((ones(2, 4, 3, 5).swapaxes(1, 2), ones(5, 6)), "not evenly spaced"),
        ((ones(4, 5), ones(4, 5)), r"a has shape \(4, 5\) and b \(4, 5\): expected \(…, m, k\)"),
        ((ones(2, 4, 5), ones(3, 5, 6)), "expected the same batch, or a batch of 1"),
        ((ones(4, 10)[:, ::2], ones(5, 6)), "neither row-major nor column-major; call contiguous"),
        ((ones(4, 5)[::-1], ones(5, 6)), "neither row-major nor column-major"),
        ((ones(2, 4, 5)[::-1], ones(5, 6)), "neither row-major nor column-major"),
        ((np.broadcast_to(ones(5), (4, 5)), ones(5, 6)), "neither row-major nor column-major"),
        (
            (np.ones(4 * 5 * 4 + 1, "i1")[1:].view("f4").reshape(4, 5), ones(5, 6)),
            "a is aligned to 1 B: expected at least 4 B",
        ),
        ((np.ones((4, 5), [("x", "f4"), ("y", "i1")])["x"], ones(5, 6)), "in bytes: expected multiples of 4"),
    ],
)


def readonly():
    array = ones(4, 6)
    array.flags.writeable = False
    return array


test_bad_out = refused(
    lambda out: dispatcher.sgemm(ones(4, 5), ones(5, 6), out=out),
    [
        (ones(4, 7), r"out has shape \(4, 7\): expected \(4, 6\)"),
        (ones(1, 4, 6), r"out has shape \(1, 4, 6\): expected \(4, 6\)"),
        (ones(4, 6, dtype="f8"), "TypeError: out has dtype float64: expected float32"),
        (ones(4, 12)[:, ::2], "out has shape .* neither row-major nor column-major"),
        (readonly(), "out is read-only"),
    ],
)


def test_out_that_overlaps_itself():
    out = np.lib.stride_tricks.as_strided(ones(4, 6), (2, 4, 6), (0, 24, 4))
    with pytest.raises(ValueError, match="its matrices are all one"):
        dispatcher.sgemm(ones(2, 4, 5), ones(5, 6), out=out)
    out = np.lib.stride_tricks.as_strided(ones(9, 6), (2, 4, 6), (24, 24, 4))
    with pytest.raises(ValueError, match="matrices of C overlap"):
        dispatcher.sgemm(ones(2, 4, 5), ones(5, 6), out=out)


@pytest.mark.parametrize("shift", [0, 1, 24])
def test_out_that_overlaps_an_operand(shift):
    memory = ones(100)
    a, out = memory[:25].reshape(5, 5), memory[shift : shift + 25].reshape(5, 5)
    with pytest.raises(ValueError, match="out overlaps a"):
        dispatcher.sgemm(a, ones(5, 5), out=out)
    with pytest.raises(ValueError, match="out overlaps b"):
        dispatcher.sgemm(ones(5, 5), a, out=out)


def test_columns_that_overlap_by_one():
    memory = ones(5, 20)
    with pytest.raises(ValueError, match="out overlaps a"):
        dispatcher.sgemm(memory[:, :5], ones(5, 5), out=memory[:, 4:9])


@pytest.mark.parametrize("call", [dispatcher.sgemm, partial(dispatcher.plan, "sgemm")])
@pytest.mark.parametrize(
    ("argument", "error", "message"),
    [
        ({"stream": "x"}, TypeError, "stream is a str: expected a handle, or an object with __cuda_stream__"),
        ({"stream": -1}, ValueError, "stream=-1: expected a handle, 0 or more"),
        ({"alpha": "x"}, TypeError, "alpha is a str: expected a number"),
        ({"alpha": 10**400}, ValueError, r"alpha=10+\.\.\.0+: expected a number that a double can hold"),
        ({"beta": ones(2), "out": ones(4, 6)}, TypeError, "beta is a ndarray: expected a number"),
    ],
)
def test_bad_streams_and_scalars(call, argument, error, message):
    with pytest.raises(error, match=message) as caught:
        call(ones(4, 5), ones(5, 6), **argument)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ({"stride": "2"}, r"stride is a str: expected tuple\[int, ...\] | int"),
        ({"stride": np.ones(2, int)}, r"stride is a ndarray: expected tuple\[int, ...\] | int"),
        ({"activation": abs}, "activation is a builtin_function_or_method: expected str"),
    ],
)
def test_options_of_kinds_that_no_call_has(argument, message):
    with pytest.raises(TypeError, match=message):
        dispatcher.conv2d(ones(1, 4, 4, 8), ones(8, 3, 3, 8), **argument)


def test_one_array_is_not_several_outputs():
    """As many rows as there are outputs would be taken for them."""
    with pytest.raises(TypeError, match="out is a ndarray: expected a tuple of 2: values, indices"):
        dispatcher.topk(ones(2, 8), 2, out=ones(2, 2))


def test_beta_needs_out():
    with pytest.raises(ValueError, match=r"beta=0\.5 scales the contents of out: pass out=, or beta=0"):
        dispatcher.sgemm(ones(4, 5), ones(5, 6), beta=0.5)


def test_nothing_is_allocated_for_a_call_that_is_refused(monkeypatch):
    """A broadcast array is small, and its result would be as large as its shape says."""
    monkeypatch.setattr(arrays, "empty", lambda *_: pytest.fail("allocated"))
    with pytest.raises(ValueError, match="x"):
        dispatcher.softmax(np.broadcast_to(np.float32(1), (2**31, 24)))
