"""Every kind of emitted kernel, run in the emulator against NumPy and compiled for every architecture."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from dataclasses import fields, replace
from pathlib import Path

import pytest
from transpose_cases import LIMITS, Case, drawn_cases

from autotune.codegen.source import KernelSource
from autotune.codegen.transpose.emit import emit
from autotune.codegen.transpose.problem import ELEMENT_BYTES, TransposeProblem
from autotune.codegen.transpose.schedule import TransposeSchedule
from autotune.compiler import compile_kernel
from autotune.emulator import EmulatorError, verify
from autotune.search_spaces.transpose import OPERATOR

ARCHS = ("sm_75", "sm_80", "sm_90", "sm_120")
CASES = drawn_cases(100)
CLANG_FORMAT_STYLE = Path(__file__).parents[2] / ".clang-format"
ALIGNED = TransposeProblem(128, 256)
RAGGED = TransposeProblem(67, 131, batch=2)


def _name(value: object) -> str:
    return value.key if isinstance(value, TransposeProblem) else str(value).replace(" ", ",")


@pytest.mark.parametrize(("problem", "schedule"), CASES, ids=_name)
def test_drawn_schedule_is_right(problem: TransposeProblem, schedule: TransposeSchedule) -> None:
    assert verify(problem, OPERATOR.source(problem, schedule, LIMITS)) == 0


def test_cases_cover_every_value() -> None:
    seen = {field.name: {getattr(schedule, field.name) for _, schedule in CASES} for field in fields(TransposeSchedule)}
    spaces = [OPERATOR.space(TransposeProblem(16, 16, size), LIMITS) for size in ELEMENT_BYTES]
    for parameter in (parameter for space in spaces for parameter in space.parameters):
        drawn = seen.get(parameter.name) or {_draw(case)[parameter.name] for case in CASES}
        assert set(parameter.values) <= drawn, parameter.name
    assert seen["swizzle"] == {False, True}
    assert {bool(pad) for pad in seen["pad"]} == {False, True}


def _draw(case: Case) -> dict[str, object]:
    problem, schedule = case
    return dict(OPERATOR.space(problem, LIMITS).draw_of(schedule))


def test_cases_cover_problems() -> None:
    problems = [problem for problem, _ in CASES]
    assert {problem.element_bytes for problem in problems} == set(ELEMENT_BYTES)
    assert {problem.batch for problem in problems} == {1, 2, 3}
    whole = [p.m % s.tile_m == 0 and p.n % s.tile_n == 0 and not p.empty for p, s in CASES]
    assert 10 <= sum(whole) <= 60
    assert sum(problem.empty for problem in problems) <= 20
    assert any(problem.stride_b < problem.ldb for problem in problems if problem.batch > 1)


@pytest.mark.parametrize("size", ELEMENT_BYTES)
@pytest.mark.parametrize("name", OPERATOR.presets)
def test_preset_is_right(name: str, size: int) -> None:
    problem = replace(RAGGED, element_bytes=size) if size % 3 == 1 else replace(ALIGNED, element_bytes=size)
    assert verify(problem, OPERATOR.presets[name](problem)) == 0


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (1, 1), (1, 300), (300, 1)])
def test_default_is_right_on_small_shapes(shape: tuple[int, int]) -> None:
    problem = TransposeProblem(*shape)
    assert verify(problem, OPERATOR.source(problem, OPERATOR.default(problem, LIMITS), LIMITS)) == 0


def test_wide_index() -> None:
    """Rows that are further apart than 32 bits can tell, of which there is only one."""
    problem = TransposeProblem(1, 70, lda=2**31, ldb=1)
    source = OPERATOR.source(problem, TransposeSchedule(), LIMITS)
    assert "using Index = long long;" in source.text
    assert verify(problem, source) == 0


@pytest.mark.parametrize(
    ("right", "planted"),
    [
        ("__syncthreads();", ""),
        ("n < inside_n) tile", "n <= inside_n) tile"),
        ("m < inside_m && n < inside_n) b", "n < inside_n) b"),
        ("return n * Schedule::tile_m", "return n * (Schedule::tile_m - 1)"),
        ("batch * problem.stride_b", "0"),
        ("index % rows", "index % full_group"),
    ],
)
def test_planted_bug_is_caught(right: str, planted: str) -> None:
    problem = TransposeProblem(90, 131, batch=2)
    source = emit(problem, TransposeSchedule(group_m=2))
    assert right in source.text
    with pytest.raises(EmulatorError):
        verify(problem, replace(source, text=source.text.replace(right, planted)))


@pytest.mark.parametrize(("problem", "schedule"), CASES, ids=_name)
def test_drawn_schedule_compiles(problem: TransposeProblem, schedule: TransposeSchedule) -> None:
    for arch in ARCHS:
        compile_kernel(emit(problem, schedule), arch)


@pytest.mark.parametrize("arch", ARCHS)
def test_presets_compile_without_spills(arch: str) -> None:
    for name, preset in OPERATOR.presets.items():
        resources = compile_kernel(preset(ALIGNED), arch).resources
        assert resources.stack_bytes == resources.spill_store_bytes == resources.shared_bytes == 0, name


@pytest.fixture
def sources() -> list[KernelSource]:
    specialized = TransposeSchedule.parse(["specialize=shape"])
    naive = OPERATOR.presets["naive"](ALIGNED)
    return [naive, *(emit(p, s) for p, s in [*CASES[:3], (RAGGED, TransposeSchedule()), (ALIGNED, specialized)])]


def test_text_is_formatted(sources: list[KernelSource], tmp_path: Path) -> None:
    shutil.copy(CLANG_FORMAT_STYLE, tmp_path)
    for number, source in enumerate(sources):
        (tmp_path / f"{number}.cu").write_text(source.text)
    command = [
        f"{sysconfig.get_path('scripts')}/clang-format",
        "--dry-run",
        "--Werror",
        *map(str, tmp_path.glob("*.cu")),
    ]
    completed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")
def test_nvcc_accepts_the_text(sources: list[KernelSource], tmp_path: Path) -> None:
    path = tmp_path / "transpose.cu"
    path.write_text(sources[1].text)
    completed = subprocess.run(
        ["nvcc", "-c", "-arch=sm_90", path, "-o", tmp_path / "o"], capture_output=True, text=True, check=False
    )
    assert completed.returncode == 0, completed.stderr


def test_equal_texts_serve_many_problems() -> None:
    schedule = TransposeSchedule()
    assert emit(TransposeProblem(64, 96), schedule).text == emit(TransposeProblem(640, 960), schedule).text
    shaped = replace(schedule, specialize=OPERATOR.schedule_type.parse(["specialize=shape"]).specialize)
    assert emit(TransposeProblem(64, 96), shaped).text != emit(TransposeProblem(640, 960), shaped).text


@pytest.mark.parametrize("shape", [(0, 64), (64, 0)])
def test_nothing_to_do_launches_nothing(shape: tuple[int, int]) -> None:
    problem = TransposeProblem(*shape)
    assert emit(problem, TransposeSchedule()).launch.blocks == 0
    assert OPERATOR.reference(problem).launch.blocks == 0
