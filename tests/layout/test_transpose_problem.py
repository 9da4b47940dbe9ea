"""What a transpose problem says about itself."""

from typing import Any

import numpy as np
import pytest

from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.model.work import Work


@pytest.mark.parametrize(
    ("fields", "key"),
    [
        ({"m": 16384, "n": 32768}, "m16384-n32768-e4"),
        ({"m": 5, "n": 7, "lda": 7, "ldb": 5, "stride_a": 99}, "m5-n7-e4"),
        ({"m": 5, "n": 7, "element_bytes": 8, "align_b": 8}, "m5-n7-e8-alignb8"),
        ({"m": 5, "n": 7, "lda": 9}, "m5-n7-e4-lda9"),
        ({"m": 5, "n": 7, "batch": 3}, "m5-n7-e4-batch3"),
        ({"m": 5, "n": 7, "batch": 3, "stride_a": 35, "stride_b": 40}, "m5-n7-e4-batch3-sb40"),
    ],
)
def test_key_names_what_is_not_ordinary(fields: dict[str, int], key: str) -> None:
    assert TransposeProblem(**fields).key == key


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"m": -1, "n": 7}, "m=-1: expected 0 or more"),
        ({"m": 5, "n": 7, "element_bytes": 3}, "element_bytes=3: expected one of 1, 2, 4, 8, 16"),
        ({"m": 5, "n": 7, "lda": 6}, "lda=6: expected at least the 7 elements of a row, or 0"),
        ({"m": 5, "n": 7, "ldb": 4}, "ldb=4: expected at least the 5 elements of a row, or 0"),
        ({"m": 5, "n": 7, "align_a": 2}, "align_a=2: expected one of 4, 8, 16 bytes"),
        ({"m": 5, "n": 7, "align_b": 32}, "align_b=32: expected one of 4, 8, 16 bytes"),
        ({"m": 5, "n": 7, "batch": 2, "stride_b": 34}, "stride_b=34: matrices of B overlap"),
        ({"m": 5, "n": 7, "batch": 2, "ldb": 10, "stride_b": 4}, "stride_b=4: matrices of B overlap"),
    ],
)
def test_impossible_problem_is_refused(fields: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransposeProblem(**fields)


@pytest.mark.parametrize(
    ("fields", "widths"),
    [
        ({"m": 64, "n": 64}, (4, 4)),
        ({"m": 66, "n": 64}, (4, 2)),
        ({"m": 64, "n": 63}, (1, 4)),
        ({"m": 64, "n": 63, "lda": 64}, (4, 4)),
        ({"m": 64, "n": 64, "align_a": 8}, (2, 4)),
        ({"m": 64, "n": 64, "batch": 2, "stride_b": 4097}, (4, 1)),
        ({"m": 64, "n": 64, "element_bytes": 1}, (16, 16)),
        ({"m": 63, "n": 64, "element_bytes": 16}, (1, 1)),
    ],
)
def test_vector_width(fields: dict[str, int], widths: tuple[int, int]) -> None:
    problem = TransposeProblem(**fields)
    assert (problem.vector_width("a"), problem.vector_width("b")) == widths


@pytest.mark.parametrize("size", ELEMENT_BYTES)
@pytest.mark.parametrize(
    "layout", [{}, {"lda": 5, "ldb": 7, "stride_a": 31, "stride_b": 40}, {"ldb": 7, "stride_b": 3}]
)
def test_reference_moves_every_element(size: int, layout: dict[str, int]) -> None:
    problem = TransposeProblem(3, 4, size, batch=2, **layout)
    a, b = problem.tensors
    source, result = problem.inputs(0)["a"], problem.reference(problem.inputs(0), {})["b"]
    assert (source.dtype, source.size) == (a.dtype.numpy, a.size)
    assert (result.dtype, result.size) == (b.dtype.numpy, b.size)
    source, result = source.view(f"V{size}"), result.view(f"V{size}")
    expected: Any = np.zeros(result.size * size, np.uint8).view(f"V{size}")
    for matrix, i, j in np.ndindex(2, 3, 4):
        element = source[matrix * problem.stride_a + i * problem.lda + j]
        expected[matrix * problem.stride_b + j * problem.ldb + i] = element
    assert np.array_equal(result, expected)


def test_inputs_never_look_unwritten() -> None:
    a = TransposeProblem(100, 100, element_bytes=1).inputs(0)["a"]
    assert a.min() == 1
    assert a.max() == 254


def test_plain_values_and_back() -> None:
    problem = TransposeProblem(5, 7, 2, batch=2, lda=8)
    assert TransposeProblem.from_dict(problem.to_dict()) == problem
    assert problem.work == Work(2 * 2 * 35 * 2)
