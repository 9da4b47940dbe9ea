"""Random legal schedules of cross_entropy and its backward, each with an odd problem that fits it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any

from rows.drawn_rows import drawn

from autotune.codegen.model.integers import round_up
from autotune.codegen.rows.cross_entropy.logits_problem import TARGETS, LogitsProblem
from autotune.codegen.rows.cross_entropy.problem import CrossEntropyProblem
from autotune.codegen.rows.cross_entropy.schedule import CrossEntropyBackwardSchedule
from autotune.codegen.rows.problem import DTYPES
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

Case = tuple[LogitsProblem, CrossEntropyBackwardSchedule]


def drawn_cases(
    operator: Operator[Any, Any], made: Callable[..., LogitsProblem], count: int, spec: DeviceSpec
) -> list[Case]:
    """`count` cases that are legal on a device, dtypes in turn; always the same ones."""
    return drawn(operator, partial(_problem, made), 9, count, spec)


def _problem(made: Callable[..., LogitsProblem], random: Random, turn: int) -> LogitsProblem:
    dtype = DTYPES[turn % len(DTYPES)]
    columns = random.choice((1, 31, 64, 513, 1024, 2050, 4096, 8191))
    width = random.choice((1, 2, 4, 8, 16)) if random.random() < 0.5 else 16
    align = max(dtype.bytes, min(16, width * dtype.bytes))
    leading = round_up(columns, width) + width * random.choice((0, 0, 1))
    kinds: dict[str, Any] = {}
    if made is CrossEntropyProblem:
        kinds = {"lse": turn % 3 > 0, "gradient": turn % 2 > 0, "batch_invariant": turn % 8 == 6}
    return made(
        2,
        columns,
        dtype,
        target_dtype=TARGETS[turn // 2 % 2],
        smoothed=turn % 5 > 2,
        z_loss=turn % 7 > 3,
        capped=turn % 4 == 3,
        shared_gradient=turn % 3 > 1,
        ldx=leading,
        ldd=leading + width * random.choice((0, 1)),
        align_x=align,
        align_d=align,
        **kinds,
    )
