"""What a program launches, as words that plan.hpp reads: its instructions, rows of terms, and names."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Counting, InTurn, Launch, Memset, Repeat, Step, Value, unrolled
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import ALIGNMENT, laid_out
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.devices.tensor_maps import SWIZZLES, type_of

from .trace import Number, Path

Plan = tuple[int | str, ...]


def plan_of(program: Program, path: Path) -> Plan:
    """The words of a program whose steps are `written_once`: workspace, lines of arguments, number of other words."""
    first = first_turns(program)
    names = [program_name(part.source_digest) for part in first.parts]
    kinds, begins = laid_out(first.blocks)
    structs = zip(kinds, first.blocks, (end - begin for begin, end in pairwise(begins)), strict=True)

    def written(steps: Iterable[Step], words: list[int | str], end: int) -> tuple[list[int | str], int]:
        """The words of some steps whose structs begin at `end`, after others, and where the structs end."""
        for step in steps:
            if isinstance(step, Repeat):
                turn, size = written(step.steps, [], 0)
                words += ["repeat", path.row(step.times), size // ALIGNMENT, len(turn), *turn]
            elif isinstance(step, Memset):
                words += ["set", path.row(step.offset), path.row(step.bytes), step.value]
            else:
                at = 0  # of the struct that all launches have
                if not first.plain:
                    kind, block, size = next(structs)
                    words += _filled(path, kind, block, end, dict(step.arguments))
                    at, end = end, end + size
                extents = map(path.row, (*step.grid, *step.block, step.shared_bytes))
                words += ["launch", names[step.module], f"entry_{step.entry}", at, *extents]
        return words, end

    shared = list[int | str]()
    if first.plain:
        kind, block, size = next(structs)
        shared = list(_filled(path, kind, block, 0, {}))
    words, end = written(program.steps, shared, size if first.plain else 0)
    return path.row(program.workspace_bytes), end // ALIGNMENT, len(words), *words


def written_once(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps one by one, but for repetitions whose number follows from sizes and whose turns count alone.

    These are loops in C++. To write them out would ask whether there is one more turn, again and again.
    """
    return tuple(one for step in steps for one in ([step] if _is_loop(step) else unrolled([step])))


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


def brought_name(name: str) -> str:
    """What C++ calls a tensor or a scalar that a call brings."""
    return f"brought_{member(name)}"


def _filled(
    path: Path, kind: type, block: Sequence[Argument], begin: int, given: Mapping[str, Value]
) -> Iterator[int | str]:
    """What fills a struct, of a launch that is given values of some members."""
    for one in block:
        value, at = given.get(one.name), begin + getattr(kind, member(one.name)).offset
        if one.tensor_map:
            yield from ("map", at, *_tensor_map(path, one.tensor_map))
        elif isinstance(value, Counting) or one.value is not None:
            start, step = (value.start, value.step) if isinstance(value, Counting) else (one.value, 0)
            real = one.cuda_type in ("float", "double")
            yield from ("put", at, ctypes.sizeof(one.ctype), int(real), path.row(start), path.row(step))
        else:
            yield from ("take", at, brought_name(one.brought), ctypes.sizeof(one.ctype), path.row(one.offset))


def _tensor_map(path: Path, one: TensorMap) -> Iterator[int | str]:
    """As `TensorMap` of plan.hpp has it: five numbers where there may be as many, three of corners."""
    rank, pixels, element_bytes = len(one.shape), one.im2col, DType(one.dtype).bytes
    yield from (brought_name(one.tensor), int(type_of(one)), int(SWIZZLES[one.swizzle]), rank, int(bool(pixels)))
    strides = [element_bytes * stride for stride in reversed(one.strides[:-1])]
    steps = (1, *reversed(pixels.steps), 1) if pixels else [1] * rank
    for numbers in (reversed(one.shape), strides, reversed(one.box), steps):
        yield from _padded(path, numbers, 5)
    for corner in (pixels.lower, pixels.upper) if pixels else ((), ()):
        yield from _padded(path, reversed(corner), 3)
    yield path.row(one.offset)


def _padded(path: Path, numbers: Iterable[Any], count: int) -> list[int]:
    rows = [path.row(number) for number in numbers]
    return [*rows, *[path.row(0)] * (count - len(rows))]
