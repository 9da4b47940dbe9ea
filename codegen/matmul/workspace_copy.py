"""Operands of products that launches of their own copy to the workspace, ahead of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.integers import round_up
from autotune.codegen.model.launch import Region
from autotune.codegen.model.workspace import ALIGNMENT, Lifetime, laid_out

from .problem import ProductProblem


@dataclass(frozen=True)
class WorkspaceCopy:
    """The copy of an operand, whose rows have no gaps but those that align them.

    Copies lie in the workspace one after the other, then what the product needs itself. Kernels find them by the
    arguments of the product, so that all kernels have the same ones.

    Attributes:
        operand: ``a`` or ``b``.
        dtype: of its elements.
        rows, columns: the sizes that are those of the copy, such as ``k`` and ``m``.
        vector: elements that each row begins at a multiple of.
    """

    operand: str
    dtype: DType
    rows: str
    columns: str
    vector: int

    def leading(self, problem: ProductProblem) -> int:
        """Elements from a row to the next."""
        return round_up(getattr(problem, self.columns), self.vector)

    def matrices(self, problem: ProductProblem) -> int:
        """How many are copied: one that a batch shares once."""
        batch: int = getattr(problem, "batch", 1)
        return batch if problem.layout_of(self.operand)[1] else 1

    def layout(self, problem: ProductProblem) -> dict[str, int]:
        """The fields of the problem that is left, by which the operand is its copy."""
        leading, shared = self.leading(problem), problem.layout_of(self.operand)[1] == 0
        stride = 0 if shared else getattr(problem, self.rows) * leading
        align = self.dtype.bytes * self.vector
        return {f"ld{self.operand}": leading, f"stride_{self.operand}": stride, f"align_{self.operand}": align}

    def bytes(self, problem: ProductProblem) -> int:
        """Of the workspace."""
        elements: int = self.matrices(problem) * getattr(problem, self.rows) * self.leading(problem)
        return round_up(self.dtype.bytes * elements, ALIGNMENT)

    @property
    def redirected(self) -> str:
        """Statements that put the copy in place of the operand, and advance the workspace."""
        x, vector = self.operand, self.vector
        return f"""  product.{x} = static_cast<const {self.dtype.cuda}*>(product.workspace);
  product.ld{x} = (arguments.{self.columns} + {vector - 1}) / {vector} * {vector};
  const long long elements_{x} = static_cast<long long>(arguments.{self.rows}) * product.ld{x};
  product.stride_{x} = arguments.stride_{x} ? elements_{x} : 0;
  const long long bytes_{x} = {self.dtype.bytes} * (arguments.stride_{x} ? arguments.batch : 1) * elements_{x};
  const long long parts_{x} = (bytes_{x} + {ALIGNMENT - 1}) / {ALIGNMENT};
  product.workspace = static_cast<char*>(product.workspace) + parts_{x} * {ALIGNMENT};
"""


def copies_in_workspace(problem: ProductProblem, copies: Sequence[WorkspaceCopy]) -> dict[str, Region]:
    """Where the copy of each operand lies. All live until the product, so none shares memory."""
    sizes = {one.operand: one.bytes(problem) for one in copies}
    return laid_out(sizes, dict.fromkeys(sizes, Lifetime(0, len(copies))))


def workspace_bytes(problem: ProductProblem, copies: Sequence[WorkspaceCopy], own: int) -> int:
    """Bytes of copies, and of what the product keeps behind them."""
    return max([0, *(one.offset + one.bytes for one in copies_in_workspace(problem, copies).values())]) + own


def with_copies(name: str, done: str, copies: Sequence[WorkspaceCopy]) -> str:
    """The function that makes the arguments of the product.

    Args:
        name: of the function.
        done: what was done to the operands, such as ``transposed``.
        copies: of those operands, in the order of the workspace.
    """
    return f"""// The arguments of the product, whose operands are {done} at the beginning of the workspace.
__device__ __forceinline__ Arguments {name}(const Arguments& arguments) {{
  Arguments product = arguments;
{"".join(one.redirected for one in copies)}  return product;
}}
"""
