"""Products of two matrices: the fields that such operators share, and how their operands are stored."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.matrices import MatrixProblem


@dataclass(frozen=True)
class ProductProblem(MatrixProblem):
    """op(A)·op(B), an m×n matrix, is written as the one operand in `written`.

    Attributes:
        m, n, k: op(A) is m×k, op(B) is k×n.
        transpose_a, transpose_b: whether op transposes.
    """

    m: int = size(4096)
    n: int = size(4096)
    k: int = size(4096)
    transpose_a: bool = kind(False, codes=("n", "t"))
    transpose_b: bool = kind(False, codes=("n", "t"), joined=True)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``a``, ``b`` and what is written, as stored."""
        (written,) = self.written
        return {
            "a": (self.k, self.m) if self.transpose_a else (self.m, self.k),
            "b": (self.n, self.k) if self.transpose_b else (self.k, self.n),
            written: (self.m, self.n),
        }

    def along_k(self, operand: str) -> bool:
        """Whether neighbours along k are neighbours in memory, so that copying a tile of ``a`` or ``b`` transposes."""
        return self.transpose_b if operand == "b" else not self.transpose_a

    @property
    def layout(self) -> str:
        """``nn``, ``nt``, ``tn`` or ``tt``: A, then B, plain or transposed."""
        return ("t" if self.transpose_a else "n") + ("t" if self.transpose_b else "n")
