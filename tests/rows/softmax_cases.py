"""softmax's problems for the contract, and random legal schedules, each with an odd problem that fits it."""

from __future__ import annotations

from itertools import islice
from random import Random

from pair_coverage import covering

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.problem import DTYPES
from autotune.codegen.rows.softmax.mask import Mask
from autotune.codegen.rows.softmax.problem import SoftmaxProblem
from autotune.codegen.rows.softmax.schedule import SoftmaxSchedule
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import named_device
from autotune.search_spaces.rows.softmax import OPERATOR

SPEC = named_device("h200")
BF16, FP16 = DType.BFLOAT16, DType.FLOAT16
# The emulator walks through every element, and keeps a stack for every thread.
_ELEMENTS, _THREADS = 2**15, 2**12

Case = tuple[SoftmaxProblem, SoftmaxSchedule]

PROBLEMS = {
    "rows4096-columns4096-float32": SoftmaxProblem(4096, 4096),
    "rows4096-columns4096-bfloat16": SoftmaxProblem(4096, 4096, BF16),
    "rows4096-columns4096-float16-lengths": SoftmaxProblem(4096, 4096, FP16, lengths=True),
    "rows16384-columns131072-bfloat16": SoftmaxProblem(16384, 131072, BF16),
    "rows2-columns131073-float32": SoftmaxProblem(2, 131073),
    "rows1-columns1073741824-bfloat16": SoftmaxProblem(1, 2**30, BF16),
    "rows2000000000-columns4-float32": SoftmaxProblem(2 * 10**9, 4),
    "rows8192-columns513-bfloat16-alignx2-aligny2": SoftmaxProblem(8192, 513, BF16, align_x=2, align_y=2),
    "rows7-columns8191-float32-ldx8192": SoftmaxProblem(7, 8191, ldx=8192),
    "rows5-columns33-float32-lengths-ldx40-ldy48": SoftmaxProblem(5, 33, lengths=True, ldx=40, ldy=48),
    "rows5-columns31-bfloat16": SoftmaxProblem(5, 31, BF16),
    "rows300-columns1-float32": SoftmaxProblem(300, 1),
    "rows1-columns1-float16-lengths": SoftmaxProblem(1, 1, FP16, lengths=True),
    "rows0-columns5-float32-lengths": SoftmaxProblem(0, 5, lengths=True),
    "rows5-columns0-bfloat16": SoftmaxProblem(5, 0, BF16),
    "rows4096-columns4096-bfloat16-log-lse": SoftmaxProblem(4096, 4096, BF16, log=True, lse=True),
    "rows4096-columns1024-float32-causal": SoftmaxProblem(4096, 1024, causal=True),
    "rows100-columns33-float32-log-lengths-causal-zerorows-queries40": SoftmaxProblem(
        100, 33, log=True, lengths=True, causal=True, zero_rows=True, queries=40
    ),
    "rows65536-columns2048-bfloat16-addmask": SoftmaxProblem(65536, 2048, BF16, mask=Mask.ADD),
    "rows96-columns40-float16-keepmask-queries6-heads4-ldm48-alignm1": SoftmaxProblem(
        96, 40, FP16, mask=Mask.KEEP, queries=6, heads=4, ldm=48, align_m=1
    ),
}
SMALL_PROBLEMS = (
    SoftmaxProblem(16, 256),
    SoftmaxProblem(20, 520, BF16, mask=Mask.ADD, queries=5, heads=2, ldx=528, ldy=544),
    SoftmaxProblem(19, 513, FP16, log=True, lengths=True, lse=True, ldx=528, ldy=520),
    SoftmaxProblem(18, 33, lengths=True, causal=True, zero_rows=True, queries=7, align_x=4),
)


def drawn_cases(count: int, spec: DeviceSpec = SPEC) -> list[Case]:
    """`count` cases that are legal on a device, dtypes and kinds in turn; always the same ones."""
    random = Random(0)
    return [_case(random, spec, index) for index in range(count)]


def _case(random: Random, spec: DeviceSpec, turn: int) -> Case:
    while True:
        problem = _problem(random, turn)
        drawn = OPERATOR.space(problem, spec)
        for draw in islice(drawn.random_draws(random.randrange(2**32)), 20):
            schedule = drawn.build(draw)
            rows = random.choice((0, 1, schedule.rows_per_block, schedule.rows_per_block + 1, 5))
            fitting = _with_rows(problem, rows)
            small = rows * problem.columns <= _ELEMENTS and schedule.threads * schedule.cluster <= _THREADS
            if small and not OPERATOR.violations(fitting, schedule, spec):
                return fitting, schedule


def _problem(random: Random, turn: int) -> SoftmaxProblem:
    dtype, causal = DTYPES[turn % len(DTYPES)], turn % 4 == 1
    mask = {2: Mask.ADD, 5: Mask.KEEP}.get(turn % 8, Mask.NONE)
    columns = random.choice((0, 1, 31, 33, 64, 256, 513, 1024, 2048, 2050, 3000, 4096, 8191))
    width = random.choice((1, 2, 4, 8, 16)) if random.random() < 0.5 else 16
    align = max(dtype.bytes, min(16, width * dtype.bytes))
    leading = round_up(max(1, columns), width) + width * random.choice((0, 0, 1))
    return SoftmaxProblem(
        2,
        columns,
        dtype,
        log=turn % 5 > 2,
        lengths=random.random() < 0.4,
        causal=causal,
        mask=mask,
        zero_rows=turn % 7 > 3,
        lse=turn % 8 > 4 and columns > 0,
        queries=random.choice((0, 1, 3, 40) if mask is Mask.NONE else (1, 2, 3)),
        heads=random.choice((0, 1, 2)),
        ldx=leading,
        ldy=leading,
        align_x=align,
        align_y=align,
        ldm=leading,
        align_m=random.choice((2, 4, 16)) if mask is Mask.KEEP else align,
    )


def _with_rows(problem: SoftmaxProblem, rows: int) -> SoftmaxProblem:
    return SoftmaxProblem.from_dict(problem.to_dict() | {"rows": rows})


def _kernel(problem: SoftmaxProblem, schedule: SoftmaxSchedule) -> tuple[object, ...]:
    """What chooses among the kernel's parts, and whether vectors are partly there."""
    return schedule.hold, schedule.passes, schedule.cluster > 1, problem.columns % schedule.vector_width > 0


CASES = covering(drawn_cases(340), _kernel)
