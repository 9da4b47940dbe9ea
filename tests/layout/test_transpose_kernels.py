"""What transpose's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from planted import check_caught
from transpose_cases import CASES, SPEC

from autotune.codegen.layout.transpose.emit import emit
from autotune.codegen.layout.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.emulator import verify
from autotune.search_spaces.layout.transpose import OPERATOR


def test_cases_cover_every_value() -> None:
    seen = {field.name: {getattr(schedule, field.name) for _, schedule in CASES} for field in fields(TransposeSchedule)}
    spaces = [OPERATOR.space(TransposeProblem(16, 16, size), SPEC) for size in ELEMENT_BYTES]
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
    source = OPERATOR.program(problem, TransposeSchedule(), SPEC)
    assert "using Index = long long;" in source.source
    assert verify(problem, source) == 0


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("__syncthreads();", ""),
        ("m < inside_m && first_n < inside_n", "m < inside_m"),
        ("m < inside_m && n < inside_n))) continue", "n < inside_n))) continue"),
        ("return n * (Schedule::tile_m + overlap_m)", "return n * (Schedule::tile_m - 1)"),
        ("batch * problem.stride_b", "0"),
        ("index % rows", "index % raster_group"),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str) -> None:
    problem = TransposeProblem(90, 131, batch=2)
    _assert_caught(problem, TransposeSchedule(raster_group=2), right, planted)


@pytest.mark.parametrize("align_stores", [0, 32])
@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("m < inside_m && n < inside_n) {\n      tile", "m < inside_m && n <= inside_n) {\n      tile"),
        ("m < inside_m && n < inside_n) {\n      b", "n < inside_n) {\n      b"),
    ],
)
def test_planted_bug_in_ragged_edges_is_caught(align_stores: int, right: str, planted: str) -> None:
    problem = TransposeProblem(91, 133, lda=136, ldb=96)
    schedule = TransposeSchedule(vector_load=4, vector_store=4, rows_per_thread=4, align_stores=align_stores)
    _assert_caught(problem, schedule, right, planted)


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("sizeof(Element);", "sizeof(Element) + 1;"),
        ("m - row_shift<overlap_m>(b, n, problem.ldb)),", "m),"),
        ("m + shift_b", "m"),
        ("overlap_m > 0 && m < overlap_m", "false"),
        ("stored_m - overlap_m", "stored_m"),
        ("m >= outside_m && ", ""),
        ("overlap_m - 1 : 0", "0 : 0"),
    ],
)
def test_planted_bug_in_aligned_stores_is_caught(right: str, planted: str) -> None:
    problem = TransposeProblem(165, 67)
    schedule = TransposeSchedule(tile_m=64, vector_store=4, rows_per_thread=8, align_stores=32)
    _assert_caught(problem, schedule, right, planted)


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("first_n - row_shift<overlap_n>(a, m, problem.lda)", "first_n"),
        ("Schedule::tile_n - shift_a", "Schedule::tile_n"),
        ("overlap_n > 0 && n >= stored_n", "false"),
        ("(tile.n) * stored_n", "(tile.n) * Schedule::tile_n"),
        ("overlap_n > 0 && n == 0", "false"),
        ("inside_n < stored_n ? inside_n : stored_n", "inside_n"),
    ],
)
def test_planted_bug_in_aligned_loads_is_caught(right: str, planted: str) -> None:
    problem = TransposeProblem(67, 165, align_a=4)  # A begins between vectors, too
    schedule = TransposeSchedule(tile_n=64, vector_load=4, rows_per_thread=4, align_loads=16)
    _assert_caught(problem, schedule, right, planted)


def _assert_caught(problem: TransposeProblem, schedule: TransposeSchedule, right: str, planted: str) -> None:
    source = emit(problem, schedule)
    assert verify(problem, source) == 0
    check_caught(problem, source, right, planted)


def test_equal_texts_serve_many_problems() -> None:
    schedule = TransposeSchedule()
    assert emit(TransposeProblem(64, 96), schedule).source == emit(TransposeProblem(640, 960), schedule).source
    shaped = replace(schedule, specialize=OPERATOR.kernels[0].schedule_type.parse(["specialize=shape"]).specialize)
    assert emit(TransposeProblem(64, 96), shaped).source != emit(TransposeProblem(640, 960), shaped).source
