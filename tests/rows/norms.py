"""Random legal schedules of rms_norm and layer_norm, each with an odd problem that fits it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from rows.drawn_rows import drawn

from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.norm.problem import LayerNormProblem, NormProblem
from autotune.codegen.rows.norm.schedule import RmsNormSchedule
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

Case = tuple[NormProblem, RmsNormSchedule]


def drawn_cases(
    operator: Operator[Any, Any], made: Callable[..., NormProblem], count: int, spec: DeviceSpec
) -> list[Case]:
    """`count` cases that are legal on a device, dtypes in turn; always the same ones."""
    return drawn(operator, partial(_problem, made), 5, count, spec)


def _problem(made: Callable[..., NormProblem], random: Random, turn: int) -> NormProblem:
    dtype = DTYPES[turn % len(DTYPES)]
    columns = random.choice((1, 31, 64, 513, 1024, 2050, 4096, 8191))
    width = random.choice((1, 2, 4, 8, 16)) if random.random() < 0.5 else 16
    align = max(dtype.bytes, min(16, width * dtype.bytes))
    leading = round_up(columns, width) + width * random.choice((0, 0, 1))
    return made(
        2,
        columns,
        dtype,
        weight=turn % 4 > 0,
        float32_weight=turn % 2 > 0,
        residual=turn % 3 > 1,
        int8=turn % 7 == 3,
        float8=turn % 7 == 5,
        statistics=turn % 5 > 2,
        batch_invariant=turn % 8 == 6,
        ldx=leading,
        ldy=leading,
        align_x=align,
        align_y=align,
        align_w=random.choice((4, 16)),
        **({"bias": turn % 7 > 2} if made is LayerNormProblem else {}),
    )
