"""scan's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice, product
from random import Random

from pair_coverage import covering

from autotune.codegen.model.integers import round_up
from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.pipelined.schedule import PipelinedSchedule
from autotune.codegen.scan.scan.problem import DTYPES, ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.scan.scan import OPERATOR

SPEC = named_device("h200")
# The emulator walks through every element: larger problems take long and add nothing.
_ELEMENTS = 1 << 14

SUM, PRODUCT, MAX, MIN = Operation
FLOAT32, FLOAT16, BFLOAT16, FLOAT64, INT32, INT64 = DTYPES
Case = tuple[ScanProblem, ScanSchedule]
WAYS = ({}, {"exclusive": True}, {"reverse": True}, {"exclusive": True, "reverse": True})
SEGMENTS = ({}, {"flags": True}, {"offsets": True, "segments": 9})
KINDS = list(product(WAYS, SEGMENTS))

PROBLEMS = {
    **{f"rows1-columns16777216-{op}-float32": ScanProblem(1, 1 << 24, op) for op in Operation},
    **{f"rows4096-columns4096-sum-{dtype}": ScanProblem(4096, 4096, dtype=dtype) for dtype in DTYPES},
    "rows1-columns5000000000-sum-float16-exclusive-reverse": ScanProblem(
        1, 5 * 10**9, SUM, FLOAT16, exclusive=True, reverse=True
    ),
    "rows1-columns16777216-sum-int32-wide": ScanProblem(1, 1 << 24, dtype=INT32, wide=True),
    "rows1-columns16777216-max-int64-flags-alignflags1": ScanProblem(1, 1 << 24, MAX, INT64, flags=True, align_flags=1),
    "rows1-columns16777216-sum-float32-offsets-segments100000": ScanProblem(1, 1 << 24, offsets=True, segments=100000),
    "rows3-columns1000000000-min-bfloat16": ScanProblem(3, 10**9, MIN, BFLOAT16),
    "rows100000000-columns3-product-float32-ldx4-ldy8": ScanProblem(10**8, 3, PRODUCT, ldx=4, ldy=8),
    "rows300-columns70-sum-float16-ldx72-alignx4": ScanProblem(300, 70, SUM, FLOAT16, ldx=72, align_x=4),
    "rows1-columns16777216-product-int32-wide-reverse-init": ScanProblem(
        1, 1 << 24, PRODUCT, INT32, True, reverse=True, init=True
    ),
    "rows1-columns1-sum-float32": ScanProblem(1, 1),
    "rows1-columns0-sum-int64-offsets-segments1": ScanProblem(1, 0, SUM, INT64, offsets=True, segments=1),
    "rows0-columns5-max-float32": ScanProblem(0, 5, MAX),
    "rows5-columns0-sum-float32": ScanProblem(5, 0),
}
SMALL_PROBLEMS = (
    ScanProblem(4, 1024),
    ScanProblem(1, 2503, SUM, INT32, wide=True, reverse=True),
    ScanProblem(1, 1203, SUM, FLOAT16, exclusive=True, flags=True, init=True),
    ScanProblem(1, 1203, MAX, INT32, reverse=True, offsets=True, segments=31),
    ScanProblem(7, 300, SUM, FLOAT32, reverse=True, ldx=304, ldy=304, align_x=8),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, kinds of problems in turn; always the same ones."""
    random = Random(238)
    return [_case(random, spec, index) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, index: int) -> Case:
    way, segments = KINDS[index % len(KINDS)]
    op, dtype = list(Operation)[(index + index // 12) % 4], DTYPES[(index + index // 6) % 6]
    align = random.choice([width for width in (2, 4, 8, 16, 16, 16) if width >= dtype.bytes])
    wide = dtype is INT32 and op in (SUM, PRODUCT) and random.random() < 0.5
    init = random.random() < 0.25
    like = ScanProblem(1, 1 << 14, op, dtype, wide, align_x=align, init=init, **way, **segments)
    space = OPERATOR.space(like, spec)
    for draw in islice(space.random_draws(random.randrange(2**32)), 1000):
        schedule = space.build(draw)
        if not like.segmented and isinstance(schedule, RowsSchedule):
            schedule = schedule.replace(threads_per_row=min(schedule.threads, random.choice((8, 16, 32, 64, 1024))))
        problem = _problem(random, schedule, like)
        small = problem.rows * problem.columns <= _ELEMENTS
        if small and not OPERATOR.violations(problem, schedule, spec):
            return problem, schedule
    raise AssertionError("1000 draws and none is legal")


def _problem(random: Random, schedule: ScanSchedule, like: ScanProblem) -> ScanProblem:
    """A few tiles, or a little more or less; a few rows where there are no segments."""
    tile = schedule.tile
    columns = max(1, random.choice((tile, 2 * tile, tile - 1, tile + 1, 2 * tile + tile // 2 + 3, tile // 2 + 1)))
    if like.segmented:
        return replace(like, columns=columns, ldx=0, ldy=0)
    rows = schedule.rows_per_block
    rows = random.choice((1, rows, rows + 1, max(1, rows // 2)))
    step = schedule.vector_width
    leading = [round_up(columns, step) + step * random.choice((0, 0, 1, 5)) for _ in range(2)]
    return replace(like, rows=rows, columns=columns, ldx=leading[0], ldy=random.choice(leading))


def _pipeline(threads: int, vector: int, rounds: int, stages: int, blocks: int) -> PipelinedSchedule:
    return PipelinedSchedule(threads, vector, rounds, stages, blocks * SPEC.sm_count)


def _bulk(vector: int, rounds: int, stages: int, blocks: int) -> BulkSchedule:
    return BulkSchedule(64, vector, rounds, stages, blocks * SPEC.sm_count)


PIPELINES = [
    (ScanProblem(1, 5003), _pipeline(64, 4, 2, 3, 1)),
    (ScanProblem(1, 5003, SUM, FLOAT16, exclusive=True), _pipeline(64, 8, 2, 4, 2)),
    (ScanProblem(3, 1300, MAX, INT32), replace(_pipeline(64, 4, 1, 2, 3), streaming=True)),
    (ScanProblem(5, 1027, PRODUCT, FLOAT64, ldx=1028, ldy=1028), _pipeline(64, 2, 3, 3, 4)),
    (ScanProblem(1, 8192, MIN, BFLOAT16), _pipeline(64, 4, 16, 3, 1)),
    (ScanProblem(1, 2501, SUM, INT64, exclusive=True, init=True), _pipeline(128, 1, 4, 2, 1)),
]
STORED_IN_BULK = [
    (ScanProblem(1, 5003, reverse=True), _bulk(4, 3, 3, 1)),
    (ScanProblem(1, 2503, SUM, INT32, True, exclusive=True, init=True), _bulk(2, 7, 2, 2)),
    (ScanProblem(5, 1027, PRODUCT, FLOAT64, reverse=True, ldx=1028, ldy=1030), _bulk(2, 3, 4, 1)),
    (ScanProblem(1, 5003, SUM, INT32, flags=True, exclusive=True), _bulk(4, 1, 3, 3)),
    (ScanProblem(1, 4096, MAX, BFLOAT16, flags=True, reverse=True, init=True), _bulk(8, 1, 2, 4)),
    (ScanProblem(1, 5003, MIN, INT64, offsets=True, segments=99), _bulk(2, 9, 3, 1)),
    (ScanProblem(1, 5003, SUM, FLOAT16, offsets=True, segments=4000, reverse=True), _bulk(8, 3, 2, 2)),
]
# Rows of which only some begin at a whole vector.
SKEWED = [
    (ScanProblem(9, 301), RowsSchedule(64, 64, 4, 1)),
    (ScanProblem(9, 301, MAX, INT32, reverse=True), RowsSchedule(64, 32, 4, 2)),
    (ScanProblem(21, 7, SUM, FLOAT16, exclusive=True, ldx=9, ldy=17), RowsSchedule(64, 8, 8, 1)),
]
_ALSO_DRAWN = [case for case in drawn_cases(320) if case[1].kernel != "pipelined"]  # which PIPELINES has
DRAWN = covering(_ALSO_DRAWN, lambda p, _: (p.exclusive, p.reverse, p.flags, p.offsets), most=23)
SHARED_ROWS = [(ScanProblem(3, 1300, MIN, FLOAT32), LookBackSchedule(64, 4, 2))]
CASES = [*DRAWN, *SHARED_ROWS, *PIPELINES, *STORED_IN_BULK, *SKEWED]
