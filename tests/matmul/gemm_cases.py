"""gemm's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

import numpy as np

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.contract.pair_coverage import covering
from autotune.emulator import run
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR

SPEC = named_device("h200")
FP16, FP32 = DType.FLOAT16, OutDType.FLOAT32
TF32, E4M3, E5M2, INT8 = DType.FLOAT32, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8
# The emulator walks through every product, and keeps a stack for every thread.
_PRODUCTS, _THREADS = 2**18, 2**9
_WGMMA_PRODUCTS, _WGMMA_THREADS = 2**22, 2**11

PROBLEMS = {
    "m4096-n4096-k4096-nt-bfloat16": GemmProblem(4096, 4096, 4096, transpose_b=True),
    "m8192-n8192-k8192-nn-float16-float32": GemmProblem(8192, 8192, 8192, dtype=FP16, out_dtype=FP32),
    "m4095-n4096-k4097-nt-bfloat16": GemmProblem(4095, 4096, 4097, transpose_b=True),
    "m64-n5120-k5120-nt-bfloat16-row-gelu_tanh": GemmProblem(
        64, 5120, 5120, transpose_b=True, bias=Bias.ROW, activation=Activation.GELU_TANH
    ),
    "m16-n152064-k8192-nn-bfloat16": GemmProblem(16, 152064, 8192),
    "m1073741824-n1-k2-tn-float16": GemmProblem(2**30, 1, 2, True, dtype=FP16),
    "m1-n1-k268435456-tt-bfloat16": GemmProblem(1, 1, 2**28, True, True),
    "m16-n24-k8-tn-float16-batch65535": GemmProblem(16, 24, 8, True, dtype=FP16, batch=65535),
    "m33-n40-k50-tt-bfloat16-float32-batch2-column-relu-residual-aligna2-ldb56-ldd41": GemmProblem(
        33, 40, 50, True, True, out_dtype=FP32, batch=2, bias=Bias.COLUMN, activation=Activation.RELU,
        residual=True, lda=33, ldb=56, ldd=41, align_a=2,
    ),
    "m5-n7-k0-nn-bfloat16-row-residual": GemmProblem(5, 7, 0, bias=Bias.ROW, residual=True),
    "m4096-n28672-k4096-nt-bfloat16-silu-halves-preactivation": GemmProblem(
        4096, 28672, 4096, transpose_b=True, activation=Activation.SILU, gate=Gate.HALVES, preactivation=True
    ),
    "m0-n7-k5-nt-float16-column": GemmProblem(0, 7, 5, transpose_b=True, dtype=FP16, bias=Bias.COLUMN),
    "m5-n0-k7-nn-bfloat16": GemmProblem(5, 0, 7),
    "m4096-n4096-k4096-tn-float32": GemmProblem(4096, 4096, 4096, True, dtype=TF32),
    "m4096-n4096-k4096-nt-int8-int32": GemmProblem(4096, 4096, 4096, False, True, INT8, out_dtype=OutDType.INT32),
    "m16-n4096-k7168-nt-float8_e4m3fn-bfloat16-block_scales": GemmProblem(
        16, 4096, 7168, transpose_b=True, dtype=E4M3, out_dtype=OutDType.BFLOAT16, scales=Scales.BLOCK
    ),
    "m37-n50-k200-tn-float8_e5m2-mixed-fast-aligna2-ldb51": GemmProblem(
        37, 50, 200, True, dtype=E5M2, mixed=True, fast_accumulation=True, ldb=51, align_a=2
    ),
    "m5-n7-k3-nn-bfloat16-batch0": GemmProblem(5, 7, 3, batch=0),
}  # fmt: skip
SMALL_PROBLEMS = (
    GemmProblem(64, 64, 64, transpose_b=True, dtype=FP16),
    GemmProblem(33, 50, 77, True, bias=Bias.ROW, activation=Activation.RELU, ldb=52),
    GemmProblem(17, 24, 20, True, dtype=TF32),
    GemmProblem(16, 24, 36, transpose_b=True, dtype=INT8, out_dtype=OutDType.INT32),
    GemmProblem(20, 17, 140, dtype=E4M3, mixed=True, residual=True, scales=Scales.BLOCK),
    GemmProblem(20, 17, 36, dtype=INT8, scales=Scales.ROW),
    GemmProblem(35, 41, 50, batch=2, residual=True),
)
KINDS: tuple[dict[str, Any], ...] = (
    {"transpose_b": True},
    {},
    {"transpose_a": True, "dtype": FP16},
    {"transpose_a": True, "transpose_b": True},
    {"dtype": FP16, "transpose_b": True},
    {"dtype": FP16},
    {"out_dtype": FP32},
    {"transpose_a": True, "out_dtype": OutDType.FLOAT16},
    {"dtype": TF32, "transpose_b": True},
    {"dtype": TF32, "transpose_a": True},
    {"dtype": INT8, "transpose_b": True, "out_dtype": OutDType.INT32},
    {"dtype": INT8, "transpose_a": True, "scales": Scales.ROW, "out_dtype": OutDType.FLOAT16},
    {"dtype": INT8, "scales": Scales.TENSOR},
    {"dtype": E4M3, "transpose_b": True, "out_dtype": OutDType.BFLOAT16, "scales": Scales.BLOCK},
    {"dtype": E4M3, "transpose_b": True, "scales": Scales.ROW},
    {"dtype": E5M2, "mixed": True, "transpose_a": True, "fast_accumulation": True},
    {"transpose_b": True, "gate": Gate.HALVES, "preactivation": True},
    {"gate": Gate.HALVES},
    {"transpose_b": True, "gate": Gate.INTERLEAVED, "preactivation": True, "dtype": FP16},
    {"preactivation": True},
)


def drawn_cases(count, spec=SPEC):
    """`count` cases that are legal on a device, `KINDS` in turn; always the same ones."""
    random = Random(18)
    return [_case(random, spec, KINDS[index % len(KINDS)]) for index in range(count)]


def _case(random, spec, kinds):
    while True:
        align = max(random.choice((16, 16, 16, 8, 4, 2)), kinds.get("dtype", FP16).bytes)
        template = GemmProblem(
            random.choice((128, 256)), 256, 4096, align_a=align, align_b=random.choice((16, 16, align)), **kinds
        )
        drawn = OPERATOR.space(template, spec)
        for draw in islice(drawn.random_draws(random.randrange(2**32)), 20):
            schedule = drawn.build(draw)
            wgmma = isinstance(schedule, WgmmaSchedule)
            if schedule.threads > _THREADS // (1 if wgmma else 2) or schedule.block_m * schedule.block_n > 2**13:
                continue
            schedule = _riskier(random, schedule)
            problem = _problem(random, template, schedule)
            schedule = _on_small_grid(random, problem, schedule)
            products = problem.m * problem.n * problem.k * problem.batch
            small = products <= (_WGMMA_PRODUCTS if wgmma else _PRODUCTS)
            small &= schedule.blocks(problem) * schedule.threads <= (_WGMMA_THREADS if wgmma else _THREADS)
            if small and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


def scheduled(words):
    """The default schedule of mma_sync, or of wgmma after ``kernel=wgmma``, changed by words."""
    kind = WgmmaSchedule if "kernel=wgmma" in words else MmaSyncSchedule
    return kind.parse(words.split())


def wgmma(words):
    """A schedule by wgmma with the fields in `words`; others as most problems need them."""
    k = "" if "BK=" in words else "BK=64 "
    vector = "" if "vector_d=" in words else "vector_d=1 " if "swap=1" in words else "vector_d=2 "
    return WgmmaSchedule.parse(f"{k}{vector}{words}".split())


def by_wgmma(problem, words):
    return OPERATOR.program(problem, wgmma(words), SPEC)


def of_steps(layout, dtype, k, n, **fields):
    """A product of as many rows as terms, whose results are exact."""
    result = OutDType.INT32 if dtype is INT8 else FP32
    return GemmProblem(k, n, k, layout[0] == "t", layout[1] == "t", dtype=dtype, out_dtype=result, **fields)


def check_each_step_counts_once(problem, schedule):
    """A has one element other than 0 in each row, at another k each; so D has the rows of op(B)."""
    _, b, d = problem.tensors
    numbers = np.random.default_rng(0).integers(-9, 10, b.size).astype(b.dtype.numpy)
    a = np.eye(problem.k, dtype=b.dtype.numpy)[:, ::-1].reshape(-1).copy()
    arrays = {"a": a, "b": numbers, "d": np.full(d.size, -1, problem.result.numpy)}
    run(OPERATOR.program(problem, schedule, SPEC), problem.tensors, arrays, {"alpha": 1.0, "beta": 0.0}, seed=1)
    stored = b.view(numbers)[0]
    rows = (stored.T if problem.transpose_b else stored)[::-1]
    np.testing.assert_array_equal(d.view(arrays["d"])[0], rows.astype(np.float32))


def _riskier(random, schedule):
    """Sometimes what is legal but never drawn: clusters of 2×2 blocks, or several clusters for each tile."""
    if schedule.kernel == "mma_sync" or random.random() < 0.5:
        return schedule
    if schedule.cluster_k > 1:
        return schedule.replace(grid_blocks=2 * schedule.cluster_k, stages=2)
    return schedule.replace(cluster_m=2, cluster_n=2, grid_blocks=0, whole_tiles=False)


def _on_small_grid(random, problem, schedule):
    if not schedule.grid_blocks:
        return schedule
    if schedule.whole_tiles:
        return replace(schedule, grid_blocks=schedule.cluster)
    if schedule.cluster_k > 1:
        blocks = 2 * schedule.cluster_k
        shared = schedule.steps(problem) >= blocks
        return replace(schedule, grid_blocks=blocks * schedule.tiles(problem) if shared else 0)
    grid = random.choice((0, 0, 1, 2, 3, 5))
    return replace(schedule, grid_blocks=min(grid, schedule.tiles(problem) * schedule.steps(problem)))


def _problem(random, template, schedule):
    """Less than a tile, a tile, and a part of one more, along all sides."""
    m, n = (
        random.choice((1, block, block, block // 2 + 1, block + 3)) for block in (schedule.block_m, schedule.block_n)
    )
    if schedule.swap:
        m, n = min(m, n), max(m, n)
    several = schedule.cluster_k > 1 and schedule.grid_blocks > 0  # clusters for each tile
    steps = 2 * schedule.cluster_k if several else random.choice((1, 2, 3, schedule.stages))
    k = schedule.block_k * steps + random.choice((0, 0, 1, schedule.block_k // 2, -3))
    batches = (1, 1, 1, 1 if template.scales in (Scales.ROW, Scales.BLOCK) else 2)
    fields = {"batch": random.choice(batches), "residual": random.random() < 0.3}
    fields |= {"bias": random.choice((*Bias, Bias.NONE)), "k": random.choice((k, k, k, k, k, 0))}
    fields["activation"] = random.choice((*FUSED, *[Activation.IDENTITY] * 4))
    if template.result is DType.INT32:
        fields = {"batch": fields["batch"], "k": fields["k"]}
    if template.parts > 1 or template.preactivation:  # so that rows in several parts are aligned in all of them
        n = round_up(n, template.parts * max(schedule.vector(template, "b"), schedule.vector_d))
    shaped = replace(template, m=m, n=n, **fields, lda=0, ldb=0, ldd=0)
    layouts = {"align_d": schedule.vector(template, "d") * template.result.bytes}
    for operand in "abd":
        copied = getattr(schedule, f"prepare_{operand}", Prepare.NONE) is not Prepare.NONE
        vector = 1 if copied else schedule.vector(template, operand)
        rows, columns = shaped.stored[operand]
        leading = round_up(max(1, columns), vector) + vector * random.choice((0, 0, 1))
        layouts |= {f"ld{operand}": leading, f"stride_{operand}": rows * leading if shaped.batch > 1 else 0}
    if shaped.batch > 1 and random.random() < 0.3:
        layouts[random.choice(("stride_a", "stride_b"))] = 0
    return replace(shaped, **layouts)


def _risk(problem, schedule):
    """What is hard to get right, of which each combination with the layout or the gate has a case."""
    if schedule.kernel == "wgmma":
        side_by_side, shared = schedule.cluster_m * schedule.cluster_n, schedule.shares_tiles(problem)
        if schedule.cluster_k > 1 or side_by_side == 4 or shared:
            return side_by_side, schedule.cluster_k > 1, shared
        return problem.layout, schedule.swap, schedule.pingpong or problem.preactivation
    if schedule.shares_tiles(problem) and schedule.promote:
        return ("promoted sums of shared tiles",)
    if problem.gate is not Gate.NONE:
        return problem.gate, problem.preactivation
    return problem.layout, schedule.vector(problem, "a")


CASES = covering(drawn_cases(200), _risk)
NT, TN, TT = {"transpose_b": True}, {"transpose_a": True}, {"transpose_a": True, "transpose_b": True}
BLOCK_SCALES: dict[str, Any] = {"transpose_b": True, "dtype": E4M3, "out_dtype": FP32, "scales": Scales.BLOCK}
_ROW, _COLUMN, _HALVES = {"bias": Bias.ROW}, {"bias": Bias.COLUMN}, {"gate": Gate.HALVES}
_OF_ROWS: dict[str, Any] = {"scales": Scales.ROW, "out_dtype": OutDType.BFLOAT16}
KEPT: dict[str, Any] = {"transpose_b": True, "activation": Activation.GELU_TANH, "preactivation": True}
_PLACED = "grid_blocks=2 whole_tiles=1"
_IN_TURNS = "pingpong=1 grid_blocks=1 whole_tiles=1"


def _sized(m, n, k, shared, *cases):
    return [(GemmProblem(m, n, k, **shared | fields), words) for fields, words in cases]


# Ways of wgmma that few drawn schedules take, by the words that they share.
_WAYS: list[tuple[str, list[tuple[GemmProblem, str]]]] = [
    ("BK=32 wait_depth=1", [  # an operand in TF32 from registers
        *_sized(136, 200, 136, TT | {"dtype": TF32},
            ({"batch": 2}, "BM=128 BN=32 stages=2 tensor_store=1"),
            ({"residual": True}, "BM=64 BN=64 stages=3 consumers=1 tensor_store=1 cluster_n=2")),
        *_sized(136, 200, 136, {"dtype": TF32},
            (_ROW, f"BM=128 BN=64 stages=2 swap=1 tensor_store=1 {_PLACED}"),
            ({"residual": True}, f"BM=64 BN=96 stages=2 swap=1 tensor_store=1 {_IN_TURNS}"),
            (_COLUMN, "BM=128 BN=40 stages=3 swap=1 consumers=1 cluster_k=2")),
    ]),
    ("tensor_store=1", [  # factors and biases of columns that are loaded before products
        *_sized(200, 208, 144, NT,
            (_ROW, f"BM=128 BN=64 stages=2 {_PLACED}"),
            (_ROW | {"batch": 2}, "BM=64 BN=144 stages=2 consumers=1 cluster_m=2"),
            (_ROW | {"activation": Activation.SILU}, "BM=64 BN=88 stages=2 consumers=1"),
            (_ROW | {"residual": True}, "BM=64 BN=128 stages=3 consumers=1"),
            (_ROW, f"BM=64 BN=64 stages=3 {_IN_TURNS}"),
            (_ROW, "BM=64 BN=64 stages=2 consumers=1 grid_blocks=8"),
            ({"dtype": E4M3} | _OF_ROWS, "BM=64 BN=128 BK=128 stages=2 consumers=1 promote=128"),
            ({"dtype": INT8} | _OF_ROWS, "BM=128 BN=96 BK=128 stages=2"),
            ({"dtype": INT8} | _ROW | _OF_ROWS, "BM=64 BN=192 BK=128 stages=2 consumers=1")),
    ]),
    ("tensor_store=1 BM=64 BN=64 stages=2 consumers=1", [  # and those that are loaded for each box
        *_sized(72, 208, 144, NT | _ROW,
            ({"out_dtype": FP32}, ""), (_HALVES | {"activation": Activation.SILU}, ""), ({}, "cluster_k=2")),
    ]),
    ("tensor_store=1", [  # C that comes by stages
        *_sized(200, 144, 136, {"residual": True},
            (TN | {"out_dtype": FP32}, f"BM=128 BN=64 stages=2 {_PLACED}"),
            ({"out_dtype": FP32}, f"BM=64 BN=64 stages=3 {_IN_TURNS}"),
            (NT | {"out_dtype": FP32}, "BM=128 BN=64 stages=3 consumers=1 cluster_n=2 wait_depth=1"),
            (NT | _ROW | {"batch": 2}, "BM=64 BN=80 stages=2 consumers=1 cluster_m=2"),
            (_HALVES | {"preactivation": True}, "BM=64 BN=128 stages=2 consumers=1"),
            (NT | _COLUMN | {"batch": 2}, "BM=128 BN=72 stages=2")),
    ]),
    ("BM=64 BN=64 stages=2 consumers=1", [  # C that threads load
        *_sized(72, 128, 136, NT | {"out_dtype": FP32, "residual": True},
            ({}, "tensor_store=1 grid_blocks=5"), ({}, "tensor_store=1 cluster_k=2"), ({}, "")),
    ]),
    ("tensor_store=1 pingpong=1", [  # C that comes by a ring
        *_sized(200, 288, 136, {"residual": True},
            ({"out_dtype": FP32}, "BM=64 BN=64 stages=3 grid_blocks=1 whole_tiles=1"),
            (NT, f"BM=64 BN=72 stages=2 {_PLACED}"),
            (TN | {"out_dtype": FP32}, "BM=128 BN=96 stages=2 grid_blocks=1 whole_tiles=1 wait_depth=1"),
            (_ROW | {"batch": 2, "out_dtype": FP32}, "BM=64 BN=96 stages=2 consumers=3"),
            (_HALVES, f"BM=64 BN=128 stages=2 cluster_n=2 {_PLACED}")),
    ]),
    ("tensor_store=1", [  # a second output in boxes, and by threads
        *_sized(200, 144, 136, KEPT,
            (_ROW, f"BM=128 BN=64 stages=2 {_PLACED}"),
            ({"batch": 2}, "BM=64 BN=144 stages=2 consumers=1 cluster_m=2"),
            (_COLUMN | {"ldd": 152}, f"BM=64 BN=64 stages=3 {_IN_TURNS}"),
            ({"residual": True}, "BM=64 BN=128 stages=3 consumers=1 cluster_k=2"),
            ({"dtype": TF32}, "BM=64 BN=64 BK=32 stages=3 consumers=1")),
        *_sized(72, 200, 72, KEPT,
            ({"residual": True}, "BM=64 BN=64 stages=2 consumers=1"), ({}, "BM=64 BN=88 stages=2 consumers=1")),
    ]),
    ("swap=1 tensor_store=1 stages=2", [  # columns of a tile that become rows of boxes
        (GemmProblem(264, 136, 200, ldd=144, residual=True), "BM=64 BN=96 consumers=1 specialize=shape"),
        (GemmProblem(19, 72, 200, **NT, **_ROW), "BM=64 BN=24 consumers=1"),
        (GemmProblem(9, 136, 136, dtype=FP16, **_COLUMN), "BM=128 BN=8 wait_depth=1"),
        (GemmProblem(104, 136, 200, **TN), f"BM=64 BN=72 {_IN_TURNS}"),
        (GemmProblem(100, 136, 264), "BM=128 BN=40 cluster_k=2"),
        (GemmProblem(160, 128, 136), "BM=128 BN=80 consumers=1 cluster_m=2"),
        (GemmProblem(200, 72, 200), "BM=64 BN=128 consumers=1 grid_blocks=3"),
    ]),
    ("swap=1 stages=2", [  # rows that become columns of tiles
        (GemmProblem(19, 67, 200, ldd=68, residual=True, preactivation=True, **NT, **_ROW),
            "BM=64 BN=24 consumers=1 cluster_k=2"),
        (GemmProblem(72, 200, 200, ldb=208, **TN, **_COLUMN), "BM=128 BN=64"),
        (GemmProblem(9, 70, 272, dtype=INT8, scales=Scales.ROW, **NT), "BM=64 BN=16 BK=128 consumers=1"),
        (GemmProblem(9, 70, 272, dtype=E4M3, mixed=True, fast_accumulation=True, **NT),
            "BM=64 BN=16 BK=128 consumers=1"),
    ]),
    ("stages=3", [  # blocks of a cluster that share k
        (GemmProblem(72, 66, 584, residual=True, **NT, **_ROW), "BM=128 BN=64 cluster_k=8"),
        (GemmProblem(64, 40, 200, **NT), "BM=64 BN=40 consumers=1 cluster_k=2"),
        (GemmProblem(128, 192, 200), "BM=128 BN=128 wait_depth=1 cluster_k=2 tensor_store=1"),
        (GemmProblem(64, 256, 200, **_HALVES), "BM=64 BN=128 consumers=1 cluster_k=2"),
        (GemmProblem(40, 144, 656, **BLOCK_SCALES), "BM=64 BN=64 BK=128 consumers=1 cluster_k=4 promote=128"),
        (GemmProblem(64, 128, 840), "BM=64 BN=64 consumers=1 wait_depth=1 tensor_store=1 cluster_k=4 grid_blocks=24"),
        (GemmProblem(136, 72, 584, batch=2, residual=True, **TN, **_ROW), "BM=128 BN=48 cluster_k=2 grid_blocks=32"),
    ]),
    ("stages=2", [
        # Blocks share tiles, of an odd number of vectors: four share two of seven, the fifth begins with a whole one.
        (GemmProblem(65, 64, 520, align_a=2, **TN), "BM=128 BN=64 grid_blocks=5 prepare_a=copy tensor_store=1"),
        (GemmProblem(64, 168, 128, **NT), "BM=64 BN=24 consumers=1 grid_blocks=5"),
        # Three whole tiles along a side, for clusters of two blocks: the fourth is not stored.
        (GemmProblem(192, 64, 64, **NT), "BM=64 BN=64 consumers=1 cluster_m=2"),
        (GemmProblem(64, 192, 64, **NT), "BM=64 BN=64 consumers=1 cluster_n=2"),
        # Rows of 80, 80, 48, 96, 16 and 16 bytes, of which a buffer has one, two or eight.
        *_sized(72, 200, 72, NT | _ROW, *(({}, f"BM=64 consumers=1 tensor_store=1 {words}") for words in (
            "BN=80", "BN=40 grid_blocks=1 whole_tiles=1", "BN=96", "BN=8", "BN=88"))),
        (GemmProblem(72, 200, 256, **NT, **_ROW), "BM=64 BN=144 consumers=1 tensor_store=1 cluster_k=4"),
        # Columns of a tile that are part of boxes across k.
        (GemmProblem(72, 152, 136, **_ROW), "BM=64 BN=72 consumers=1"),
        (GemmProblem(128, 88, 200, **TN), "BM=128 BN=40 tensor_store=1 cluster_k=2"),
        (GemmProblem(192, 152, 72, batch=2),
            "BM=64 BN=80 consumers=1 tensor_store=1 cluster_m=2 grid_blocks=4 whole_tiles=1"),
        (GemmProblem(24, 64, 136, **TT), "BM=64 BN=24 consumers=1 swap=1"),
        # Narrow tiles, whose rows in shared memory are as narrow.
        (GemmProblem(72, 16, 136), "BM=64 BN=16 consumers=1"),
        (GemmProblem(136, 24, 200, **TN), "BM=128 BN=24 tensor_store=1 cluster_k=2"),
        (GemmProblem(192, 32, 136, batch=2, **_ROW), "BM=64 BN=32 consumers=1 tensor_store=1 cluster_m=2"),
        (GemmProblem(72, 8, 200), "BM=64 BN=8 BK=128 consumers=1 wait_depth=1 grid_blocks=4"),
        (GemmProblem(16, 136, 200, **TN), "BM=64 BN=16 consumers=1 swap=1"),
        (GemmProblem(192, 32, 32), f"BM=64 BN=32 BK=32 consumers=1 tensor_store=1 {_PLACED}"),
        (GemmProblem(72, 152, 72, batch=2), "BM=64 BN=80 BK=32 consumers=1 cluster_n=2"),
        (GemmProblem(136, 40, 72, **TT), "BM=128 BN=48 BK=32 wait_depth=1"),
        # Operands that are copied first.
        (GemmProblem(65, 70, 131, batch=2, stride_b=0, **TN),
            "BM=64 BN=64 consumers=1 prepare_a=copy prepare_b=transpose"),
    ]),
]  # fmt: skip
PECULIAR = [(problem, wgmma(f"{shared} {words}")) for shared, cases in _WAYS for problem, words in cases]
# What is behind a row that ends within a vector does not count.
PECULIAR += [
    (GemmProblem(33, 35, 83, **NT, lda=88, ldb=88, ldd=40, bias=Bias.ROW, residual=True),
     scheduled("BM=32 BN=32 BK=32 WM=16 WN=16 stages=3 double_buffer_fragments=0 vector_d=8")),
]  # fmt: skip
