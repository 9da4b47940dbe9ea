"""sgemm by cuBLAS, with the arguments of sgemm's kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.search_spaces.contract.baselines import Substitute


def _multiply(call: Callable[..., None], problem: SgemmProblem, packed: Any) -> None:
    """cuBLAS's matrices are column-major: Cᵀ = op(B)ᵀ·op(A)ᵀ, so B comes first and n is the number of rows."""
    p, strided = problem, problem.batch > 1
    alpha, beta = (ctypes.byref(packed, getattr(type(packed), name).offset) for name in ("alpha", "beta"))

    def matrix(name: str) -> tuple[Any, ...]:
        plain = (ctypes.c_void_p(getattr(packed, name)), getattr(p, f"ld{name}"))
        return (*plain, ctypes.c_longlong(getattr(p, f"stride_{name}"))) if strided else plain

    # The batched call takes other kernels, so a batch of one is not given to it.
    call(
        "cublasSgemmStridedBatched" if strided else "cublasSgemm_v2",
        int(p.transpose_b), int(p.transpose_a), p.n, p.m, p.k,
        alpha, *matrix("b"), *matrix("a"), beta, *matrix("c"), *((p.batch,) if strided else ()),
    )  # fmt: skip


SUBSTITUTES = {"cublas": Substitute("cublas", _multiply)}
