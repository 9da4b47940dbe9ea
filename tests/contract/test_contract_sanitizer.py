"""A sample of every operator's kernels under NVIDIA's compute-sanitizer: no stray access, no race in shared memory."""

from __future__ import annotations

import os
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from cuda.pathfinder import find_nvidia_binary_utility
from operator_cases import cases_of

import autotune
from autotune.codegen.problem import Problem
from autotune.codegen.source import KernelSource
from autotune.codegen.transpose.problem import TransposeProblem
from autotune.codegen.transpose.schedule import TransposeSchedule
from autotune.compile_pool import CompilePool
from autotune.devices.cuda import CudaDevice
from autotune.search_spaces.limits import DeviceLimits
from autotune.search_spaces.registry import OPERATORS, operator

pytestmark = pytest.mark.gpu

PROGRAM = Path(__file__).with_name("launch_each.py")
SECONDS = 300
SAMPLE = 12  # kernels of each operator
_FOUND = 99
_SMALL_BYTES, _SMALL_FLOPS = 1 << 20, 1 << 22  # the tools look at every access
# Errors of the driver's own probing are none of ours. Padding tells one allocation from the next.
_OPTIONS = [
    "--report-api-errors",
    "no",
    "--padding",
    "4096",
    "--launch-timeout",
    "120",
    "--error-exitcode",
    str(_FOUND),
]

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


def sampled(name: str, limits: DeviceLimits) -> list[Kernel]:
    """The first drawn cases that are small and not empty."""
    drawn = cases_of(name).drawn_cases(len(cases_of(name).CASES), limits)
    small = (
        case
        for case in drawn
        if 0 < sum(t.bytes for t in case[0].tensors) <= _SMALL_BYTES and case[0].flops <= _SMALL_FLOPS
    )
    return [(p, operator(name).source(p, s, limits)) for p, s in islice(small, SAMPLE)]


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


@pytest.mark.parametrize("tool", ["memcheck", "racecheck"])
def test_nothing_is_found_in_drawn_kernels(tool: str, sanitizer: str, limits: DeviceLimits, tmp_path: Path) -> None:
    kernels = [kernel for name in OPERATORS for kernel in sampled(name, limits)]
    code, output = watched(tool, sanitizer, kernels, limits.arch, tmp_path)
    assert code == 0, output
    assert output.count("launching ") == len(kernels) == SAMPLE * len(OPERATORS)
    assert re.search(r"ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards", output), output


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
