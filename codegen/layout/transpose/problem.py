"""What to transpose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import gcd

import numpy as np

from ...dtype import DType
from ...problem import Array, Problem
from ...tensor import Role, Tensor
from ...work import Work

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
        matrix = (self.n - 1) * self.ldb + self.m if self.n and self.m else 0
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
    def work(self) -> Work:
        """Every element read once and written once."""
        return Work(2 * self.batch * self.m * self.n * self.element_bytes)

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """A and B as unsigned integers; an element of 16 bytes is a pair of uint64."""
        return (
            self._tensor("a", (self.batch, self.m, self.n), Role.INPUT),
            self._tensor("b", (self.batch, self.n, self.m), Role.OUTPUT),
        )

    def _tensor(self, name: str, shape: tuple[int, ...], role: Role) -> Tensor:
        leading, stride, align = (getattr(self, f"{field}{name}") for field in ("ld", "stride_", "align_"))
        strides: tuple[int, ...] = (stride, leading, 1)
        if self.element_bytes == 16:
            shape, strides = (*shape, 2), (2 * stride, 2 * leading, 2, 1)
        return Tensor(name, DType(f"uint{min(64, 8 * self.element_bytes)}"), shape, strides, role, align)

    def inputs(self, seed: int) -> dict[str, Array]:
        """Random bytes, none of them 0xFF as in an output that was never written, nor 0."""
        a, _ = self.tensors
        return {"a": np.random.default_rng(seed).integers(1, 255, a.bytes, dtype=np.uint8).view(a.dtype.numpy)}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """B bit for bit."""
        a, b = self.tensors
        flat = np.full(b.bytes, 0xFF, np.uint8).view(b.dtype.numpy)
        b.view(flat)[...] = a.view(inputs["a"]).swapaxes(1, 2)
        return {"b": flat}

    def error_bound(self, scalars: Mapping[str, float]) -> float:
        """0: bit for bit."""
        return 0.0
