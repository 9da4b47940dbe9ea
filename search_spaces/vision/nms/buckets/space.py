"""nms: schedules of a cluster of blocks for each class, which are legal and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from autotune.codegen.model.integers import INT_MAX
from autotune.codegen.vision.nms.buckets.schedule import BucketsSchedule
from autotune.codegen.vision.nms.problem import Classes, NmsProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import footprint_violations
from autotune.search_spaces.vision.nms.block.space import clusters_of

# For several images, and for one: 16 % faster than blocks of 512 threads on an H200, of 30,000 boxes and of 100,000.
_SMALL, _LARGE = BucketsSchedule(256, 256), BucketsSchedule(1024, 1024, window=16384)
_OTHERS = [BucketsSchedule(threads, chunk) for threads, chunk in product((512, 1024), (1024, 512))]
_CHECKED = 128  # boxes of a chunk in the emulator
_USUAL_CLUSTER = 4  # blocks: where classes are equal, one does as well; where one has most boxes, more do better


def applies(problem: NmsProblem, spec: DeviceSpec) -> bool:
    """Whether there are classes."""
    return problem.classes is not Classes.NONE


def constraints(problem: NmsProblem, schedule: BucketsSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields: boxes of one class, and what blocks that compare take."""
    if problem.classes is Classes.NONE:
        yield "boxes of one class: expected classes"
        return
    if (blocks := max(schedule.sweep_blocks(problem, 0), schedule.compare_blocks(problem))) > INT_MAX:
        yield f"{blocks} blocks over the {INT_MAX} of a grid"
    yield from footprint_violations(spec, schedule.sweep_footprint(problem))


def space(problem: NmsProblem, spec: DeviceSpec) -> Space[BucketsSchedule]:
    """Clusters where the device has them."""
    fields = field_parameters(BucketsSchedule, cluster=clusters_of(spec))
    return Space(fields, BucketsSchedule.from_dict)


def candidates(problem: NmsProblem, spec: DeviceSpec) -> Iterator[BucketsSchedule]:
    """Several blocks for each class of one image, small ones for several images, then others."""
    usual = max(1, _USUAL_CLUSTER // max(1, problem.images))
    clusters = sorted(clusters_of(spec), key=lambda cluster: (cluster > usual, abs(cluster - usual)))
    first, last = (_SMALL, _LARGE) if problem.images > 1 else (_LARGE, _SMALL)
    for like, cluster in product((first, *_OTHERS, last), clusters):
        schedule = like.replace(cluster=cluster)
        if not any(footprint_violations(spec, schedule.sweep_footprint(problem))):
            yield schedule


def checks(problem: NmsProblem, schedule: BucketsSchedule) -> list[tuple[NmsProblem, BucketsSchedule]]:
    """Several chunks of a class, and those of several images, of boxes that are soon compared."""
    few = schedule.replace(chunk=_CHECKED, threads=128, window=2 * _CHECKED, blocks_per_image=2)
    whole = replace(problem, candidates=4 * _CHECKED, images=1, max_output=4 * _CHECKED)
    edges = replace(problem, candidates=_CHECKED + _CHECKED // 2 + 1, images=2, max_output=_CHECKED // 2)
    return [(one, few) for one in (whole, edges)]
