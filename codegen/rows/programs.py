"""The programs of operators on rows, put together."""

from __future__ import annotations

from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.program import Program
from autotune.codegen.source.kernel_source import KernelSource


def row_naive(source: KernelSource, function: str = "", *, reference: bool) -> Program:
    """A thread for each row, in ``naive.cuh``; the reference is the same in double precision, a warp for each row.

    Args:
        source: of a problem with a size `rows`.
        function: a template of the threads for a row and of the type to compute in; by default ``<entry>_naive``.
        reference: whether it is the truth that the others are compared with on a device.
    """
    lanes, number = (WARP, "double") if reference else (1, "float")
    call = f"{function or f'{source.entry}_naive'}<{lanes}, {number}>(arguments);"
    threads = source.problem.sizes["rows"] * lanes
    return source.plain(f" in {number}, {lanes} threads per row", threads, call, reference=reference)
