"""What schedules have in common whose threads move a vector each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.machine.device_spec import DeviceSpec

S = TypeVar("S", bound=Schedule)


def vector_constraints(problem: Any, schedule: Any, spec: DeviceSpec) -> Iterator[str]:
    """Vectors that some array is not aligned for."""
    if schedule.vector_width > problem.widest:
        yield f"vector_width {schedule.vector_width} over the {problem.widest} elements of aligned accesses"


def vector_candidates(schedule_type: type[S]) -> Callable[[Any, DeviceSpec], Iterator[S]]:
    """The widest accesses, in blocks of as many threads as by default, and in others."""

    def candidates(problem: Any, spec: DeviceSpec) -> Iterator[S]:
        usual = {**schedule_type().to_dict(), "vector_width": problem.widest}
        for threads in (usual["threads"], *field_specs(schedule_type)["threads"].values):
            yield schedule_type.from_dict({**usual, "threads": threads})

    return candidates
