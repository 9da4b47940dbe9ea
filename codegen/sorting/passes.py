"""Passes over keys that go to and fro between arrays, and their values with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from autotune.codegen.model.argument import Argument
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import ceil_div, doublings
from autotune.codegen.model.launch import Fixed, InTurn, Launch, Value
from autotune.codegen.model.program import Program

from .values import Values

# What the buffers of passes are called; `spare` and `other` are parts of the workspace.
_KEYS = {"in": "keys", "out": "keys_out", "spare": "spare_keys", "other": "other_keys", "none": None}
_VALUES = {"in": "values", "out": "values_out", "spare": "spare_values", "other": "other_values", "none": None}


def pass_arguments(values: Values) -> list[Argument]:
    """Pointers to what a pass reads and writes, and its number: the last members of ``struct Arguments``."""
    pointers = [Argument("source", "const void*"), Argument("target", "void*")]
    if values is not Values.NONE:
        pointers += [Argument("source_values", "const void*"), Argument("target_values", "void*")]
    return [*pointers, Argument("level", "int")]


def taking(values: Values, **sides: Sequence[str]) -> dict[str, Value]:
    """What passes take for `source` and `target`: the buffers of these names in turn, such as ``spare`` and ``out``.

    Indices that are not there yet are a null pointer.
    """
    found = {side: _in_turn([_KEYS[name] for name in names]) for side, names in sides.items()}
    if values is not Values.NONE:
        of = _VALUES | ({"in": None} if values.is_index else {})
        found |= {f"{side}_values": _in_turn([of[name] for name in names]) for side, names in sides.items()}
    return found


def sides(left: int) -> tuple[str, str]:
    """Where keys are when so many passes are left, and then in turn: the last pass writes the results."""
    return ("spare", "out") if left % 2 else ("out", "spare")


def doubling(columns: int) -> int:
    """Passes that make runs of one key as long as a row; one at least, which writes the results."""
    return max(1, doublings(columns))


def in_passes(program: Program, values: Values, threads: Sequence[int]) -> Program:
    """The program of one launch as passes of so many threads each, which are told their number as `level`."""
    launch, steps = program.launch, list[Launch]()
    for level, count in enumerate(threads):
        left = len(threads) - level
        given = taking(values, source=sides(left)[:1] if level else ["in"], target=sides(left - 1)[:1])
        blocks = ceil_div(count, launch.threads)
        steps.append(replace(launch, grid=(blocks, 1, 1)).taking(level=level, **given))
    return replace(program, steps=tuple(steps))


def with_spares(program: Program, dtype: DType, values: Values, count: int, **parts: int) -> Program:
    """The program with spare arrays of so many keys and values in the workspace, as far as it takes any, and parts."""
    for name in ("spare", "other"):
        parts |= {f"{name}_keys": count * dtype.bytes, f"{name}_values": count * values.bytes}
    taken = {one.brought for block in program.blocks for one in block if not one.scalar}
    own = {name: max(1, size) for name, size in parts.items() if name in taken}
    return program.in_workspace(**own) if own else program


def _in_turn(names: Sequence[Fixed]) -> Value:
    return names[0] if len(names) == 1 else InTurn(tuple(names))
