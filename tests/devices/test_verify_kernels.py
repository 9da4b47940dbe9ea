"""The kernels that check other kernels, executed in the emulator and compiled for every architecture."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.tensor import Checked, Exact, Extent, Role, Tensor, Within
from autotune.compiler import compile_kernel
from autotune.contract.nvrtc import compile_unoptimised
from autotune.devices.verifier import EMPTY_REPORT, REPORT, comparison_entry, comparison_scalars, verification_source
from autotune.emulator import run
from autotune.verification import (
    POISONS,
    UNTOUCHED,
    Mismatch,
    compare,
    compare_checked,
    expected_dtype,
    poisoned,
    unwritten,
)

FLOATS = [DType.FLOAT64, DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16]
INTEGERS = [dtype for dtype in DType if not dtype.is_float and dtype is not DType.INT4]
SPECIAL = [0.0, -0.0, 1.0, 1.0009765625, -1.5, 1e-6, 300.0, 65504.0, 3.0e38, np.inf, -np.inf, np.nan]
LAYOUTS = [((17,), (1,)), ((3, 4), (5, 1)), ((2, 3, 4), (5, 11, 1)), ((2, 2, 2, 2, 2), (80, 33, 11, 4, 1))]


def report(tensor, actual, expected, before=None, scale=None, poison=POISONS[0], counts=None, rows=None, entry=""):
    """What the kernel that compares an output finds: how many are wrong, the first of them, the largest error."""
    found = EMPTY_REPORT.copy().view("u8")
    program = verification_source(entry or comparison_entry(tensor), 1, tensor.dtype)
    arrays = {"actual": actual, "expected": expected, "scale": scale, "before": before, "counts": counts, "rows": rows}
    given = {name: array for name, array in arrays.items() if array is not None}
    # The emulator gives every pointer a buffer; what is not given goes as a number, 0.
    absent = {name: Argument(name, "long long", 0) for name in arrays.keys() - given.keys()}
    program = replace(program, arguments=tuple(absent.get(argument.name, argument) for argument in program.arguments))
    tensors = [
        Tensor.flat(name, DType(array.dtype.name), array.size, Role.INPUT, array.itemsize)
        for name, array in given.items()
    ]
    tensors.append(Tensor.flat("report", DType.UINT64, found.size, Role.IN_OUT, 8))
    run(
        program,
        tensors,
        given | {"report": found},
        comparison_scalars(tensor, poison, 0 if rows is None else rows.size),
    )
    wrong, first, max_error, _ = found.view(REPORT)[0].tolist()
    return wrong, first, max_error


def output(size, judged, dtype=DType.FLOAT32):
    return Tensor.flat("y", dtype, size, Role.OUTPUT, dtype.bytes, judged)


def checksum(words, begin=0, end=0):
    total = np.zeros(1, np.uint64)
    tensors = [
        Tensor.flat("words", DType.UINT64, words.size, Role.INPUT, 8),
        Tensor.flat("sum", DType.UINT64, 1, Role.IN_OUT, 8),
    ]
    scalars = {"size": words.size, "skip_begin": begin, "skip_end": end}
    run(verification_source("checksum", 1), tensors, {"words": words, "sum": total}, scalars)
    return int(total[0])


@pytest.mark.parametrize(
    ("entry", "arch"),
    [
        ("compare_within", "sm_75"),
        ("compare_within", "sm_120"),
        ("compare_exact", "sm_80"),
        ("compare_gaps", "sm_90"),
        ("compare_written", "sm_120"),
        ("checksum", "sm_75"),
    ],
)
def test_they_compile(entry, arch):
    assert compile_kernel(verification_source(entry, 1, DType.BFLOAT16), arch).resources.spill_store_bytes == 0


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_they_compile_for_every_type(dtype):
    compile_unoptimised(verification_source("compare_within", 1, dtype), "sm_90")


def test_a_right_output_within_its_tolerance():
    expected = np.linspace(-3, 3, 5001)
    actual = expected.astype(np.float32)
    actual[4000] += np.float32(0.25)
    wrong, _, max_error = report(output(5001, Within(absolute=0.26)), actual, expected)
    assert wrong == 0
    assert max_error == pytest.approx(0.25, rel=1e-5)


@pytest.mark.parametrize("index", [0, 31, 2047, 2048, 4999])
@pytest.mark.parametrize("value", [np.inf, np.nan, -0.51])
def test_one_wrong_element_is_found_wherever_it_is(index, value):
    actual = np.zeros(5000, np.float32)
    actual[index] = value
    wrong, first, max_error = report(output(5000, Within(absolute=0.5)), actual, np.zeros(5000))
    assert (wrong, first) == (1, index)
    assert max_error == (pytest.approx(0.51) if np.isfinite(value) else 0.0)


def test_the_tolerance_itself_is_allowed_and_counts_are_exact():
    actual = np.arange(3000, dtype=np.float32)
    assert report(output(3000, Within(absolute=1000)), actual, np.zeros(3000)) == (1999, 1001, 2999.0)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bit_for_bit(dtype):
    random = np.random.default_rng(1).integers(0, 2 if dtype is DType.BOOL else 256, 8 * 700, np.uint8)
    expected = random.view(dtype.numpy)
    tensor = output(expected.size, Exact(), dtype)
    assert report(tensor, expected.copy(), expected)[0] == 0
    for index in (0, 5, expected.size - 1):
        actual = expected.copy()
        actual.view(np.uint8)[(index + 1) * actual.itemsize - 1] ^= 1
        assert report(tensor, actual, expected)[:2] == (1, index)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_they_judge_as_numpy_does(data):
    """Any type, layout, judgement, scale and state before; values at the edges of the rule."""
    dtype = data.draw(st.sampled_from([*FLOATS, DType.INT32]))
    numbers = st.sampled_from(SPECIAL if dtype.is_float else [-1.0, 0.0, 1.0, 2.0])
    tolerances = st.builds(Within, st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, dtype.roundoff, 1e-3]))
    judged = data.draw(st.just(Exact()) | tolerances | st.just(Checked("anything")))
    role = data.draw(st.sampled_from([Role.OUTPUT, Role.IN_OUT]))
    shape, strides = data.draw(st.sampled_from(LAYOUTS))
    extent = data.draw(st.none() | st.builds(Extent, st.just("counts"), st.integers(0, len(shape) - 1)))
    tensor = Tensor("y", dtype, shape, strides, role, dtype.bytes, judged, extent=extent)
    tensor = replace(tensor, row_axes=data.draw(st.integers(0, len(shape))))
    rows = None
    if tensor.row_axes and not isinstance(judged, Checked):
        rows = np.array(sorted(data.draw(st.sets(st.integers(0, prod(shape[: tensor.row_axes]) - 1), min_size=1))))
    counts = None
    if extent:
        ends, size = st.integers(-1, shape[extent.axis] + 1), prod(shape[: extent.axis])
        counts = np.array(data.draw(st.lists(ends, min_size=size, max_size=size)), np.int32)
    inside = tensor.inside if counts is None else tensor.counted(counts)

    def drawn(dtype):
        values = st.lists(numbers, min_size=tensor.size, max_size=tensor.size)
        with np.errstate(over="ignore"):
            return np.array(data.draw(values)).astype(dtype.numpy)

    expected = drawn(expected_dtype(tensor))
    poison = data.draw(st.sampled_from(POISONS))
    before = poisoned(tensor, poison) if role is Role.OUTPUT else drawn(dtype)
    replaced = data.draw(st.lists(st.booleans(), min_size=tensor.size, max_size=tensor.size))
    with np.errstate(over="ignore"):
        actual = np.where(replaced, drawn(dtype), expected.astype(dtype.numpy))
    if inside is not None and data.draw(st.booleans()):
        actual = np.where(inside, actual, before)
    scale = np.abs(drawn(DType.FLOAT64)) if isinstance(judged, Within) and data.draw(st.booleans()) else None
    held = before if role is Role.IN_OUT else None
    if isinstance(judged, Checked):
        found = compare_checked(tensor, actual, np.ones(tensor.size, np.bool_), before, counts)
        wrong, first, max_error = report(tensor, actual, None, held, None, poison, counts)
    else:
        found = compare(tensor, actual, expected, before, scale, counts, rows)
        wrong, first, max_error = report(tensor, actual, expected, held, scale, poison, counts, rows)
    if isinstance(found, Mismatch):
        assert (wrong, first) == (found.count, found.index)
        assert (found.expected == UNTOUCHED) == (not tensor.reaches(first, counts if counts is None else counts.item))
    else:
        assert (wrong, max_error) == (0, pytest.approx(found))


@pytest.mark.parametrize("dtype", [DType.FLOAT32, DType.BFLOAT16, DType.INT32])
def test_elements_that_no_kernel_wrote_are_seen_as_numpy_sees_them(dtype):
    tensor = Tensor("y", dtype, (3, 4), (5, 1), Role.OUTPUT, dtype.bytes, extent=Extent("counts", 1))
    counts = np.array([4, 2, 3], np.int32)
    before = [poisoned(tensor, poison) for poison in POISONS]
    first, second = (array.copy() for array in before)
    first[[0, 12]], second[[1, 12]] = 1, 1  # written in one launch is written
    found = unwritten(tensor, (before[0], first), (before[1], second), counts)
    assert found and (found.count, found.index) == (9 - 3, 2)
    assert report(tensor, second, first, poison=POISONS[1], counts=counts, entry="compare_written")[:2] == (6, 2)
    assert unwritten(tensor, (before[0], first), (before[0], first), counts) is None


@pytest.mark.parametrize("infinity", [np.inf, -np.inf])
@pytest.mark.parametrize(
    ("toward", "tolerance", "right"),
    [(0.0, 65504.0, False), (0.0, 65505.0, True), (0.0, np.inf, True), (6.5e4, 505.0, True), (-6.5e4, 505.0, False)],
)
def test_an_infinity_is_right_where_its_side_of_the_tolerance_overflows(infinity, toward, tolerance, right):
    tensor = output(1, Within(absolute=tolerance), DType.FLOAT16)
    actual, expected = np.array([infinity], np.float16), np.array([np.copysign(1.0, infinity) * toward])
    assert isinstance(compare(tensor, actual, expected, poisoned(tensor)), float) == right
    assert (report(tensor, actual, expected)[0] == 0) == right


def test_gaps_of_too_many_axes_are_refused():
    tensor = Tensor("y", DType.INT8, (2,) * 6, tuple(3**axis for axis in range(6)), Role.OUTPUT, 1)
    with pytest.raises(ValueError, match="y has 6 axes with gaps between: expected 5 at most"):
        comparison_scalars(tensor)


@settings(max_examples=25)
@given(
    size=st.integers(1, 40),
    byte=st.integers(0, 319),
    begin=st.integers(0, 320),
    length=st.integers(0, 320),
    data=st.data(),
)
def test_a_checksum_sees_each_byte_that_it_must_and_no_other(size, byte, begin, length, data):
    words = np.frombuffer(data.draw(st.binary(min_size=8 * size, max_size=8 * size)), np.uint64).copy()
    byte %= 8 * size
    begin %= 8 * size + 1
    end = min(begin + length, 8 * size)
    before = checksum(words, begin, end)
    words.view(np.uint8)[byte] ^= 0x40
    assert (checksum(words, begin, end) == before) == (begin <= byte < end)


def test_a_checksum_sees_words_that_change_places():
    words = np.array([1, 2, 3, 4], np.uint64)
    assert checksum(words) != checksum(words[[1, 0, 2, 3]].copy())
