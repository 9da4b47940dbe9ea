"""nms: schedules of a block for each image, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from autotune.codegen.model.fields import field_specs
from autotune.codegen.vision.nms.block.schedule import BlockSchedule
from autotune.codegen.vision.nms.problem import NmsProblem
from autotune.search_spaces.contract.space import Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE, footprint_violations

_SPECS = field_specs(BlockSchedule)
_SLOTS: tuple[int, ...] = _SPECS["slots"].values
_CHUNKS: tuple[int, ...] = _SPECS["chunk"].values
_CLUSTERS: tuple[int, ...] = _SPECS["cluster"].values
_USUAL_CLUSTER = 8  # blocks, which every device with clusters runs
_LARGEST_CLUSTER = 16
_HOPPER, _MOST_GPCS = (9, 0), 8
_BOXES_OF_LARGEST = 1000  # of one image, for which the largest cluster is faster; not for 100, by an H200
_MOST_OF_CHUNK = 512  # boxes: 1000 of 1000 take 16 % longer in a chunk of 1024, on an H200
_FEW = 128  # slots, whose boxes a block alone compares sooner
_PAIR = 2  # blocks of a cluster that SMs always have room for: SMs come in pairs


def constraints(problem: NmsProblem, schedule: BlockSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.slots < problem.candidates:
        yield f"slots {schedule.slots} below the {problem.candidates} boxes of an image"
    if schedule.chunk > schedule.slots:
        yield f"chunk {schedule.chunk} over the {schedule.slots} slots"


def space(problem: NmsProblem, spec: DeviceSpec) -> Space[BlockSchedule]:
    """As many slots as the boxes of an image take, and no larger chunks."""
    slots = _slots(problem)
    chunks = tuple(chunk for chunk in _CHUNKS if chunk <= slots)
    fields = field_parameters(BlockSchedule, slots=(slots,), chunk=chunks, cluster=clusters_of(spec))
    return Space(fields, BlockSchedule.from_dict)


def clusters_of(spec: DeviceSpec) -> tuple[int, ...]:
    """Blocks that a cluster may have; one, where a device has none."""
    return _CLUSTERS if spec.compute_capability >= CLUSTERS_SINCE else (1,)


def _slots(problem: NmsProblem) -> int:
    """The fewest that have an image's boxes, or the most."""
    return next((few for few in _SLOTS if few >= problem.candidates), _SLOTS[-1])


def applies(problem: NmsProblem, spec: DeviceSpec) -> bool:
    """Whether a block has room for the boxes of an image."""
    slots = _slots(problem)
    least = BlockSchedule(slots=slots).footprint(problem)
    return slots >= problem.candidates and not any(footprint_violations(spec, least))


def candidates(problem: NmsProblem, spec: DeviceSpec) -> Iterator[BlockSchedule]:
    """A chunk that has as many boxes as are kept, by as many blocks as run at once, then others."""
    slots, kept = _slots(problem), min(problem.most_kept, _MOST_OF_CHUNK)
    chunks = sorted(_CHUNKS, key=lambda chunk: (chunk < kept, abs(chunk - kept)))
    widths = [threads for threads in (1024, 512, 256, 128) if threads <= max(128, 4 * slots)]
    clusters = clusters_at_once(problem.images, spec)
    if problem.images == 1 and problem.candidates >= _BOXES_OF_LARGEST and _runs_largest_cluster(spec):
        clusters.insert(0, _LARGEST_CLUSTER)
    if slots <= _FEW:
        clusters.sort()
    for cluster, chunk, threads in product(clusters, chunks, widths):
        schedule = BlockSchedule(threads, slots, chunk, cluster)
        if chunk <= slots and not any(footprint_violations(spec, schedule.footprint(problem))):
            yield schedule


def _runs_largest_cluster(spec: DeviceSpec) -> bool:
    """Whether one of at most eight groups of SMs (GPC) surely has an SM for each block, by the number of all SMs."""
    return spec.compute_capability == _HOPPER and spec.sm_count >= _LARGEST_CLUSTER * _MOST_GPCS


def clusters_at_once(images: int, spec: DeviceSpec) -> list[int]:
    """Blocks of clusters, of which each image has one at the same time; the most first.

    Clusters of more than two blocks leave SMs idle, since each lies within one of a device's groups of SMs. On an H200,
    32 clusters of four took two turns.
    """
    if spec.compute_capability < CLUSTERS_SINCE:
        return [1]
    pairs = spec.sm_count // _PAIR
    usual = (size for size in reversed(_CLUSTERS) if _PAIR < size <= _USUAL_CLUSTER and images * size <= pairs)
    return [*usual, *([_PAIR] if images <= pairs else []), 1]


def checks(problem: NmsProblem, schedule: BlockSchedule) -> list[tuple[NmsProblem, BlockSchedule]]:
    """An image that fills the slots; and several of fewer boxes, as far as they are soon done."""
    some = min(schedule.slots, 256)
    few = schedule.replace(chunk=min(schedule.chunk, some))
    whole = replace(problem, candidates=some, images=1, max_output=some)
    edges = replace(problem, candidates=some - some // 4 - 1, images=3, max_output=some // 4)
    return [(one, few) for one in (whole, edges)]
