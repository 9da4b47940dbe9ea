"""``struct Schedule``: how kernels read a schedule."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from autotune.codegen.model.schedule import Schedule

from .headers import members_read


def schedule_struct(schedule: Schedule, source: str) -> str:
    """The C++ struct: each of `Schedule.members` that `source` reads, as a named compile-time constant.

    Named constants rather than positional template arguments: a field that C++ lacks does not compile.
    """
    read = members_read(source, "Schedule")
    values = {name: value for name, value in schedule.members.items() if name in read}
    enums = {type(value): None for value in values.values() if isinstance(value, StrEnum)}
    lines = [f"enum class {kind.__name__} {{ {', '.join(member.value for member in kind)} }};" for kind in enums]
    lines.append("struct Schedule {")
    lines += [f"  static constexpr {_type(value)} {name} = {_value(value)};" for name, value in values.items()]
    lines.append("};")
    return "\n".join(lines)


def _type(value: Any) -> str:
    return type(value).__name__


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{type(value).__name__}::{value.value}" if isinstance(value, StrEnum) else str(value)
