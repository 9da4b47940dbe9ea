"""What a program launches, as statements of C++ that fill a ``Plan`` of ``plan.hpp``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch, Memset
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.devices.tensor_maps import SWIZZLES, type_of

from .trace import Number

Plan = tuple[str, ...]


def plan_of(program: Program) -> Plan:
    """The statements, of a program with all steps written out."""
    return tuple(_statements(program))


def program_name(digest: str) -> str:
    """What C++ calls a source by its digest."""
    return f"kernels_{digest[:16]}"


def _statements(program: Program) -> Iterator[str]:
    kinds, begins = laid_out(program.blocks)
    yield f"plan.arguments.resize({begins[-1] // 64});"
    for begin, kind, block in zip(begins, kinds, program.blocks, strict=False):
        for one in block:
            yield _argument(one, begin + getattr(kind, member(one.name)).offset)
    yield f"plan.workspace_bytes = {_text(program.workspace_bytes)};"
    names = [program_name(part.source_digest) for part in program.parts]
    own = iter(begins[:-1] if not program.plain else begins[:1] * len(program.launches))
    for step in program.unrolled:
        if isinstance(step, Memset):
            yield f"plan.set({_text(step.offset)}, {_text(step.bytes)}, {step.value});"
        else:
            yield f"plan.launch({names[step.module]}, entry_{step.entry}, {next(own)}, {_dimensions(step)});"


def _argument(one: Argument, position: int) -> str:
    if one.tensor_map:
        return f"plan.maps.push_back({{{position}, {_tensor_map(one.tensor_map)}}});"
    if one.value is not None:
        kind = "unsigned long long" if one.pointer else one.cuda_type
        return f"plan.put<{kind}>({position}, {_cast(kind, one.value)});"
    if one.pointer:
        return f"plan.addresses.push_back({{{position}, tensor_{member(one.brought)}, {_text(one.offset)}}});"
    return f"plan.scalars.push_back({{{position}, scalar_{member(one.brought)}, sizeof({one.cuda_type})}});"


def _dimensions(step: Launch) -> str:
    return f"{_group('unsigned', step.grid)}, {_group('unsigned', step.block)}, {_cast('unsigned', step.shared_bytes)}"


def _tensor_map(one: TensorMap) -> str:
    element_bytes, pixels = DType(one.dtype).bytes, one.im2col
    strides = (element_bytes * stride for stride in reversed(one.strides[:-1]))
    words = [
        f"tensor_{member(one.tensor)}",
        str(int(type_of(one))),
        str(int(SWIZZLES[one.swizzle])),
        str(len(one.shape)),
        _group("std::uint64_t", reversed(one.shape)),
        _group("std::uint64_t", strides),
        _group("std::uint32_t", reversed(one.box)),
        _cast("long long", one.offset),
        "true" if pixels else "false",
        _group("int", reversed(pixels.lower) if pixels else ()),
        _group("int", reversed(pixels.upper) if pixels else ()),
        _group("std::uint32_t", (1, *reversed(pixels.steps), 1) if pixels else [1] * len(one.shape)),
    ]
    return ", ".join(words)


def _group(kind: str, numbers: Iterable[Any]) -> str:
    return f"{{{', '.join(_cast(kind, one) for one in numbers)}}}"


def _cast(kind: str, value: Any) -> str:
    """A number as another type; a plain one as it is."""
    return f"static_cast<{kind}>({value.name})" if isinstance(value, Number) else str(value)


def _text(value: Any) -> str:
    return value.name if isinstance(value, Number) else str(value)
