"""radix_sort: schedules of a cluster for each row, which are legal, drawn and tried first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.model.fields import field_specs
from autotune.codegen.sorting.radix_sort.cluster.schedule import CLUSTERS, ClusterSchedule
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.resources import CLUSTERS_SINCE, footprint_violations
from autotune.search_spaces.sorting.radix_sort.fitting import digit_violations, with_digits, within_sm

_ITEMS = field_specs(ClusterSchedule)["items"].values
_THREADS = field_specs(ClusterSchedule)["threads"].values


def constraints(problem: RadixSortProblem, schedule: ClusterSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.row < problem.columns:
        yield (
            f"threads {schedule.threads}, items {schedule.items}, cluster {schedule.cluster}: {schedule.row} keys of "
            f"{problem.columns} of a row"
        )
    yield from digit_violations(schedule)


def applies(problem: RadixSortProblem, spec: DeviceSpec) -> bool:
    """Whether a cluster has room for a row."""
    if spec.compute_capability < CLUSTERS_SINCE:
        return False
    last = _holding(problem, ClusterSchedule(_THREADS[-1], cluster=CLUSTERS[-1]))
    return last.row >= problem.columns and not any(footprint_violations(spec, last.footprint(problem)))


def space(problem: RadixSortProblem, spec: DeviceSpec) -> Space[ClusterSchedule]:
    """A thread has no more keys than a row takes; there are more blocks where those of a draw cannot hold it."""

    def build(draw: Draw) -> ClusterSchedule:
        drawn = ClusterSchedule.from_dict(draw)
        for cluster in (number for number in CLUSTERS if number >= drawn.cluster):
            held = _holding(problem, drawn.replace(cluster=cluster))
            found = within_sm(problem, with_digits(held), spec)
            if found.row >= problem.columns:
                return found
        return found

    stated = field_parameters(ClusterSchedule)
    return Space(tuple(one for one in stated if one.name != "items"), build)


def candidates(problem: RadixSortProblem, spec: DeviceSpec) -> Iterator[ClusterSchedule]:
    """Many blocks of a few keys of each thread first."""
    build = space(problem, spec).build
    for threads, cluster in ((512, 16), (1024, 16), (1024, 8), (512, 8), (256, 16), (256, 8)):
        yield build(ClusterSchedule(threads, cluster=cluster).to_dict())


def checks(problem: RadixSortProblem, schedule: ClusterSchedule) -> list[tuple[RadixSortProblem, ClusterSchedule]]:
    """Rows of all tiles of a cluster, and of less, with blocks that have no key."""
    few = schedule.replace(items=min(schedule.items, 2))
    some = replace(problem, rows=2, columns=max(1, few.row - few.tile - few.threads // 2 - 1))
    return [(replace(problem, rows=1, columns=few.row), few), (some, few)]


def _holding(problem: RadixSortProblem, schedule: ClusterSchedule) -> ClusterSchedule:
    """The schedule with as few keys of a thread as a row takes, or the most."""
    held = schedule.cluster * schedule.threads
    enough = (number for number in _ITEMS if number * held >= problem.columns)
    return schedule.replace(items=next(enough, _ITEMS[-1]))
