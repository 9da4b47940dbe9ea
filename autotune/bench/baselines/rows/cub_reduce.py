"""The baseline ``cub`` of reduce: cub::DeviceReduce and cub::DeviceSegmentedReduce of the CUDA toolkit."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from autotune.bench.baselines.nvcc_driver import cuda_name, driver_baseline, driver_source, identity
from autotune.codegen.model.dtype import DType
from autotune.codegen.rows.reduce.operation import Operation
from autotune.codegen.rows.reduce.problem import Axis, ReduceProblem
from autotune.search_spaces.contract.baselines import NotTakenError

_SOURCE = Path(__file__).with_name("cub_reduce.hpp")


def source(problem: ReduceProblem) -> str:
    """The CUDA C++ of a driver for problems of one kind.

    Raises:
        ValueError: CUB has no such reduction.
    """
    op, whole = problem.op, problem.axis is Axis.ALL
    if problem.axis is Axis.FIRST or (op.indexed and not whole) or (op is Operation.MEAN and problem.in_segments):
        raise NotTakenError(f"CUB has no {op} over axis={problem.axis}")
    number = DType.FLOAT32 if problem.dtype.is_float else problem.result_dtype
    types = {
        "Element": cuda_name(problem.dtype),
        "Number": number.cuda,
        "Result": cuda_name(problem.result_dtype),
        "Offset": problem.offset_dtype.cuda,
        "Operation": "cuda::std::plus<>" if op.adds else f"cuda::{'minimum' if op.smallest else 'maximum'}<>",
    }
    macros = {
        "IDENTITY": identity(_identity(problem), problem.dtype.is_float),
        "TERM": {Operation.L2: "a * a", Operation.DOT: "a * b", Operation.DIST: "(a - b) * (a - b)"}.get(op, "a"),
        "FINISHED": {Operation.MEAN: "total / count"}.get(op, "sqrtf(total)" if op.root else "total"),
        "ARRAYS": op.arrays,
        "PLAIN": int(not op.root and op.arrays == 1 and problem.dtype.bytes == 4),
        "EXTREME": {Operation.ARGMAX: "ArgMax", Operation.ARGMIN: "ArgMin"}.get(op, ""),
        "INDEXED": int(op.indexed),
        "WHOLE": int(whole),
        "SEGMENTED": int(problem.axis is Axis.SEGMENTS),
        "HALVES": int(problem.result_dtype.bytes == 2),
        "FINISHES": int(op.root or op is Operation.MEAN),
    }
    return driver_source(_SOURCE, types, macros)


def _identity(problem: ReduceProblem) -> float:
    if problem.op.adds:
        return 0
    if problem.dtype.is_float:
        return np.inf if problem.op.smallest else -np.inf
    limits = np.iinfo(problem.dtype.numpy)
    return int(limits.max if problem.op.smallest else limits.min)


def _sizes(problem: ReduceProblem) -> tuple[int, ...]:
    """Elements of a row, results, and elements from a row to the next."""
    return problem.columns, problem.results, problem.ldx


CUB = driver_baseline("cub", "cub::DeviceReduce, for rows and segments cub::DeviceSegmentedReduce", source, _sizes)
