"""What transpose's cases cover, and what is peculiar to its kernels; tests/contract runs them all."""

from dataclasses import replace

from planted import check_caught
from transpose_cases import SPEC

from autotune.codegen.layout.transpose.emit import emit
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.emulator import verify
from autotune.search_spaces.layout.transpose import OPERATOR


def test_wide_index() -> None:
    """Rows that are further apart than 32 bits can tell, of which there is only one."""
    problem = TransposeProblem(1, 70, lda=2**31, ldb=1)
    source = OPERATOR.program(problem, TransposeSchedule(), SPEC)
    assert "using Index = long long;" in source.source
    assert verify(problem, source) == 0


def test_planted_bug_is_caught() -> None:
    problem = TransposeProblem(90, 131, batch=2)
    source = emit(problem, TransposeSchedule(raster_group=2))
    check_caught(problem, source, "m < inside_m && n < inside_n))) continue", "n < inside_n))) continue")


def test_equal_texts_serve_many_problems() -> None:
    schedule = TransposeSchedule()
    assert emit(TransposeProblem(64, 96), schedule).source == emit(TransposeProblem(640, 960), schedule).source
    shaped = replace(schedule, specialize=OPERATOR.kernels[0].schedule_type.parse(["specialize=shape"]).specialize)
    assert emit(TransposeProblem(64, 96), shaped).source != emit(TransposeProblem(640, 960), shaped).source
