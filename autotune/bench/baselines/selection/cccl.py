"""The baseline ``cccl`` of topk: cub::DeviceBatchedTopK of the headers of cuda-cccl."""

from __future__ import annotations

from pathlib import Path

from autotune.bench.baselines.nvcc_driver import CCCL, cuda_name, driver_baseline, driver_source
from autotune.codegen.selection.topk.problem import TopkProblem
from autotune.search_spaces.contract.baselines import NotTakenError

_SOURCE = Path(__file__).with_name("cub_topk.hpp")
_MOST_COLUMNS = 1 << 21


def source(problem: TopkProblem) -> str:
    """The driver for problems of one shape.

    Raises:
        ValueError: CUB has no such selection.
    """
    if problem.lengths or problem.columns > _MOST_COLUMNS:
        raise NotTakenError(f"this driver of cub::DeviceBatchedTopK takes whole rows of up to {_MOST_COLUMNS} elements")
    types = {"Element": cuda_name(problem.dtype), "Index": problem.index_dtype.cuda}
    direction = "MaxPairs" if problem.largest else "MinPairs"
    return driver_source(_SOURCE, types, {"DIRECTION": direction, "COLUMNS": problem.columns, "RESULTS": problem.k})


def _sizes(problem: TopkProblem) -> tuple[int, ...]:
    return (problem.rows, *(problem.layout_of(operand)[0] for operand in "xvi"))


# Its results have no order, and of equal elements it returns any.
TOPK = driver_baseline(
    "cccl", "cub::DeviceBatchedTopK of the headers of cuda-cccl", source, _sizes, headers=CCCL, verified=False
)
