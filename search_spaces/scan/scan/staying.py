"""scan: what the schedules have in common whose blocks stay: what is legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.codegen.scan.scan.staying import StayingSchedule
from autotune.search_spaces.contract.space import Draw, Parameter, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import BULK_COPIES_SINCE

from . import look_back
from .vectors import width_violations, widths

S = TypeVar("S", bound=StayingSchedule)

_BLOCKS_PER_SM = (1, 2, 3, 4)
_MOST_THREADS = 512  # that scan, beside which there are warps with other tasks


def violations(
    problem: ScanProblem, schedule: StayingSchedule, spec: DeviceSpec, operands: Iterable[str]
) -> Iterator[str]:
    """What makes a schedule illegal whose tiles of some operands are copied in bulk."""
    yield from width_violations(schedule, problem.widest)
    if spec.compute_capability < BULK_COPIES_SINCE:
        yield f"{schedule.kernel} needs the bulk copies of sm_90 or newer, not {spec.arch}"
    for operand in operands:
        if not in_bulk(problem, operand):
            where = f"multiples of {WIDEST_ACCESS} bytes, where these do not begin"
            yield f"{schedule.kernel} copies rows of {operand} that begin at {where}"
    if problem.rows * schedule.tiles(problem) > INT_MAX:
        yield f"{problem.rows * schedule.tiles(problem)} tiles over {INT_MAX}"


def applies(problem: ScanProblem, spec: DeviceSpec, operands: Iterable[str]) -> bool:
    """Whether a row may be several tiles, and bulk copies can take rows of these operands."""
    copied = spec.compute_capability >= BULK_COPIES_SINCE and all(in_bulk(problem, one) for one in operands)
    return copied and look_back.KERNEL.applies(problem, spec)


def in_bulk(problem: ScanProblem, operand: str) -> bool:
    """Whether rows of an operand begin where bulk copies can."""
    if operand == "flags":
        return problem.align_flags == WIDEST_ACCESS
    return problem.vector_width(operand) * problem.element_bytes_of(operand) == WIDEST_ACCESS


def space(problem: ScanProblem, spec: DeviceSpec, kind: type[S], fitted: Callable[[S], S]) -> Space[S]:
    """All fields are drawn, and the blocks of each SM; threads are lowered to what there may be."""
    parameters = field_parameters(kind, vector_width=widths(problem.widest))

    def build(draw: Draw) -> S:
        fields = {parameter.name: draw[parameter.name] for parameter in parameters}
        fields["threads"] = min(int(draw["threads"]), _MOST_THREADS)
        return fitted(kind.from_dict(fields | {"grid_blocks": int(draw["blocks_per_sm"]) * spec.sm_count}))

    return Space((*parameters, Parameter("blocks_per_sm", _BLOCKS_PER_SM)), build)
