"""What to transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

import numpy as np

from ...problem import Array, Problem, Role, Tensor

ELEMENT_BYTES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class TransposeProblem(Problem):
    """B[batch][n][m] = A[batch][m][n], out of place; only the size of an element matters, not its type.

    Attributes:
        m, n: rows and columns of A.
        element_bytes: 1, 2, 4, 8 or 16.
        batch: matrices.
        lda, ldb: elements from one row to the next; 0 stands for rows without gaps.
        stride_a, stride_b: elements from one matrix to the next; 0 stands for matrices without gaps, and for a batch
            of one.
        align_a, align_b: bytes that the pointers are a multiple of, at most 16.
    """

    m: int
    n: int
    element_bytes: int = 4
    batch: int = 1
    lda: int = 0
    ldb: int = 0
    stride_a: int = 0
    stride_b: int = 0
    align_a: int = 16
    align_b: int = 16

    def __post_init__(self) -> None:
        for name in ("m", "n", "batch", "lda", "ldb", "stride_a", "stride_b"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name}={getattr(self, name)}: expected 0 or more")
        if self.element_bytes not in ELEMENT_BYTES:
            raise ValueError(
                f"element_bytes={self.element_bytes}: expected one of {', '.join(map(str, ELEMENT_BYTES))}"
            )
        for operand, rows, row in (("a", self.m, self.n), ("b", self.n, self.m)):
            self._resolve(operand, rows, row)
        matrix = self._span(self.n, self.m, self.ldb)
        interleaved = self.stride_b >= self.m and (self.batch - 1) * self.stride_b + self.m <= self.ldb
        if self.batch > 1 and self.stride_b < matrix and not interleaved:
            raise ValueError(f"stride_b={self.stride_b}: matrices of B overlap; expected at least {matrix}, or 0")

    def _resolve(self, operand: str, rows: int, row: int) -> None:
        """Check an operand's layout, and put numbers in the place of zeros that stand for them."""
        leading, stride, align = (getattr(self, f"{field}{operand}") for field in ("ld", "stride_", "align_"))
        if leading and leading < row:
            raise ValueError(f"ld{operand}={leading}: expected at least the {row} elements of a row, or 0")
        allowed = [size for size in ELEMENT_BYTES if size >= self.element_bytes]
        if align not in allowed:
            raise ValueError(f"align_{operand}={align}: expected one of {', '.join(map(str, allowed))} bytes")
        leading = leading or max(1, row)
        object.__setattr__(self, f"ld{operand}", leading)
        object.__setattr__(self, f"stride_{operand}", (stride or rows * leading) if self.batch > 1 else 0)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to move."""
        return 0 in (self.m, self.n, self.batch)

    def vector_width(self, operand: str) -> int:
        """Elements of the widest access, of 16 bytes at most, that every row of ``a`` or ``b`` is aligned for."""
        leading, stride, align = (getattr(self, f"{field}{operand}") for field in ("ld", "stride_", "align_"))
        return gcd(align // self.element_bytes, leading, stride)

    @property
    def key(self) -> str:
        """Such as ``m16384-n32768-e4``; further parts only where they differ from the default."""
        words = [f"m{self.m}", f"n{self.n}", f"e{self.element_bytes}"]
        if self.batch != 1:
            words.append(f"batch{self.batch}")
        for operand, rows, row in (("a", self.m, self.n), ("b", self.n, self.m)):
            leading, stride, align = (getattr(self, f"{field}{operand}") for field in ("ld", "stride_", "align_"))
            if leading != max(1, row):
                words.append(f"ld{operand}{leading}")
            if self.batch > 1 and stride != rows * leading:
                words.append(f"s{operand}{stride}")
            if align != 16:
                words.append(f"align{operand}{align}")
        return "-".join(words)

    @property
    def flops(self) -> int:
        """0: only bytes move."""
        return 0

    @property
    def bytes_moved(self) -> int:
        """Every element read once and written once."""
        return 2 * self.batch * self.m * self.n * self.element_bytes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """A and B as unsigned integers; an element of 16 bytes is a pair of uint64."""
        dtype, words = self._words
        return (
            Tensor("a", dtype, self.elements_a * words, Role.INPUT, self.align_a),
            Tensor("b", dtype, self.elements_b * words, Role.OUTPUT, self.align_b),
        )

    @property
    def elements_a(self) -> int:
        """Elements from the first to the last of A, gaps included."""
        return 0 if self.empty else (self.batch - 1) * self.stride_a + self._span(self.m, self.n, self.lda)

    @property
    def elements_b(self) -> int:
        """Elements from the first to the last of B, gaps included."""
        return 0 if self.empty else (self.batch - 1) * self.stride_b + self._span(self.n, self.m, self.ldb)

    @staticmethod
    def _span(rows: int, row: int, leading: int) -> int:
        return (rows - 1) * leading + row if rows and row else 0

    @property
    def _words(self) -> tuple[str, int]:
        """The unsigned dtype that stands for an element, and how many of it make one."""
        return f"uint{min(64, 8 * self.element_bytes)}", max(1, self.element_bytes // 8)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random bytes, none of them 0xFF as in an output that was never written, nor 0."""
        a = self.tensors[0]
        return {"a": np.random.default_rng(seed).integers(1, 255, a.bytes, dtype=np.uint8).view(a.dtype)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """B bit for bit, with all bits set in its gaps."""
        b = np.full(self.tensors[1].bytes, 0xFF, np.uint8).view(self.tensors[1].dtype)
        if not self.empty:
            a = self._matrices(inputs["a"], self.m, self.n, self.lda, self.stride_a)
            self._matrices(b, self.n, self.m, self.ldb, self.stride_b)[...] = a.swapaxes(1, 2)
        return {"b": b}

    def _matrices(self, flat: Array, rows: int, row: int, leading: int, stride: int) -> Array:
        """The flat buffer as a view [batch][rows][row][words of an element]."""
        strides = [elements * self.element_bytes for elements in (stride, leading, 1)]
        shape = (self.batch, rows, row, self._words[1])
        return np.lib.stride_tricks.as_strided(flat, shape, [*strides, flat.itemsize])

    def error_bound(self, scalars: Mapping[str, float]) -> float:
        """0: bit for bit."""
        return 0.0
