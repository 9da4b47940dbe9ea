"""The kernels that check other kernels, executed in the emulator and compiled for every architecture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.dtype import DType
from autotune.codegen.problem import Array
from autotune.codegen.tensor import Role, Tensor
from autotune.compiler import compile_kernel
from autotune.devices.verifier import EMPTY_REPORT, REPORT, verification_source
from autotune.emulator import run

POISON = np.uint32(0xFFFFFFFF).view(np.float32)


def report(entry: str, actual: Array, expected: Array, bound: float) -> tuple[int, int, float]:
    found = EMPTY_REPORT.copy().view("u8")
    tensors = [
        Tensor.flat("actual", DType(actual.dtype.name), actual.size, Role.INPUT, actual.itemsize),
        Tensor.flat("expected", DType(expected.dtype.name), expected.size, Role.INPUT, expected.itemsize),
        Tensor.flat("report", DType.UINT64, found.size, Role.IN_OUT, 8),
    ]
    arrays = {"actual": actual, "expected": expected, "report": found}
    scalars = {"size": actual.size, "element_bytes": actual.itemsize, "bound": bound}
    run(verification_source(entry, 1), tensors, arrays, scalars)
    wrong, first, max_error, _ = found.view(REPORT)[0].tolist()
    return wrong, first, max_error


def checksum(words: Array, begin: int = 0, end: int = 0) -> int:
    total = np.zeros(1, np.uint64)
    tensors = [
        Tensor.flat("words", DType.UINT64, words.size, Role.INPUT, 8),
        Tensor.flat("sum", DType.UINT64, 1, Role.IN_OUT, 8),
    ]
    scalars = {"size": words.size, "skip_begin": begin, "skip_end": end}
    run(verification_source("checksum", 1), tensors, {"words": words, "sum": total}, scalars)
    return int(total[0])


@pytest.mark.parametrize("arch", ["sm_75", "sm_80", "sm_90", "sm_120"])
@pytest.mark.parametrize("entry", ["compare_float32", "compare_exact", "checksum"])
def test_they_compile(entry: str, arch: str) -> None:
    assert compile_kernel(verification_source(entry, 1), arch).resources.spill_store_bytes == 0


def test_a_right_output_within_its_bound() -> None:
    expected = np.linspace(-3, 3, 5001)
    actual = expected.astype(np.float32)
    actual[4000] += np.float32(0.25)
    wrong, _, max_error = report("compare_float32", actual, expected, 0.26)
    assert wrong == 0
    assert max_error == pytest.approx(0.25, rel=1e-5)


@pytest.mark.parametrize("index", [0, 31, 2047, 2048, 4999])
@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, POISON, 0.51, -0.51])
def test_one_wrong_element_is_found_wherever_it_is(index: int, value: float) -> None:
    actual = np.zeros(5000, np.float32)
    actual[index] = value
    wrong, first, max_error = report("compare_float32", actual, np.zeros(5000), 0.5)
    assert (wrong, first) == (1, index)
    assert max_error == (pytest.approx(0.51) if np.isfinite(value) else 0.0)


def test_a_gap_must_keep_its_poison() -> None:
    expected = np.array([1.0, np.nan, np.nan, np.nan, 1.0])
    actual = np.array([1.0, POISON, 0.0, np.nan, 1.0], np.float32)  # another NaN was written, too
    assert report("compare_float32", actual, expected, 0.5)[:2] == (2, 2)
    actual[2:4] = POISON
    assert report("compare_float32", actual, expected, 0.5)[0] == 0


def test_the_bound_itself_is_allowed_and_counts_are_exact() -> None:
    actual = np.arange(3000, dtype=np.float32)
    assert report("compare_float32", actual, np.zeros(3000), 1000.0) == (1999, 1001, 2999.0)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64", "float32"])
def test_bit_for_bit(dtype: str) -> None:
    expected = np.random.default_rng(1).integers(0, 256, 8 * 700, np.uint8).view(dtype)
    assert report("compare_exact", expected.copy(), expected, 0.0)[0] == 0
    for index in (0, 5, expected.size - 1):
        actual = expected.copy()
        actual.view(np.uint8)[(index + 1) * actual.itemsize - 1] ^= 1
        assert report("compare_exact", actual, expected, 0.0)[:2] == (1, index)


@settings(max_examples=25)
@given(
    size=st.integers(1, 40),
    byte=st.integers(0, 319),
    begin=st.integers(0, 320),
    length=st.integers(0, 320),
    data=st.data(),
)
def test_a_checksum_sees_each_byte_that_it_must_and_no_other(
    size: int, byte: int, begin: int, length: int, data: st.DataObject
) -> None:
    words = np.frombuffer(data.draw(st.binary(min_size=8 * size, max_size=8 * size)), np.uint64).copy()
    byte %= 8 * size
    begin %= 8 * size + 1
    end = min(begin + length, 8 * size)
    before = checksum(words, begin, end)
    words.view(np.uint8)[byte] ^= 0x40
    assert (checksum(words, begin, end) == before) == (begin <= byte < end)


def test_a_checksum_sees_words_that_change_places() -> None:
    words = np.array([1, 2, 3, 4], np.uint64)
    assert checksum(words) != checksum(words[[1, 0, 2, 3]].copy())
