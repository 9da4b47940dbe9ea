"""What a block of a compiled kernel takes of an SM."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.schedule import Schedule
from autotune.search_spaces.contract.known import Known


def compiled_footprint(known: Known, schedule: Schedule | None, resources: Mapping[str, Any]) -> Footprint | None:
    """The footprint of a schedule with what the compiler reported; None without either."""
    registers = count(resources, "registers")
    if schedule is None or not registers:
        return None
    block = schedule.footprint(known.problem)
    return replace(block, registers=registers, shared_bytes=block.shared_bytes + count(resources, "shared_bytes"))


def count(resources: Mapping[str, Any], name: str) -> int:
    """A resource of a trial, which may be imported: 0 unless it is a whole number."""
    value = resources.get(name, 0)
    return value if type(value) is int and value > 0 else 0
