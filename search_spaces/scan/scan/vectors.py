"""scan: what vectors and registers allow, of all kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.rows.schedule import RowsSchedule
from autotune.codegen.scan.scan.schedule import ScanSchedule

S = TypeVar("S", bound=ScanSchedule)

_WIDTHS = (1, 2, 4, 8)
ROUNDS = field_specs(RowsSchedule)["rounds"].values
_MOST_REGISTERS, _REGISTERS = 112, 65536  # registers of a thread, and of a block


def widths(widest: int) -> tuple[int, ...]:
    """The vectors that rows are aligned for."""
    return tuple(width for width in _WIDTHS if width <= widest)


def width_violations(schedule: ScanSchedule, widest: int) -> Iterator[str]:
    """Vectors that rows are not aligned for, or that kernels do not have."""
    for most, why in ((widest, f"the {widest} elements of aligned accesses"), (_WIDTHS[-1], str(_WIDTHS[-1]))):
        if schedule.vector_width > most:
            yield f"vector_width {schedule.vector_width} over {why}"


def within_registers(problem: ScanProblem, schedule: S, *, odd: bool = False) -> S:
    """The schedule with no more rounds than there are registers for; `odd` ones only."""
    fewer = [schedule.replace(rounds=rounds) for rounds in ROUNDS if rounds <= schedule.rounds and rounds % 2 >= odd]
    most = min(_MOST_REGISTERS, _REGISTERS // schedule.threads)
    return next((one for one in reversed(fewer) if one.footprint(problem).registers <= most), fewer[0])
