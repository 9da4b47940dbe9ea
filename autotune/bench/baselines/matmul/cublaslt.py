"""The baselines ``cublaslt``: the fastest of the first algorithms that cublasLt's heuristics name.

For sgemm by FMAs alone, for gemm by tensor cores.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from statistics import median
from typing import TYPE_CHECKING

from autotune.bench.baseline import Baseline, BaselineRun, Launcher
from autotune.bench.baselines.device_buffer import allocated
from autotune.bench.interleave import interleaved
from autotune.codegen.matmul.gemm.fields import Scales
from autotune.codegen.matmul.gemm.numbers import FLOAT8
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.devices.base import DeviceError
from autotune.dispatcher.targets import true_fp32

from .aligned_inputs import aligned
from .cublaslt_api import (
    ADD_IN_COMPUTE_TYPE,
    COMPUTE_32F,
    COMPUTE_32F_FAST_TF32,
    COMPUTE_32I,
    OUTER_VEC_32F,
    R_8F_E4M3,
    R_8F_E5M2,
    R_8I,
    R_16BF,
    R_16F,
    R_32F,
    R_32I,
    TENSOR_OPERATIONS,
    CublasLt,
    HeuristicResult,
    MatmulDesc,
    MatmulPreference,
    MatrixLayout,
)
from .cublaslt_epilogue import set_epilogue

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

_ALGORITHMS = 8
_ROUNDS = 10  # samples of each algorithm
_WORKSPACE_BYTES = 32 << 20
_MOST_ALIGNMENT = 256
_TYPES = {
    DType.FLOAT32: R_32F,
    DType.FLOAT16: R_16F,
    DType.BFLOAT16: R_16BF,
    DType.FLOAT8_E4M3: R_8F_E4M3,
    DType.FLOAT8_E5M2: R_8F_E5M2,
    DType.INT8: R_8I,
    DType.INT32: R_32I,
}
_Product = SgemmProblem | GemmProblem


@contextmanager
def _prepare(session: CudaSession) -> Iterator[BaselineRun]:
    with ExitStack() as stack:
        launches = _launches(CublasLt(), session, stack)
        if not launches:
            raise DeviceError("its heuristics name no algorithm")
        samples = interleaved(launches, session.sample, _ROUNDS)
        yield BaselineRun(launches[min(samples, key=lambda name: median(samples[name]))])


def _launches(library: CublasLt, session: CudaSession, stack: ExitStack) -> dict[str, Launcher]:
    """What launches each algorithm, by its place in the heuristics' list.

    cublasLt's matrices are column-major: Cᵀ = op(B)ᵀ·op(A)ᵀ, so B comes first and rows are columns.
    """
    problem = session.problem
    assert isinstance(problem, _Product)
    operands = "bacc" if isinstance(problem, SgemmProblem) else "bacd" if problem.residual else "badd"
    handle = stack.enter_context(library.created(""))
    operation = stack.enter_context(library.created("MatmulDesc", *_computed(problem)))
    library.set(operation, MatmulDesc.TRANSA, ctypes.c_int32(problem.transpose_b))
    library.set(operation, MatmulDesc.TRANSB, ctypes.c_int32(problem.transpose_a))
    if isinstance(problem, GemmProblem):
        _set_scales(library, operation, session, problem, stack)
        set_epilogue(library, operation, session, problem, stack)
    a, b, d = (stack.enter_context(_layout(library, problem, operand)) for operand in problem.stored)
    preference = stack.enter_context(_preference(library, session, operands))
    results = (HeuristicResult * _ALGORITHMS)()
    count = ctypes.c_int()
    library.call(
        "cublasLtMatmulAlgoGetHeuristic",
        handle, operation, b, a, d, d, preference, _ALGORITHMS, results, ctypes.byref(count),
    )  # fmt: skip
    number = ctypes.c_float if _computed(problem)[1] == R_32F else lambda value: ctypes.c_int32(int(value))
    alpha, beta = (ctypes.byref(number(problem.scalars[name])) for name in ("alpha", "beta"))
    at_b, at_a, at_c, at_d = (ctypes.c_void_p(session.pointer(operand)) for operand in operands)
    workspace = ctypes.c_void_p(allocated(stack, _WORKSPACE_BYTES)), ctypes.c_size_t(_WORKSPACE_BYTES)
    matmul = partial(
        library.call, "cublasLtMatmul",
        handle, operation, alpha, at_b, b, at_a, a, beta, at_c, d, at_d, d,
    )  # fmt: skip
    stream = ctypes.c_void_p(session.stream)
    return {
        str(index): partial(matmul, ctypes.byref(result.algorithm), *workspace, stream)
        for index, result in enumerate(results[: count.value])
        if result.state == 0
    }


def _computed(problem: _Product) -> tuple[int, int]:
    """What sums are, and what alpha and beta are.

    Raises:
        DeviceError: integers are to become anything but their sums.
    """
    if isinstance(problem, SgemmProblem):
        return COMPUTE_32F, R_32F
    if problem.dtype is not DType.INT8:
        return COMPUTE_32F_FAST_TF32 if problem.allow_tf32 else COMPUTE_32F, R_32F
    if problem.result is not DType.INT32:
        raise DeviceError(f"it is asked for products of int8 to int32, not to {problem.result}")
    return COMPUTE_32I, R_32I


def _set_scales(
    library: CublasLt, operation: ctypes.c_void_p, session: CudaSession, problem: GemmProblem, stack: ExitStack
) -> None:
    """Those of float8, and how exact its sums are.

    Raises:
        DeviceError: the scales are those of blocks.
    """
    if problem.dtype not in FLOAT8:
        return
    library.set(operation, MatmulDesc.FAST_ACCUM, ctypes.c_int8(problem.fast_accumulation))
    if problem.scales is Scales.BLOCK:
        raise DeviceError("it is asked for products without scales of blocks, which it takes in another order")
    for letter, scale in zip("AB", reversed(list(problem.scale_shapes)), strict=False):
        library.set(operation, MatmulDesc[f"{letter}_SCALE_POINTER"], ctypes.c_void_p(aligned(session, scale, stack)))
        if problem.scales is Scales.ROW:
            library.set(operation, MatmulDesc[f"{letter}_SCALE_MODE"], ctypes.c_int32(OUTER_VEC_32F))


@contextmanager
def _layout(library: CublasLt, problem: _Product, operand: str) -> Iterator[ctypes.c_void_p]:
    rows, columns = problem.stored[operand]
    leading, stride = (getattr(problem, f"{field}{operand}") for field in ("ld", "stride_"))
    sizes = (ctypes.c_uint64(columns), ctypes.c_uint64(rows), ctypes.c_int64(leading))
    (dtype,) = (tensor.dtype for tensor in problem.tensors if tensor.name == operand)
    with library.created("MatrixLayout", _TYPES[dtype], *sizes) as layout:
        library.set(layout, MatrixLayout.BATCH_COUNT, ctypes.c_int32(problem.batch))
        library.set(layout, MatrixLayout.STRIDED_BATCH_OFFSET, ctypes.c_int64(stride))
        yield layout


@contextmanager
def _preference(library: CublasLt, session: CudaSession, operands: str) -> Iterator[ctypes.c_void_p]:
    """Algorithms for the workspace and the pointers that there are; of FMAs only for FP32.

    Those by tensor cores add up in FP32 what parts of k give: in 16 bits, that is beyond the tolerance.
    """
    with library.created("MatmulPreference") as preference:
        set_ = partial(library.set, preference)
        set_(MatmulPreference.MAX_WORKSPACE_BYTES, ctypes.c_uint64(_WORKSPACE_BYTES))
        if isinstance(session.problem, SgemmProblem):
            set_(MatmulPreference.IMPL_MASK, ctypes.c_uint64(~TENSOR_OPERATIONS))
        else:
            set_(MatmulPreference.REDUCTION_SCHEME_MASK, ctypes.c_uint32(ADD_IN_COMPUTE_TYPE))
        for letter, operand in zip("ABCD", operands, strict=True):
            pointer = session.pointer(operand)
            alignment = min(pointer & -pointer, _MOST_ALIGNMENT)
            set_(MatmulPreference[f"MIN_ALIGNMENT_{letter}_BYTES"], ctypes.c_uint32(alignment))
        yield preference


def _missing() -> str:
    from cuda.pathfinder import DynamicLibNotFoundError

    true_fp32.enforce()
    try:
        CublasLt()
    except DynamicLibNotFoundError:
        return "the baseline cublaslt needs cuBLAS: pip install nvidia-cublas"
    return ""


_CUBLASLT = Baseline(
    summary=f"the fastest of the first {_ALGORITHMS} algorithms that cublasLt's heuristics name",
    verified=True,
    replayed=True,
    missing=_missing,
    versions=lambda: {"cublaslt": CublasLt().version},
    prepare=_prepare,
)
SGEMM = replace(_CUBLASLT, summary=f"{_CUBLASLT.summary}, in true FP32")
GEMM = replace(_CUBLASLT, summary=f"{_CUBLASLT.summary}, with its epilogues for bias, ReLU and GELU by tanh")
