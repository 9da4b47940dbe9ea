"""cuBLAS in place of a kernel, on the same pointers, for problems that it is known to be faster for."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.baselines import Substitute

from . import true_fp32
from .base import LaunchError
from .contexts import Context
from .workspaces import relaxed_captures


class CublasKernel:
    """cuBLAS for one problem; a `Kernel` that takes the arguments of the operator's kernels.

    Raises:
        LaunchError: cuBLAS is not installed, or the environment makes it compute in less than FP32.
    """

    def __init__(self, problem: Problem, substitute: Substitute, context: Context) -> None:
        if lowered := true_fp32.overridden():
            raise LaunchError(f"cuBLAS does not compute in true FP32 where {lowered}")
        self._problem = problem
        self._compute = substitute.compute
        self._context = context
        self._library = library()

    def bound(self, packed: ctypes.Structure) -> Callable[[int], None]:
        """See `Kernel`."""

        def launch(stream: int) -> None:
            with self._context.made_current():
                self._call("cublasSetStream_v2", ctypes.c_void_p(stream))
                self._compute(self._call, self._problem, packed)

        return launch

    def _call(self, function: str, *arguments: Any) -> None:
        _check(function, getattr(self._library, function)(self._handle(), *arguments))

    def _handle(self) -> ctypes.c_void_p:
        """This thread's handle in the current context: another thread may set another stream on its own."""
        key = f"{self._context.handle}"
        handle: ctypes.c_void_p | None = getattr(_handles, key, None)
        if handle is None:
            handle = ctypes.c_void_p()
            with relaxed_captures():  # it allocates memory
                _check("cublasCreate_v2", self._library.cublasCreate_v2(ctypes.byref(handle)))
            setattr(_handles, key, handle)
        return handle


def _check(function: str, status: int) -> None:
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
