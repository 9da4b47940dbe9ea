"""What a program launches, as steps that driver.hpp runs: words, each the row of a number, or a name."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain, islice, repeat
from typing import Any

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Counting, InTurn, Launch, Memset, Repeat, Step, Value, unrolled
from autotune.codegen.model.lists import member
from autotune.codegen.model.packing import laid_out
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap
from autotune.devices.tensor_maps import SWIZZLES, type_of

from .trace import Number, Path

Word = int | str
Plan = tuple[Word, ...]


def plan_of(program: Program, path: Path) -> tuple[Plan, Program]:
    """The words of a program: its workspace, then of each step its kind and numbers. And the program without loops.

    Repetitions are written out, but for those whose number follows from sizes and whose turns count alone: these are
    loops in C++. To write them out would ask whether there is one more turn, again and again. The program that is
    returned has the first turn of each: it has all entries, and takes all that a call brings.
    """
    steps = [one for step in program.steps for one in ([step] if _is_loop(step) else unrolled([step]))]
    turns = (unrolled(step.steps) if isinstance(step, Repeat) else [step] for step in steps)
    first = replace(program, steps=tuple(chain.from_iterable(turns)))
    digests = [part.source_digest for part in first.parts]

    def written(steps: Iterable[Step]) -> Iterator[Word]:
        for step in steps:
            if isinstance(step, Repeat):
                turn = [*written(step.steps)]
                yield from (*_words(path, "repeat", step.times, len(turn)), *turn)
            elif isinstance(step, Memset):
                yield from _words(path, "set", step.offset, step.bytes, step.value)
            else:
                if not first.plain:
                    yield from _filled(path, first.members(step), dict(step.arguments))
                kernel = f"{digests[step.module]} {step.entry}"
                yield from _words(path, "launch", kernel, *step.grid, *step.block, step.shared_bytes)

    filled = _filled(path, first.arguments, {}) if first.plain else ()
    return (path.row(program.workspace_bytes), *filled, *written(steps)), first


def _is_loop(step: Step) -> bool:
    if not isinstance(step, Repeat) or not isinstance(step.times, Number):
        return False
    given = [value for one in step.steps if isinstance(one, Launch) for _, value in one.arguments]
    return not any(isinstance(one, Repeat | InTurn) for one in (*step.steps, *given))


def _words(path: Path, *values: Any) -> Iterator[Word]:
    """Names, and the rows of numbers."""
    return (value if isinstance(value, str) else path.row(value) for value in values)


def _filled(path: Path, block: tuple[Argument, ...], given: dict[str, Value]) -> Iterator[Word]:
    """What fills the struct of a launch that is given values of some members."""
    (kind,), _ = laid_out([block])
    for one in block:
        where, value = (getattr(kind, member(one.name)).offset, ctypes.sizeof(one.ctype)), given.get(one.name)
        if one.tensor_map:
            yield from _words(path, "map", *where, one.tensor_map.tensor, *_tensor_map(one.tensor_map))
        elif one.brought:
            yield from _words(path, "take", *where, one.brought, one.offset)
        elif one.cuda_type in ("float", "double"):
            yield from _words(path, "real", *where, one.value)
        else:
            start, more = (value.start, value.step) if isinstance(value, Counting) else (one.value, 0)
            yield from _words(path, "put", *where, start, more)


def _tensor_map(one: TensorMap) -> Iterator[Any]:
    """As driver.hpp encodes it: five numbers where there may be as many, three of corners."""
    rank, pixels, element_bytes = len(one.shape), one.im2col, DType(one.dtype).bytes
    yield from (int(type_of(one)), int(SWIZZLES[one.swizzle]), rank, bool(pixels), one.offset)
    strides = [element_bytes * stride for stride in reversed(one.strides[:-1])]
    steps = (1, *reversed(pixels.steps), 1) if pixels else [1] * rank
    for numbers in (reversed(one.shape), strides, reversed(one.box), steps):
        yield from islice(chain(numbers, repeat(0)), 5)
    for corner in (pixels.lower, pixels.upper) if pixels else ((), ()):
        yield from islice(chain(reversed(corner), repeat(0)), 3)
