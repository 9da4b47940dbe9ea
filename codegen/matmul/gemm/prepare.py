"""Operands that a first launch copies to the workspace, to rows that are aligned to 16 bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from autotune.codegen.matmul.workspace_copy import WorkspaceCopy, with_copies
from autotune.codegen.model.footprint import Footprint
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.launch import Launch

from .problem import GemmProblem
from .schedule import GemmSchedule, Prepare

ENTRY = "prepare"
# As in prepare.cuh.
_THREADS, _ROUNDS, _LANES_M, _LANES_N = 128, 4, 8, 16
_REGISTERS, _TRANSPOSING_REGISTERS = 64, 128


@dataclass(frozen=True)
class Prepared:
    """The copy of one operand.

    Attributes:
        copy: where it is put.
        problem: whose operand it is.
        transpose: whether rows of the copy are columns of the operand.
    """

    copy: WorkspaceCopy
    problem: GemmProblem
    transpose: bool

    @property
    def blocks(self) -> int:
        """What it takes of the grid."""
        rows, columns = self.problem.stored[self.copy.operand]
        units, matrices = ceil_div(columns, self.copy.vector), self.copy.matrices(self.problem)
        if self.transpose:
            return ceil_div(rows, _LANES_M * self.copy.vector) * ceil_div(units, _LANES_N) * matrices
        return ceil_div(units * rows * matrices, self.stores)

    @property
    def stores(self) -> int:
        """Of a block, of 16 bytes each."""
        return _THREADS * (self.copy.vector if self.transpose else _ROUNDS)

    @property
    def aligned(self) -> bool:
        """Whether rows of the operand begin and end at multiples of 16 bytes."""
        _, columns = self.problem.stored[self.copy.operand]
        return self.problem.vector_width(self.copy.operand) == self.copy.vector and columns % self.copy.vector == 0

    @property
    def declared(self) -> str:
        """``copy_a`` or ``copy_b`` of the entry."""
        x, extent = self.copy.operand, "m" if self.copy.operand == "a" else "n"
        rows, columns = (extent, "k") if self.problem.along_k(x) else ("k", extent)
        element, flags = self.copy.dtype.cuda, (self.transpose, self.aligned)
        transpose, aligned = ("true" if one else "false" for one in flags)
        return f"""  const OperandCopy<{element}, {transpose}, {aligned}> copy_{x}{{
      arguments.{x}, const_cast<{element}*>(product.{x}), arguments.{rows}, arguments.{columns},
      arguments.stride_{x} ? arguments.batch : 1, arguments.ld{x}, arguments.stride_{x}, product.ld{x},
      product.stride_{x}}};
"""


def prepared(problem: GemmProblem, schedule: GemmSchedule) -> tuple[Prepared, ...]:
    """The operands that a schedule copies, in the order of the workspace."""
    found = []
    for operand, extent in (("a", "m"), ("b", "n")):
        how = schedule.prepare_a if operand == "a" else schedule.prepare_b
        if how is not Prepare.NONE:
            rows, columns = (extent, "k") if schedule.along_k(problem, operand) else ("k", extent)
            dtype = problem.dtype if operand == "a" else problem.dtype_b
            copy = WorkspaceCopy(operand, dtype, rows, columns, WIDEST_ACCESS // dtype.bytes)
            found.append(Prepared(copy, problem, how is Prepare.TRANSPOSE))
    return tuple(found)


def product(problem: GemmProblem, schedule: GemmSchedule) -> GemmProblem:
    """What remains to be multiplied.

    A search asks for that of one problem thousands of times; traced sizes are in no cache.
    """
    if schedule.prepare_a is schedule.prepare_b is Prepare.NONE:
        return problem
    copied = tuple(one.copy for one in prepared(problem, schedule))
    return _product(problem, copied) if type(problem.m) is int else _product.__wrapped__(problem, copied)


@lru_cache(maxsize=64)
def _product(problem: GemmProblem, copied: tuple[WorkspaceCopy, ...]) -> GemmProblem:
    for one in copied:
        transposed = (one.columns == "k") is (one.operand == "b")
        fields = one.layout(problem) | {f"transpose_{one.operand}": transposed}
        problem = replace(problem, **fields)  # type: ignore[arg-type]
    return problem


def footprint(operands: Sequence[Prepared]) -> Footprint:
    """What a block of the launch takes that copies all of them."""
    transposing = any(one.transpose for one in operands)
    return Footprint(_THREADS, registers=_TRANSPOSING_REGISTERS if transposing else _REGISTERS)


def launch(operands: Sequence[Prepared]) -> Launch:
    """That launch."""
    return footprint(operands).launch(ENTRY, sum(one.blocks for one in operands))


def source_of(operands: Sequence[Prepared], *, tensor_maps: bool) -> str:
    """``with_prepared``, which makes the arguments of the product, and the entry. With alpha = 0 nothing is read."""
    redirected = with_copies("with_prepared", "copied", [one.copy for one in operands])
    first, *others = (one.copy.operand for one in operands)
    calls = f"copy_{first}.copy(blockIdx.x);"
    for second in others:
        calls = f"""if (blockIdx.x < copy_{first}.blocks()) {{
    copy_{first}.copy(blockIdx.x);
  }} else {{
    copy_{second}.copy(blockIdx.x - copy_{first}.blocks());
  }}"""
    body = f"""if (arguments.alpha == 0.0f) return;
  const Arguments product = with_prepared(arguments);
{"".join(one.declared for one in operands)}  {calls}"""
    return f"{redirected}\n{footprint(operands).entry(ENTRY, body, tensor_maps=tensor_maps)}\n"
