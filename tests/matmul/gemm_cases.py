"""gemm's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.mma_sync.schedule import MmaSyncSchedule
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemm.schedule import GemmSchedule, Prepare
from autotune.codegen.matmul.gemm.wgmma.schedule import WgmmaSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.program import Program
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemm import OPERATOR

SPEC = named_device("h200")
FP16, FP32 = DType.FLOAT16, OutDType.FLOAT32
TF32, E4M3, E5M2, INT8 = DType.FLOAT32, DType.FLOAT8_E4M3, DType.FLOAT8_E5M2, DType.INT8
# The emulator walks through every product, and keeps a stack for every thread.
_PRODUCTS, _THREADS = 2**18, 2**9
_WGMMA_PRODUCTS, _WGMMA_THREADS = 2**22, 2**11

Case = tuple[GemmProblem, GemmSchedule]

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


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, `KINDS` in turn; always the same ones."""
    random = Random(18)
    return [_case(random, spec, KINDS[index % len(KINDS)]) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, kinds: dict[str, Any]) -> Case:
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


def scheduled(words: str) -> GemmSchedule:
    """The default schedule of mma_sync, or of wgmma after ``kernel=wgmma``, changed by words."""
    kind = WgmmaSchedule if "kernel=wgmma" in words else MmaSyncSchedule
    return kind.parse(words.split())


def wgmma(words: str) -> WgmmaSchedule:
    """A schedule by wgmma with the fields in `words`; others as most problems need them."""
    k = "" if "BK=" in words else "BK=64 "
    vector = "" if "vector_d=" in words else "vector_d=1 " if "swap=1" in words else "vector_d=2 "
    return WgmmaSchedule.parse(f"{k}{vector}{words}".split())


def by_wgmma(problem: GemmProblem, words: str) -> Program:
    return OPERATOR.program(problem, wgmma(words), SPEC)


def _riskier(random: Random, schedule: GemmSchedule) -> GemmSchedule:
    """Sometimes what is legal but never drawn: clusters of 2×2 blocks, or several clusters for each tile."""
    if schedule.kernel == "mma_sync" or random.random() < 0.5:
        return schedule
    if schedule.cluster_k > 1:
        return schedule.replace(grid_blocks=2 * schedule.cluster_k, stages=2)
    return schedule.replace(cluster_m=2, cluster_n=2, grid_blocks=0, whole_tiles=False)


def _on_small_grid(random: Random, problem: GemmProblem, schedule: GemmSchedule) -> GemmSchedule:
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


def _problem(random: Random, template: GemmProblem, schedule: GemmSchedule) -> GemmProblem:
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
    fields: dict[str, Any] = {"batch": random.choice(batches), "residual": random.random() < 0.3}
    fields |= {"bias": random.choice((*Bias, Bias.NONE)), "k": random.choice((k, k, k, k, k, 0))}
    fields["activation"] = random.choice((*FUSED, *[Activation.IDENTITY] * 4))
    if template.result is DType.INT32:
        fields = {"batch": fields["batch"], "k": fields["k"]}
    if template.parts > 1 or template.preactivation:  # so that rows in several parts are aligned in all of them
        n = round_up(n, template.parts * max(schedule.vector(template, "b"), schedule.vector_d))
    shaped = replace(template, m=m, n=n, **fields, lda=0, ldb=0, ldd=0)
    layouts: dict[str, int] = {"align_d": schedule.vector(template, "d") * template.result.bytes}
    for operand in "abd":
        copied = getattr(schedule, f"prepare_{operand}", Prepare.NONE) is not Prepare.NONE
        vector = 1 if copied else schedule.vector(template, operand)
        rows, columns = shaped.stored[operand]
        leading = round_up(max(1, columns), vector) + vector * random.choice((0, 0, 1))
        layouts |= {f"ld{operand}": leading, f"stride_{operand}": rows * leading if shaped.batch > 1 else 0}
    if shaped.batch > 1 and random.random() < 0.3:
        layouts[random.choice(("stride_a", "stride_b"))] = 0
    return replace(shaped, **layouts)


def _risk(problem: GemmProblem, schedule: GemmSchedule) -> tuple[object, ...]:
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


CASES = covering(drawn_cases(300), _risk)
