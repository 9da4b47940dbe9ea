"""What the blocks of a schedule of rows do, and which schedule the time model takes."""

from dataclasses import replace

import pytest

from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyBackwardProblem, CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule
from autotune.codegen.rows.norm.problem import LayerNormProblem, RmsNormProblem
from autotune.codegen.rows.norm.schedule import LayerNormSchedule, RmsNormSchedule
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.rows.reduce.schedule import ReduceSchedule
from autotune.codegen.rows.schedule import RowStorage
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import Passes, SoftmaxSchedule
from autotune.codegen.rows.softmax_backward.problem import SoftmaxBackwardProblem
from autotune.codegen.rows.softmax_backward.schedule import SoftmaxBackwardSchedule
from autotune.codegen.rows.split.schedule import SplitRowSchedule
from autotune.dispatcher.choice.modelled import preferred
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.registry import operator
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.rows.softmax.workload import Costs

H200, H100, SOFTMAX, BF16 = named_device("h200"), named_device("h100"), operator("softmax"), DType.BFLOAT16
COSTS = Costs.of(H200)
ROW_OF_A_WARP = SoftmaxSchedule(threads=128, threads_per_row=32, vector_width=4)


def counted(problem, schedule=ROW_OF_A_WARP, **changes):
    changed = replace(schedule, **changes)
    assert SOFTMAX.violations(problem, changed, H200) == []
    (work,) = SOFTMAX.workload(problem, changed, H200)
    return work


@pytest.mark.parametrize(
    ("problem", "parts"),
    [
        (SoftmaxProblem(4096, 256), 0),
        (SoftmaxProblem(4096, 255, ldx=256, ldy=256), 4),  # of each of four rows, the last vector
        (SoftmaxProblem(4096, 256, lengths=True), 4),
        (SoftmaxProblem(4096, 249), 8),  # the first one, too
    ],
)
def test_elements_of_a_vector_that_is_partly_there_are_accessed_one_by_one(problem, parts):
    whole, found = counted(SoftmaxProblem(4096, 256)), counted(problem)
    elements = 4 * parts
    assert found.load_instructions == whole.load_instructions + elements * COSTS.part
    assert found.lines == whole.lines + elements * COSTS.part_lines
    checks = 8 * COSTS.check if parts else 0
    assert found.instructions == pytest.approx(whole.instructions + checks + elements * COSTS.part, abs=1)


def test_rows_of_a_warp_share_the_accesses_of_their_parts():
    one, four = (counted(SoftmaxProblem(4096, 253), threads_per_row=count) for count in (32, 8))
    assert one.load_instructions - 8 * COSTS.access == four.load_instructions - 32 * COSTS.access


def test_copied_rows_that_begin_between_vectors_are_waited_for_at_both_ends():
    copied = replace(ROW_OF_A_WARP, hold=RowStorage.SHARED)
    assert [counted(SoftmaxProblem(64, columns), copied).steps for columns in (256, 253)] == [1, 3]
    assert counted(SoftmaxProblem(64, 253), copied, vector_width=1).steps == 1


def test_streaming_takes_more_of_device_memory():
    problem = SoftmaxProblem(65536, 256)
    assert counted(problem).memory_bytes == problem.work.bytes
    assert counted(problem, streaming=True).memory_bytes == pytest.approx(
        (1 + COSTS.streaming_registers) * problem.work.bytes
    )


@pytest.mark.parametrize(("columns", "threads_per_row"), [(31, 8), (513, 32)])
@pytest.mark.parametrize("dtype", [DType.FLOAT32, BF16])
def test_short_rows_that_begin_between_vectors_are_read_element_by_element(dtype, columns, threads_per_row):
    """As measured: whole vectors took 1.05 to 1.75 times as long."""
    schedule, _ = preferred(SOFTMAX, SoftmaxProblem(100_000, columns, dtype), H200)
    assert (schedule.vector_width, schedule.threads_per_row) == (1, threads_per_row)


def test_a_record_of_short_rows_is_slow_for_rows_of_32_vectors_a_thread():
    """As measured: 1.48 times as slow as a block for each row."""
    problem = SoftmaxProblem(65536, 4096, BF16)
    short = SoftmaxSchedule(threads=64, threads_per_row=16, vector_width=8, min_blocks_per_sm=2)
    usual = SoftmaxSchedule(threads=128, threads_per_row=128, vector_width=8, min_blocks_per_sm=3)
    of_short, of_usual = (modelled_seconds(SOFTMAX, problem, one, H200) for one in (short, usual))
    assert of_short > 1.05 * of_usual


def test_half_of_a_causal_square_is_skipped():
    problem = SoftmaxProblem(2048, 2048, causal=True)
    assert counted(problem, skip=True).unit_clocks == pytest.approx(counted(problem).unit_clocks / 2, rel=0.01)


def test_exponentials_that_are_kept_are_computed_once():
    two, kept = (counted(SoftmaxProblem(2048, 2048), passes=passes) for passes in (Passes.TWO, Passes.KEPT))
    assert kept.unit_clocks == two.unit_clocks / 2
    assert kept.instructions < two.instructions


@pytest.mark.parametrize(("loads", "blocks"), [(4, 2), (8, 1)])
def test_rows_read_again_take_registers_for_the_vectors_in_flight(loads, blocks):
    """As NVRTC 13.0 has them for an H200: 58 registers of a thread, and 87."""
    again = CrossEntropyBackwardSchedule(
        threads=512, threads_per_row=512, vector_width=8, hold=RowStorage.RELOAD, loads_in_flight=loads
    )
    problem = CrossEntropyBackwardProblem(4096, 66680, BF16)
    (work,) = operator("cross_entropy_backward").workload(problem, again, H200)
    assert resident_blocks(work.footprint, H200) == blocks


@pytest.mark.parametrize(("columns", "width", "steps"), [(512, 8, 1), (513, 8, 3), (513, 1, 1)])
def test_the_first_part_of_a_row_is_waited_for_in_both_arrays(columns, width, steps):
    held = SoftmaxBackwardSchedule(threads=128, threads_per_row=32, vector_width=width)
    (work,) = operator("softmax_backward").workload(SoftmaxBackwardProblem(8192, columns, BF16), held, H200)
    assert work.steps == steps


@pytest.mark.parametrize(("rows", "columns", "dtype"), [(8192, 513, BF16), (4096, 8191, DType.FLOAT32)])
def test_short_rows_of_two_arrays_are_read_element_by_element(rows, columns, dtype):
    found, _ = preferred(operator("softmax_backward"), SoftmaxBackwardProblem(rows, columns, dtype), H200)
    assert isinstance(found, SoftmaxBackwardSchedule)
    assert found.vector_width == 1


def test_few_rows_have_few_vectors_of_a_thread_where_weights_are_waited_for():
    """As measured on an H100: 12 µs by the threads of a warp, 5.6 by those of a block."""
    found, _ = preferred(operator("rms_norm"), RmsNormProblem(511, 896, ldx=897), H100)
    assert isinstance(found, RmsNormSchedule)
    assert found.rounds(896) <= 4


def test_narrow_loads_are_many():
    """As measured on an H100: 5.6 µs by 16 loads in flight, 9.6 by 4."""
    problem = ReduceProblem(256, 7277, Operation.L2, Axis.FIRST, BF16, ldx=7285)
    found, _ = preferred(operator("reduce"), problem, H100)
    assert isinstance(found, ReduceSchedule)
    assert found.loads_in_flight == 16


@pytest.mark.parametrize(("columns", "ldx"), [(8191, 8192), (12653, 12653)])
def test_columns_that_are_no_whole_vectors_are_read_element_by_element(columns, ldx):
    """On an H200, 1408×8191 took 21.2 µs by vectors of eight, and 4096×12653 took 68.6 by folded rows."""
    problem = ReduceProblem(4096, columns, Operation.L2, Axis.FIRST, BF16, ldx=ldx)
    found, _ = preferred(operator("reduce"), problem, H200)
    assert isinstance(found, ReduceSchedule)
    assert found.vector_width == 1
    assert not found.folded


@pytest.mark.parametrize(("dtype", "loads"), [(BF16, 2 * 7), (DType.FLOAT32, 0)])
def test_the_last_vectors_of_rows_are_waited_for_one_by_one(dtype, loads):
    """Elements of less than a word are put together before the next are loaded: seven more of each of two tiles."""
    schedule = ReduceSchedule(256, 16, 4, loads_in_flight=8, splits=8)
    ragged, whole = (ReduceProblem(1408, columns, axis=Axis.FIRST, dtype=dtype, ldx=8192) for columns in (8191, 8192))
    waits = [operator("reduce").workload(problem, schedule, H200)[0].waits for problem in (ragged, whole)]
    assert waits[0] - waits[1] == pytest.approx(loads)


@pytest.mark.parametrize(
    ("problem", "split"),
    [
        (SoftmaxProblem(1, 2**24), True),
        (SoftmaxProblem(3, 2**21, BF16, log=True), True),
        (SoftmaxProblem(1, 2**24, causal=True), False),  # of which a part counts
        (SoftmaxProblem(1, 2**24, batch_invariant=True), False),
        (SoftmaxProblem(8, 2**20), False),  # clusters of 8 blocks have half of the SMs
        (SoftmaxProblem(16, 2**20), True),  # of which L2 has lost much when it is read again
        (RmsNormProblem(1, 2**24), True),
        (RmsNormProblem(8, 2**20), True),
        (RmsNormProblem(512, 2**20), False),
        (RmsNormProblem(1, 2**24, residual=True), False),
        (LayerNormProblem(2, 3000001, statistics=True), True),
        (LayerNormProblem(1, 2**24, BF16, float8=True), False),
        (CrossEntropyProblem(2, 2**22, BF16, gradient=True), True),
        (CrossEntropyProblem(1, 2**24, batch_invariant=True), False),
    ],
)
def test_few_long_rows_are_split(problem, split):
    name = {SoftmaxProblem: "softmax", RmsNormProblem: "rms_norm", LayerNormProblem: "layer_norm"}
    schedule, _ = preferred(operator(name.get(type(problem), "cross_entropy")), problem, H100)
    assert isinstance(schedule, SplitRowSchedule) == split


def test_weights_of_rows_that_begin_between_vectors_are_loaded_one_by_one():
    """On an H200, 10905 rows of 1025 elements took 28 µs; without these loads they were expected to take 22."""
    problem = LayerNormProblem(10905, 1025, BF16)
    schedule = LayerNormSchedule(threads=128, threads_per_row=32, vector_width=8, min_blocks_per_sm=8)
    assert modelled_seconds(operator("layer_norm"), problem, schedule, H200) == pytest.approx(28e-6, rel=0.1)


def test_weights_that_l1_has_no_room_for_are_read_from_l2_for_each_row():
    """On an H200, 16384×8192 of FP32 took 274 µs with six rows in shared memory, and 254 µs with three."""
    problem = LayerNormProblem(16384, 8192, DType.FLOAT32)
    shared = LayerNormSchedule(threads=256, threads_per_row=256, vector_width=4, hold=RowStorage.SHARED)
    six = replace(shared, min_blocks_per_sm=6)
    three = replace(shared, threads=512, threads_per_row=512, min_blocks_per_sm=3)
    layer_norm = operator("layer_norm")
    assert modelled_seconds(layer_norm, problem, six, H200) > modelled_seconds(layer_norm, problem, three, H200)
