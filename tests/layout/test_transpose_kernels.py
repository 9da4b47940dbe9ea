"""What transpose's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from transpose_cases import CASES, LIMITS

from autotune.codegen.layout.transpose.emit import emit
from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.layout.transpose import OPERATOR


def test_cases_cover_every_value() -> None:
    seen = {field.name: {getattr(schedule, field.name) for _, schedule in CASES} for field in fields(TransposeSchedule)}
    spaces = [OPERATOR.space(TransposeProblem(16, 16, size), LIMITS) for size in ELEMENT_BYTES]
    for parameter in (parameter for space in spaces for parameter in space.parameters):
        drawn = seen.get(parameter.name) or {getattr(schedule, parameter.name) for _, schedule in CASES}
        assert set(parameter.values) <= drawn, parameter.name
    assert seen["swizzle"] == {False, True}
    assert {bool(pad) for pad in seen["pad"]} == {False, True}


def test_cases_cover_problems() -> None:
    problems = [problem for problem, _ in CASES]
    assert {problem.element_bytes for problem in problems} == set(ELEMENT_BYTES)
    assert {problem.batch for problem in problems} == {1, 2, 3}
    whole = [p.m % s.tile_m == 0 and p.n % s.tile_n == 0 and not p.empty for p, s in CASES]
    assert 10 <= sum(whole) <= 60
    assert sum(problem.empty for problem in problems) <= len(CASES) / 5
    assert any(problem.stride_b < problem.ldb for problem in problems if problem.batch > 1)


def test_wide_index() -> None:
    """Rows that are further apart than 32 bits can tell, of which there is only one."""
    problem = TransposeProblem(1, 70, lda=2**31, ldb=1)
    source = OPERATOR.program(problem, TransposeSchedule(), LIMITS)
    assert "using Index = long long;" in source.source
    assert verify(problem, source) == 0


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("__syncthreads();", ""),
        ("n < inside_n) tile", "n <= inside_n) tile"),
        ("m < inside_m && n < inside_n) b", "n < inside_n) b"),
        ("return n * Schedule::tile_m", "return n * (Schedule::tile_m - 1)"),
        ("batch * problem.stride_b", "0"),
        ("index % rows", "index % raster_group"),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str) -> None:
    problem = TransposeProblem(90, 131, batch=2)
    source = emit(problem, TransposeSchedule(raster_group=2))
    assert right in source.source
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, source=source.source.replace(right, planted)))


def test_equal_texts_serve_many_problems() -> None:
    schedule = TransposeSchedule()
    assert emit(TransposeProblem(64, 96), schedule).source == emit(TransposeProblem(640, 960), schedule).source
    shaped = replace(schedule, specialize=OPERATOR.schedule_type.parse(["specialize=shape"]).specialize)
    assert emit(TransposeProblem(64, 96), shaped).source != emit(TransposeProblem(640, 960), shaped).source
