"""What cublasLt does to a product beside adding C: bias, activation, and what was before that."""

from __future__ import annotations

import ctypes
from contextlib import ExitStack
from enum import IntFlag
from typing import TYPE_CHECKING

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.epilogue.gate import Gate
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.devices.base import DeviceError

from .aligned_inputs import aligned
from .cublaslt_api import CublasLt, MatmulDesc

if TYPE_CHECKING:
    from autotune.devices.cuda_session import CudaSession

_AUX_UNIT = 8  # elements that rows of what was before the activation are a multiple of


class Epilogue(IntFlag):
    """``cublasLtEpilogue_t``, whose values are sums of these; GELU is that by tanh."""

    DEFAULT = 1
    RELU = 2
    BIAS = 4
    GELU = 32
    AUX = 128


_ACTIVATIONS = {
    Activation.IDENTITY: Epilogue(0),
    Activation.RELU: Epilogue.RELU,
    Activation.GELU_TANH: Epilogue.GELU,
}


def epilogue_of(problem: GemmProblem) -> Epilogue:
    """That of a problem.

    Raises:
        DeviceError: cublasLt has none, with what it lacks.
    """
    if problem.activation not in _ACTIVATIONS or problem.gate is not Gate.NONE:
        raise DeviceError(f"it has no epilogue for {problem.key}: expected {', '.join(_ACTIVATIONS)} without gates")
    if problem.residual and problem.activation is not Activation.IDENTITY:
        raise DeviceError("it adds C ahead of the activation: expected no residual with one")
    if problem.bias is Bias.COLUMN:
        raise DeviceError("its bias is one of columns of D: expected bias row")
    if problem.preactivation and (problem.activation is not Activation.GELU_TANH or problem.n % _AUX_UNIT):
        raise DeviceError(f"it writes what is before gelu_tanh only, in rows of a multiple of {_AUX_UNIT}")
    epilogue = _ACTIVATIONS[problem.activation]
    epilogue |= Epilogue.BIAS if problem.bias is Bias.ROW else Epilogue(0)
    epilogue |= Epilogue.AUX if problem.preactivation else Epilogue(0)
    return epilogue or Epilogue.DEFAULT


def set_epilogue(
    library: CublasLt, operation: ctypes.c_void_p, session: CudaSession, problem: GemmProblem, stack: ExitStack
) -> None:
    """Let an operation end with the epilogue of a problem; see `epilogue_of`. Batches share the bias."""
    epilogue = epilogue_of(problem)
    library.set(operation, MatmulDesc.EPILOGUE, ctypes.c_int32(epilogue))
    if Epilogue.BIAS in epilogue:
        library.set(operation, MatmulDesc.BIAS_POINTER, ctypes.c_void_p(aligned(session, "bias", stack)))
    if Epilogue.AUX in epilogue:
        library.set(operation, MatmulDesc.EPILOGUE_AUX_POINTER, ctypes.c_void_p(session.pointer("z")))
        library.set(operation, MatmulDesc.EPILOGUE_AUX_LD, ctypes.c_int64(problem.n))
        library.set(operation, MatmulDesc.EPILOGUE_AUX_BATCH_STRIDE, ctypes.c_int64(problem.m * problem.n))
