"""The baseline ``cublaslt``: the fastest of the first algorithms that cublasLt's heuristics name, by FMAs alone."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

from ....codegen.matmul.sgemm.problem import SgemmProblem
from ....devices.base import DeviceError
from ....dispatcher.targets import true_fp32
from ...baseline import Baseline, Launcher
from ...interleave import interleaved
from .cublaslt_api import (
    COMPUTE_32F,
    R_32F,
    TENSOR_OPERATIONS,
    CublasLt,
    HeuristicResult,
    MatmulDesc,
    MatmulPreference,
    MatrixLayout,
)

if TYPE_CHECKING:
    from ....devices.cuda_session import CudaSession

_ALGORITHMS = 8
_ROUNDS = 10  # samples of each algorithm
_WORKSPACE_BYTES = 32 << 20
_MOST_ALIGNMENT = 256


@contextmanager
def _prepare(session: CudaSession) -> Iterator[Launcher]:
    with ExitStack() as stack:
        launches = _launches(CublasLt(), session, stack)
        if not launches:
            raise DeviceError("its heuristics name no algorithm")
        samples = interleaved(launches, session.sample, _ROUNDS)
        yield launches[min(samples, key=lambda name: median(samples[name]))]


def _launches(library: CublasLt, session: CudaSession, stack: ExitStack) -> dict[str, Launcher]:
    """What launches each algorithm, by its place in the heuristics' list.

    cublasLt's matrices are column-major: Cᵀ = op(B)ᵀ·op(A)ᵀ, so B comes first and rows are columns.
    """
    problem = session.problem
    assert isinstance(problem, SgemmProblem)
    handle = stack.enter_context(library.created(""))
    operation = stack.enter_context(library.created("MatmulDesc", COMPUTE_32F, R_32F))
    library.set(operation, MatmulDesc.TRANSA, ctypes.c_int32(problem.transpose_b))
    library.set(operation, MatmulDesc.TRANSB, ctypes.c_int32(problem.transpose_a))
    a, b, c = (stack.enter_context(_layout(library, problem, operand)) for operand in "abc")
    preference = stack.enter_context(_preference(library, session))
    results = (HeuristicResult * _ALGORITHMS)()
    count = ctypes.c_int()
    library.call(
        "cublasLtMatmulAlgoGetHeuristic",
        handle, operation, b, a, c, c, preference, _ALGORITHMS, results, ctypes.byref(count),
    )  # fmt: skip
    alpha, beta = (ctypes.byref(ctypes.c_float(problem.scalars[name])) for name in ("alpha", "beta"))
    at = {operand: ctypes.c_void_p(session.pointer(operand)) for operand in "abc"}
    workspace = _workspace(stack)
    matmul = partial(
        library.call, "cublasLtMatmul",
        handle, operation, alpha, at["b"], b, at["a"], a, beta, at["c"], c, at["c"], c,
    )  # fmt: skip
    stream = ctypes.c_void_p(session.stream)
    return {
        str(index): partial(matmul, ctypes.byref(result.algorithm), *workspace, stream)
        for index, result in enumerate(results[: count.value])
        if result.state == 0
    }


@contextmanager
def _layout(library: CublasLt, problem: SgemmProblem, operand: str) -> Iterator[ctypes.c_void_p]:
    rows, columns = problem.stored[operand]
    leading, stride = (getattr(problem, f"{field}{operand}") for field in ("ld", "stride_"))
    sizes = (ctypes.c_uint64(columns), ctypes.c_uint64(rows), ctypes.c_int64(leading))
    with library.created("MatrixLayout", R_32F, *sizes) as layout:
        library.set(layout, MatrixLayout.BATCH_COUNT, ctypes.c_int32(problem.batch))
        library.set(layout, MatrixLayout.STRIDED_BATCH_OFFSET, ctypes.c_int64(stride))
        yield layout


@contextmanager
def _preference(library: CublasLt, session: CudaSession) -> Iterator[ctypes.c_void_p]:
    """Algorithms of FMAs only, for the workspace and the pointers that there are."""
    with library.created("MatmulPreference") as preference:
        set_ = partial(library.set, preference)
        set_(MatmulPreference.MAX_WORKSPACE_BYTES, ctypes.c_uint64(_WORKSPACE_BYTES))
        set_(MatmulPreference.IMPL_MASK, ctypes.c_uint64(~TENSOR_OPERATIONS))
        for letter, operand in zip("ABCD", "bacc", strict=True):
            pointer = session.pointer(operand)
            alignment = min(pointer & -pointer, _MOST_ALIGNMENT)
            set_(MatmulPreference[f"MIN_ALIGNMENT_{letter}_BYTES"], ctypes.c_uint32(alignment))
        yield preference


def _workspace(stack: ExitStack) -> tuple[Any, Any]:
    """The address and the bytes of a workspace that lasts as long as the stack."""
    from cuda.bindings import driver

    from ....cuda_core import handle_return

    pointer = handle_return(driver.cuMemAlloc(_WORKSPACE_BYTES))
    stack.callback(driver.cuMemFree, pointer)
    return ctypes.c_void_p(int(pointer)), ctypes.c_size_t(_WORKSPACE_BYTES)


def _missing() -> str:
    from cuda.pathfinder import DynamicLibNotFoundError

    true_fp32.enforce()
    try:
        CublasLt()
    except DynamicLibNotFoundError:
        return "the baseline cublaslt needs cuBLAS: pip install nvidia-cublas"
    return ""


CUBLASLT = Baseline(
    summary=f"the fastest of the first {_ALGORITHMS} algorithms that cublasLt's heuristics name, in true FP32",
    computes=True,
    missing=_missing,
    versions=lambda: {"cublaslt": CublasLt().version},
    prepare=_prepare,
)
