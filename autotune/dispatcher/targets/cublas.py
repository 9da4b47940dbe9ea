"""cuBLAS in place of a kernel, on the same pointers, for problems that it is known to be faster for."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from ...codegen.matmul.sgemm.problem import SgemmProblem
from ...codegen.problem import Problem
from . import true_fp32
from .base import LaunchError
from .contexts import Context
from .workspaces import relaxed_captures


class CublasKernel:
    """The product of one problem in true FP32; a `Kernel` whose arguments are those of an sgemm kernel.

    Raises:
        LaunchError: cuBLAS is not installed, or the environment makes it compute in less than FP32.
    """

    def __init__(self, problem: Problem, context: Context) -> None:
        assert isinstance(problem, SgemmProblem)
        if lowered := true_fp32.overridden():
            raise LaunchError(f"cuBLAS does not compute in true FP32 where {lowered}")
        self._problem = problem
        self._context = context
        self._library = library()

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        """See `Kernel`."""
        arguments: Any = packed

        def launch(stream: int) -> None:
            with self._context.made_current():
                handle = self._handle()
                self._call("cublasSetStream_v2", handle, ctypes.c_void_p(stream))
                self._multiply(handle, arguments)

        return launch

    def _multiply(self, handle: ctypes.c_void_p, packed: Any) -> None:
        """cuBLAS's matrices are column-major: Cᵀ = op(B)ᵀ·op(A)ᵀ, so B comes first and n is the number of rows."""
        p, strided = self._problem, self._problem.batch > 1
        alpha, beta = (ctypes.byref(packed, getattr(type(packed), name).offset) for name in ("alpha", "beta"))

        def matrix(name: str) -> tuple[Any, ...]:
            place = (ctypes.c_void_p(getattr(packed, name)), getattr(p, f"ld{name}"))
            return (*place, ctypes.c_longlong(getattr(p, f"stride_{name}"))) if strided else place

        # The batched call takes other kernels, so a batch of one is not given to it.
        self._call(
            "cublasSgemmStridedBatched" if strided else "cublasSgemm_v2",
            handle, int(p.transpose_b), int(p.transpose_a), p.n, p.m, p.k,
            alpha, *matrix("b"), *matrix("a"), beta, *matrix("c"), *((p.batch,) if strided else ()),
        )  # fmt: skip

    def _handle(self) -> ctypes.c_void_p:
        """This thread's handle in the current context: another thread may set another stream on its own."""
        key = f"{self._context.handle}"
        handle: ctypes.c_void_p | None = getattr(_handles, key, None)
        if handle is None:
            handle = ctypes.c_void_p()
            with relaxed_captures():  # it allocates memory
                self._call("cublasCreate_v2", ctypes.byref(handle))
            setattr(_handles, key, handle)
        return handle

    def _call(self, function: str, *arguments: Any) -> None:
        status = getattr(self._library, function)(*arguments)
        if status:
            raise LaunchError(f"{function} failed with status {status}")


_handles = threading.local()
os.register_at_fork(after_in_child=_handles.__dict__.clear)


@cache
def library() -> Any:
    """The library, as PyTorch and nvmath bring it.

    Raises:
        LaunchError: it is not installed.
    """
    from cuda.pathfinder import DynamicLibNotFoundError, load_nvidia_dynamic_lib

    try:
        return ctypes.CDLL(load_nvidia_dynamic_lib("cublas").abs_path)
    except DynamicLibNotFoundError:
        raise LaunchError("cuBLAS is not installed: pip install nvidia-cublas") from None
