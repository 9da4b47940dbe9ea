"""gemv's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.matmul.gemv.fma.schedule import FmaSchedule
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.gemv.schedule import GemvSchedule
from autotune.codegen.matmul.gemv.tensor_core.schedule import TensorCoreSchedule
from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.gemv import OPERATOR

SPEC = named_device("h200")
FP32, BF16, FP16, KN = DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16, WeightOrder.KN
FP8, INT8, INT4 = Weights.FP8, Weights.INT8, Weights.INT4
# The emulator walks through every product, and keeps a stack for every thread.
_PRODUCTS, _THREADS = 2**16, 2**11

Case = tuple[GemvProblem, GemvSchedule]

PROBLEMS = {
    "n4096-k4096-m1-nk-float32-identity": GemvProblem(4096, 4096),
    "n4096-k14336-m16-nk-bfloat16-identity": GemvProblem(4096, 14336, 16, dtype=BF16),
    "n8192-k28672-m4-kn-float16-identity": GemvProblem(8192, 28672, 4, KN, FP16),
    "n152064-k8192-m1-nk-bfloat16-batch3-bias-silu": GemvProblem(
        152064, 8192, dtype=BF16, batch=3, bias=True, activation=Activation.SILU
    ),
    "n1073741824-k1-m2-kn-float32-identity": GemvProblem(2**30, 1, 2, KN),
    "n1-k1073741824-m1-nk-float16-identity": GemvProblem(1, 2**30, dtype=FP16),
    "n33-k40-m3-nk-bfloat16-batch2-bias-gelu-beta-ldx48-ldw41-aligny2": GemvProblem(
        33, 40, 3, dtype=BF16, batch=2, bias=True, activation=Activation.GELU, beta_nonzero=True,
        ldx=48, ldw=41, align_y=2,
    ),
    "n70-k33-m5-kn-float32-gelu_tanh-ldw72-alignw8": GemvProblem(
        70, 33, 5, KN, activation=Activation.GELU_TANH, ldw=72, align_w=8
    ),
    "n1-k1-m1-nk-float32-relu": GemvProblem(1, 1, activation=Activation.RELU),
    "n5-k0-m2-nk-bfloat16-bias-relu-beta": GemvProblem(
        5, 0, 2, dtype=BF16, bias=True, activation=Activation.RELU, beta_nonzero=True
    ),
    "n0-k7-m1-kn-float32-bias-identity": GemvProblem(0, 7, order=KN, bias=True),
    "n5-k7-m0-nk-float32-identity": GemvProblem(5, 7, 0),
    "n5-k7-m1-nk-float16-batch0-identity": GemvProblem(5, 7, dtype=FP16, batch=0),
    "n4096-k14336-m1-nk-bfloat16-identity-int4-group128-bfloat16-zeros": GemvProblem(
        4096, 14336, dtype=BF16, weights=INT4, group_size=128, scale_dtype=BF16, zeros=True
    ),
    "n8192-k28672-m16-nk-float16-identity-fp8-group128": GemvProblem(
        8192, 28672, 16, dtype=FP16, weights=FP8, group_size=128
    ),
    "n4096-k4096-m1-nk-float32-identity-int8": GemvProblem(4096, 4096, weights=INT8),
    "n9-k77-m3-nk-float32-batch2-bias-relu-beta-int4-group32-float16": GemvProblem(
        9, 77, 3, batch=2, bias=True, activation=Activation.RELU, beta_nonzero=True,
        weights=INT4, group_size=32, scale_dtype=FP16,
    ),
    "n5-k0-m2-nk-bfloat16-identity-int4-group64-zeros": GemvProblem(
        5, 0, 2, dtype=BF16, weights=INT4, group_size=64, zeros=True
    ),
    "n65536-k1024-m8-nk-float32-identity-tx-ty": GemvProblem(65536, 1024, 8, transpose_x=True, transpose_y=True),
    "n33-k40-m3-kn-bfloat16-batch2-identity-beta-tx-ldx5-ldy36": GemvProblem(
        33, 40, 3, KN, BF16, batch=2, beta_nonzero=True, transpose_x=True, ldx=5, ldy=36
    ),
    "n0-k7-m1-nk-float32-identity-int8": GemvProblem(0, 7, weights=INT8),
}  # fmt: skip
SMALL_PROBLEMS = (
    GemvProblem(64, 512),
    GemvProblem(67, 264, 3, dtype=BF16, bias=True, activation=Activation.RELU),
    GemvProblem(72, 131, 2, KN, FP16, ldw=80),
    GemvProblem(67, 201, 2, dtype=BF16, weights=INT4, group_size=64, scale_dtype=BF16, zeros=True),
    GemvProblem(130, 133, 5, dtype=FP16, weights=FP8, group_size=128, scale_dtype=FP16),
    GemvProblem(33, 96, batch=2, weights=INT8, group_size=32, scale_dtype=FP16, stride_w=3200),
    GemvProblem(35, 133, 4, batch=2, bias=True, beta_nonzero=True),
)
KINDS: tuple[dict[str, Any], ...] = (
    {},
    {"order": KN},
    {"order": KN, "dtype": BF16},
    {"weights": INT4, "group_size": 32, "zeros": True},
    {"dtype": FP16},
    {"weights": FP8, "dtype": FP16},
    {"dtype": BF16},
    {"weights": INT8, "dtype": BF16, "scale_dtype": FP16},
    {"order": KN, "dtype": FP16},
    {"weights": INT4, "dtype": BF16, "group_size": 128, "scale_dtype": BF16, "zeros": True},
    {"dtype": BF16},
    {"weights": INT8, "group_size": 64},
    {"dtype": FP16},
    {"weights": INT4, "dtype": FP16, "group_size": 64, "transpose_y": True},
    {"transpose_x": True, "transpose_y": True},
    {"order": KN, "transpose_x": True},
    {"dtype": FP16, "transpose_x": True},
    {"order": KN, "transpose_y": True},
    {"weights": FP8, "dtype": BF16, "group_size": 128},
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, `KINDS` in turn; always the same ones."""
    random = Random(143)
    return [_case(random, spec, KINDS[index % len(KINDS)]) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, kinds: dict[str, Any]) -> Case:
    while True:
        m = random.choice((1, 1, 2, 3, 4, 5, 8, 16))
        template = GemvProblem(64, 2**16, m, **kinds)
        align, least = random.choice((1, 8, 16, 16, 16)), template.dtype.bytes
        least_w = template.weight_dtype.bytes
        template = replace(template, align_w=max(least_w, align), align_x=max(least, align // 2))
        drawn = OPERATOR.space(template, spec)
        for draw in islice(drawn.random_draws(random.randrange(2**32)), 20):
            schedule = drawn.build(draw)
            if schedule.threads * schedule.partitions > _THREADS:
                continue
            problem = _problem(random, template, schedule)
            products = problem.n * problem.k * problem.m * problem.batch
            small = products <= _PRODUCTS and schedule.blocks(problem) * schedule.threads <= _THREADS
            if small and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


def scheduled(words: str) -> GemvSchedule:
    """The default schedule of fma, or of tensor_core after ``kernel=tensor_core``, changed by words."""
    kind = TensorCoreSchedule if "kernel=tensor_core" in words else FmaSchedule
    return kind.parse(words.split())


def _problem(random: Random, template: GemvProblem, schedule: GemvSchedule) -> GemvProblem:
    """Less than a block, a block, and a part of one more, along both sides; a step for each partition at least."""
    block_n, block_k = schedule.block_n(template), schedule.block_k(template)
    n = random.choice((1, block_n, block_n, block_n // 2 + 1, block_n + 1, 2 * block_n, block_n + block_n // 2 + 3))
    steps = schedule.partitions + random.choice((0, 0, 1))
    k = block_k * steps + random.choice((0, 0, 1, block_k // 2 + 1, -1, -(block_k // 2)))
    if schedule.partitions == 1:
        k = random.choice((k, k, k, 0, 1, block_k // 2))
    fields: dict[str, Any] = {"batch": random.choice((1, 1, 1, 2)), "beta_nonzero": random.random() < 0.3}
    fields |= {"bias": random.random() < 0.3, "activation": random.choice((*FUSED, *[Activation.IDENTITY] * 4))}
    columns = ceil_div(k, template.weights.packed) if template.order is WeightOrder.NK else n
    width = schedule.vector_width
    fields["ldw"] = round_up(max(1, columns), width) + width * random.choice((0, 0, 1))
    rows_x, columns_x = (k, template.m) if template.transpose_x else (template.m, k)
    fields["ldx"] = round_up(max(1, columns_x), 1 if template.transpose_x else width) + random.choice((0, 0, 1, width))
    fields["ldy"] = (template.m if template.transpose_y else n) + random.choice((0, 0, 3))
    if fields["batch"] > 1 and random.random() < 0.3:
        fields[random.choice(("stride_x", "stride_w"))] = 0
    elif fields["batch"] > 1:
        rows = n if template.order is WeightOrder.NK else k
        fields |= {"stride_w": max(1, rows) * fields["ldw"], "stride_x": max(1, rows_x) * fields["ldx"]}
    return replace(template, n=n, k=k, **fields, stride_y=0, align_y=template.dtype.bytes)


def _always(problem: GemvProblem, schedule: GemvSchedule) -> object:
    """What each value has a case for."""
    if schedule.threads_per_output == 256:
        return ("the most threads of an output",)
    if problem.quantised:
        return problem.weights, schedule.spread(problem) > 1
    if schedule.threads == 64:
        return problem.order, schedule.threads_per_output < 32
    return problem.order, problem.transpose_x, schedule.cluster > 1, schedule.splits > 1


CASES = covering(drawn_cases(320), _always)
