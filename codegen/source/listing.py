"""A program as people read it: its steps as comments, then its sources."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autotune.codegen.model.launch import Counting, InTurn, Memset, Region, Repeat, Step, Value
from autotune.codegen.model.program import Program
from autotune.codegen.model.tensor_map import TensorMap


def listing(program: Program) -> str:
    """The source of a program with one step; of others, their steps and all sources, each of which compiles alone."""
    if program.plain and len(program.steps) == 1:
        return program.source
    steps = "".join(f"// {line}\n" for line in _steps(program.steps))
    count = len(program.modules)
    titles = [f"// Source {number} of {count}.\n" if count > 1 else "" for number in range(1, count + 1)]
    sources = (f"{title}{module.source}" for title, module in zip(titles, program.modules, strict=True))
    return f"// What runs:\n{steps}\n" + "\n".join(sources)


def _steps(steps: Iterable[Step], indent: str = "  ") -> Iterator[str]:
    for step in steps:
        if isinstance(step, Repeat):
            yield f"{indent}{step.times} times:"
            yield from _steps(step.steps, f"{indent}  ")
        elif isinstance(step, Memset):
            yield f"{indent}set {step.bytes} bytes of the workspace at {step.offset} to {step.value}"
        else:
            values = ", ".join(f"{name} = {_value(value)}" for name, value in step.arguments)
            grid, block = ("×".join(map(str, extents)) for extents in (step.grid, step.block))
            yield f"{indent}{step.entry}: {grid} blocks of {block} threads{f', {values}' if values else ''}"


def _value(value: Value) -> str:
    if isinstance(value, Region):
        return f"workspace + {value.offset}"
    if isinstance(value, Counting):
        return f"{value.start}, {value.start + value.step}, …"
    if isinstance(value, InTurn):
        return f"{' | '.join(map(_value, value.values))} in turn"
    if isinstance(value, TensorMap):
        return f"a map of {value.tensor} + {value.offset}"
    return "null" if value is None else str(value)
