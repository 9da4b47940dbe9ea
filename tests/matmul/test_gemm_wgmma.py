"""Kernels of gemm by wgmma: what is peculiar to them; tests/contract runs drawn ones."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matmul.gemm_cases import E4M3, FP16, FP32, INT8, SPEC, TF32, by_wgmma, wgmma
from planted import check_caught

from autotune import emulator
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import unit_error
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.compiler import compile_kernel
from autotune.dispatcher.choice.modelled import preferred
from autotune.emulator import verify
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR

SQUARE = GemmProblem(4096, 4096, 4096, transpose_b=True)
BLOCK_SCALES: dict[str, Any] = {"transpose_b": True, "dtype": E4M3, "out_dtype": FP32, "scales": Scales.BLOCK}


STEPS = [(layout, FP16, 136, "wait_depth=1 cluster_m=2") for layout in ("nn", "nt", "tn", "tt")]
STEPS += [("nt", E4M3, 272, "BK=128 promote=128"), ("nt", INT8, 272, "BK=128 wait_depth=1 cluster_m=2")]
STEPS += [("nt", TF32, 72, "BK=32 cluster_m=2")]


@pytest.mark.parametrize(("layout", "dtype", "k", "words"), STEPS)
def test_each_step_along_k_counts_once(layout: str, dtype: DType, k: int, words: str) -> None:
    """A has one element other than 0 in each row, at another k each; so D has the rows of op(B)."""
    result = OutDType.INT32 if dtype is INT8 else FP32
    problem = GemmProblem(k, 64, k, layout[0] == "t", layout[1] == "t", dtype=dtype, out_dtype=result)
    b = problem.tensors[1]
    numbers = np.random.default_rng(0).integers(-9, 10, b.size).astype(dtype.numpy)
    arrays = {
        "a": np.eye(k, dtype=dtype.numpy)[:, ::-1].reshape(-1).copy(),
        "b": numbers,
        "d": np.full(problem.tensors[2].size, -1, problem.result.numpy),
    }
    kernel = by_wgmma(problem, f"BM=128 BN=64 stages=2 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=1)
    stored = b.view(numbers)[0]
    rows = (stored.T if problem.transpose_b else stored)[::-1]
    np.testing.assert_array_equal(problem.tensors[2].view(arrays["d"])[0], rows.astype(np.float32))


def product_of_constants(x: float, y: float, words: str) -> tuple[GemmProblem, float]:
    """A sum of float32: A is x everywhere, and B is y."""
    problem = GemmProblem(64, 64, 64, transpose_b=True, dtype=TF32)
    arrays = {t.name: np.full(t.size, value, np.float32) for t, value in zip(problem.tensors, (x, y, 0), strict=True)}
    kernel = by_wgmma(problem, f"BM=64 BN=64 BK=32 consumers=1 stages=2 {words}")
    emulator.run(kernel, problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=0)
    (found,) = set(arrays["d"].tolist())
    return problem, found


@pytest.mark.parametrize("words", ["", "prepare_a=copy prepare_b=copy"])
def test_floats_are_rounded_on_their_way_to_shared_memory(words: str) -> None:
    """Ties to even, as a GPU was seen to do it."""
    for x, rounded in ((1 + 2.0**-11, 1), (1 + 3 * 2.0**-11, 1 + 2.0**-9), (1 + 2.0**-11 + 2.0**-23, 1 + 2.0**-10)):
        assert product_of_constants(x, 1, words)[1] == 64 * rounded
        assert product_of_constants(1, -x, words)[1] == -64 * rounded


def test_sums_of_rounded_floats_are_as_exact_as_stated() -> None:
    problem, found = product_of_constants(1 + 2.0**-11, -1 - 2.0**-11, "")
    assert 2.0**-10.1 < 1 - abs(found / (64 * (1 + 2.0**-11) ** 2)) < unit_error(problem.dtype, problem.k)


@pytest.mark.parametrize(
    ("words", "layout"),
    [
        ("BM=128 BN=256 stages=4 cluster_m=2 grid_blocks=132 whole_tiles=1 tensor_store=1", {"transpose_b": True}),
        ("BM=256 BN=128 stages=4 cluster_n=2 grid_blocks=132 whole_tiles=1 wait_depth=1", {}),
        ("BM=128 BN=128 stages=6 pingpong=1 grid_blocks=132 whole_tiles=1", {"transpose_a": True}),
        ("BM=128 BN=80 stages=6 tensor_store=1", {"transpose_b": True}),
        ("BM=192 BN=192 stages=4 consumers=3", {"transpose_a": True, "transpose_b": True}),
        ("BM=128 BN=128 stages=3 consumers=1 min_blocks_per_sm=2", {}),
        ("BM=128 BN=128 BK=128 stages=6 cluster_m=2 promote=128", BLOCK_SCALES),
        (
            "BM=128 BN=256 BK=128 stages=4 wait_depth=1",
            {"transpose_b": True, "dtype": INT8, "out_dtype": OutDType.INT32},
        ),
        ("BM=128 BN=256 BK=32 stages=4 cluster_m=2 tensor_store=1", {"transpose_b": True, "dtype": TF32}),
        (
            "BM=128 BN=80 BK=32 pingpong=1 wait_depth=1 grid_blocks=132 whole_tiles=1",
            {"transpose_a": True, "transpose_b": True, "dtype": TF32},
        ),
    ],
)
def test_products_are_not_serialised_and_nothing_spills(words: str, layout: dict[str, Any]) -> None:
    """The compiler refuses what loses performance: products in turn, and setmaxnreg that is ignored."""
    chosen, problem = wgmma(words), GemmProblem(4096, 4096, 4096, **layout)
    resources = compile_kernel(OPERATOR.program(problem, chosen, SPEC), "sm_90").resources
    assert resources.stack_bytes == resources.spill_store_bytes == 0
    assert resources.registers == chosen.footprint(problem).registers


@pytest.mark.parametrize(
    ("problem", "words", "violation"),
    [
        (SQUARE, "BM=192 BN=128", "block_m 192 is not a multiple of 128, 64 for each consumer"),
        (SQUARE, "BM=128 BN=20", "wgmma of 20 columns: expected 8, 16, … 256"),
        (
            GemmProblem(4096, 4096, 4096, transpose_b=True, dtype=TF32),
            "BM=128 BN=128 BK=16",
            "block_k 16 is not a multiple of the 32 elements of a row of 128 bytes",
        ),
        (
            replace(SQUARE, gate=Gate.HALVES),
            "BM=128 BN=136",
            "block_n 136 is not a multiple of 16 columns of gates and factors in halves",
        ),
        (
            replace(SQUARE, gate=Gate.HALVES),
            "BM=128 BN=128 cluster_m=2",
            "cluster_m 2: blocks do not share gates and factors in halves, expected 1",
        ),
        (replace(SQUARE, gate=Gate.INTERLEAVED), "BM=128 BN=128", "gate interleaved: kernels by wgmma know pairs in"),
        (SQUARE, "BM=320 BN=8 consumers=1", "block_m 320 over the 256 rows of a tensor copy"),
        (SQUARE, "BM=256 BN=256", "about 296 registers of a consumer's thread over the 240 that it gets"),
        (
            SQUARE,
            "BM=128 BN=112 min_blocks_per_sm=2",
            "82 registers of a product of 112 columns over the 80 of a thread",
        ),
        (SQUARE, "BM=64 BN=64 consumers=1 pingpong=1", "pingpong needs 2 consumers or more, not 1"),
        (
            SQUARE,
            "BM=128 BN=128 cluster_m=2 grid_blocks=4",
            "blocks of clusters side by side, pingpong consumers and sums of int8, or with promote, take whole tiles",
        ),
        (
            SQUARE,
            "BM=128 BN=88 cluster_m=2",
            "block_n 88 is not a multiple of 16, 8 rows of B for each of the blocks that share them",
        ),
        (
            SQUARE,
            "BM=128 BN=128 cluster_m=2 grid_blocks=3 whole_tiles=1",
            "grid_blocks 3 is not a multiple of the 2 blocks of a cluster",
        ),
        (
            SQUARE,
            "BM=128 BN=128 cluster_k=2 grid_blocks=2",
            "cluster_k 2 with grid_blocks 2: expected 0, or as many clusters for each of the 1024 tiles",
        ),
        (
            replace(SQUARE, k=448),
            "BM=128 BN=64 cluster_k=8",
            "cluster_k 8 in 1 clusters over the 7 steps along k of a tile",
        ),
        (
            SQUARE,
            "BM=128 BN=256 stages=2 cluster_k=2",
            "cluster_k 2: 131072 bytes of sums over 2 stages of 49152 bytes",
        ),
        (
            replace(SQUARE, batch=2, stride_a=0, stride_b=0, stride_d=0),
            "BM=128 BN=128 swap=1",
            "swap of batch 2, gate none, scales none: expected one matrix, no gate and no block",
        ),
        (SQUARE, "BM=128 BN=128 swap=1 prepare_a=copy", "swap: expected prepare_a none and prepare_b none"),
        (
            GemmProblem(4096, 4096, 4096, transpose_b=True, out_dtype=FP32),
            "BM=128 BN=128 swap=1 tensor_store=1 cluster_k=2",
            "tensor_store with swap needs results of 16 bits, or floats and no blocks that share k",
        ),
        (SQUARE, "BM=128 BN=128 swap=1 vector_d=2", "vector_d 2 where registers are stored as they are: expected 1"),
        (SQUARE, "BM=128 BN=128 whole_tiles=1", "0 blocks for 1024 whole tiles: expected 1 to as many"),
        (
            replace(SQUARE, align_b=8),
            "BM=128 BN=128",
            "tensor copies of B need rows that begin at multiples of 16 bytes",
        ),
        (
            replace(SQUARE, lda=4100),
            "BM=128 BN=128",
            "tensor copies of A need rows that begin at multiples of 16 bytes",
        ),
        (
            replace(SQUARE, out_dtype=FP32),
            "BM=128 BN=80 tensor_store=1",
            "tensor_store needs rows of D that begin and end at multiples of 16 bytes, and boxes of 16 bits, or whose "
            "rows have 128 bytes, as those of a block_n of 80 float32 have not",
        ),
        (
            GemmProblem(64, 67, 64, transpose_b=True, ldd=72),
            "BM=128 BN=64 tensor_store=1",
            "tensor_store needs rows of D that begin and end at multiples of 16 bytes",
        ),
        (
            GemmProblem(4096, 4096, 4096, True, dtype=TF32),
            "BM=128 BN=128",
            "layout tn of float32: wgmma multiplies nn and nt and tt",
        ),
        (GemmProblem(4096, 4096, 4096, dtype=TF32), "BM=128 BN=128", "B of float32 lies across k: expected swap 1"),
        (
            GemmProblem(4096, 4096, 4096, True, True, dtype=TF32),
            "BM=128 BN=128",
            "wait_depth 0 with A in registers, which are loaded while products run: expected 1",
        ),
        (
            GemmProblem(4096, 4096, 4096, True, True, dtype=TF32),
            "BM=256 BN=128 BK=32 wait_depth=1",
            "192 registers of products with A in registers over the 168 of a thread",
        ),
        (
            GemmProblem(4096, 4096, 4096, True, True, dtype=TF32),
            "BM=128 BN=24 BK=64 pingpong=1 wait_depth=1",
            "about 312 registers of a consumer's thread over the 240 that it gets",
        ),
        (
            GemmProblem(4096, 4096, 4096, dtype=E4M3),
            "BM=128 BN=128",
            "layout nn of float8_e4m3fn: wgmma multiplies nt",
        ),
        (
            GemmProblem(4096, 4096, 4096, **BLOCK_SCALES),
            "BM=128 BN=96 BK=128 promote=128",
            "block_n 96: expected a divisor or a multiple of the 128 columns of a scale",
        ),
        (
            GemmProblem(4096, 4096, 4096, **BLOCK_SCALES),
            "BM=128 BN=128 BK=128 promote=128 wait_depth=1",
            "wait_depth 1 with promote, for which sums are waited for: expected 0",
        ),
        (
            GemmProblem(4096, 4096, 4096, **BLOCK_SCALES),
            "BM=128 BN=256 BK=128 promote=128",
            "about 296 registers of a consumer's thread over the 240 that it gets",
        ),
        (
            GemmProblem(4096, 4096, 4096, transpose_b=True, dtype=INT8, out_dtype=OutDType.INT32),
            "BM=128 BN=40 BK=128",
            "wgmma of 40 columns of int8: expected a multiple of 16 beyond 32",
        ),
        (replace(SQUARE, k=0), "BM=128 BN=128", "m 4096, n 4096, k 0, batch 1: wgmma needs 1 or more of each"),
    ],
)
def test_a_violation_has_its_values(problem: GemmProblem, words: str, violation: str) -> None:
    chosen = WgmmaSchedule.parse(words.split(), wgmma("stages=2"))
    assert any(found.startswith(violation) for found in OPERATOR.violations(problem, chosen, SPEC))


def test_blocks_share_tiles() -> None:
    problem = GemmProblem(65, 64, 520, True, align_a=2)
    verify(problem, by_wgmma(problem, "BM=128 BN=64 stages=2 grid_blocks=5 prepare_a=copy tensor_store=1"))


def test_blocks_share_tiles_of_an_odd_number_of_vectors() -> None:
    """Four blocks share two of seven tiles, while the fifth one begins with a whole tile."""
    problem = GemmProblem(64, 168, 128, transpose_b=True)
    verify(problem, by_wgmma(problem, "BM=64 BN=24 consumers=1 stages=2 grid_blocks=5"))


@pytest.mark.parametrize("along", ["m", "n"])
def test_the_tile_of_a_cluster_that_lies_outside_is_not_stored(along: str) -> None:
    """Three whole tiles along a side, for clusters of two blocks."""
    problem = GemmProblem(192 if along == "m" else 64, 192 if along == "n" else 64, 64, transpose_b=True)
    verify(problem, by_wgmma(problem, f"BM=64 BN=64 consumers=1 cluster_{along}=2"))


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (GemmProblem(72, 66, 584, transpose_b=True, bias=Bias.ROW, residual=True), "BM=128 BN=64 cluster_k=8"),
        (GemmProblem(64, 40, 200, transpose_b=True), "BM=64 BN=40 consumers=1 cluster_k=2"),
        (GemmProblem(128, 192, 200), "BM=128 BN=128 wait_depth=1 cluster_k=2 tensor_store=1"),
        (GemmProblem(64, 256, 200, gate=Gate.HALVES), "BM=64 BN=128 consumers=1 cluster_k=2"),
        (GemmProblem(40, 144, 656, **BLOCK_SCALES), "BM=64 BN=64 BK=128 consumers=1 cluster_k=4 promote=128"),
        (GemmProblem(64, 128, 840), "BM=64 BN=64 consumers=1 wait_depth=1 tensor_store=1 cluster_k=4 grid_blocks=24"),
        (
            GemmProblem(136, 72, 584, True, batch=2, bias=Bias.ROW, residual=True),
            "BM=128 BN=48 cluster_k=2 grid_blocks=32",
        ),
    ],
)
def test_blocks_of_a_cluster_share_k(problem: GemmProblem, words: str) -> None:
    verify(problem, by_wgmma(problem, f"stages=3 {words}"))


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (
            GemmProblem(19, 67, 200, transpose_b=True, ldd=68, bias=Bias.ROW, residual=True, preactivation=True),
            "BM=64 BN=24 consumers=1 cluster_k=2",
        ),
        (GemmProblem(72, 200, 200, True, ldb=208, bias=Bias.COLUMN), "BM=128 BN=64"),
        (GemmProblem(9, 70, 272, transpose_b=True, dtype=INT8, scales=Scales.ROW), "BM=64 BN=16 BK=128 consumers=1"),
        (
            GemmProblem(9, 70, 272, transpose_b=True, dtype=E4M3, mixed=True, fast_accumulation=True),
            "BM=64 BN=16 BK=128 consumers=1",
        ),
    ],
)
def test_rows_become_columns_of_tiles(problem: GemmProblem, words: str) -> None:
    verify(problem, by_wgmma(problem, f"stages=2 swap=1 {words}"))


def test_one_kernel_serves_a_bucket_of_columns() -> None:
    bucket = [GemmProblem(m, 64, 128, transpose_b=True, bucket_rows=True) for m in (9, 16)]
    few, most = (by_wgmma(problem, "BM=64 BN=16 consumers=1 stages=2 swap=1") for problem in bucket)
    assert few.source == most.source
    verify(bucket[0], few)


@pytest.mark.parametrize(
    "words", ["BN=80", "BN=40 grid_blocks=1 whole_tiles=1", "BN=144 cluster_k=4", "BN=96", "BN=8", "BN=88"]
)
def test_boxes_of_any_width_are_stored(words: str) -> None:
    """Rows of 80, 80, 48, 96, 16 and 16 bytes, of which a buffer has one, two or eight."""
    problem = GemmProblem(72, 200, 256 if "cluster_k" in words else 72, transpose_b=True, bias=Bias.ROW)
    verify(problem, by_wgmma(problem, f"BM=64 consumers=1 stages=2 tensor_store=1 {words}"))


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (GemmProblem(72, 152, 136, bias=Bias.ROW), "BM=64 BN=72 consumers=1"),
        (GemmProblem(128, 88, 200, True), "BM=128 BN=40 tensor_store=1 cluster_k=2"),
        (
            GemmProblem(192, 152, 72, batch=2),
            "BM=64 BN=80 consumers=1 tensor_store=1 cluster_m=2 grid_blocks=4 whole_tiles=1",
        ),
        (GemmProblem(24, 64, 136, True, True), "BM=64 BN=24 consumers=1 swap=1"),
    ],
)
def test_columns_of_a_tile_are_part_of_boxes_across_k(problem: GemmProblem, words: str) -> None:
    verify(problem, by_wgmma(problem, f"stages=2 {words}"))


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (GemmProblem(72, 16, 136), "BM=64 BN=16 consumers=1"),
        (GemmProblem(136, 24, 200, True), "BM=128 BN=24 tensor_store=1 cluster_k=2"),
        (GemmProblem(192, 32, 136, batch=2, bias=Bias.ROW), "BM=64 BN=32 consumers=1 tensor_store=1 cluster_m=2"),
        (GemmProblem(72, 8, 200), "BM=64 BN=8 BK=128 consumers=1 wait_depth=1 grid_blocks=4"),
        (GemmProblem(16, 136, 200, True), "BM=64 BN=16 consumers=1 swap=1"),
        (GemmProblem(192, 32, 32), "BM=64 BN=32 BK=32 consumers=1 tensor_store=1 grid_blocks=2 whole_tiles=1"),
        (GemmProblem(72, 152, 72, batch=2), "BM=64 BN=80 BK=32 consumers=1 cluster_n=2"),
        (GemmProblem(136, 40, 72, True, True), "BM=128 BN=48 BK=32 wait_depth=1"),
    ],
)
def test_narrow_tiles_have_rows_as_narrow(problem: GemmProblem, words: str) -> None:
    right = by_wgmma(problem, f"stages=2 {words}")
    boxes = [one.tensor_map.box[-1] for one in right.arguments[:2] if one.tensor_map is not None]
    assert min(boxes) in (16, 32)
    verify(problem, right)


def test_unaligned_operands_are_copied_first() -> None:
    problem = GemmProblem(65, 70, 131, True, batch=2, stride_b=0)
    chosen = "BM=64 BN=64 consumers=1 stages=2 prepare_a=copy prepare_b=transpose"
    verify(problem, by_wgmma(problem, chosen))
    assert OPERATOR.default(GemmProblem(4095, 4096, 4097, transpose_b=True), SPEC).kernel == "wgmma"


def test_other_devices_have_no_wgmma() -> None:
    chosen = wgmma("BM=128 BN=128")
    for name in ("a100", "b200"):
        (violation,) = OPERATOR.violations(SQUARE, chosen, named_device(name))
        assert violation.startswith("instructions of sm_90a are not those of")
        assert all(seed.kernel != "wgmma" for seed in OPERATOR.seeds(SQUARE, named_device(name)))


def test_few_seeds_by_mma_sync_follow_those_by_wgmma() -> None:
    seeds = OPERATOR.seeds(SQUARE, SPEC)
    others = [seed for seed in seeds if seed.kernel == "mma_sync"]
    assert len(others) == 3  # they take seconds to compile
    assert seeds[-3:] == others


def test_blocks_that_share_k_exchange_their_sums() -> None:
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


def test_the_winners_of_others_come_first() -> None:
    default = OPERATOR.default(SQUARE, SPEC)
    assert (default.block_m, default.block_n, default.cluster, default.consumers) == (128, 256, 1, 2)
    assert (default.stages, default.grid_blocks) == (4, SPEC.sm_count)


@pytest.mark.parametrize(("m", "n", "k"), [(256, 5120, 5120), (128, 6144, 4096), (64, 37888, 3584), (1024, 6144, 4096)])
def test_tiles_fill_whole_waves(m: int, n: int, k: int) -> None:
    """Of the seeds, that which the time model finds fastest: tiles of powers of two leave a quarter of the SMs idle."""
    problem = GemmProblem(m, n, k, transpose_b=True)
    chosen, _ = preferred(OPERATOR, problem, SPEC)
    blocks = chosen.tiles(problem) * chosen.cluster
    assert blocks / SPEC.sm_count / ceil_div(blocks, SPEC.sm_count) > 0.9


def test_narrow_tiles_have_long_steps() -> None:
    """Of 64×4096×4096, tiles of 64×32 take 13.2 µs on an H200 with 128 of k in a step, and 14.0 with 64."""
    chosen, _ = preferred(OPERATOR, GemmProblem(64, 4096, 4096, transpose_b=True), SPEC)
    assert (chosen.block_m, chosen.block_n, chosen.block_k, chosen.cluster) == (64, 32, 128, 1)


def test_tiles_with_rows_outside_have_short_steps() -> None:
    """16×8192×28672 takes 150 µs on an H200 by tiles of 64×64 with 128 of k in a step, 16 of whose rows are inside."""
    seeds = list(OPERATOR.seeds(GemmProblem(16, 8192, 28672, transpose_b=True), SPEC))
    assert {one.block_k for one in seeds if isinstance(one, WgmmaSchedule) and not one.swap} == {64}
    assert {one.block_k for one in seeds if isinstance(one, WgmmaSchedule) and one.swap} == {64, 128}


WIDE = GemmProblem(192, 64, 200, transpose_b=True)
SINGLE = "BM=64 BN=64 consumers=1 stages=2"
SWAP = "BM=64 BN=24 consumers=1 stages=2 swap=1"
SWAPPED = GemmProblem(19, 67, 64, transpose_b=True, ldd=68, preactivation=True)
WAVES = (
    GemmProblem(64, 320, 200, transpose_b=True),
    f"{SINGLE} grid_blocks=2",
)  # two of whole tiles, and a tile for both
PINGPONG = "BM=64 BN=64 consumers=2 stages=3 pingpong=1 grid_blocks=1 whole_tiles=1"
BYTES = f"{SINGLE} BK=128"
PROMOTED = f"{BYTES} promote=128"
SCALED = GemmProblem(72, 144, 272, **BLOCK_SCALES)
OF_ROWS = GemmProblem(64, 64, 64, transpose_b=True, dtype=INT8, scales=Scales.ROW)
PAIRS_ACROSS = GemmProblem(64, 256, 64, gate=Gate.HALVES)
BUGS: dict[str, tuple[str, str, GemmProblem, str]] = {
    "columns of gates for those of factors": (
        "first_column + behind * second",
        "first_column",
        PAIRS_ACROSS,
        "BM=64 BN=128 consumers=1 stages=2",
    ),
    "scales of the first block's part of k": (
        "promotion.factors(unit.first + step)",
        "promotion.factors(step)",
        SCALED,
        f"{PROMOTED} cluster_k=2",
    ),
    "a row of Z for a column": ("? problem.m : 1;", "? problem.ldd : 1;", SWAPPED, SWAP),
    "the parity of skipped stages": ("parity_ ^= stage /", "parity_ = stage /", WIDE, PINGPONG),
    "scales of the first columns": ("first_block_ + i, last_block_)", "0, last_block_)", SCALED, PROMOTED),
    "scales behind the last row": ("% 2 * 8, last_row_)", "% 2 * 8, last_row_ + 1)", SCALED, PROMOTED),
    "scales of the first product's rows": (
        "rows = SumRows(arguments, problem, tile, row);",
        "rows.m[0] = 0;",
        replace(OF_ROWS, m=128, out_dtype=OutDType.BFLOAT16),
        "BM=128 BN=64 BK=128 consumers=1 stages=2 tensor_store=1",
    ),
    "the first whole tile for all": ("shared ? rest + block", "shared ? rest", *WAVES),
    "the scale of another column": (
        "there ? column_factors(arguments)[column]",
        "there ? column_factors(arguments)[n]",
        OF_ROWS,
        BYTES,
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_detected(bug: str) -> None:
    before, after, problem, words = BUGS[bug]
    right = by_wgmma(problem, words)
    check_caught(problem, right, before, after)
