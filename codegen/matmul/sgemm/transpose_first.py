"""Operands that lie along k and that launches of their own transpose in the workspace, ahead of the product."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...integers import round_up
from ...layout.transpose import emit as transpose
from ...layout.transpose.problem import TransposeProblem
from ...layout.transpose.schedule import TransposeSchedule
from ...program import Launch, cuda_arguments
from .problem import SgemmProblem
from .schedule import CopyMode, SgemmSchedule

_SIDES = {"a": "m", "b": "n"}  # across k
_VECTOR = 4  # elements that rows of the workspace are aligned for
_ALIGNMENT = 256  # of parts of the workspace, in bytes
_TILE = 64  # rows and columns that a block transposes
# Its kernel takes any sizes: tiles may exceed the matrix, and offsets 31 bits.
_ANY_SIZE = TransposeProblem(2**31 + 1, 2**31 + 1)


@dataclass(frozen=True)
class Transposition:
    """The transposition of one operand to the workspace.

    A kernel finds its place there from the arguments of the product, so that all kernels have the same ones.

    Attributes:
        operand: ``a`` or ``b``.
        problem: what is transposed.
        vector: elements of a load.
    """

    operand: str
    problem: TransposeProblem
    vector: int

    @property
    def schedule(self) -> TransposeSchedule:
        """Tiles whose rows are cache lines on both sides, moved by 256 threads or 512."""
        rows = 4 if self.vector > 1 else 8
        return TransposeSchedule(_TILE, _TILE, rows, self.vector, _VECTOR, swizzle=True)

    @property
    def bytes(self) -> int:
        """Of the workspace."""
        return round_up(4 * self.problem.batch * self.problem.n * self.problem.ldb, _ALIGNMENT)

    @property
    def launch(self) -> Launch:
        """The launch of its entry."""
        footprint = self.schedule.footprint(self.problem)
        return footprint.launch(self._entry, transpose.blocks(self.problem, self.schedule))

    @property
    def source(self) -> str:
        """Its kernel, in a namespace of its own, and its entry. With alpha = 0 nothing is read."""
        x = self.operand
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
    def redirected(self) -> str:
        """Statements that put the transposed operand in place of the other, and advance the workspace."""
        x = self.operand
        return f"""  product.{x} = static_cast<const float*>(product.workspace);
  product.ld{x} = (arguments.{_SIDES[x]} + {_VECTOR - 1}) / {_VECTOR} * {_VECTOR};
  const long long elements_{x} = static_cast<long long>(arguments.k) * product.ld{x};
  product.stride_{x} = arguments.stride_{x} ? elements_{x} : 0;
  const long long bytes_{x} = 4 * (arguments.stride_{x} ? arguments.batch : 1) * elements_{x};
  const long long parts_{x} = (bytes_{x} + {_ALIGNMENT - 1}) / {_ALIGNMENT};
  product.workspace = static_cast<char*>(product.workspace) + parts_{x} * {_ALIGNMENT};
"""

    @property
    def _entry(self) -> str:
        return f"transpose_{self.operand}"


def source_of(transpositions: Sequence[Transposition]) -> str:
    """The kernels of several, and ``with_transposed``, which makes the arguments of the product."""
    return f"""// The arguments of the product, whose operands are transposed at the beginning of the workspace.
__device__ __forceinline__ Arguments with_transposed(const Arguments& arguments) {{
  Arguments product = arguments;
{"".join(one.redirected for one in transpositions)}  return product;
}}

{"".join(one.source for one in transpositions)}"""


def transposed_first(problem: SgemmProblem, schedule: SgemmSchedule) -> tuple[Transposition, ...]:
    """The transpositions of a schedule, whose results lie in the workspace one after the other."""
    found: list[Transposition] = []
    for operand, side in _SIDES.items():
        if getattr(schedule, f"copy_{operand}") is CopyMode.TRANSPOSE_FIRST and problem.along_k(operand):
            leading, stride, align = problem.layout_of(operand)
            rows: int = getattr(problem, side)
            what = TransposeProblem(
                rows,
                problem.k,
                batch=problem.batch if stride else 1,
                lda=leading,
                stride_a=stride,
                align_a=align,
                ldb=round_up(rows, _VECTOR),
            )
            found.append(Transposition(operand, what, getattr(schedule, f"vector_{operand}")))
    return tuple(found)


def product(problem: SgemmProblem, schedule: SgemmSchedule) -> tuple[SgemmProblem, SgemmSchedule]:
    """What remains to be multiplied, and how, once operands are transposed."""
    for one in transposed_first(problem, schedule):
        layout = {"ld": one.problem.ldb, "stride_": one.problem.stride_b, "align_": 4 * _VECTOR}
        fields = {f"{name}{one.operand}": value for name, value in layout.items()}
        transposed = {f"transpose_{one.operand}": one.operand == "a"}
        problem = replace(problem, **fields, **transposed)  # type: ignore[arg-type]
        copies = {f"copy_{one.operand}": CopyMode.ASYNC_COPY, f"vector_{one.operand}": _VECTOR}
        schedule = replace(schedule, **copies)  # type: ignore[arg-type]
    return problem, schedule
