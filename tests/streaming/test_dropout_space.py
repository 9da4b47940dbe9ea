"""Which dropout schedules are legal and tried first, what they are counted to do, and what calls refuse."""

import numpy as np
import pytest
from dropout_cases import BFLOAT16, BITS, SPEC

from autotune import dispatcher
from autotune.codegen.streaming.dropout.problem import DropoutProblem
from autotune.codegen.streaming.dropout.schedule import DropoutSchedule
from autotune.search_spaces.streaming.dropout import OPERATOR

PLAIN, FUSED = DropoutProblem(4096, 4096), DropoutProblem(4096, 4096, BFLOAT16, True, True)
_BYTES_IN_FLIGHT = 48 << 10  # of an SM, to keep an H200's memory busy


@pytest.mark.parametrize(
    ("words", "problem", "expected"),
    [
        ("threads=96", PLAIN, "threads 96: expected a power of two"),
        ("vector_width=8", PLAIN, "vector_width 8 over the 4 elements of aligned accesses"),
        ("vector_width=4", DropoutProblem(2, 1000, ldx=1002), "vector_width 4 over the 2 elements of aligned accesses"),
        (
            "counter_words=1",
            DropoutProblem(1, 1 << 35),
            "counter_words 1: expected 2 for 34359738368 elements, which are more than 17179869184",
        ),
    ],
)
def test_violations_carry_the_values(words: str, problem: DropoutProblem, expected: str) -> None:
    found = OPERATOR.violations(problem, DropoutSchedule.parse(words.split()), SPEC)
    assert any(expected in line for line in found), found


def test_rows_of_odd_length_keep_wide_accesses() -> None:
    problem = DropoutProblem(131072, 513, BFLOAT16, True, True)
    assert OPERATOR.default(problem, SPEC).vector_width == 8


@pytest.mark.parametrize("problem", [PLAIN, FUSED, DropoutProblem(1, 1 << 28, BFLOAT16)], ids=lambda p: p.key)
def test_first_seeds_keep_memory_busy(problem: DropoutProblem) -> None:
    for schedule in OPERATOR.seeds(problem, SPEC)[:2]:
        footprint = schedule.footprint(problem)
        resident = min(2048 // footprint.threads, 65536 // (footprint.threads * footprint.registers))
        of_thread = schedule.items * schedule.vector_width * problem.dtype.bytes * (1 + problem.residual)
        assert resident * footprint.threads * of_thread >= _BYTES_IN_FLIGHT, schedule


def test_workload_counts_what_moves() -> None:
    (counted,) = OPERATOR.workload(PLAIN, DropoutSchedule(vector_width=4, items=2), SPEC)
    assert counted.blocks * counted.steps * counted.bytes_loaded == 4 << 24
    assert counted.blocks * counted.bytes_stored == 4 << 24
    assert FUSED.work.bytes == 3 * 2 * 4096 * 4096 + 2 * 4096


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"p": 1.5}, "p=1.5: expected 0 … 1"),
        ({"p": float("nan")}, "p=nan: expected 0 … 1"),
        ({"seed": -1}, "seed=-1: expected 0 … 18446744073709551615"),
        ({"bias": np.zeros(3, np.float32)}, "bias has shape (3,) and dtype float32: expected (8,) and float32"),
        ({"state": np.zeros(3, np.int64)}, "state has shape (3,) and dtype int64: expected (2,) and uint64 or int64"),
        ({"mask": np.zeros(8, np.uint8), "packed": True}, "mask has shape (8,): expected (4,)"),
        ({"residual": np.zeros((4, 16), np.float32)[:, ::2]}, "residual has shape (4, 8) and strides (16, 2)"),
    ],
)
def test_calls_say_what_they_refuse(arguments: dict[str, object], message: str) -> None:
    with pytest.raises((TypeError, ValueError)) as raised:
        dispatcher.dropout(np.ones((4, 8), np.float32), **{"p": 0.5, "seed": 1, **arguments})
    assert message in str(raised.value)


def test_a_call_with_everything_is_a_call_without_and_the_rest() -> None:
    x, r, bias = np.ones((4, 40), np.float32), np.full((4, 40), 2, np.float32), np.full(40, 3, np.float32)
    mask, bits = np.empty((4, 40), np.uint8), np.empty(20, np.uint8)
    y = dispatcher.dropout(x, 0.5, 3, 5, mask=mask)
    state = np.array([1, 2], np.int64)
    fused = dispatcher.dropout(x, 0.5, 2, 3, bias=bias, residual=r, state=state, packed=True, mask=bits)
    np.testing.assert_array_equal(y, 2.0 * mask)
    np.testing.assert_array_equal(fused, 8.0 * mask + 2)
    np.testing.assert_array_equal(bits, np.packbits(mask, bitorder="little"))
    assert 40 < mask.sum() < 120


def test_bits_of_rows_with_gaps_begin_with_bytes() -> None:
    with pytest.raises(ValueError, match=r"^columns=75: expected a multiple of 8 for mask=bits"):
        DropoutProblem(3, 75, mask=BITS, ldx=80)
