"""What a program launches, as statements of C++ that fill a ``Plan`` of ``plan.hpp``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Counting, InTurn, Launch, Memset, Repeat, SingleStep, Step, Value, unrolled
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import ALIGNMENT, laid_out
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.devices.tensor_maps import SWIZZLES, type_of

from .trace import Number

Plan = tuple[str, ...]


def plan_of(program: Program) -> Plan:
    """The statements, of a program whose steps are `written_once`."""
    return tuple(_statements(program))


def written_once(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps one by one, but for repetitions whose number follows from sizes and whose turns count alone.

    These are loops in C++. To write them out would ask whether there is one more turn, again and again.
    """
    found: list[Step] = []
    for step in steps:
        found += [step] if _is_loop(step) else unrolled([step])
    return tuple(found)


def first_turns(program: Program) -> Program:
    """The program with the first turn of its loops alone: it has all entries, and takes all that a call brings."""
    steps = (one for step in program.steps for one in unrolled(step.steps if isinstance(step, Repeat) else [step]))
    return replace(program, steps=tuple(steps))


def _is_loop(step: Step) -> bool:
    if not isinstance(step, Repeat) or not isinstance(step.times, Number):
        return False
    given = [value for one in step.steps if isinstance(one, Launch) for _, value in one.arguments]
    return not any(isinstance(one, Repeat | InTurn) for one in (*step.steps, *given))


def program_name(digest: str) -> str:
    """What C++ calls a source by its digest."""
    return f"kernels_{digest[:16]}"


def _statements(program: Program) -> Iterator[str]:
    first = first_turns(program)
    names = [program_name(part.source_digest) for part in first.parts]
    kinds, begins = laid_out(first.blocks)
    structs = zip(kinds, first.blocks, (end - begin for begin, end in pairwise(begins)), strict=True)
    filled, run, end = list[str](), list[str](), 0

    def written(step: SingleStep, ahead: str, at: int) -> tuple[list[str], str, int]:
        """What fills the struct of a step, which begins at `ahead` + `at`, what runs the step, and the struct's end."""
        if isinstance(step, Memset):
            return [], f"plan.set({_text(step.offset)}, {_text(step.bytes)}, {step.value});", at
        put, place = list[str](), "0"  # of the struct that all launches have
        if not first.plain:
            kind, block, size = next(structs)
            put, place, at = _filled(kind, block, ahead, at, dict(step.arguments)), f"{ahead}{at}", at + size
        launch = f"plan.launch({names[step.module]}, entry_{step.entry}, {place}, {_dimensions(step)});"
        return put, launch, at

    if first.plain:
        kind, block, end = next(structs)
        filled += _filled(kind, block, "", 0, {})
    for step in program.steps:
        if isinstance(step, Repeat):
            turn, size = list[str](), 0
            for one in step.steps:
                assert not isinstance(one, Repeat)
                put, launched, size = written(one, "begin + ", size)
                turn += [*put, launched]
            begin = [f"const int begin = plan.more({size // ALIGNMENT});"] if size else []
            run.append(f"for (long long turn = 0; turn < {_text(step.times)}; ++turn) {{")
            run += [*(f"  {line}" for line in begin + turn), "}"]
        else:
            put, launched, end = written(step, "", end)
            filled += put
            run.append(launched)
    yield f"plan.more({end // ALIGNMENT});"
    yield from filled
    yield f"plan.workspace_bytes = {_text(program.workspace_bytes)};"
    yield from run


def _filled(kind: type, block: Sequence[Argument], ahead: str, at: int, given: Mapping[str, Value]) -> list[str]:
    """What fills the struct that begins at `ahead` + `at`, of a launch that is given values of some members."""
    offsets = {one.name: getattr(kind, member(one.name)).offset for one in block}
    return [_argument(one, f"{ahead}{at + offsets[one.name]}", given.get(one.name)) for one in block]


def _argument(one: Argument, position: str, given: Value) -> str:
    if isinstance(given, Counting):
        turns = f"{_text(given.start)} + turn * {_text(given.step)}"
        return f"plan.put<{one.cuda_type}>({position}, static_cast<{one.cuda_type}>({turns}));"
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
