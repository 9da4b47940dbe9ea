"""kv_append: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from typing import Any

from autotune.codegen.attention.kv_append.problem import KvAppendProblem
from autotune.codegen.attention.kv_append.schedule import KvAppendSchedule
from autotune.search_spaces.attention.small import apart


def checks(problem: KvAppendProblem, schedule: KvAppendSchedule) -> list[tuple[KvAppendProblem, KvAppendSchedule]]:
    """A few tokens into pages without gaps; and into pages of an odd number of slots, with gaps between all heads."""

    def small(**sizes: int) -> KvAppendProblem:
        strides: dict[str, Any] = {field: 0 for stated in problem.layouts.values() for field in stated.fields}
        fields = problem.to_dict() | strides | {"requests": 2, "columns": 2} | sizes
        return KvAppendProblem(**KvAppendProblem.fitted(fields))

    whole, odd = small(tokens=6, heads=2, pages=4, page=4), small(tokens=7, heads=3, pages=4, page=3)
    return [(whole, schedule), (apart(odd, schedule.vector_width * problem.dtype.bytes, 1), schedule)]
