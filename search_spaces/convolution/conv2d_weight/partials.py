"""What kernels have in common whose blocks leave sums to a second launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from autotune.codegen.convolution.conv2d_weight.partials import SUM, PartialSchedule
from autotune.codegen.convolution.conv2d_weight.problem import Conv2dWeightProblem
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import blocks_per_sm
from autotune.search_spaces.machine.workload import Workload

MOST_BYTES = 2**28  # of sums
S = TypeVar("S", bound=PartialSchedule)


def violations(problem: Conv2dWeightProblem, schedule: PartialSchedule) -> Iterator[str]:
    """What is too much for the workspace."""
    if (size := schedule.partial_bytes(problem)) > MOST_BYTES:
        yield f"partial sums of {size} bytes over {MOST_BYTES}"


def fitted(problem: Conv2dWeightProblem, schedule: S) -> S:
    """The schedule with as many splits as there is room for."""
    splits = field_specs(type(schedule))["splits"].values
    own = schedule
    while own.splits > 1 and own.partial_bytes(problem) > MOST_BYTES:
        own = own.replace(splits=max(split for split in splits if split < own.splits))
    return own


def splits(kind: type[PartialSchedule], candidates: Iterable[PartialSchedule]) -> tuple[int, ...]:
    """Those to draw, which include those of the schedules to try first."""
    return tuple(sorted({*field_specs(kind)["splits"].values, *(one.splits for one in candidates)}))


def has_threads(problem: Conv2dWeightProblem, schedule: PartialSchedule, spec: DeviceSpec) -> bool:
    """Whether an SM has room for a block."""
    taken = schedule.footprint(problem)
    fits = blocks_per_sm(spec, taken.threads, taken.registers, taken.shared_bytes) > 0
    return fits and taken.shared_bytes <= spec.shared_per_block


def filling(problem: Conv2dWeightProblem, schedule: S, spec: DeviceSpec) -> Iterator[S]:
    """The schedule with as many splits as fill SMs once, and twice."""
    taken = schedule.footprint(problem)
    resident = spec.sm_count * blocks_per_sm(spec, taken.threads, taken.registers, taken.shared_bytes)
    blocks = schedule.replace(splits=1).blocks(problem)
    for most in (resident // blocks, 2 * resident // blocks):
        yield fitted(problem, schedule.replace(splits=max(1, most)))


def workload(problem: Conv2dWeightProblem, schedule: PartialSchedule, in_flight: float) -> Workload:
    """That of the second launch, a thread of which loads so many sums at once."""
    partial_bytes, blocks = schedule.partial_bytes(problem), ceil_div(problem.out_channels * problem.terms, SUM.threads)
    return Workload(
        blocks=blocks,
        footprint=SUM,
        memory_bytes=partial_bytes,
        steps=schedule.splits,
        in_flight=in_flight,
        load_instructions=2 * SUM.threads / WARP,
        lines=SUM.threads / WARP,
        bytes_loaded=partial_bytes / blocks / schedule.splits,
    )
