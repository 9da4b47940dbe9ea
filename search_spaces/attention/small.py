"""Attention and its gradients: small problems that prove a schedule in the emulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.strided import StridedProblem

P = TypeVar("P", bound=HeadProblem)
Strided = TypeVar("Strided", bound=StridedProblem)


def small_problems(problem: P, rows: int, keys: int, aligned: int) -> list[P]:
    """Whole tiles of one head; and tiles that are partly there, in a batch of heads that share keys, with gaps.

    Of packed sequences, there are three in either.

    Args:
        problem: whose kinds they have.
        rows, keys: of a tile.
        aligned: bytes that pointers and strides need to be multiples of.
    """
    fields: dict[str, Any] = {field: 0 for stated in problem.layouts.values() for field in stated.fields}
    fields |= {"batch": 1, "heads": 1, "heads_kv": 0, "queries": rows, "keys": 2 * keys}
    packed = {"batch": 3} if problem.segmented else {}
    if problem.window_left:
        fields["window_left"] = keys // 2 + 1
    if problem.window_right:
        fields["window_right"] = 3
    whole = apart(_fitted(problem, fields | packed), aligned, 0)
    group = 2 if problem.group > 1 else 1
    fields |= {"batch": 2, "heads": 2, "heads_kv": 2 // group, "queries": rows // 2 + 1, "keys": keys + 3}
    return [whole, apart(_fitted(problem, fields | packed), aligned, 1)]


def _fitted(problem: P, fields: Mapping[str, Any]) -> P:
    return type(problem)(**type(problem).fitted({**problem.to_dict(), **fields}))


def apart(problem: Strided, aligned: int, gaps: int) -> Strided:
    """The problem with rows so many bytes apart that they are aligned, and as many more times `gaps`."""
    for stated in problem.layouts.values():
        unit = max(1, aligned // stated.element_bytes)
        step = round_up(stated.shape[-1], unit) + gaps * unit
        fields: dict[str, Any] = stated.spread(len(stated.fields) - 1, step)
        fields[stated.alignment_field] = max(aligned, stated.element_bytes)
        problem = replace(problem, **fields)
    return problem
