"""A sample of every operator's kernels under NVIDIA's compute-sanitizer: no stray access, no race in shared memory."""

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import cast

import pytest
from planted import with_bug

from autotune.codegen.attention.attention.wgmma.schedule import WgmmaSchedule
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.matmul.sgemm.schedule import CopyMode, SgemmSchedule
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.scan.scan.bulk.schedule import BulkSchedule
from autotune.compile_pool import CompilePool
from autotune.contract.operator_cases import NAMES, SPEC, cases_of
from autotune.db import DeviceRecord, ProblemRecord, Status, TimeSource, Trial
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.devices.sanitizer import watched
from autotune.devices.tools import found
from autotune.emulator import EmulatorError, verify
from autotune.runs.failure_report import FailureReport
from autotune.search_spaces.contract.registry import operator

PROGRAM = Path(__file__).with_name("launch_each.py")
SECONDS = 300
PROCESSES = 6  # at once: loading and preparing a kernel takes longer than its launch
# Of each operator; the tools look at every access, so small problems, but not next to nothing.
_SEEDS, _SEEN, _DRAWN = 3, 24, 20  # seeds, drawn cases, and small ones of them
_LEAST_BYTES, _MOST_BYTES, _MOST_OPERATIONS = 1 << 10, 1 << 20, 1 << 22
# Of a kernel with an edge along m: the tool, what to replace by what, and what the tool then reports.
_PLANTED_IN = TransposeProblem(31, 64)
_PLANTED = [
    (
        "memcheck",
        "m < inside_m && n < inside_n))) continue",
        "m <= inside_m && n < inside_n))) continue",
        "Invalid __global__ write",
    ),
    ("racecheck", "__syncthreads();", "", "Race reported between"),
]

Kernel = tuple[Problem, Program]


@pytest.fixture(scope="module")
def spec():
    return CudaDevice(0).spec


@pytest.fixture(scope="module")
def sanitizer():
    try:
        found("compute-sanitizer")
    except DeviceError as missing:
        pytest.skip(str(missing))


def sampled(name, spec):
    """The first seeds, on whole tiles and on edges, the first small drawn cases, and one of each kernel left out."""
    chosen, cases = operator(name), cases_of(name)
    whole, *_, ragged = cases.SMALL_PROBLEMS
    seeds = [(problem, seed) for problem in (whole, ragged) for seed in chosen.seeds(problem, spec)[:_SEEDS]]
    drawn = cases.drawn_cases(_SEEN, spec)
    found = [*seeds, *islice((case for case in drawn if _small(case[0])), _DRAWN)]
    there = {chosen.kernel_of(schedule).name for _, schedule in found}
    others = {chosen.kernel_of(case[1]).name: case for case in drawn}
    return [*found, *(case for name, case in others.items() if name not in there)]


def presets():
    """What each preset of every operator emits for the largest of its small problems."""
    problems = {
        name: max(filter(_small, cases_of(name).SMALL_PROBLEMS), key=_operations, default=None) for name in NAMES
    }
    return [(p, emit(p)) for name, p in problems.items() if p for emit in operator(name).presets.values()]


def _operations(problem):
    return sum(problem.work.operations.values())


def _small(problem):
    sizes = [tensor.bytes for tensor in problem.tensors]
    return min(sizes) >= _LEAST_BYTES and sum(sizes) <= _MOST_BYTES and _operations(problem) <= _MOST_OPERATIONS


def test_the_sample_has_every_pipeline_of_sgemm():
    schedules = [cast(SgemmSchedule, schedule) for _, schedule in sampled("sgemm", SPEC)]
    assert {schedule.stages for schedule in schedules} == {1, 2, 3, 4}
    for operand in "ab":  # what is transposed first is transpose's kernel, and then cp.async's
        copied = {getattr(schedule, f"copy_{operand}") for schedule in schedules}
        assert copied == set(CopyMode) - {CopyMode.TRANSPOSE_FIRST}
    assert {schedule.grid_blocks > 0 for schedule in schedules} == {False, True}
    assert {schedule.warps_k > 1 for schedule in schedules} == {False, True}


def watched_kernels(tool, kernels, arch, folder):
    """Whether a tool finds nothing in some kernels, and all that it and they say."""
    with CompilePool() as pool:
        compiled = [pool.submit(source, arch) for _, source in kernels]
        launched = [(*kernel, future.result()) for kernel, future in zip(kernels, compiled, strict=True)]
    files = [folder / f"kernels-{number}.pickle" for number in range(min(PROCESSES, len(launched)))]
    for number, file in enumerate(files):
        file.write_bytes(pickle.dumps(launched[number::PROCESSES]))
    try:
        with ThreadPoolExecutor(PROCESSES) as threads:
            said = list(threads.map(lambda file: watched(tool, [PROGRAM, file], SECONDS), files))
    except DeviceError as error:
        if "does not support" in str(error):
            pytest.skip(str(error))
        raise
    return all(clean for clean, _ in said), "\n".join(output for _, output in said)


def follows(tool, schedule):
    """Whether a tool knows all that orders accesses.

    In a scan in bulk, lanes of a warp write, ``__syncwarp`` tells one of them, and that one arrives at a barrier in
    shared memory. For racecheck it has told of its own writes only. With all lanes arriving, it finds nothing in the
    same kernels. So do lanes of attention's blocks that stay, which read the number of a tile.
    """
    stays = isinstance(schedule, WgmmaSchedule) and schedule.grid_blocks > 0
    return tool != "racecheck" or not (stays or isinstance(schedule, BulkSchedule))


@pytest.mark.gpu
@pytest.mark.usefixtures("sanitizer")
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_nothing_is_found_in_drawn_kernels(tool, spec, tmp_path):
    cases = [(name, p, s) for name in NAMES for p, s in sampled(name, spec) if follows(tool, s)]
    kernels = [*presets(), *((p, operator(name).program(p, s, spec)) for name, p, s in cases)]
    clean, output = watched_kernels(tool, kernels, spec.arch, tmp_path)
    assert clean, output
    assert output.count("launching ") == len(kernels)
    assert re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", output), output


def planted_kernel(right, planted, spec):
    source = operator("transpose").program(_PLANTED_IN, TransposeSchedule(), spec)
    return _PLANTED_IN, with_bug(source, right, planted)


@pytest.mark.parametrize(("right", "planted"), [(right, planted) for _, right, planted, _ in _PLANTED])
def test_a_planted_bug_fits_the_source(right, planted):
    """Without a GPU too, so that a kernel that changes takes its planted bugs with it."""
    problem, program = planted_kernel(right, planted, SPEC)
    with pytest.raises(EmulatorError):
        verify(problem, program)


@pytest.mark.gpu
@pytest.mark.usefixtures("sanitizer")
@pytest.mark.parametrize(("tool", "right", "planted", "report"), _PLANTED)
def test_a_planted_bug_is_found(tool, right, planted, report, spec, tmp_path):
    clean, output = watched_kernels(tool, [planted_kernel(right, planted, spec)], spec.arch, tmp_path)
    assert not clean, output
    assert report in output, output


@pytest.mark.gpu
@pytest.mark.usefixtures("sanitizer")
def test_the_candidate_of_a_failure_report_is_watched(spec):
    problem, schedule = TransposeProblem(31, 64), TransposeSchedule()
    trial = Trial(
        device=DeviceRecord(spec.name, spec.compute_capability, {}),
        problem=ProblemRecord("transpose", problem.key, problem.to_dict()),
        schedule=schedule.to_dict(),
        schedule_digest=schedule.digest,
        status=Status.WRONG,
        time_source=TimeSource.MEASURED,
    )
    path = FailureReport(trial, "0", 1, "").write()
    assert path
    clean, output = watched("memcheck", ["-m", "autotune.tuner.failed_candidate", path, "0"], SECONDS)
    assert clean, output
    assert "ERROR SUMMARY: 0 errors" in output
