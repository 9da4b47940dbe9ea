"""What the baseline ``cub`` of scan compiles."""

import re

import pytest

from autotune.bench.baselines.scan import cub
from autotune.codegen.model.dtype import DType
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem

MAX, MIN = Operation.MAX, Operation.MIN


def stated(problem: ScanProblem) -> dict[str, str]:
    """The types and the macros ahead of the driver."""
    return dict(re.findall(r"^(?:using|#define) (\w+) (?:= )?(.*?);?$", cub.source(problem), re.MULTILINE))


@pytest.mark.parametrize(
    ("problem", "expected"),
    [
        (ScanProblem(1, 9), {"Element": "float", "Operation": "cuda::std::plus<>", "CONVERTS": "0", "REVERSE": "0"}),
        (ScanProblem(1, 9, dtype=DType.BFLOAT16), {"Element": "__nv_bfloat16", "Number": "float", "CONVERTS": "1"}),
        (ScanProblem(1, 9, dtype=DType.INT32, wide=True), {"Number": "long long", "Result": "long long"}),
        (ScanProblem(1, 9, MAX, DType.INT32, exclusive=True), {"IDENTITY": "-2147483647 - 1", "EXCLUSIVE": "1"}),
        (ScanProblem(1, 9, MIN, DType.INT64, reverse=True), {"IDENTITY": "9223372036854775807", "REVERSE": "1"}),
        (ScanProblem(1, 9, MAX), {"IDENTITY": "-cuda::std::numeric_limits<Number>::infinity()"}),
    ],
    ids=lambda value: getattr(value, "key", ""),
)
def test_a_driver_states_the_types_and_the_operation(problem: ScanProblem, expected: dict[str, str]) -> None:
    found = stated(problem)
    assert {name: found[name] for name in expected} == expected


@pytest.mark.parametrize(
    "problem", [ScanProblem(2, 9), ScanProblem(1, 9, flags=True), ScanProblem(1, 9, init=True)], ids=lambda p: p.key
)
def test_cub_scans_one_array(problem: ScanProblem) -> None:
    with pytest.raises(ValueError, match=r"^this driver of cub::DeviceScan scans one array, without rows, "):
        cub.source(problem)
