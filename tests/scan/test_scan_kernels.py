"""What scan's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

import numpy as np
import pytest
from planted import caught, check_caught
from scan_cases import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, MAX, MIN, PRODUCT, SPEC, SUM

from autotune import emulator
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.schedule import Specialize
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.codegen.scan.scan.emit import METHODS, emit, emit_block_scans
from autotune.codegen.scan.scan.look_back.schedule import LookBackSchedule
from autotune.codegen.scan.scan.pipelined.schedule import PipelinedSchedule
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.scan.scan import OPERATOR

# Tiles of 32 elements: a group is 1024 of them, a section 32768.
TINY = LookBackSchedule(32, 1, 1)
SHARED = LookBackSchedule(64, 4, 2)
IN_TURN = RowsSchedule(64, 64, 4, 2)
COLUMNS = 3 * 512 + 131


def program(problem, schedule):
    return OPERATOR.program(problem, schedule, SPEC)


def with_inputs(problem, **arrays):
    """A problem some of whose inputs are given, and that has no other exact ones."""

    class Changed(ScanProblem):
        def inputs(self, seed):
            inputs = super().inputs(seed)
            for name, values in arrays.items():
                inputs[name] = np.resize(values, inputs[name].size).astype(inputs[name].dtype)
            return inputs

        def exact_inputs(self, seed):
            return None

    return Changed.from_dict(problem.to_dict())


@pytest.mark.parametrize(
    ("problem", "seeds"),
    [(ScanProblem(1, 36_000), (2,)), (ScanProblem(1, 2100, MAX, INT64, flags=True, reverse=True), (0, 1))],
    ids=lambda value: getattr(value, "key", ""),
)
def test_groups_and_sections_of_tiles(problem, seeds):
    verify(problem, program(problem, TINY), seeds=seeds)


def test_rows_of_several_groups():
    problem = ScanProblem(2, 1100, SUM, INT32)
    verify(problem, program(problem, TINY))


def test_rows_of_several_warps_share_a_block():
    problem = ScanProblem(4, 200)
    verify(problem, program(problem, RowsSchedule(128, 64)))


class Words:
    """A look-back over 7 tiles of int32 whose workspace is an array, and what its launches leave there."""

    tiles = 7

    def __init__(self, rows=1, schedule=TINY):
        self.problem = ScanProblem(rows, 200, SUM, INT32)
        self.program = program(self.problem, schedule)
        self.words = np.zeros(self.program.workspace_bytes // 8, np.uint64)

    def run(self, seed, right="", planted=""):
        """The results of a launch, with a bug if there is one."""
        assert right in self.program.source
        source = self.program.source.replace(right, planted) if right else self.program.source
        members = [replace(a, name="words") if a.name == "workspace" else a for a in self.program.arguments]
        scan = replace(
            self.program, source=source.replace("workspace", "words"), arguments=tuple(members), workspace_bytes=0
        )
        arrays = {**self.problem.inputs(seed), "y": np.zeros(200 * self.problem.rows, np.int32), "words": self.words}
        words = Tensor.flat("words", DType.UINT64, self.words.size, Role.IN_OUT, 16)
        emulator.run(scan, [*self.problem.tensors, words], arrays, {}, seed=seed)
        return arrays["y"]


@pytest.mark.parametrize("schedule", [TINY, PipelinedSchedule(32, 1, 1, 2, 3)])
def test_launches_on_one_workspace(schedule):
    """What a launch leaves has its mark, and the counter is fit for the next one."""
    words = Words(schedule=schedule)
    for seed in range(3):
        expected = words.problem.reference(words.problem.inputs(seed), {})["y"]
        np.testing.assert_array_equal(words.run(seed), expected)
        marks = words.words[2 : 2 + words.tiles] >> np.uint64(32)
        assert marks.tolist() == words.tiles * [(seed + 1) << 1]
        assert words.words[0] == (seed + 1) << 32


def test_each_row_has_words_of_its_own():
    words = Words(rows=2)
    words.run(0)
    of_a_row = sum(TINY.groups(words.problem))
    for row in range(2):
        first = 2 + row * of_a_row
        assert (words.words[first : first + words.tiles] != 0).all()


def test_words_of_an_earlier_launch_are_not_taken():
    words = Words()
    words.run(0)
    with pytest.raises(EmulatorError, match="waits for ever"):
        words.run(0, "if (threadIdx.x == 0) words.publish(", "if (threadIdx.x == 0 && tile > 0) words.publish(")


def test_a_sum_has_the_same_bits_whichever_predecessor_was_first():
    """The emulator's blocks are done before the next one looks; here a group's carry is always late."""
    problem = ScanProblem(1, 3000)
    verify(problem, program(problem, TINY), seeds=(0, 1, 2, 3))


def _placed(value, *places):
    x = np.ones(COLUMNS, np.float32)
    x[list(places)] = value
    return x


@pytest.mark.parametrize(
    ("op", "dtype"),
    [(SUM, FLOAT32), (PRODUCT, BFLOAT16), (MAX, FLOAT32), (MAX, FLOAT64), (MIN, BFLOAT16), (MIN, FLOAT64)],
)
def test_nan_makes_what_follows_it_nan(op, dtype):
    for places in ((0,), (700, 701), (COLUMNS - 1,)):
        problem = with_inputs(ScanProblem(1, COLUMNS, op, dtype), x=_placed(np.nan, *places))
        verify(problem, program(problem, replace(SHARED, vector_width=2)), seeds=(0,))


@pytest.mark.parametrize(
    ("op", "value", "schedule"),
    [(MAX, -np.inf, SHARED), (MIN, np.inf, IN_TURN), (SUM, np.inf, SHARED), (SUM, 0.0, IN_TURN)],
)
def test_constant_elements(op, value, schedule):
    problem = with_inputs(ScanProblem(1, COLUMNS, op, exclusive=True), x=[value])
    verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize(("op", "value"), [(MAX, -(2**31)), (MIN, 2**31 - 1)])
def test_extreme_integers(op, value):
    problem = with_inputs(ScanProblem(1, COLUMNS, op, INT32, exclusive=True), x=[value])
    verify(problem, program(problem, SHARED), seeds=(0,))


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("op", [SUM, PRODUCT])
def test_integers_wrap_at_their_width(op, wide):
    problem = with_inputs(ScanProblem(1, COLUMNS, op, INT32, wide=wide), x=[2**31 - 1, -3, 2**24 + 1])
    verify(problem, program(problem, replace(SHARED, vector_width=2)), seeds=(0,))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "flags",
    [[1], [0], [255] + COLUMNS * [0], COLUMNS // 2 * [0, 0, 7] + [1], 63 * [0] + [1]],
    ids=["all", "none", "first", "thirds", "ends of warps"],
)
def test_segments_by_flags(flags, reverse):
    problem = with_inputs(ScanProblem(1, COLUMNS, SUM, INT32, reverse=reverse, flags=True), flags=flags)
    for schedule in (SHARED, IN_TURN):
        verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "begins",
    [[], [0, 0, 0], [COLUMNS], [511, 512, 512, 513], range(COLUMNS), [1, 1, COLUMNS - 1]],
    ids=["one", "empty first", "empty last", "about a tile", "each element", "edges"],
)
def test_segments_by_offsets(begins, reverse):
    offsets = [0, *begins, COLUMNS]
    problem = ScanProblem(1, COLUMNS, SUM, INT32, reverse=reverse, offsets=True, segments=len(offsets) - 1)
    problem = with_inputs(problem, offsets=offsets)
    for schedule in (SHARED, IN_TURN):
        verify(problem, program(problem, schedule), seeds=(0,))


@pytest.mark.parametrize("offsets", [[-5, 3000, -1, 9], [7, 5, 3, 1], [2**40, -(2**40)]])
def test_wrong_offsets_write_nothing_elsewhere(offsets):
    """Results are of no meaning, and all accesses are where they may be."""
    problem = ScanProblem(1, COLUMNS, SUM, INT32, offsets=True, segments=33)
    arrays = problem.inputs(0) | {"offsets": np.resize(offsets, 34).astype(np.int64), "y": np.zeros(COLUMNS, np.int32)}
    emulator.run(program(problem, SHARED), problem.tensors, arrays, {}, seed=0)


def test_equal_sources_serve_many_problems():
    here, there = ScanProblem(1, 5000), ScanProblem(1, 70_000)
    assert emit(here, SHARED).source == emit(there, SHARED).source
    shaped = replace(SHARED, specialize=Specialize.SHAPE)
    assert emit(here, shaped).source != emit(there, shaped).source


LATE = ScanProblem(1, COLUMNS, SUM, INT32, reverse=True, offsets=True, segments=1500)

# Rows of several tiles, and one of three elements, of which bulk copies can take none.
PIPELINED = ScanProblem(9, 2 * 512 + 3, SUM, INT32, ldx=1028, ldy=1028), PipelinedSchedule(128, 4, 1, 4, 2)
STORED, BULK = ScanProblem(1, 6 * 256 + 3, SUM, INT32), BulkSchedule(64, 4, 1, 4, 2)
TURNED = replace(STORED, reverse=True, flags=True), BULK
WITHIN_VECTORS = ScanProblem(5, 256 - 1, SUM, INT32), RowsSchedule(64, 64, 4, 1)


test_planted_bug_is_caught = caught(
    program,
    [
        (LATE, SHARED, "lowest = span.first + span.begin + 1", "lowest = span.first + span.begin"),
        (replace(STORED, reverse=True), BULK, "offset + i < span.count ? source[i] : neutral()", "source[0]"),
        (*PIPELINED, "if (copied < bytes) proxy_fence();", ""),
        (*TURNED, "span.count + span.goes_on", "span.count"),
        (*WITHIN_VECTORS, "row * problem.ldx - skew", "row * problem.ldx"),
        (*WITHIN_VECTORS, "row * problem.ldx % width", "row * problem.ldx % (width / 2)"),
        (*WITHIN_VECTORS, "problem.columns + skew", "problem.columns"),
        (*WITHIN_VECTORS, "if (offset + i >= span.begin && ", "if ("),
    ],
)


def test_a_wait_without_end_is_reported():
    problem = ScanProblem(1, 200)
    scan = program(problem, TINY)
    source = scan.source.replace(
        "slots[0].ticket = draw_tile(counter, gridDim.x)", "slots[0].ticket = {7 - blockIdx.x, 1}"
    )
    with pytest.raises(EmulatorError, match=r"waits for ever for bytes \d+ to \d+ of workspace, which no block"):
        verify(problem, replace(scan, source=source), seeds=(0,))


def test_carries_in_half_precision_are_caught():
    problem = ScanProblem(1, 3000, SUM, FLOAT16)
    combined = "combine(Number a, Number b) { return a + b; }"
    half = "combine(Number a, Number b) { return to_float(from_float<float16>(a + b)); }"
    check_caught(problem, program(problem, TINY), combined, half, seeds=(0,), said="wrong")


@pytest.mark.parametrize("method", METHODS)
def test_block_scans_without_barriers_are_caught(method):
    problem = ScanProblem(1, 600, flags=True)
    check_caught(problem, emit_block_scans(problem, method), "    __syncthreads();\n", "", seeds=(0,), said="race")
