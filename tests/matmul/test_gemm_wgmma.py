"""Kernels of gemm by wgmma: what is peculiar to them; tests/contract runs drawn ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matmul.gemm_cases import (
    BLOCK_SCALES,
    E4M3,
    FP16,
    FP32,
    INT8,
    KEPT,
    NT,
    PECULIAR,
    SPEC,
    TF32,
    TN,
    TT,
    by_wgmma,
    check_each_step_counts_once,
    of_steps,
    scheduled,
    wgmma,
)
from planted import caught

from autotune import emulator
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import unit_error
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.integers import ceil_div
from autotune.compiler import compile_kernel
from autotune.contract.wide_layouts import untouched
from autotune.dispatcher.choice.modelled import preferred
from autotune.emulator import verify
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR

SQUARE = GemmProblem(4096, 4096, 4096, transpose_b=True)
STEPS = [(layout, FP16, 136, "wait_depth=1 cluster_m=2") for layout in ("nn", "nt", "tn", "tt")]
STEPS += [("nt", E4M3, 272, "BK=128 promote=128"), ("nt", INT8, 272, "BK=128 wait_depth=1 cluster_m=2")]
STEPS += [("nt", TF32, 72, "BK=32 cluster_m=2"), ("tt", TF32, 72, "BK=32 wait_depth=1")]
STEPS += [("nn", TF32, 72, "BK=32 wait_depth=1 swap=1")]


@pytest.mark.parametrize(("layout", "dtype", "k", "words"), STEPS)
def test_each_step_along_k_counts_once(layout, dtype, k, words):
    check_each_step_counts_once(of_steps(layout, dtype, k, 64), wgmma(f"BM=128 BN=64 stages=2 {words}"))


def test_cases_take_every_way():
    """Those that no field of a schedule names."""
    cases = [(problem, schedule) for problem, schedule in PECULIAR if isinstance(schedule, WgmmaSchedule)]
    for way in ("residual_stages", "residual_ring", "kept_boxes", "shares_tiles"):
        assert {bool(getattr(schedule, way)(problem)) for problem, schedule in cases} == {False, True}, way
    boxed = [OPERATOR.emit(*case).source for case in cases if case[1].tensor_store]
    assert {"HeldColumns" in source for source in boxed} == {False, True}


def product_of_constants(x, y, words):
    """A sum of float32: A is x everywhere, and B is y."""
    problem = GemmProblem(64, 64, 64, transpose_b=True, dtype=TF32)
    arrays = {t.name: np.full(t.size, value, np.float32) for t, value in zip(problem.tensors, (x, y, 0), strict=True)}
    kernel = by_wgmma(problem, f"BM=64 BN=64 BK=32 consumers=1 stages=2 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=0)
    (found,) = set(arrays["d"].tolist())
    return problem, found


@pytest.mark.parametrize("words", ["", "prepare_a=copy prepare_b=copy"])
def test_floats_are_rounded_on_their_way_to_shared_memory(words):
    """Ties to even, as a GPU was seen to do it."""
    for x, rounded in ((1 + 2.0**-11, 1), (1 + 3 * 2.0**-11, 1 + 2.0**-9), (1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-10)):
        assert product_of_constants(x, 1, words)[1] == 64 * rounded
        assert product_of_constants(1, -x, words)[1] == -64 * rounded


def test_sums_of_rounded_floats_are_as_exact_as_stated():
    problem, found = product_of_constants(1 + 2.0**-11, -1 - 2.0**-11, "")
    assert 2.0**-10.1 < 1 - abs(found / (64 * (1 + 2.0**-11) ** 2)) < unit_error(problem.dtype, problem.k)


WHOLE = "grid_blocks=132 whole_tiles=1"
RESIDUAL: dict[str, Any] = {"k": 256, **TN, "out_dtype": FP32, "residual": True}


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        (f"BM=128 BN=256 stages=4 cluster_m=2 {WHOLE} tensor_store=1", NT),
        (f"BM=256 BN=128 stages=4 cluster_n=2 {WHOLE} wait_depth=1", {}),
        (f"BM=128 BN=128 stages=6 pingpong=1 {WHOLE}", TN),
        ("BM=128 BN=80 stages=6 tensor_store=1", NT),
        ("BM=192 BN=192 stages=4 consumers=3", TT),
        ("BM=128 BN=128 stages=3 consumers=1 min_blocks_per_sm=2", {}),
        ("BM=128 BN=128 BK=128 stages=6 cluster_m=2 promote=128", BLOCK_SCALES),
        ("BM=128 BN=256 BK=128 stages=4 wait_depth=1", NT | {"dtype": INT8, "out_dtype": OutDType.INT32}),
        ("BM=128 BN=256 BK=32 stages=4 cluster_m=2 tensor_store=1", NT | {"dtype": TF32}),
        (f"BM=128 BN=80 BK=32 pingpong=1 wait_depth=1 {WHOLE}", TT | {"dtype": TF32}),
        (f"BM=128 BN=256 BK=32 stages=4 tensor_store=1 wait_depth=1 {WHOLE}", TT | {"dtype": TF32}),
        (f"BM=128 BN=256 BK=32 stages=4 tensor_store=1 wait_depth=1 swap=1 {WHOLE}", {"dtype": TF32}),
        (f"BM=128 BN=256 stages=4 tensor_store=1 wait_depth=1 {WHOLE}", RESIDUAL),
        (f"BM=128 BN=128 stages=5 pingpong=1 tensor_store=1 wait_depth=1 {WHOLE}", RESIDUAL),
        (f"BM=128 BN=192 stages=4 pingpong=1 tensor_store=1 wait_depth=1 {WHOLE}", RESIDUAL),
        ("BM=128 BN=96 stages=5 wait_depth=1 swap=1 tensor_store=1", {"m": 1024, "n": 768, "k": 3072}),
    ],
)
def test_products_are_not_serialised_and_nothing_spills(words, fields):
    """The compiler refuses what loses performance: products in turn, and setmaxnreg that is ignored."""
    chosen, problem = wgmma(words), GemmProblem(**{"m": 4096, "n": 4096, "k": 4096} | fields)
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert resources.registers == chosen.footprint(problem).registers


@pytest.mark.parametrize(
    ("layout", "swap", "prepared"), [("tt", False, ""), ("nn", True, ""), ("nt", False, ""), ("tn", False, "b")]
)
def test_the_first_seed_transposes_no_more_floats_than_it_must(layout, swap, prepared):
    chosen = OPERATOR.default(GemmProblem(4096, 4096, 4096, layout[0] == "t", layout[1] == "t", dtype=TF32), SPEC)
    ahead = "".join(x for x in "ab" if getattr(chosen, f"prepare_{x}") is not Prepare.NONE)
    assert (chosen.kernel, chosen.swap, ahead, chosen.tensor_store) == ("wgmma", swap, prepared, True)


VIOLATIONS: list[tuple[dict[str, Any], dict[str, str]]] = [
    (NT, {
        "BM=192 BN=128": "block_m 192 is not a multiple of 128, 64 for each consumer",
        "BM=128 BN=20": "wgmma of 20 columns: expected 8, 16, … 256",
        "BM=320 BN=8 consumers=1": "block_m 320 over the 256 rows of a tensor copy",
        "BM=256 BN=256": "about 296 registers of a consumer's thread over the 240 that it gets",
        "BM=128 BN=112 min_blocks_per_sm=2": "82 registers of a product of 112 columns over the 80 of a thread",
        "BM=64 BN=64 consumers=1 pingpong=1": "pingpong needs 2 consumers or more, not 1",
        "BM=128 BN=128 cluster_m=2 grid_blocks=4": "blocks of clusters side by side, pingpong consumers and sums",
        "BM=128 BN=88 cluster_m=2": "block_n 88 is not a multiple of 16, 8 rows of B for each of the blocks",
        "BM=128 BN=128 cluster_m=2 grid_blocks=3 whole_tiles=1": "grid_blocks 3 is not a multiple of the 2 blocks of a",
        "BM=128 BN=128 cluster_k=2 grid_blocks=2": "cluster_k 2 with grid_blocks 2: expected 0, or as many clusters",
        "BM=128 BN=256 stages=2 cluster_k=2": "cluster_k 2: 131072 bytes of sums over 2 stages of 49152 bytes",
        "BM=128 BN=128 swap=1 prepare_a=copy": "swap: expected prepare_a none and prepare_b none",
        "BM=128 BN=128 swap=1 vector_d=2": "vector_d 2 where registers are stored as they are: expected 1",
        "BM=128 BN=128 whole_tiles=1": "0 blocks for 1024 whole tiles: expected 1 to as many",
    }),
    (NT | {"k": 448}, {"BM=128 BN=64 cluster_k=8": "cluster_k 8 in 1 clusters over the 7 steps along k of a tile"}),
    (NT | {"k": 0}, {"BM=128 BN=128": "m 4096, n 4096, k 0, batch 1: wgmma needs 1 or more of each"}),
    (NT | {"batch": 2}, {"BM=128 BN=128 swap=1": "swap of batch 2, gate none, scales none: expected one matrix"}),
    (NT | {"align_b": 8}, {"BM=128 BN=128": "tensor copies of B need rows that begin at multiples of 16 bytes"}),
    (NT | {"lda": 4100}, {"BM=128 BN=128": "tensor copies of A need rows that begin at multiples of 16 bytes"}),
    (NT | {"gate": Gate.INTERLEAVED}, {"BM=128 BN=128": "gate interleaved: kernels by wgmma know pairs in"}),
    (NT | {"gate": Gate.HALVES}, {
        "BM=128 BN=136": "block_n 136 is not a multiple of 16 columns of gates and factors in halves",
        "BM=128 BN=128 cluster_m=2": "cluster_m 2: blocks do not share gates and factors in halves, expected 1",
    }),
    (NT | {"out_dtype": FP32}, {
        "BM=128 BN=128 swap=1 tensor_store=1 cluster_k=2": "tensor_store with swap needs results of 16 bits, or floats",
        "BM=128 BN=80 tensor_store=1": "tensor_store needs rows of D that begin and end at multiples of 16 bytes, and "
        "boxes of 16 bits, or whose rows have 128 bytes, as those of a block_n of 80 float32 have not",
    }),
    (NT | {"m": 64, "n": 67, "k": 64, "ldd": 72}, {
        "BM=128 BN=64 tensor_store=1": "tensor_store needs rows of D that begin and end at multiples of 16 bytes",
    }),
    ({"m": 1024, "n": 768, "k": 3072, "ldd": 772}, {
        "swap=1 tensor_store=1 BM=64 BN=96 BK=128 consumers=1 stages=5 wait_depth=1 vector_d=1": "tensor_store",
    }),
    (TN | {"dtype": TF32}, {"BM=128 BN=128": "layout tn of float32: wgmma multiplies nn and nt and tt"}),
    ({"dtype": TF32}, {"BM=128 BN=128": "B of float32 lies across k: expected swap 1"}),
    (NT | {"dtype": TF32}, {
        "BM=128 BN=128 BK=16": "block_k 16 is not a multiple of the 32 elements of a row of 128 bytes",
    }),
    (TT | {"dtype": TF32}, {
        "BM=128 BN=128": "wait_depth 0 with A in registers, which are loaded while products run: expected 1",
        "BM=256 BN=128 BK=32 wait_depth=1": "192 registers of products with A in registers over the 168 of a thread",
        "BM=128 BN=24 BK=64 pingpong=1 wait_depth=1": "about 312 registers of a consumer's thread over the 240 that it",
    }),
    ({"dtype": E4M3}, {"BM=128 BN=128": "layout nn of float8_e4m3fn: wgmma multiplies nt"}),
    (BLOCK_SCALES, {
        "BM=128 BN=96 BK=128 promote=128": "block_n 96: expected a divisor or a multiple of the 128 columns of a scale",
        "BM=128 BN=128 BK=128 promote=128 wait_depth=1": "wait_depth 1 with promote, for which sums are waited for",
        "BM=128 BN=256 BK=128 promote=128": "about 296 registers of a consumer's thread over the 240 that it gets",
    }),
    (NT | {"dtype": INT8, "out_dtype": OutDType.INT32}, {
        "BM=128 BN=40 BK=128": "wgmma of 40 columns of int8: expected a multiple of 16 beyond 32",
    }),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "words", "violation"), [(one, *two) for one, by in VIOLATIONS for two in by.items()]
)
def test_a_violation_has_its_values(fields, words, violation):
    problem = GemmProblem(**{"m": 4096, "n": 4096, "k": 4096} | fields)
    chosen = WgmmaSchedule.parse(words.split(), wgmma("stages=2"))
    assert any(found.startswith(violation) for found in OPERATOR.violations(problem, chosen, SPEC))


def test_one_kernel_serves_a_bucket_of_columns():
    bucket = [GemmProblem(m, 64, 128, transpose_b=True, bucket_rows=True) for m in (9, 16)]
    few, most = (by_wgmma(problem, "BM=64 BN=16 consumers=1 stages=2 swap=1") for problem in bucket)
    assert few.source == most.source
    verify(bucket[0], few)


def test_a_row_that_begins_beyond_32_bits():
    """The last tile of a dense output of 2^31 elements: one row, which is all that exists of it here."""
    problem = GemmProblem(2**16 + 1, 2**15, 64, **KEPT)
    program = OPERATOR.program(
        problem, replace(wgmma("tensor_store=1 BM=64 BN=64 consumers=1 stages=2"), tensor_store=False), SPEC
    )
    tile = problem.m // 64 * (problem.n // 64)
    first = "locate(blockIdx.x / cluster_blocks, tiling)"
    assert first in program.source
    program = replace(
        program,
        source=program.source.replace(first, f"locate({tile}, tiling)"),
        steps=(replace(program.launch, grid=(1, 1, 1)),),
    )
    far = (2, problem.n), ((problem.m - 1) * problem.n, 1)
    tensors = [
        replace(tensor, shape=far[0], strides=far[1]) if tensor.name in ("d", "z") else tensor
        for tensor in problem.tensors
    ]
    arrays = {tensor.name: untouched(tensor) for tensor in tensors}
    arrays["a"][-problem.k :], arrays["b"][:] = 2, 1
    emulator.run(program, tensors, arrays, {"alpha": 1.0, "beta": 0.0})
    assert (arrays["z"][-problem.n :] == 128).sum() == 64


def test_other_devices_have_no_wgmma():
    chosen = wgmma("BM=128 BN=128")
    for name in ("a100", "b200"):
        (violation,) = OPERATOR.violations(SQUARE, chosen, named_device(name))
        assert violation.startswith("instructions of sm_90a are not those of")
        assert all(seed.kernel != "wgmma" for seed in OPERATOR.seeds(SQUARE, named_device(name)))


def test_few_seeds_by_mma_sync_follow_those_by_wgmma():
    seeds = OPERATOR.seeds(SQUARE, SPEC)
    others = [seed for seed in seeds if seed.kernel == "mma_sync"]
    assert len(others) == 3  # they take seconds to compile
    assert seeds[-3:] == others


def test_blocks_that_share_k_exchange_their_sums():
    """Of 256×768×3072, tiles of 128×112 that eight blocks share take 13.5 µs on an H200, those of 64×48 and two 9.8."""
    problem = GemmProblem(256, 768, 3072, transpose_b=True)
    wide, narrow = (
        modelled_seconds(OPERATOR, problem, wgmma(words), SPEC)
        for words in (
            "BM=128 BN=112 stages=6 cluster_k=8",
            "BM=64 BN=48 stages=12 consumers=1 wait_depth=1 cluster_k=2",
        )
    )
    assert wide > 1.1 * narrow


def test_bytes_that_clusters_read_apart_are_read_again():
    """8192×128×8192 takes 46.6 µs on an H200 by tiles of 128×64, and 38.4 if clusters share their rows of A."""
    problem = GemmProblem(8192, 128, 8192)
    apart, together = (
        modelled_seconds(
            OPERATOR, problem, wgmma(f"BM=128 BN=64 stages=8 consumers=1 wait_depth=1 cluster_n={cluster_n}"), SPEC
        )
        for cluster_n in (1, 2)
    )
    assert apart > 1.05 * together


MEASURED = {  # on an H200, in µs
    "tiles of B across k that begin within lines": (
        GemmProblem(1024, 768, 3072),
        ("kernel=wgmma BM=64 BN=96 BK=64 stages=10 consumers=1 wait_depth=1 swap=1 vector_d=1 tensor_store=1", 12.3),
        ("kernel=wgmma BM=64 BN=96 BK=64 stages=8 consumers=1 wait_depth=1 vector_d=2 tensor_store=1", 16.8),
    ),
    "mma.sync with a residual": (
        GemmProblem(6144, 4096, 256, transpose_a=True, out_dtype=OutDType.FLOAT32, residual=True),
        (
            "kernel=wgmma BM=128 BN=128 BK=64 stages=5 pingpong=1 wait_depth=1 grid_blocks=132 whole_tiles=1 "
            "tensor_store=1",
            55.8,
        ),
        ("kernel=mma_sync BM=128 BN=128 BK=32 WM=64 WN=64 stages=4 vector_d=4 min_blocks_per_sm=2", 149.8),
    ),
    "TF32 by mma.sync": (
        GemmProblem(67, 8192, 14080, dtype=TF32),
        ("kernel=wgmma BM=64 BN=72 BK=32 stages=12 consumers=1 wait_depth=1 swap=1 vector_d=1 tensor_store=0", 113.0),
        (
            "kernel=mma_sync BM=128 BN=128 BK=32 WM=64 WN=32 stages=3 grid_blocks=132 vector_a=4 vector_b=4 vector_d=4",
            231.2,
        ),
    ),
}


@pytest.mark.parametrize("case", MEASURED.values(), ids=MEASURED)
def test_modelled_times_are_as_far_apart_as_measured_ones(case):
    problem, *both = case
    fast, slow = (modelled_seconds(OPERATOR, problem, scheduled(words), SPEC) for words, _ in both)
    assert slow / fast == pytest.approx(both[1][1] / both[0][1], rel=0.3)


@pytest.mark.parametrize("layout", ["tn", "tt"])
def test_products_with_a_in_registers_run_together_for_one_shape(layout):
    """If ptxas knows how many steps there are, it lets such products wait in turn, which is a `CompileError`."""
    problem = GemmProblem(512, 512, 256, transpose_a=True, transpose_b=layout == "tt", dtype=TF32)
    prepared = "" if layout == "tt" else "prepare_b=transpose "
    words = f"BM=64 BN=64 BK=32 {prepared}consumers=1 stages=4 wait_depth=1 specialize=shape"
    assert compile_kernel(by_wgmma(problem, words), "sm_90").resources.spill_store_bytes == 0


def test_the_winners_of_others_come_first():
    default = OPERATOR.default(SQUARE, SPEC)
    assert (default.block_m, default.block_n, default.cluster, default.consumers) == (128, 256, 1, 2)
    assert (default.stages, default.grid_blocks) == (4, SPEC.sm_count)


@pytest.mark.parametrize(("m", "n", "k"), [(256, 5120, 5120), (128, 6144, 4096), (64, 37888, 3584), (1024, 6144, 4096)])
def test_tiles_fill_whole_waves(m, n, k):
    """Of the seeds, that which the time model finds fastest: tiles of powers of two leave a quarter of the SMs idle."""
    problem = GemmProblem(m, n, k, transpose_b=True)
    chosen, _ = preferred(OPERATOR, problem, SPEC)
    blocks = chosen.tiles(problem) * chosen.cluster
    assert blocks / SPEC.sm_count / ceil_div(blocks, SPEC.sm_count) > 0.9


def test_narrow_tiles_have_long_steps():
    """Of 64×4096×4096, tiles of 64×32 take 13.2 µs on an H200 with 128 of k in a step, and 14.0 with 64."""
    chosen, _ = preferred(OPERATOR, GemmProblem(64, 4096, 4096, transpose_b=True), SPEC)
    assert (chosen.block_m, chosen.block_n, chosen.block_k, chosen.cluster) == (64, 32, 128, 1)


def test_tiles_with_rows_outside_have_short_steps():
    """16×8192×28672 takes 150 µs on an H200 by tiles of 64×64 with 128 of k in a step, 16 of whose rows are inside."""
    seeds = list(OPERATOR.seeds(GemmProblem(16, 8192, 28672, transpose_b=True), SPEC))
    assert {one.block_k for one in seeds if isinstance(one, WgmmaSchedule) and not one.swap} <= {64}
    assert {one.block_k for one in seeds if isinstance(one, WgmmaSchedule) and one.swap} == {64, 128}


WIDE = GemmProblem(192, 64, 200, transpose_b=True)
SINGLE = "BM=64 BN=64 consumers=1 stages=2"
PINGPONG = "BM=64 BN=64 consumers=2 stages=3 pingpong=1 grid_blocks=1 whole_tiles=1"
BYTES = f"{SINGLE} BK=128"
PROMOTED = f"{BYTES} promote=128"
SCALED = GemmProblem(72, 144, 272, **BLOCK_SCALES)
OF_ROWS = GemmProblem(64, 64, 64, transpose_b=True, dtype=INT8, scales=Scales.ROW)
PAIRS_ACROSS = GemmProblem(64, 256, 64, gate=Gate.HALVES)


test_a_planted_bug_is_detected = caught(
    by_wgmma,
    [
        # columns of gates for those of factors
        (PAIRS_ACROSS, "BM=64 BN=128 consumers=1 stages=2", "first_column + behind * second", "first_column"),
        # scales of the first block's part of k
        (SCALED, f"{PROMOTED} cluster_k=2", "promotion.factors(unit.first + step)", "promotion.factors(step)"),
        # the parity of skipped stages
        (WIDE, PINGPONG, "parity_ ^= stage /", "parity_ = stage /"),
        # scales of the first product's rows
        (
            replace(OF_ROWS, m=128, out_dtype=OutDType.BFLOAT16),
            "BM=128 BN=64 BK=128 consumers=1 stages=2 tensor_store=1",
            "rows = SumRows(arguments, problem, tile, row);",
            "rows.m[0] = 0;",
        ),
    ],
)


def test_tiles_of_b_across_k_are_whole_boxes_where_those_take_no_longer():
    """192×2048×4097 has 129 tiles of 64×48, whose copies bring 64 columns, too, and 96 of 64×64."""
    problem = GemmProblem(192, 2048, 4097, transpose_a=True, ldb=2112)
    default = OPERATOR.default(problem, SPEC)
    assert (default.kernel, default.block_m, default.block_n, default.cluster) == ("wgmma", 64, 64, 1)
