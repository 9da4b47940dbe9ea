"""Operands that lie along k and that launches of their own transpose in the workspace, ahead of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from autotune.codegen.layout.transpose import emit as transpose
from autotune.codegen.layout.transpose.problem import TransposeProblem
from autotune.codegen.layout.transpose.schedule import TransposeSchedule
from autotune.codegen.matmul.workspace_copy import WorkspaceCopy, with_copies
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.launch import Launch
from autotune.codegen.source.arguments import cuda_arguments

from .problem import SgemmProblem
from .schedule import CopyMode, SgemmSchedule

_SIDES = {"a": "m", "b": "n"}  # across k
_VECTOR = 4  # elements that rows of the workspace are aligned for
_TILE = 64  # rows and columns that a block transposes
# Its kernel takes any sizes: tiles may exceed the matrix, and offsets 31 bits.
_ANY_SIZE = TransposeProblem(2**31 + 1, 2**31 + 1)


@dataclass(frozen=True)
class Transposition:
    """The transposition of one operand to the workspace.

    Attributes:
        copy: where it is put.
        problem: what is transposed.
        vector: elements of a load.
    """

    copy: WorkspaceCopy
    problem: TransposeProblem
    vector: int

    @property
    def schedule(self) -> TransposeSchedule:
        """Tiles whose rows are cache lines on both sides, moved by 256 threads or 512."""
        rows = 4 if self.vector > 1 else 8
        return TransposeSchedule(_TILE, _TILE, rows, self.vector, _VECTOR, swizzle=True)

    @property
    def launch(self) -> Launch:
        """The launch of its entry."""
        footprint = self.schedule.footprint(self.problem)
        return footprint.launch(self._entry, self.schedule.blocks(self.problem))

    @property
    def source(self) -> str:
        """Its kernel, in a namespace of its own, and its entry. With alpha = 0 nothing is read."""
        x = self.copy.operand
        body = f"""if (arguments.alpha == 0.0f) return;
  const Arguments product = with_transposed(arguments);
  transposition_{x}::transpose_block({{reinterpret_cast<const unsigned int*>(arguments.{x}),
                                    reinterpret_cast<unsigned int*>(const_cast<float*>(product.{x})),
                                    arguments.{_SIDES[x]}, arguments.k, arguments.stride_{x} ? arguments.batch : 1,
                                    arguments.ld{x}, product.ld{x}, arguments.stride_{x}, product.stride_{x}}});"""
        return f"""namespace transposition_{x} {{
{cuda_arguments(transpose.arguments(self.problem))}

{transpose.device_code(_ANY_SIZE, self.schedule)}
}}  // namespace transposition_{x}

{self.schedule.footprint(self.problem).entry(self._entry, body)}"""

    @property
    def _entry(self) -> str:
        return f"transpose_{self.copy.operand}"


def source_of(transpositions: Sequence[Transposition]) -> str:
    """The kernels of several, and ``with_transposed``, which makes the arguments of the product."""
    redirected = with_copies("with_transposed", "transposed", [one.copy for one in transpositions])
    return f"{redirected}\n{''.join(one.source for one in transpositions)}"


def transposed_first(problem: SgemmProblem, schedule: SgemmSchedule) -> tuple[Transposition, ...]:
    """The transpositions of a schedule, whose results lie in the workspace one after the other."""
    found: list[Transposition] = []
    for operand, side in _SIDES.items():
        if getattr(schedule, f"copy_{operand}") is CopyMode.TRANSPOSE_FIRST and problem.along_k(operand):
            leading, stride, align = problem.layout_of(operand)
            copy = WorkspaceCopy(operand, DType.FLOAT32, "k", side, _VECTOR)
            what = TransposeProblem(
                getattr(problem, side),
                problem.k,
                batch=copy.matrices(problem),
                lda=leading,
                stride_a=stride,
                align_a=align,
                ldb=copy.leading(problem),
            )
            found.append(Transposition(copy, what, getattr(schedule, f"vector_{operand}")))
    return tuple(found)


def product(problem: SgemmProblem, schedule: SgemmSchedule) -> tuple[SgemmProblem, SgemmSchedule]:
    """What remains to be multiplied, and how, once operands are transposed."""
    for one in transposed_first(problem, schedule):
        operand = one.copy.operand
        transposed = {f"transpose_{operand}": operand == "a"}
        problem = replace(problem, **one.copy.layout(problem), **transposed)  # type: ignore[arg-type]
        copies = {f"copy_{operand}": CopyMode.ASYNC_COPY, f"vector_{operand}": _VECTOR}
        schedule = replace(schedule, **copies)  # type: ignore[arg-type]
    return problem, schedule
