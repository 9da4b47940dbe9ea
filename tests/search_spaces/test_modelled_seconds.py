"""What the time model makes of a workload."""

import json
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.matmul.gemm.numbers import DTYPES
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.resources import Resources
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.dispatcher.choice.modelled import preferred
from autotune.search_spaces.contract.modelled_time import fastest_first, likely_first, modelled_seconds
from autotune.search_spaces.contract.registry import OPERATORS, operator
from autotune.search_spaces.machine.devices import named_device, named_devices
from autotune.search_spaces.machine.occupancy import resident_blocks
from autotune.search_spaces.machine.rates import rate, rates_document
from autotune.search_spaces.machine.roofline import roofline
from autotune.search_spaces.machine.time_model import MachineCosts, model_version
from autotune.search_spaces.machine.workload import Workload
from autotune.search_spaces.matmul.sgemm import OPERATOR
from autotune.search_spaces.matmul.sgemm.waves import filling

H200 = named_device("h200")
COSTS = MachineCosts.of(H200)
GEMM, SGEMM, TRANSPOSE, SOFTMAX = operator("gemm"), operator("sgemm"), operator("transpose"), operator("softmax")
PROBLEM = SgemmProblem(1, 1, 1)

SMALL = SgemmSchedule(
    64, 64, 16, 32, 64, 8, 8, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, stages=3
)

# One block of four warps, of which an SM holds eight.
BLOCK = Workload(blocks=1, footprint=Footprint(128, registers=64), memory_bytes=0)
EIGHT = {"blocks": 8 * H200.sm_count}


def modelled(*launches, compiled=None, spec=H200):
    counted = SGEMM.with_kernels(workload=lambda *_: launches)
    return modelled_seconds(counted, PROBLEM, SMALL, spec, compiled)


def clocks(**counts):
    """What counts add to the time of a block of four warps."""
    return (modelled(replace(BLOCK, **counts)) - modelled(BLOCK)) * H200.clock_hz


ISSUE, LATENCY = COSTS.issue_clocks, COSTS.latency_seconds * H200.clock_hz
BARRIER, LINE = COSTS.barrier_clocks, COSTS.line_clocks
WAIT = LATENCY + COSTS.store_seconds * H200.clock_hz
TWO = {"blocks": 2 * H200.sm_count}  # for each SM
ALONE = {"footprint": Footprint(128, 200 * 1024)}  # on its SM


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ({"instructions": 4000}, 1000 * ISSUE),
        ({"instructions": 4000, "footprint": Footprint(64)}, 2000 * ISSUE),
        ({"instructions": 7000, "footprint": Footprint(224)}, 2000 * ISSUE),
        ({"instructions": 4000, **TWO}, 2000 * ISSUE - BARRIER / 2),
        ({"instructions": 4000, **TWO, **ALONE}, 2000 * ISSUE + WAIT + BARRIER),
        ({"instructions": 4000, "dependent": 3}, 3000 * ISSUE),
        ({"instructions": 4000, "dependent": 3, **TWO}, 3000 * ISSUE - BARRIER / 2),
        ({"instructions": 4000, "dependent": 2, "footprint": Footprint(384)}, 1000 * ISSUE),
        ({"exposed_clocks": 1000}, 1000),
        ({"exposed_clocks": 1000, **TWO}, 500 - BARRIER / 2),
        ({"load_instructions": 400}, 100 * ISSUE),
        ({"load_instructions": 400, "ahead": 2}, 300 * ISSUE),
        ({"unit_clocks": 1000, **TWO}, 2000 - BARRIER),
        ({"shared_clocks": 1000, **TWO}, 2000 - BARRIER),
        ({"lines": 4000, **TWO}, 8000 * LINE - BARRIER),
        ({"bytes_loaded": 41000, **TWO}, 82000 / COSTS.loaded_bytes - BARRIER),
        ({"bytes_stored": 13000}, 13000 / COSTS.stored_bytes),
        ({"steps": 5, "in_flight": 2}, 4 * LATENCY / 2),
        ({"steps": 5, "in_flight": 0}, 4 * (LATENCY + BARRIER)),
        ({"steps": 5, "independent": True, **TWO}, 4 * (LATENCY + BARRIER / 4) - BARRIER / 2),
        ({"steps": 5, "independent": True, "lines": 4000, **TWO}, 5 * 8000 * LINE - BARRIER),
        ({"steps": 5, "in_flight": 4, "instructions": 8000}, 5 * 2000 * ISSUE + 4 * BARRIER),
        ({"footprint": Footprint(128, registers=64, cluster=2)}, COSTS.cluster_seconds * H200.clock_hz),
        ({"sliced_words": 64}, 64 * COSTS.sliced_word_clocks),
        ({"sliced_words": 64, **TWO, **ALONE}, 2 * 64 * COSTS.sliced_word_clocks + WAIT + BARRIER),
        ({"outside_clocks": 1000}, 1000),
        ({"outside_clocks": 1000, **TWO}, 1000 - BARRIER / 2),
        ({"outside_clocks": 1000, **TWO, **ALONE}, 2000 + WAIT + BARRIER),
        ({"waits": 3}, 3 * LATENCY),
        ({"shared_vectors": 8}, COSTS.fix_up_seconds * H200.clock_hz + 8 * COSTS.shared_vector_clocks),
    ],
)
def test_what_is_counted_takes_its_time(counts, expected):
    assert clocks(**counts) == pytest.approx(expected)


def test_memory_waits_for_blocks_that_take_turns_unless_others_ask_it():
    many = replace(BLOCK, blocks=64 * H200.sm_count, instructions=40000, memory_bytes=1e9, in_turn=True)
    alone = replace(many, **ALONE)
    memory = many.memory_bytes / (COSTS.bandwidth * H200.bandwidth)
    turns = memory + 64 * (COSTS.turnaround_seconds + (10000 * ISSUE + BARRIER) / H200.clock_hz)
    assert modelled(alone) - COSTS.launch_seconds > turns
    assert modelled(many) < 0.7 * modelled(alone)
    assert modelled(replace(many, in_turn=False)) < modelled(many) < 1.2 * modelled(replace(many, in_turn=False))


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_a_loop_longer_than_the_instruction_cache_is_fetched_once_for_all_warps(blocks):
    held, longer = COSTS.cached_instructions, 1.5 * COSTS.cached_instructions
    several = {"blocks": blocks * H200.sm_count}
    assert clocks(instructions=4 * held, **several) == pytest.approx(blocks * held * ISSUE + BARRIER / blocks - BARRIER)
    issuing, fetching = blocks * longer * ISSUE + BARRIER / blocks, longer * COSTS.fetch_clocks
    norm = (issuing**COSTS.overlap + fetching**COSTS.overlap) ** (1 / COSTS.overlap)
    assert clocks(instructions=3 * longer, load_instructions=longer, **several) == pytest.approx(norm - BARRIER)


def test_the_wait_of_a_wave_is_hidden_by_the_work_of_its_other_blocks():
    one, two = (replace(BLOCK, instructions=4000, blocks=waves * 8 * H200.sm_count) for waves in (1, 2))
    assert (modelled(two) - modelled(one)) * H200.clock_hz == pytest.approx(8 * 1000 * ISSUE + BARRIER / 8)
    idle = [replace(work, instructions=0) for work in (one, two)]
    assert (modelled(idle[1]) - modelled(idle[0])) * H200.clock_hz == pytest.approx(WAIT + BARRIER / 64)


COUNTS = [
    "memory_bytes", "steps", "ahead", "instructions", "load_instructions", "exposed_clocks", "unit_clocks",
    "shared_clocks", "lines", "bytes_loaded", "bytes_stored", "sliced_words", "shared_vectors", "outside_clocks",
]  # fmt: skip

workloads = st.builds(
    partial(replace, BLOCK),
    blocks=st.integers(1, 5000),
    in_flight=st.integers(0, 4),
    **{name: st.integers(1, 10_000) for name in COUNTS},
)


@given(workloads, st.integers(1, 10_000))
@settings(max_examples=20)
def test_more_of_anything_never_takes_less_and_much_more_takes_more(work, more):
    for name in COUNTS:
        amount = getattr(work, name)
        assert modelled(replace(work, **{name: amount + more})) >= modelled(work)
        assert modelled(replace(work, **{name: amount * 1e9})) > modelled(work)


@pytest.mark.parametrize("name", ["unit_clocks", "shared_clocks", "lines", "bytes_loaded", "bytes_stored"])
def test_what_many_blocks_need_takes_longer_than_what_one_needs(name):
    one, four = (modelled(replace(BLOCK, blocks=blocks * H200.sm_count, **{name: 1e6})) for blocks in (1, 4))
    assert four - COSTS.launch_seconds == pytest.approx(4 * (one - COSTS.launch_seconds), rel=0.1)


def test_one_block_more_than_the_sms_hold_begins_a_wave():
    """Eight blocks of four warps each: one alone has a scheduler's eighth of the instructions that all eight have."""
    held = 8 * H200.sm_count
    work = replace(BLOCK, instructions=8000, steps=100, in_flight=4)
    one, full, one_more, two = (
        modelled(replace(work, blocks=n)) - COSTS.launch_seconds for n in (1, held, held + 1, 2 * held)
    )
    assert one == pytest.approx(full / 8, rel=0.1)
    assert one_more == pytest.approx(full + one, rel=0.01)
    assert two == pytest.approx(2 * full, rel=0.01)


def test_pairs_fill_the_device_and_clusters_of_four_do_not():
    alone, pairs, fours = (
        modelled(
            replace(BLOCK, blocks=H200.sm_count, unit_clocks=1e6, footprint=Footprint(128, registers=64, cluster=size))
        )
        for size in (1, 2, 4)
    )
    assert pairs == pytest.approx(alone, rel=0.01)
    assert fours == pytest.approx(2 * alone, rel=0.01)


def test_the_fastest_schedule_is_first_and_equal_ones_keep_their_order():
    by_stages = SGEMM.with_kernels(
        workload=lambda _, schedule, spec: [replace(BLOCK, unit_clocks=1e6 * schedule.stages)]
    )
    slow, quick = replace(SMALL, stages=4), replace(SMALL, stages=2)
    given, expected = [slow, SMALL, replace(SMALL, warps_k=2), quick], [quick, SMALL, replace(SMALL, warps_k=2), slow]
    assert fastest_first(by_stages, PROBLEM, given, H200) == expected


@pytest.mark.parametrize(
    ("cluster", "starts", "seconds"),
    [(1, COSTS.block_clocks, 0.0), (2, COSTS.clustered_block_clocks, COSTS.cluster_seconds)],
)
def test_an_sm_starts_one_block_after_the_other(cluster, starts, seconds):
    blocks = 10_000 * H200.sm_count
    tiny = replace(BLOCK, blocks=blocks, footprint=Footprint(32, registers=16, cluster=cluster))
    assert modelled(tiny) == pytest.approx(COSTS.launch_seconds + seconds + 10_000 * starts / H200.clock_hz)


def test_memory_takes_its_time_beside_the_sms():
    memory = 1e9 / (COSTS.bandwidth * H200.bandwidth)
    assert modelled(replace(BLOCK, memory_bytes=1e9)) == pytest.approx(COSTS.launch_seconds + memory, rel=1e-4)
    as_long = replace(BLOCK, memory_bytes=1e9, unit_clocks=memory * H200.clock_hz)
    assert memory < modelled(as_long) - COSTS.launch_seconds < 1.15 * memory


def test_launches_follow_each_other():
    one = modelled(BLOCK) - COSTS.launch_seconds
    for launches in (2, 3):
        between = (launches - 1) * COSTS.next_launch_seconds
        assert modelled(*launches * [BLOCK]) == pytest.approx(COSTS.launch_seconds + launches * one + between)
        assert modelled(replace(BLOCK, repeat=launches)) == pytest.approx(modelled(*launches * [BLOCK]))
        assert modelled(BLOCK, replace(BLOCK, repeat=launches)) == pytest.approx(modelled(*(1 + launches) * [BLOCK]))
    assert modelled(replace(BLOCK, blocks=0)) == COSTS.launch_seconds


def test_what_the_compiler_says_counts_instead_of_the_estimate():
    work = replace(BLOCK, **EIGHT, instructions=4000)
    assert modelled(work, compiled=Resources(64)) == modelled(work)
    assert (
        modelled(work, compiled=Resources(255))
        == modelled(replace(work, footprint=Footprint(128, registers=255)))
        > modelled(work)
    )
    static = Resources(64, shared_bytes=100 * 1024)
    assert modelled(work, compiled=static) == modelled(replace(work, footprint=Footprint(128, 100 * 1024, 64)))
    loads, stores = (Resources(64, **{name: 256}) for name in ("spill_load_bytes", "spill_store_bytes"))
    spilled = modelled(work, compiled=loads)
    assert spilled == modelled(work, compiled=stores)
    assert spilled - COSTS.launch_seconds == pytest.approx(2 * (modelled(work) - COSTS.launch_seconds))


def test_a_compiled_block_that_does_not_fit_is_refused_with_its_figures():
    used = Resources(72, shared_bytes=64)
    with pytest.raises(ValueError, match=r"1024 threads with 72 registers each and 100 B .* NVIDIA H200: .* registers"):
        modelled(replace(BLOCK, footprint=Footprint(1024, 36)), compiled=used)


def seconds(*sizes, **changes):
    """Modelled, of 64×64 tiles with a block for each, in steps of 16 along k."""
    return modelled_seconds(SGEMM, SgemmProblem(*sizes), replace(SMALL, **changes), H200)


def test_a_wave_takes_as_long_as_its_fullest_sm_and_one_follows_the_other():
    (work,) = SGEMM.workload(SgemmProblem(64, 64, 4096), SMALL, H200)
    resident = resident_blocks(work.footprint, H200)
    held = [seconds(64 * 132 * blocks, 64, 4096) - COSTS.launch_seconds for blocks in range(1, resident + 2)]
    assert seconds(64, 64, 4096) - COSTS.launch_seconds == pytest.approx(held[0], rel=1e-3)
    assert held[1] < 1.01 * held[0]  # two warps each, for four schedulers
    assert held[3] == pytest.approx(2 * held[0], rel=0.15)
    assert held[resident] == pytest.approx(held[resident - 1] + held[0], rel=0.005)


def test_a_block_waits_for_each_step_unless_more_are_in_flight():
    tile = {"block_m": 16, "block_n": 32, "warp_m": 16, "warp_n": 32, "thread_m": 4, "thread_n": 4}
    steps = 4096 // 16
    single = seconds(16, 32, 4096, stages=1, double_buffer_fragments=False, **tile)
    double, triple = (seconds(16, 32, 4096, stages=stages, **tile) for stages in (2, 3))
    assert double - triple == pytest.approx(steps * COSTS.latency_seconds / 2, rel=0.02)
    assert single - double > steps * COSTS.latency_seconds / 4
    full = [seconds(16 * 132 * 16, 32, 4096, stages=stages, **tile) for stages in (2, 3)]
    assert full[0] == pytest.approx(full[1], rel=0.01)  # many blocks hide each other's waits


def test_word_by_word_takes_longer_than_in_vectors():
    loaded = {"copy_a": CopyMode.REGISTERS, "copy_steps": 1}
    assert seconds(64 * 132, 512, 512, vector_a=1, **loaded) > 1.05 * seconds(64 * 132, 512, 512, vector_a=4, **loaded)
    assert 1.05 < seconds(8192, 8192, 8, vector_c=1) / seconds(8192, 8192, 8, vector_c=4) < 1.2  # as rows of a tile


def test_clusters_of_four_do_not_fill_the_device():
    pairs, fours = (seconds(64 * 132 // size, 64, 64 * 4096, cluster_k=size, warps_k=2) for size in (2, 4))
    assert fours > 0.8 * pairs  # though each goes through half as much
    assert seconds(64 * 30, 64, 64 * 4096, cluster_k=4, warps_k=2) < 0.6 * pairs


def test_tiles_that_are_shared_cost_their_fix_up():
    whole, shared = (seconds(64 * tiles, 64, 4096, grid_blocks=132) for tiles in (132, 131))
    assert 2e-6 < shared - whole < 5e-6


def test_a_device_of_twice_the_rates_takes_half_as_long_but_for_what_is_latency():
    wanted = SgemmProblem(8192, 8192, 8192)
    fast = replace(H200, clock_hz=2 * H200.clock_hz, bandwidth=2 * H200.bandwidth)
    slow, quick = (modelled_seconds(SGEMM, wanted, SMALL, spec) for spec in (H200, fast))
    assert quick == pytest.approx(slow / 2, rel=1e-2)


@pytest.mark.parametrize(
    ("name", "first"),
    [("merge", 1), ("causal_conv1d_update", 1), ("nms", 1), ("transpose", 3), ("attention_decode", 3)],
)
def test_the_default_is_tried_first_where_nobody_counted_and_else_among_the_first_few(name, first):
    one = operator(name)
    (path, *_) = one.suites.values()
    for values in json.loads(path.read_text()):
        wanted = one.problem_type.from_dict({field: value for field, value in values.items() if field != "group"})
        seeds = one.seeds(wanted, H200)
        likely = likely_first(one, wanted, seeds, H200)
        assert one.default(wanted, H200) in likely[:first]
        assert sorted(likely, key=str) == sorted(seeds, key=str)


sizes = st.floats(0, 13).map(lambda exponent: int(2**exponent))
devices = st.sampled_from([named_device(identifier) for identifier in named_devices()])


@given(sizes, sizes, sizes, devices)
def test_no_modelled_time_is_below_the_roofline(m, n, k, spec):
    for one, wanted in ((SGEMM, SgemmProblem(m, n, k)), (TRANSPOSE, TransposeProblem(m, n))):
        for schedule in one.seeds(wanted, spec)[::8]:
            assert modelled_seconds(one, wanted, schedule, spec) > COSTS.launch_seconds + roofline(wanted, spec)


@pytest.mark.parametrize("spec", [*map(named_device, named_devices())], ids=lambda spec: spec.name)
def test_no_operator_is_modelled_faster_than_a_device_executes_it(spec):
    """A T4 multiplies BF16 and TF32 by FMAs; an A100 multiplies FP8 as FP16."""
    problems = [(GEMM, GemmProblem(4096, 4096, 4096, transpose_b=True, dtype=dtype)) for dtype in DTYPES]
    for one in map(operator, OPERATORS):
        suites = (json.loads(path.read_text()) for path in one.suites.values())
        fields = ({name: value for name, value in entry.items() if name != "group"} for s in suites for entry in s)
        listed = [one.problem_type.from_dict(values) for values in fields]
        problems += [(one, max(listed, key=lambda problem: roofline(problem, spec)))] if listed else []
    for one, wanted in problems:
        for schedule in one.seeds(wanted, spec)[:3]:
            assert modelled_seconds(one, wanted, schedule, spec) > roofline(wanted, spec), (wanted.key, schedule)
    for dtype, unit in ((DType.BFLOAT16, Unit.TENSOR_BF16), (DType.FLOAT8_E4M3, Unit.TENSOR_FP8)):
        wanted = GemmProblem(4096, 4096, 4096, transpose_b=True, dtype=dtype)
        executed = {"tensor_bf16": "fp32", "tensor_fp8": "tensor_fp16"}[unit] if unit not in spec.rates else unit
        assert roofline(wanted, spec) == 2 * 4096**3 / spec.peak(Unit(executed))


@given(sizes, sizes, sizes, devices, st.integers(1, 64))
def test_more_sms_are_never_slower(m, n, k, spec, more):
    wanted, larger = SgemmProblem(m, n, k), replace(spec, sm_count=spec.sm_count + more)
    seconds = modelled_seconds(SGEMM, wanted, SMALL, spec)
    assert modelled_seconds(SGEMM, wanted, SMALL, larger) <= seconds * (1 + 1e-12)


def test_near_what_was_measured():
    """On an H200: 64×256×16 tiles reach 51.8 TFLOP/s at 4096³; the fastest recorded transpose takes 65.3 µs."""
    problem = SgemmProblem(4096, 4096, 4096)
    tile = SgemmSchedule(
        64, 256, 16, 32, 128, 16, 8, copy_a=CopyMode.ASYNC_COPY, copy_b=CopyMode.ASYNC_COPY, vector_a=1, vector_b=4,
        vector_c=4, stages=3, min_blocks_per_sm=2,
    )  # fmt: skip
    assert SGEMM.violations(problem, tile, H200) == []
    assert modelled_seconds(SGEMM, problem, tile, H200) == pytest.approx(2 * 4096**3 / 51.8e12, rel=0.1)
    transposed = TransposeProblem(4096, 8192)
    schedule = TRANSPOSE.seeds(transposed, H200)[0]
    assert modelled_seconds(TRANSPOSE, transposed, schedule, H200) == pytest.approx(68e-6, rel=0.15)


def test_bytes_cost_more_in_large_micro_tiles():
    """On an H200, transposing 16×16 bytes in registers takes 31 µs here, and 4×8 bytes 19 µs."""
    problem = TransposeProblem(7680, 4320, 1)
    large = TransposeSchedule(256, 256, 32, 16, 16, swizzle=True, streaming=True)
    small = TransposeSchedule(128, 128, 16, 4, 8, swizzle=True, raster_group=2, min_blocks_per_sm=6)
    assert modelled_seconds(TRANSPOSE, problem, small, H200) < modelled_seconds(TRANSPOSE, problem, large, H200)


def test_aligned_accesses_take_longer_if_leading_dimensions_are_not_known():
    """On an H200, 15 µs, and 11 µs by a kernel for this shape."""
    problem = TransposeProblem(7601, 704, 2)
    like = TransposeSchedule(128, 64, 8, 2, 8, pad=16, align_stores=32, min_blocks_per_sm=3)
    assert TRANSPOSE.violations(problem, like, H200) == []
    shaped, generic = (modelled_seconds(TRANSPOSE, problem, one, H200) for one in (like.shape_specialized, like))
    assert generic > 1.05 * shaped


def test_the_end_of_a_transpose_is_its_tiles_at_edges():
    """On an H200, 144 and 151 µs: twice as many elements for each thread of a tile at an edge."""
    problem = TransposeProblem(8191, 8193)
    like = TransposeSchedule(128, 64, 4, 4, 4, pad=8, align_stores=32, align_loads=16, min_blocks_per_sm=3)
    longer = replace(like, rows_per_thread=8, min_blocks_per_sm=2)
    sooner, later = (modelled_seconds(TRANSPOSE, problem, one, H200) for one in (like, longer))
    assert later - sooner == pytest.approx(7e-6, rel=0.5)


def test_loads_without_registers_take_a_transpose_longer():
    """On an H200, 144 and 192 µs: 64 words of a thread, and 80 registers."""
    problem = TransposeProblem(8191, 8193)
    like = TransposeSchedule(128, 64, 4, 4, 4, pad=8, align_stores=32, align_loads=16, min_blocks_per_sm=3)
    short = replace(like, tile_n=128, rows_per_thread=16)
    enough, few = (modelled_seconds(TRANSPOSE, problem, one, H200) for one in (like, short))
    assert few == pytest.approx(1.33 * enough, rel=0.15)


def test_a_change_of_the_modelled_times_counts_the_version_up():
    """If this fails and the change is meant, add 1 to the rules' version unless data changed; write the new times."""
    cases = [
        (SGEMM, SgemmProblem(1024, 1024, 1024), SMALL),
        (SGEMM, SgemmProblem(100, 3000, 500), replace(SMALL, grid_blocks=264, warps_k=2)),
        (SGEMM, SgemmProblem(3000, 100, 5000), replace(SMALL, cluster_k=4, copy_a=CopyMode.DIRECT, vector_a=1)),
        (TRANSPOSE, TransposeProblem(4096, 8192), TRANSPOSE.default(TransposeProblem(4096, 8192), H200)),
        (TRANSPOSE, TransposeProblem(1000, 77, 2), TRANSPOSE.default(TransposeProblem(1000, 77, 2), H200)),
        (SOFTMAX, SoftmaxProblem(65536, 509), SOFTMAX.default(SoftmaxProblem(65536, 509), H200)),
    ]
    found = [f"{modelled_seconds(one, wanted, schedule, H200) * 1e6:.4f}" for one, wanted, schedule in cases]
    assert model_version(H200).startswith("26-")
    assert found == ["53.2244", "19.5308", "1041.6427", "65.6774", "4.9242", "66.7125"]


def problem(work):
    return SimpleNamespace(work=work)


@pytest.mark.parametrize(
    ("work", "device", "shown"),
    [
        (Work(10**9, {Unit.FP32: 10**9}), "h200", "1000 GB/s"),
        (Work(10**9, {Unit.FP32: 5 * 10**10}), "h200", "50 TFLOP/s"),
        (Work(10**9, {Unit.TENSOR_FP16: 10**11}), "h200", "1000 GB/s"),
        (Work(10**9, {Unit.TENSOR_FP16: 5 * 10**11, Unit.FP32: 10**9}), "h200", "500 TFLOP/s"),
        (Work(10**9, {Unit.TENSOR_INT8: 10**12}), "h200", "1000 TOP/s"),
        (Work(10**9, {Unit.TENSOR_FP8: 10**12}), "a100", "1000 TFLOP/s"),
    ],
)
def test_a_rate_is_of_what_bounds_the_problem(work, device, shown):
    assert rate(problem(work), named_device(device), 1e-3) == shown


def test_scripts_get_all_rates():
    both = problem(Work(10, {Unit.FP32: 20, Unit.SPECIAL: 5}))
    assert rates_document(both, 2.0) == {
        "bytes_per_second": 5,
        "operations_per_second": {"fp32": 10, "special": 2.5},
    }
    assert rates_document(both, None) == {"bytes_per_second": None, "operations_per_second": None}


def test_a_wave_of_clusters_is_filled():
    """9 × 14 tiles of 88×96, each of two blocks, are 252 of the 264 blocks that fit."""
    found = {(s.block_m, s.block_n, s.cluster_k): s for s in filling(SgemmProblem(777, 1333, 555), H200)}
    schedule = found[88, 96, 2]
    assert (schedule.thread_m, schedule.thread_n, schedule.warps, schedule.min_blocks_per_sm) == (22, 6, 4, 2)


def test_seeds_fit_them_to_the_problem():
    legal = OPERATOR.seeds(SgemmProblem(777, 1333, 555), H200)
    fitted = [seed for seed in legal if (seed.block_m, seed.block_n, seed.cluster_k) == (88, 96, 2)]
    assert [seed.vector_b for seed in fitted] == [1]


@pytest.mark.parametrize("device", ["a100", "t4"])
def test_devices_without_clusters_get_single_blocks(device):
    found = filling(SgemmProblem(777, 1333, 555), named_device(device))
    assert found
    assert all(schedule.cluster_k == 1 for schedule in found)


def test_many_waves_need_no_such_tiles():
    assert not filling(SgemmProblem(8192, 8192, 8192), H200)


@pytest.mark.parametrize(("sizes", "staged"), [((8192, 6779, 32), True), ((8192, 6784, 32), False)])
def test_rows_of_c_that_begin_anywhere_pass_through_shared_memory_where_storing_bounds(sizes, staged):
    """As measured on an H100, parts of rows take 430 µs, and whole ones 127."""
    schedule, _ = preferred(SGEMM, SgemmProblem(*sizes, transpose_a=True), H200)
    assert isinstance(schedule, SgemmSchedule)
    assert schedule.staged_c == staged
