"""Vectors are no wider than pointers, rows and matrices of a batch are aligned for: each of them alone narrows them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from operator_cases import LIMITS, cases_of

from autotune import emulator
from autotune.codegen.model.matrices import MatrixProblem
from autotune.search_spaces.contract.registry import OPERATORS, operator


def odd_layouts(problem: MatrixProblem) -> list[MatrixProblem]:
    """The problem with one pointer, row or matrix of one operand aligned to an element, all others to 16 bytes."""
    wide = {}
    for operand, (rows, columns) in problem.stored.items():
        leading = (columns + 15) // 16 * 16
        wide |= {f"ld{operand}": leading, f"align_{operand}": 16}
        wide |= {f"stride_{operand}": rows * leading} if hasattr(problem, f"stride_{operand}") else {}
    aligned = replace(problem, **wide)
    assert all(aligned.vector_width(operand) > 1 for operand in problem.stored)
    found = []
    for operand in problem.stored:
        leading, stride, _ = aligned.layout_of(operand)
        rows, _ = problem.stored[operand]
        found.append(replace(aligned, **{f"align_{operand}": aligned.element_bytes_of(operand)}))
        follows = {f"stride_{operand}": rows * (leading + 1) * 16} if stride else {}
        found.append(replace(aligned, **{f"ld{operand}": leading + 1}, **follows))
        found += [replace(aligned, **{f"stride_{operand}": stride + 1})] if stride else []
    return found


@pytest.mark.parametrize("name", OPERATORS)
def test_one_odd_layout_narrows_accesses(name: str) -> None:
    problem = cases_of(name).SMALL_PROBLEMS[-1]
    if not isinstance(problem, MatrixProblem):
        pytest.skip("its operands are no matrices")
    if name == "transpose":
        problem = replace(problem, element_bytes=4)
    for odd in odd_layouts(problem):
        schedules = operator(name).seeds(odd, LIMITS)[:1]
        for schedule in schedules:
            emulator.verify(odd, operator(name).program(odd, schedule, LIMITS), seeds=(2,))
