"""What to transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor

ELEMENT_BYTES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class TransposeProblem(MatrixProblem):
    """B[batch][n][m] = A[batch][m][n], out of place; only the size of an element matters, not its type.

    Attributes:
        m: rows of A.
        n: columns of A.
        element_bytes: 1, 2, 4, 8 or 16.
        batch: matrices.
        lda, ldb: elements from one row to the next; 0 means rows without gaps.
        stride_a, stride_b: elements from one matrix to the next; 0 means matrices without gaps, or a batch of one.
        align_a, align_b: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("b")

    m: int = size(4096, most=None)
    n: int = size(4096, most=None)
    element_bytes: int = kind(4, allowed=ELEMENT_BYTES, short="e")
    batch: int = size(1, implied=1, most=None)
    lda: int = layout()
    stride_a: int = layout(short="sa")
    align_a: int = layout(16)
    ldb: int = layout()
    stride_b: int = layout(short="sb")
    align_b: int = layout(16)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``a`` and ``b``."""
        return {"a": (self.m, self.n), "b": (self.n, self.m)}

    def element_bytes_of(self, operand: str) -> int:
        """As stated."""
        return self.element_bytes

    @property
    def empty(self) -> bool:
        """Whether there is nothing to move."""
        return 0 in (self.m, self.n, self.batch)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """A and B as unsigned integers; an element of 16 bytes is a pair of uint64."""
        return (
            self._tensor("a", Role.INPUT),
            self._tensor("b", Role.OUTPUT),
        )

    def _tensor(self, operand: str, role: Role) -> Tensor:
        tensor = self.tensor(operand, DType(f"uint{min(64, 8 * self.element_bytes)}"), role)
        if self.element_bytes < 16:
            return tensor
        return replace(tensor, shape=(*tensor.shape, 2), strides=(*(2 * step for step in tensor.strides), 1))

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random bytes, none of them 0xFF as in an output that was never written, nor 0."""
        a, _ = self.tensors
        random = np.random.default_rng(seed)
        return {"a": repeated(lambda count: random.integers(1, 255, count, np.uint8), a.bytes).view(a.dtype.numpy)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """B bit for bit."""
        return self.buffers({"b": self.views(inputs)["a"].swapaxes(1, 2)})
