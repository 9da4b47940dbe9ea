"""The baselines ``cub`` and ``cccl`` of sorts: CUB of the CUDA toolkit, and of the headers of cuda-cccl."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from autotune.bench.baseline import Baseline
from autotune.bench.baselines.nvcc_driver import CCCL, cuda_name, driver_baseline, driver_source
from autotune.codegen.model.dtype import DType
from autotune.codegen.sorting.merge.problem import MergeProblem
from autotune.codegen.sorting.merge_sort.problem import MergeSortProblem
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.segmented_sort.problem import SegmentedSortProblem
from autotune.codegen.sorting.values import Values
from autotune.search_spaces.contract.baselines import NotTakenError

_FOLDER = Path(__file__).parent


def radix_sort_source(problem: RadixSortProblem) -> str:
    """The driver of cub::DeviceRadixSort for problems of one kind.

    Raises:
        ValueError: CUB has no such sort.
    """
    _check_one_row(problem, "cub::DeviceRadixSort")
    return _source("cub_radix_sort.hpp", problem, BEGIN_BIT=problem.begin_bit, END_BIT=problem.last_bit)


def merge_sort_source(problem: MergeSortProblem) -> str:
    """The driver of cub::DeviceMergeSort, see `radix_sort_source`."""
    _check_one_row(problem, "cub::DeviceMergeSort")
    return _source("cub_merge_sort.hpp", problem)


def merge_source(problem: MergeProblem) -> str:
    """The driver of cub::DeviceMerge."""
    return _source("cub_merge.hpp", problem)


def segmented_sort_source(problem: SegmentedSortProblem) -> str:
    """The driver of cub::DeviceSegmentedSort, see `radix_sort_source`."""
    if problem.dtype.is_float:
        raise NotTakenError(f"{problem.dtype}: cub::DeviceSegmentedSort compares keys by <, so NaN has no place")
    return f"using Offset = {problem.offset_dtype.cuda};\n" + _source("cub_segmented_sort.hpp", problem)


def _check_one_row(problem: RadixSortProblem, name: str) -> None:
    if problem.rows > 1 or problem.order_only:
        raise NotTakenError(f"this driver of {name} sorts one array, without rows, and writes the keys")


def _source(file: str, problem: Any, **macros: int) -> str:
    values: Values = problem.values
    dtype: DType = problem.dtype
    types = {
        "Key": cuda_name(dtype),
        "Number": "float" if dtype.is_float and dtype.bytes == 2 else cuda_name(dtype),
        "Value": "uint4" if values is Values.BYTES16 else values.dtype.cuda if values is not Values.NONE else "int",
    }
    stated = {
        "FLOATING": int(dtype.is_float),
        "LARGEST_FIRST": int(problem.descending),
        "ORDER": "Descending" if problem.descending else "",
        "PAIRS": int(values is not Values.NONE),
        "INDICES": int(values.is_index),
    }
    return driver_source(_FOLDER / file, types, {**stated, **macros})


def _both(
    what: str, source: Callable[[Any], str], sizes: Callable[[Any], Sequence[int]], *, replayed: bool = True
) -> tuple[Baseline, Baseline]:
    toolkit, cccl = f"{what}, of the CUDA toolkit", f"{what}, of the headers of cuda-cccl"
    return (
        driver_baseline("cub", toolkit, source, sizes, replayed=replayed),
        driver_baseline("cccl", cccl, source, sizes, headers=CCCL, replayed=replayed),
    )


RADIX_SORT, RADIX_SORT_CCCL = _both(
    "cub::DeviceRadixSort of one array; a launch writes the indices that it sorts",
    radix_sort_source,
    lambda problem: (problem.columns,),
)
MERGE_SORT, MERGE_SORT_CCCL = _both(
    "cub::DeviceMergeSort of one array", merge_sort_source, lambda problem: (problem.columns,)
)
MERGE, MERGE_CCCL = _both("cub::DeviceMerge", merge_source, lambda problem: (problem.first, problem.second))
SEGMENTED_SORT, SEGMENTED_SORT_CCCL = _both(
    "cub::DeviceSegmentedSort, stable; the host waits for the numbers of short and long segments",
    segmented_sort_source,
    lambda problem: (problem.columns, problem.segments),
    replayed=False,
)
