"""How drivers of CUB are compiled, and what those of reduce and scan are."""

import re

import pytest

from autotune.bench.baselines import cub
from autotune.bench.baselines.rows import cub_reduce
from autotune.bench.baselines.scan import cub as scan_cub
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.codegen.scan.scan.operation import Operation as Scanned
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.devices.base import DeviceError


def stated(source):
    """The types and the macros ahead of the driver."""
    return dict(re.findall(r"^(?:using|#define) (\w+) (?:= )?(.*?);?$", source, re.MULTILINE))


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ReduceProblem(1, 9, axis=Axis.ALL), {"PLAIN": "1", "TERM": "a", "IDENTITY": "0", "WHOLE": "1"}),
        (ReduceProblem(1, 9, Operation.MEAN, dtype=DType.FLOAT16), {"FINISHED": "total / count", "HALVES": "1"}),
        (ReduceProblem(1, 9, Operation.DIST), {"TERM": "(a - b) * (a - b)", "FINISHED": "sqrtf(total)", "ARRAYS": "2"}),
        (ReduceProblem(2, 9, Operation.MAX, dtype=DType.INT32), {"IDENTITY": "-2147483647 - 1", "WHOLE": "0"}),
        (ReduceProblem(2, 9, Operation.MIN), {"IDENTITY": "cuda::std::numeric_limits<Number>::infinity()"}),
        (ReduceProblem(1, 9, Operation.ARGMIN, Axis.ALL), {"EXTREME": "ArgMin", "Result": "long long"}),
        (
            ReduceProblem(1, 9, axis=Axis.SEGMENTS, dtype=DType.INT32, segments=2, offset_dtype=DType.INT32),
            {"SEGMENTED": "1", "Offset": "int", "Number": "long long", "PLAIN": "1"},
        ),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_of_reduce_states_the_types_and_the_operation(problem, expected):
    found = stated(cub_reduce.source(problem))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "problem",
    [
        ReduceProblem(2, 9, axis=Axis.FIRST),
        ReduceProblem(2, 9, Operation.ARGMAX),
        ReduceProblem(1, 9, Operation.MEAN, Axis.SEGMENTS, segments=2),
    ],
    ids=lambda problem: problem.key,
)
def test_cub_has_not_all(problem):
    with pytest.raises(ValueError, match=rf"^CUB has no {problem.op} over axis={problem.axis}$"):
        cub_reduce.source(problem)


def test_nvcc_that_is_missing_is_named(monkeypatch):
    monkeypatch.setattr(cub, "_nvcc", lambda: None)
    assert cub_reduce.CUB.missing().endswith("install the CUDA toolkit")


@pytest.mark.parametrize(("says", "expected"), [("echo first; echo second", "first"), ("true", "exit status 1")])
def test_what_nvcc_says_is_one_line(says, expected, tmp_path, monkeypatch):
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(f"#!/bin/sh\n({says}) >&2\nexit 1\n")
    nvcc.chmod(0o755)
    monkeypatch.setattr(cub, "_nvcc", lambda: str(nvcc))
    with pytest.raises(DeviceError, match=f"^nvcc: {expected}$"):
        cub.compiled(says, "sm_90")


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ScanProblem(1, 9), {"Element": "float", "Operation": "cuda::std::plus<>", "CONVERTS": "0", "REVERSE": "0"}),
        (ScanProblem(1, 9, dtype=DType.BFLOAT16), {"Element": "__nv_bfloat16", "Number": "float", "CONVERTS": "1"}),
        (ScanProblem(1, 9, dtype=DType.INT32, wide=True), {"Number": "long long", "Result": "long long"}),
        (
            ScanProblem(1, 9, Scanned.MAX, DType.INT32, exclusive=True),
            {"IDENTITY": "-2147483647 - 1", "EXCLUSIVE": "1"},
        ),
        (
            ScanProblem(1, 9, Scanned.MIN, DType.INT64, reverse=True),
            {"IDENTITY": "9223372036854775807", "REVERSE": "1"},
        ),
        (ScanProblem(1, 9, Scanned.MAX), {"IDENTITY": "-cuda::std::numeric_limits<Number>::infinity()"}),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_of_scan_states_the_types_and_the_operation(problem, expected):
    found = stated(scan_cub.source(problem))
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "problem", [ScanProblem(2, 9), ScanProblem(1, 9, flags=True), ScanProblem(1, 9, init=True)], ids=lambda p: p.key
)
def test_cub_scans_one_array(problem):
    with pytest.raises(ValueError, match=r"^this driver of cub::DeviceScan scans one array, without rows, "):
        scan_cub.source(problem)
