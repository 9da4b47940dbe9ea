"""The baseline ``cub`` of radix_sort: cub::DeviceRadixSort of the CUDA toolkit."""

from __future__ import annotations

from pathlib import Path

from autotune.bench.baselines.cub import cub_baseline, cuda_name, driver_source
from autotune.codegen.sorting.radix_sort.problem import RadixSortProblem
from autotune.codegen.sorting.values import Values

_SOURCE = Path(__file__).with_name("cub_radix_sort.hpp")


def source(problem: RadixSortProblem) -> str:
    """The CUDA C++ of a driver for problems of one kind.

    Raises:
        ValueError: CUB has no such sort.
    """
    if problem.rows > 1 or problem.order_only:
        raise ValueError("this driver of cub::DeviceRadixSort sorts one array, without rows, and writes the keys")
    values = problem.values
    types = {
        "Key": cuda_name(problem.dtype),
        "Value": "uint4" if values is Values.BYTES16 else values.dtype.cuda if values is not Values.NONE else "int",
    }
    macros = {
        "PAIRS": int(values is not Values.NONE),
        "INDICES": int(values.is_index),
        "ORDER": "Descending" if problem.descending else "",
        "BEGIN_BIT": problem.begin_bit,
        "END_BIT": problem.last_bit,
    }
    return driver_source(_SOURCE, types, macros)


CUB = cub_baseline(
    "cub::DeviceRadixSort of the CUDA toolkit, of one array; a launch writes the indices that it sorts",
    source,
    lambda problem: (problem.columns,),
)
