"""Which reduce schedules are legal, drawn and tried first."""

import pytest
from reduce_cases import ALL, ARGMAX, FIRST, SEGMENTS, SPEC
from refusals import illegal

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.search_spaces.contract.modelled_time import fastest_first
from autotune.search_spaces.rows.reduce import OPERATOR

ROWS = ReduceProblem(4096, 4096)
_BYTES_IN_FLIGHT = 32 << 10  # of an SM, to keep an H200's memory busy


test_violations_carry_the_values = illegal(
    OPERATOR,
    {
        ROWS: {
            "threads=96": "threads 96: expected a power of two",
            "threads=16": "threads 16: expected 32 or more",
            "threads=128 TPR=256": "threads_per_row 256 over the 128 threads of a block",
            "vector_width=8": "vector_width 8 over the 4 elements that X is aligned for",
            "TPR=256 splits=17": "splits 17 over the 16 tiles of 256 elements that make a result",
            "splits=2": "splits 2 of a row need threads_per_row 256, all of a block, not 32",
            "loads_in_flight=256": "about 281 registers over the 255 of a thread",
        },
        ReduceProblem(512, 512, axis=FIRST): {
            "folded=1 splits=2": "folded: expected columns, without indices, of rows"
        },
        ReduceProblem(512, 513, axis=FIRST): {"folded=1 vector_width=4": "folded: expected splits of 2 or more, not 1"},
        ReduceProblem(2**31, 8, ARGMAX, FIRST): {"threads=1024 vector_width=8 TPR=8": "vector_width 8 over the 4"},
    },
)


@pytest.mark.parametrize(
    ("words", "problem"),
    [("TPR=256 splits=16", ROWS), ("TPR=32 splits=2", ReduceProblem(4096, 4096, axis=FIRST)), ("splits=1", ROWS)],
)
def test_rules_ask_for_no_more(words, problem):
    assert OPERATOR.violations(problem, ReduceSchedule.parse(words.split()), SPEC) == []


@pytest.mark.parametrize("axis", Axis)
@pytest.mark.parametrize("op", ["sum", "argmax"])
def test_seeds_of_large_problems_fill_a_device(axis, op):
    segments = 16384 if axis is SEGMENTS else 0
    problem = ReduceProblem.from_dict(
        {"rows": 16384, "columns": 8192, "axis": str(axis), "op": op, "segments": segments}
    )
    for schedule in OPERATOR.seeds(problem, SPEC):
        (work,) = OPERATOR.workload(problem, schedule, SPEC)
        blocks = min(SPEC.threads_per_sm // schedule.threads, work.blocks // SPEC.sm_count)
        loads = schedule.threads * schedule.loads_in_flight * schedule.vector_width * problem.dtype.bytes
        assert blocks * loads >= _BYTES_IN_FLIGHT, str(schedule)


def test_one_row_is_split_over_the_device():
    default = OPERATOR.default(ReduceProblem(1, 2**28, axis=ALL), SPEC)
    assert default.splits == 4 * SPEC.sm_count


test_what_can_be_staged = illegal(
    OPERATOR,
    {
        ReduceProblem(4, 64): {"staged=1": "staged: expected segments of one array"},
        ReduceProblem(1, 64, axis=SEGMENTS, segments=3): {
            "threads=128 TPR=128 splits=2 staged=1 vector_width=1": "staged: expected splits 1, not 2"
        },
        ReduceProblem(1, 64, dtype=DType.FLOAT16, axis=SEGMENTS, segments=3): {
            "staged=1": "staged: vectors of 2 bytes, cp.async copies 4 or more"
        },
    },
)


def test_short_segments_are_staged_first():
    short, long = (ReduceProblem(1, 1 << 27, axis=SEGMENTS, segments=1 << log) for log in (20, 14))
    assert [OPERATOR.seeds(problem, SPEC)[0].staged for problem in (short, long)] == [True, False]


def test_staged_segments_are_modelled_faster_where_they_are_short():
    for log, staged in ((20, True), (10, False)):
        problem = ReduceProblem(1, 1 << 27, axis=SEGMENTS, segments=1 << log)
        first = fastest_first(OPERATOR, problem, OPERATOR.seeds(problem, SPEC), SPEC)[0]
        assert first.staged == staged
        (work,) = OPERATOR.workload(problem, first, SPEC)
        assert work.blocks * work.steps * work.bytes_loaded == pytest.approx(4 << 27, rel=0.01)
