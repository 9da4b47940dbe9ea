"""A sample of every operator's kernels under NVIDIA's compute-sanitizer: no stray access, no race in shared memory."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from typing import cast

import pytest
from cuda.pathfinder import find_nvidia_binary_utility
from operator_cases import LIMITS, Case, cases_of

import autotune
from autotune.codegen.problem import Problem
from autotune.codegen.sgemm.schedule import SgemmSchedule, Transport
from autotune.codegen.source import KernelSource
from autotune.codegen.transpose.problem import TransposeProblem
from autotune.codegen.transpose.schedule import TransposeSchedule
from autotune.compile_pool import CompilePool
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.limits import DeviceLimits
from autotune.search_spaces.registry import OPERATORS, operator

PROGRAM = Path(__file__).with_name("launch_each.py")
SECONDS = 300
_FOUND = "99"  # the exit code
# Errors of the driver's own probing are none of ours. Padding tells one allocation from the next.
_OPTIONS = ["--report-api-errors", "no", "--padding", "4096", "--launch-timeout", "120", "--error-exitcode", _FOUND]
# Of each operator; the tools look at every access, so small problems, but not next to nothing.
_SEEDS, _DRAWN = 3, 10
_LEAST_BYTES, _MOST_BYTES, _MOST_FLOPS = 1 << 10, 1 << 20, 1 << 22

Kernel = tuple[Problem, KernelSource]


@pytest.fixture(scope="module")
def limits() -> DeviceLimits:
    return CudaDevice(0).limits


@pytest.fixture(scope="module")
def sanitizer() -> str:
    found = shutil.which("compute-sanitizer") or find_nvidia_binary_utility("compute-sanitizer")
    if not found:
        pytest.skip("compute-sanitizer is not installed; it comes with the CUDA toolkit")
    return found


def sampled(name: str, limits: DeviceLimits) -> list[Case]:
    """The first seeds, on whole tiles and on edges, and the first small drawn cases."""
    chosen, cases = operator(name), cases_of(name)
    whole, *_, ragged = cases.SMALL_PROBLEMS
    seeds = [(problem, seed) for problem in (whole, ragged) for seed in chosen.seeds(problem, limits)[:_SEEDS]]
    drawn = (case for case in cases.drawn_cases(len(cases.CASES), limits) if _small(case[0]))
    return [*seeds, *islice(drawn, _DRAWN)]


def _small(problem: Problem) -> bool:
    sizes = [tensor.bytes for tensor in problem.tensors]
    return min(sizes) >= _LEAST_BYTES and sum(sizes) <= _MOST_BYTES and problem.flops <= _MOST_FLOPS


def test_the_sample_has_every_pipeline_of_sgemm() -> None:
    schedules = [cast(SgemmSchedule, schedule) for _, schedule in sampled("sgemm", LIMITS)]
    assert {schedule.stages for schedule in schedules} == {1, 2, 3, 4}
    assert {(schedule.transport_a, schedule.transport_b) for schedule in schedules} == set(product(Transport, repeat=2))
    assert {schedule.grid_blocks > 0 for schedule in schedules} == {False, True}
    assert {schedule.warps_k > 1 for schedule in schedules} == {False, True}


def watched(tool: str, sanitizer: str, kernels: list[Kernel], arch: str, folder: Path) -> tuple[int, str]:
    """The exit code and all that a tool and the kernels under it say."""
    with CompilePool() as pool:
        compiled = [pool.submit(source, arch) for _, source in kernels]
        launched = [(*kernel, future.result()) for kernel, future in zip(kernels, compiled, strict=True)]
    file = folder / "kernels.pickle"
    file.write_bytes(pickle.dumps(launched))
    root = Path(autotune.__file__).parents[1]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])}
    command = [sanitizer, "--tool", tool, *_OPTIONS, sys.executable, PROGRAM, file]
    completed = subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment, timeout=SECONDS
    )
    if "Device not supported" in completed.stdout:
        pytest.skip("compute-sanitizer does not support this device")
    return completed.returncode, completed.stdout


@pytest.mark.gpu
@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_nothing_is_found_in_drawn_kernels(tool: str, sanitizer: str, limits: DeviceLimits, tmp_path: Path) -> None:
    kernels = [(p, operator(name).source(p, s, limits)) for name in OPERATORS for p, s in sampled(name, limits)]
    code, output = watched(tool, sanitizer, kernels, limits.arch, tmp_path)
    assert code == 0, output
    assert output.count("launching ") == len(kernels)
    assert re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", output), output


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("tool", "right", "planted", "report"),
    [
        ("memcheck", "m < inside_m && n < inside_n) b", "m <= inside_m && n < inside_n) b", "Invalid __global__ write"),
        ("racecheck", "__syncthreads();", "", "Race reported between"),
    ],
)
def test_a_planted_bug_is_found(
    tool: str, right: str, planted: str, report: str, sanitizer: str, limits: DeviceLimits, tmp_path: Path
) -> None:
    problem = TransposeProblem(31, 64)
    source = operator("transpose").source(problem, TransposeSchedule(), limits)
    assert right in source.text
    source = replace(source, text=source.text.replace(right, planted))
    code, output = watched(tool, sanitizer, [(problem, source)], limits.arch, tmp_path)
    assert code != 0, output
    assert report in output, output
