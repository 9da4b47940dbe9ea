"""pack's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from random import Random
from typing import Any

from pair_coverage import covering

from autotune.codegen.matmul.gemv.weights import Weights
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.matmul.pack import OPERATOR

SPEC = named_device("h200")
FP32, BF16, FP16 = DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16
FP8, INT8 = Weights.FP8, Weights.INT8
# The emulator walks through every weight, and keeps a stack for every thread.
_WEIGHTS, _THREADS = 2**14, 2**11

Case = tuple[PackProblem, PackSchedule]

PROBLEMS = {
    "n4096-k14336-bfloat16-int4-group128-bfloat16-zeros": PackProblem(4096, 14336, zeros=True),
    "n8192-k28672-float16-int8-group0-float16": PackProblem(8192, 28672, FP16, INT8, group_size=0, scale_dtype=FP16),
    "n1000-k1000-float32-fp8-group128-float32": PackProblem(1000, 1000, FP32, FP8, scale_dtype=FP32),
    "n3-k1073741824-bfloat16-fp8-group0-bfloat16": PackProblem(3, 2**30, weights=FP8, group_size=0),
    "n33-k41-float32-int4-group32-bfloat16-ldw43-alignw4-ldq24-alignq1": PackProblem(
        33, 41, FP32, group_size=32, ldw=43, align_w=4, ldq=24, align_q=1
    ),
    "n1-k1-bfloat16-int4-group64-bfloat16": PackProblem(1, 1, group_size=64),
    "n5-k0-bfloat16-int8-group0-bfloat16": PackProblem(5, 0, weights=INT8, group_size=0),
    "n0-k7-bfloat16-int4-group128-bfloat16": PackProblem(0, 7),
}
SMALL_PROBLEMS = (
    PackProblem(16, 256, zeros=True),
    PackProblem(23, 299, FP16, INT8, group_size=0, scale_dtype=FP16, ldw=304, ldq=300),
    PackProblem(131, 140, FP32, FP8, scale_dtype=FP32),
)
KINDS: tuple[dict[str, Any], ...] = (
    {"zeros": True},
    {"weights": INT8, "group_size": 0, "dtype": FP16, "scale_dtype": FP16},
    {"group_size": 32, "dtype": FP32, "scale_dtype": FP32},
    {"weights": FP8, "group_size": 0},
    {"weights": INT8, "group_size": 64, "dtype": FP32},
    {"group_size": 64, "dtype": FP16, "scale_dtype": FP16, "zeros": True},
    {"weights": FP8, "scale_dtype": FP32},
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, `KINDS` in turn; always the same ones."""
    random = Random(3)
    return [_case(random, spec, KINDS[index % len(KINDS)]) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, kinds: dict[str, Any]) -> Case:
    while True:
        columns = random.choice((1, 31, 96, 255, 512, 1024, 2050))
        rows = random.choice((1, 3, 8, 20)) if kinds.get("weights") is not FP8 else random.choice((3, 130))
        like = PackProblem(rows, columns, **kinds)
        align = random.choice((like.dtype.bytes, 8, 16, 16))
        gap, gap_q = random.choice((0, 0, 1, 8)), random.choice((0, 0, 1, 16))
        stored = ceil_div(columns, like.weights.packed)
        layout = {"ldw": columns + gap, "ldq": stored + gap_q, "align_q": random.choice((1, 4, 16))}
        problem = replace(like, align_w=align, **layout)
        space = OPERATOR.space(problem, spec)
        for draw in islice(space.random_draws(random.randrange(2**32)), 20):
            schedule = space.build(draw)
            small = rows * columns <= _WEIGHTS and schedule.blocks(problem) * schedule.threads <= _THREADS
            if small and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


CASES = covering(drawn_cases(160), lambda p, s: (p.weights, p.zeros, s.held(p)), most=24)
