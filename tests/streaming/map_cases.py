"""map's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from random import Random
from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.streaming.map.arrays import DTYPES, NARROW
from autotune.codegen.streaming.map.problem import MapProblem
from autotune.codegen.streaming.map.schedule import MapSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.streaming.map import OPERATOR

SPEC = named_device("h200")
FP32, BF16, FP16 = DTYPES
GELU = Activation.GELU
_ELEMENTS, _THREADS = 2**14, 2**12

_E4M3, _E5M2, _INT8 = NARROW
_CASTS = ((BF16, _E4M3), (_E4M3, _INT8), (_INT8, _E5M2), (_E5M2, FP32))

Case = tuple[MapProblem, MapSchedule]

PROBLEMS = {
    "rows4096-columns4096-gelu-float32": MapProblem(4096, 4096),
    "rows1-columns2147483649-gelu-bfloat16": MapProblem(1, 2**31 + 1, GELU, BF16),
    "rows8192-columns513-silu-bfloat16-alignx2-aligny2": MapProblem(
        8192, 513, Activation.SILU, BF16, align_x=2, align_y=2
    ),
    "rows16384-columns14336-silu-bfloat16-halves": MapProblem(16384, 14336, Activation.SILU, BF16, gate=Gate.HALVES),
    "rows5-columns33-relu-float32-bias-ldx40-ldy48": MapProblem(5, 33, Activation.RELU, bias=True, ldx=40, ldy=48),
    "rows1-columns1-tanh-float16": MapProblem(1, 1, Activation.TANH, FP16),
    "rows4096-columns4096-identity-bfloat16-float8_e4m3fn-saturate-scaled": MapProblem(
        4096, 4096, Activation.IDENTITY, BF16, OutDType.FLOAT8_E4M3, saturate=True, scaled=True
    ),
    "rows0-columns5-gelu-float32": MapProblem(0, 5),
    "rows5-columns0-exp-bfloat16": MapProblem(5, 0, Activation.EXP, BF16),
}
SMALL_PROBLEMS = (
    MapProblem(4, 512),
    MapProblem(3, 513, Activation.SILU, BF16, gate=Gate.HALVES, ldx=1040, ldy=520),
    MapProblem(7, 33, Activation.GELU_TANH, FP16, gate=Gate.SEPARATE, backward=True),
    MapProblem(5, 40, Activation.RELU, bias=True, residual=True, ldx=48, ldr=40, ldy=56),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, functions, gates and dtypes in turn; always the same ones."""
    random, casts = Random(2), cycle(_CASTS)
    kinds = zip(cycle(Activation), cycle(Gate), cycle((FP32, BF16, BF16, FP16, FP16)), strict=False)
    makers = (
        partial(_cast, random, *next(casts))
        if function is Activation.IDENTITY
        else partial(_problem, random, function, *one)
        for function, *one in kinds
    )
    return [_case(random, spec, make) for make in islice(makers, count)]


def _case(random: Random, spec: DeviceSpec, make: Callable[[], MapProblem]) -> Case:
    while True:
        problem = make()
        space = OPERATOR.space(problem, spec)
        for draw in islice(space.random_draws(random.randrange(2**32)), 20):
            schedule = space.build(draw)
            schedule = replace(schedule, grid_blocks=min(3, schedule.grid_blocks))
            blocks = schedule.blocks(problem)
            if schedule.threads * blocks <= _THREADS and not OPERATOR.violations(problem, schedule, spec):
                return problem, schedule


def _cast(random: Random, dtype: DType, result: DType) -> MapProblem:
    saturate, scaled = (random.random() < 0.5 for _ in range(2))
    bare = MapProblem(3, 77, Activation.IDENTITY, dtype, OutDType(result), saturate, scaled=scaled)
    return replace(bare, ldx=random.choice((77, 80)), align_y=random.choice((result.bytes, 16)))


def _problem(random: Random, function: Activation, gate: Gate, dtype: DType) -> MapProblem:
    columns = random.choice((1, 31, 33, 64, 256, 513, 1024, 2050, 4095))
    rows = random.choice([count for count in (1, 2, 5, 16, 33) if count * columns <= _ELEMENTS])
    backward = random.random() < 0.4
    fused = not backward and random.random() < 0.4
    out = random.choice((OutDType.SAME, OutDType.SAME, OutDType.FLOAT32, OutDType.BFLOAT16))
    bare = MapProblem(
        rows, columns, function, dtype, out, gate=gate, bias=random.random() < 0.4, residual=fused, backward=backward
    )
    align = random.choice((16, 16, 16, 8, 4))
    gap = random.choice((0, 0, 1, 16))
    layouts: dict[str, Any] = {}
    for operand, (_, stored) in bare.stored.items():
        size = bare.element_bytes_of(operand)
        layouts[f"align_{operand}"] = max(size, align)
        layouts[f"ld{operand}"] = stored + gap if gap % 2 else round_up(stored, 16) if gap else 0
    return replace(bare, **layouts)


CASES = drawn_cases(40)
