"""Exports: the rule in C++ is the one in Python, and what is written is whole."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from waves_twin import selected

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.work import Unit
from autotune.compiler import CompileError
from autotune.db.states import TimeSource
from autotune.devices.cuda import CudaDevice
from autotune.dispatcher.choice.records import Record
from autotune.export import Bundle, bundle_of, write, write_bundle
from autotune.export.tables import tables
from autotune.search_spaces.devices import named_device
from autotune.search_spaces.registry import operator

SGEMM, H200 = operator("sgemm"), named_device("h200")
SOURCES = Path(write.__file__).parent
SIZES = 10_000

ASK = """
#include <cstdio>
#include "tables.hpp"
int main() {
  long long m, n, k;
  constexpr int count = sizeof(autotune::records) / sizeof(autotune::records[0]);
  while (std::scanf("%lld %lld %lld", &m, &n, &k) == 3)
    std::printf("%d\\n", autotune::select(autotune::device, autotune::records, count, autotune::transpose_a,
                                         autotune::transpose_b, {m, n, k}));
}
"""


def known_records(transposed: bool) -> list[Record]:
    """Records of many shapes with what a search would try first, and with times of about a third of the peak rate."""
    draw, found = random.Random(2), []
    for number in range(24):
        problem = SgemmProblem(*(4 * int(2 ** draw.uniform(2, 11)) for _ in "mnk"), transpose_b=transposed)
        schedule = draw.choice(SGEMM.seeds(problem, H200))
        source = TimeSource.MODELLED if transposed and number % 2 else TimeSource.MEASURED
        registers = 96 * schedule.threads if number % 5 else 0
        seconds = 2e-6 + draw.uniform(1, 3) * 3 * problem.work.count(Unit.FP32) / H200.peak(Unit.FP32)
        found.append(Record(problem, schedule, seconds, source, registers))
    return found


def exported(transposed: bool = False) -> tuple[Bundle, list[Record]]:
    known = known_records(transposed)
    return bundle_of([record.problem for record in known], H200, known), known


def chosen_in_cpp(made: Bundle, sizes: list[tuple[int, int, int]], folder: Path) -> list[str | None]:
    """The key of the record that the C++ selector takes for each size."""
    (folder / "tables.hpp").write_text(tables(made))
    (folder / "ask.cpp").write_text(ASK)
    compiler = [os.environ.get("CXX", "g++"), "-std=c++17", "-O1", "-Wall", "-Werror", "-ffp-contract=off"]
    command = [*compiler, f"-I{SOURCES}", str(folder / "ask.cpp"), "-o", str(folder / "ask")]
    subprocess.run(command, check=True)
    lines = "\n".join(" ".join(map(str, size)) for size in sizes)
    answer = subprocess.run([folder / "ask"], input=lines, capture_output=True, text=True, check=True).stdout
    keys = [one.record.problem.key for one in made.exported]
    return [None if number < 0 else keys[number] for number in map(int, answer.split())]


@pytest.mark.parametrize("transposed", [False, True])
def test_cpp_chooses_as_python_does(transposed: bool, tmp_path: Path) -> None:
    made, known = exported(transposed)
    assert len(made.exported) == len(known) > 20
    assert len({one.schedule.cluster_k for one in made.exported}) > 1
    draw = random.Random(1)
    sizes = [tuple(int(2 ** draw.uniform(0, 14)) for _ in "mnk") for _ in range(SIZES // 2)]
    near = [draw.choice(known).problem for _ in range(SIZES // 2 - len(known))]
    sizes += [tuple(max(1, getattr(p, size) + draw.choice((-64, -4, 0, 1, 32))) for size in "mnk") for p in near]
    sizes += [(record.problem.m, record.problem.n, record.problem.k) for record in known]
    expected = []
    for m, n, k in sizes:
        expected.append(selected(SGEMM, SgemmProblem(m, n, k, transpose_b=transposed), H200, known))
    assert chosen_in_cpp(made, sizes, tmp_path) == expected
    assert len(set(expected)) > len(known) / 2  # many records serve, and sometimes none
    assert None in expected


def test_kernels_are_those_of_the_records_and_serve_any_size() -> None:
    made, _ = exported()
    for one in made.exported:
        assert one.own == SGEMM.program(replace(one.record.problem, beta_nonzero=True), one.record.schedule, H200)
        if one.record.own_only:
            assert one.larger == one.others == one.own
            continue
        for sizes, source in (((1031, 4 * 1033, 4 * 523), one.larger), ((1, 4, 4), one.others)):
            ragged = SgemmProblem(*sizes, beta_nonzero=True)  # rows that vectors divide, and tiles do not
            if not SGEMM.violations(ragged, replace(one.schedule, grid_blocks=0), H200):
                assert SGEMM.emit(ragged, one.schedule).source == source.source
    chosen = made.schedule
    assert (chosen.vector_a, chosen.vector_b, chosen.vector_c, chosen.grid_blocks) == (1, 1, 1, 0)


@pytest.mark.parametrize(
    ("problems", "message"),
    [
        ([SgemmProblem(8, 8, 8, batch=2)], "m8-n8-k8-nn-batch2: only dense matrices"),
        ([SgemmProblem(8, 8, 8, align_a=4)], "only dense matrices, one of each, aligned to 16 bytes"),
        ([SgemmProblem(8, 8, 8), SgemmProblem(8, 8, 8, transpose_a=True)], "one layout is exported at a time"),
    ],
)
def test_what_c_does_not_serve_is_not_exported(problems: list[SgemmProblem], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bundle_of(problems, H200, [])


def test_a_folder_is_written_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, known = exported()
    few = bundle_of([known[0].problem], H200, known)
    write_bundle(few, tmp_path / "export")
    names = {path.name for path in (tmp_path / "export").iterdir()}
    assert names >= {"sgemm.h", "sgemm.cpp", "selector.hpp", "tables.hpp", "example.cpp"}
    assert len([name for name in names if name.endswith(".cubin")]) == len(few.kernels) > 1
    assert all(name in (tmp_path / "export" / "tables.hpp").read_text() for name in names if name.endswith(".cubin"))

    def refuse(*_: object) -> str:
        raise CompileError("no such register")

    monkeypatch.setattr(write, "tables", refuse)
    with pytest.raises(CompileError):
        write_bundle(few, tmp_path / "failed")
    with pytest.raises(FileExistsError):
        write_bundle(few, tmp_path / "export")
    assert [path.name for path in tmp_path.iterdir()] == ["export"]


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_the_example_compiles(tmp_path: Path) -> None:
    _, known = exported()
    folder = tmp_path / "export"
    write_bundle(bundle_of([known[0].problem], H200, known), folder)
    subprocess.run(["nvcc", "-Werror", "all-warnings", "-c", "example.cpp", "sgemm.cpp"], cwd=folder, check=True)


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_the_example_passes(tmp_path: Path) -> None:
    limits = CudaDevice(0).limits
    known = [
        Record(SgemmProblem(*sizes), seed, 1e-4, TimeSource.MODELLED)
        for sizes in ((256, 512, 128), (64, 64, 8192), (1000, 100, 300))
        for seed in SGEMM.seeds(SgemmProblem(*sizes), limits)[:1]
    ]
    write_bundle(bundle_of([record.problem for record in known], limits, known), tmp_path / "export")
    command = ["nvcc", "-O2", "example.cpp", "sgemm.cpp", "-lcuda", "-o", "example"]
    subprocess.run(command, cwd=tmp_path / "export", check=True)
    done = subprocess.run(["./example", "."], cwd=tmp_path / "export", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["passed"]), done.stdout + done.stderr
