"""nms: schedules of a block for each image, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations

_SLOTS: tuple[int, ...] = field_specs(BlockSchedule)["slots"].values


def constraints(problem: NmsProblem, schedule: BlockSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.slots < problem.candidates:
        yield f"slots {schedule.slots} below the {problem.candidates} boxes of an image"


def space(problem: NmsProblem, spec: DeviceSpec) -> Space[BlockSchedule]:
    """As many slots as the boxes of an image take."""
    return Space(field_parameters(BlockSchedule, slots=(_slots(problem),)), BlockSchedule.from_dict)


def _slots(problem: NmsProblem) -> int:
    """The fewest that have an image's boxes, or the most."""
    return next((few for few in _SLOTS if few >= problem.candidates), _SLOTS[-1])


def applies(problem: NmsProblem, spec: DeviceSpec) -> bool:
    """Whether a block has room for the boxes of an image."""
    first = next(candidates(problem, spec))
    return first.slots >= problem.candidates and not any(footprint_violations(spec, first.footprint(problem)))


def candidates(problem: NmsProblem, spec: DeviceSpec) -> Iterator[BlockSchedule]:
    """Threads enough to hide what comparisons wait for, then fewer and more of them."""
    return (BlockSchedule(threads, _slots(problem)) for threads in (512, 1024, 256, 128, 64))


def checks(problem: NmsProblem, schedule: BlockSchedule) -> list[tuple[NmsProblem, BlockSchedule]]:
    """An image that fills the slots; and several of fewer boxes, as far as they are soon done."""
    some = min(schedule.slots, 256)
    whole = replace(problem, candidates=some, images=1, max_output=some)
    edges = replace(problem, candidates=some - some // 4 - 1, images=3, max_output=some // 4)
    return [(one, schedule) for one in (whole, edges)]
