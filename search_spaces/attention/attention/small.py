"""attention: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.model.integers import round_up


def small_problems(problem: AttentionProblem, rows: int, keys: int, aligned: int) -> list[AttentionProblem]:
    """Whole tiles of one head; and tiles that are partly there, in a batch of heads that share keys, with gaps.

    Args:
        problem: whose kinds they have.
        rows, keys: of a tile.
        aligned: bytes that pointers and strides need to be multiples of.
    """
    fields: dict[str, Any] = {field: 0 for stated in problem.layouts.values() for field in stated.fields}
    fields |= {"batch": 1, "heads": 1, "heads_kv": 0, "queries": rows, "keys": 2 * keys}
    if problem.window_left:
        fields["window_left"] = keys // 2 + 1
    if problem.window_right:
        fields["window_right"] = 3
    whole = _apart(replace(problem, **fields), aligned, 0)
    group = 2 if problem.group > 1 else 1
    fields |= {"batch": 2, "heads": 2, "heads_kv": 2 // group, "queries": rows // 2 + 1, "keys": keys + 3}
    return [whole, _apart(replace(problem, **fields), aligned, 1)]


def _apart(problem: AttentionProblem, aligned: int, gaps: int) -> AttentionProblem:
    """The problem with rows so many bytes apart that they are aligned, and as many more times `gaps`."""
    unit = max(1, aligned // problem.dtype.bytes)
    for stated in problem.layouts.values():
        step = round_up(stated.shape[-1], unit) + gaps * unit
        fields: dict[str, Any] = stated.spread(len(stated.fields) - 1, step)
        fields[stated.alignment_field] = max(aligned, problem.dtype.bytes)
        problem = replace(problem, **fields)
    return problem
