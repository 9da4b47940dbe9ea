"""kv_append: the schedules that are tried first."""

from __future__ import annotations

from collections.abc import Iterator

from autotune.codegen.attention.cache import Scales
from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.schedule import KvAppendSchedule
from autotune.search_spaces.attention.vectors import vector_candidates
from autotune.search_spaces.machine.device_spec import DeviceSpec

_of_widest = vector_candidates(KvAppendSchedule)


def candidates(problem: KvAppendProblem, spec: DeviceSpec) -> Iterator[KvAppendSchedule]:
    """Those of the widest accesses; where a head's largest number is its scale, first one of single elements.

    Of vectors of eight elements, half the lanes of a head's warp have none: an H200 took 12 to 15 % longer with them.
    """
    if problem.scales is Scales.TOKEN:
        yield KvAppendSchedule(threads=256)
    yield from _of_widest(problem, spec)
