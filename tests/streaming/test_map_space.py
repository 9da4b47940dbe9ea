"""Which maps there are, and which schedules of them are legal."""

import pytest
from streaming.map_cases import BF16, FP16, SPEC

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.streaming.map import OPERATOR

IDENTITY, E4M3 = Activation.IDENTITY, DType.FLOAT8_E4M3


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"dtype": E4M3}, "dtype=float8_e4m3fn: expected one of float32, bfloat16, float16 where more than a cast"),
        ({"out_dtype": OutDType.INT8}, "out_dtype=int8: expected floating-point numbers where more than a cast"),
        ({"saturate": True}, "saturate: expected results of fewer than 32 bits"),
        ({"backward": True, "residual": True}, "backward: expected no residual, no scale"),
        ({"ldu": 48}, "ldu=48: expected 0, there is no such array"),
        ({"align_g": 4}, "align_g=4: expected 16, there is no such array"),
        ({"ldx": 39}, "ldx=39: expected at least the 40 elements of a row, or 0"),
    ],
)
def test_a_map_that_cannot_be_is_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=f"^{reason}"):
        MapProblem(5, 40, **fields)  # type: ignore[arg-type]


def test_the_type_of_results_is_stated_once() -> None:
    assert MapProblem(5, 40, dtype=BF16, out_dtype=OutDType.BFLOAT16) == MapProblem(5, 40, dtype=BF16)


def test_arrays_without_gaps_are_one_row() -> None:
    assert MapProblem(5, 40, gate=Gate.INTERLEAVED).collapsed == MapProblem(1, 200, gate=Gate.INTERLEAVED)
    assert MapProblem(5, 40, gate=Gate.SEPARATE, backward=True).collapsed.rows == 1
    for rows in (
        MapProblem(5, 40, ldy=48),
        MapProblem(5, 40, bias=True),
        MapProblem(5, 40, gate=Gate.HALVES),
    ):
        assert rows.collapsed is rows


@pytest.mark.parametrize(
    ("problem", "words", "reason"),
    [
        (MapProblem(5, 40), "threads=128 TPR=256", "threads_per_row 256 over the 128 threads of a block"),
        (MapProblem(5, 40), "threads=256 TPR=64", "threads_per_row 64: expected all 256 threads for one row"),
        (MapProblem(5, 40), "vector_width=8", "vector_width 8 over 4, whose elements have 16 bytes"),
        (MapProblem(5, 40, gate=Gate.SEPARATE), "vector_width=4 items=16", "items 16: 128 words of a thread over 64"),
    ],
)
def test_an_illegal_schedule_says_why(problem: MapProblem, words: str, reason: str) -> None:
    assert OPERATOR.violations(problem, MapSchedule.parse(words.split()), SPEC) == [reason]


def test_huge_arrays_are_taken_in_turn() -> None:
    problem = MapProblem(1, 2**45, Activation.RELU, FP16)
    assert OPERATOR.default(problem, SPEC).grid_blocks == 8 * SPEC.sm_count
    assert OPERATOR.default(MapProblem(1, 2**31 + 1), SPEC).grid_blocks == 0


def test_the_model_ranks_accesses_of_16_bytes_first() -> None:
    problem = MapProblem(16384, 8192, Activation.GELU, BF16)
    fastest = fastest_first(OPERATOR, problem, OPERATOR.seeds(problem, SPEC), SPEC)[0]
    assert fastest.vector_width == 8
