"""Vectors are no wider than pointers, rows and matrices of a batch are aligned for: each of them alone narrows them."""

from dataclasses import replace

import pytest
from operator_cases import SPEC, cases_of

from autotune import emulator
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.registry import OPERATORS, operator


def odd_layouts(problem: Problem) -> list[Problem]:
    """The problem with one pointer or one axis of one operand aligned to an element, all others to 16 bytes."""
    wide = {}
    for stated in problem.layouts.values():
        last = len(stated.fields) - 1
        wide |= stated.spread(last, (stated.shape[-1] + 15) // 16 * 16) | {stated.alignment_field: 16}
    aligned = replace(problem, **wide)
    assert all(stated.vector_width > 1 for stated in aligned.layouts.values())
    found = []
    for stated in aligned.layouts.values():
        found.append(replace(aligned, **{stated.alignment_field: stated.element_bytes}))
        for axis, stride in enumerate(stated.strides):
            found += [replace(aligned, **stated.spread(axis, stride + 1, times=16))] if stride else []
    return found


@pytest.mark.parametrize("name", OPERATORS)
def test_one_odd_layout_narrows_accesses(name: str) -> None:
    problem = cases_of(name).SMALL_PROBLEMS[-1]
    if not problem.layouts:
        pytest.skip("its strides are no fields")
    if name == "transpose":
        problem = replace(problem, element_bytes=4)
    for odd in odd_layouts(problem):
        schedules = operator(name).seeds(odd, SPEC)[:1]
        for schedule in schedules:
            emulator.verify(odd, operator(name).program(odd, schedule, SPEC), seeds=(2,))
