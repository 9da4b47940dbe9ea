"""The baseline ``cub`` of scan: cub::DeviceScan of the CUDA toolkit."""

from __future__ import annotations

from pathlib import Path

from autotune.bench.baselines.nvcc_driver import cuda_name, driver_baseline, driver_source, identity
from autotune.codegen.scan.scan.operation import Operation
from autotune.codegen.scan.scan.problem import ScanProblem
from autotune.search_spaces.contract.baselines import NotTakenError

_SOURCE = Path(__file__).with_name("cub_scan.hpp")
_OPERATIONS = {
    Operation.SUM: "cuda::std::plus<>",
    Operation.PRODUCT: "cuda::std::multiplies<>",
    Operation.MAX: "cuda::maximum<>",
    Operation.MIN: "cuda::minimum<>",
}


def source(problem: ScanProblem) -> str:
    """The CUDA C++ of a driver for problems of one kind.

    Raises:
        ValueError: CUB has no such scan.
    """
    if problem.rows > 1 or problem.segmented or problem.init:
        raise NotTakenError("this driver of cub::DeviceScan scans one array, without rows, segments and initial value")
    element = cuda_name(problem.dtype)
    number = problem.number.cuda if problem.dtype.is_float else problem.result_dtype.cuda
    types = {
        "Element": element,
        "Number": number,
        "Result": cuda_name(problem.result_dtype),
        "Operation": _OPERATIONS[problem.op],
    }
    macros = {
        "IDENTITY": identity(problem.identity, problem.dtype.is_float),
        "EXCLUSIVE": int(problem.exclusive),
        "REVERSE": int(problem.reverse),
        "CONVERTS": int(number != element),
    }
    return driver_source(_SOURCE, types, macros)


CUB = driver_baseline(
    "cub", "cub::DeviceScan of the CUDA toolkit, over one array", source, lambda problem: (problem.columns,)
)
