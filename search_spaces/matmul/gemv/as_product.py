"""Several vectors as the rows or columns of a matrix."""

from __future__ import annotations

from typing import Any

from autotune.codegen.epilogue.activation import Activation
from autotune.codegen.epilogue.epilogue import Bias
from autotune.codegen.matmul.gemm.problem import GemmProblem
from autotune.codegen.matmul.gemv.problem import GemvProblem, WeightOrder
from autotune.codegen.matmul.sgemm.problem import SgemmProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import INT_MAX
from autotune.search_spaces.contract.equivalent_problem import EquivalentProblem

_LEAST = 2  # vectors


def as_product(problem: GemvProblem) -> EquivalentProblem | None:
    """y as an sgemm or, of 16-bit numbers, as a gemm; None for one vector, and for what these have not.

    That is quantised weights, with float32 an epilogue, with 16 bits what is added to y.
    """
    if problem.m < _LEAST or problem.quantised:
        return None
    plain = not problem.bias and problem.activation is Activation.IDENTITY
    leading = max(problem.layout_of(operand)[0] for operand in "xwy")
    if problem.dtype is DType.FLOAT32:
        fits, name, written = plain and leading <= INT_MAX, "sgemm", "c"
        fields: dict[str, Any] = {"beta_nonzero": problem.beta_nonzero}
    else:
        fits, name, written = not problem.beta_nonzero, "gemm", "d"
        added = (Bias.COLUMN if problem.transpose_y else Bias.ROW) if problem.bias else Bias.NONE
        fields = {"dtype": problem.dtype, "bias": added, "activation": problem.activation}
    if not fits:
        return None
    first, second = ("w", "x") if problem.transpose_y else ("x", "w")
    pointers = {first: "a", second: "b", "y": written}
    for own, other in pointers.items():
        ld, stride, align = problem.layout_of(own)
        fields |= {f"ld{other}": ld, f"stride_{other}": stride, f"align_{other}": align}
    by_term = {"x": problem.transpose_x, "w": problem.order is WeightOrder.KN}  # whether a row has a term of each sum
    m, n = (problem.n, problem.m) if problem.transpose_y else (problem.m, problem.n)
    fields |= {"m": m, "n": n, "k": problem.k, "batch": problem.batch}
    fields |= {"transpose_a": by_term[first], "transpose_b": not by_term[second]}
    product = SgemmProblem(**fields) if problem.dtype is DType.FLOAT32 else GemmProblem(**fields)
    return EquivalentProblem(name, product, {**pointers, "bias": "bias"} if problem.bias else pointers)
