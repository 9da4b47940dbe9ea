"""What dropout computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import floor

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.philox import random_words
from autotune.codegen.model.problem import Array
from autotune.codegen.model.random_state import STATE, RandomState
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Unit, Work

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)


class Mask(StrEnum):
    """What is stored of which elements were kept."""

    NONE = "nomask"
    BYTES = "bytes"  # 1 for each element that was kept, and 0 for the others
    BITS = "bits"  # eight elements in a byte, the first one in the lowest bit


@dataclass(frozen=True)
class DropoutProblem(MatrixProblem):
    """y = (kept ? (x + bias) / (1 - p) : 0) + residual for each element.

    Element i, counted row by row, is kept if its random word is at least floor(p·2^32): word i mod 4 of Philox4x32-10
    with the counter (i div 4, offset) and the key seed. So it depends on seed, offset and i alone. With p = 1 nothing
    is kept. The sum, the product with 1/(1 - p), and the residual are rounded to float32 in turn, and the result to
    the element type. Arrays without gaps and without a bias are one row.

    Attributes:
        rows, columns: of x and y.
        dtype: of the elements of x, bias, residual and y.
        bias: whether there is one element for each column, to be added before.
        residual: whether there is an array r of the shape of x, to be added after.
        mask: ``nomask``, or what is stored of which elements were kept: ``bytes`` or ``bits``.
        state: whether two numbers in device memory are added to seed and offset.
        ldx, ldy, ldr: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_y, align_r, align_bias, align_mask: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("y")

    rows: int = size(4096, most=None)
    columns: int = size(4096, most=None)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    bias: bool = kind(False, codes=("", "bias"))
    residual: bool = kind(False, codes=("", "residual"))
    mask: Mask = kind(Mask.NONE)
    state: bool = kind(False, codes=("", "state"))
    ldx: int = layout()
    align_x: int = layout(WIDEST_ACCESS)
    ldy: int = layout()
    align_y: int = layout(WIDEST_ACCESS)
    ldr: int = layout()
    align_r: int = layout(WIDEST_ACCESS)
    align_bias: int = layout(WIDEST_ACCESS)
    align_mask: int = layout(WIDEST_ACCESS)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._resolve_absent()
        if self.dense and not self.bias:
            columns = self.rows * self.columns
            leading = {f"ld{operand}": max(1, columns) for operand in self.stored}
            for name, value in {"rows": 1, "columns": columns, **leading}.items():
                object.__setattr__(self, name, value)
        if self.mask is Mask.BITS and not self.dense and self.columns % 8:
            raise ValueError(
                f"columns={self.columns}: expected a multiple of 8 for mask={self.mask} of rows with gaps between them"
            )

    def _resolve_absent(self) -> None:
        if not self.residual:
            object.__setattr__(self, "ldr", 0)
        absent = {"align_r": not self.residual, "align_bias": not self.bias, "align_mask": self.mask is Mask.NONE}
        for name, left_out in absent.items():
            if left_out:
                object.__setattr__(self, name, WIDEST_ACCESS)
            else:
                self._check_alignment(name)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, ``y`` and, if there is a residual, ``r``."""
        return dict.fromkeys(("x", "y", "r") if self.residual else ("x", "y"), (self.rows, self.columns))

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    def usual(self, name: str) -> int:
        """See `MatrixProblem.usual`; a residual may be left out, and bias and mask are no matrices."""
        if name.startswith("align_"):
            return WIDEST_ACCESS
        return 0 if name == "ldr" and not self.residual else super().usual(name)

    @property
    def elements(self) -> int:
        """Of x."""
        return self.rows * self.columns

    @property
    def dense(self) -> bool:
        """Whether x, y and the residual have no gaps between rows."""
        usual = max(1, self.columns)
        return self.rows == 1 or all(self.layout_of(operand)[0] == usual for operand in self.stored)

    @property
    def widest(self) -> int:
        """Elements of the widest accesses to x, y and the residual."""
        if self.dense:
            return min(self.layout_of(operand)[2] for operand in self.stored) // self.dtype.bytes
        return min(map(self.vector_width, self.stored))

    @property
    def random_state(self) -> RandomState:
        """Seed and offset."""
        return RandomState(pairs=int(self.state))

    @property
    def mask_bytes(self) -> int:
        """Bytes of the mask."""
        return {Mask.NONE: 0, Mask.BYTES: self.elements, Mask.BITS: ceil_div(self.elements, 8)}[self.mask]

    @property
    def work(self) -> Work:
        """All is read once or written once; two products and sums for each element, at most four."""
        if not self.elements:
            return Work(0)
        moved = (2 + self.residual) * self.elements + self.bias * self.columns
        operations = (1 + self.bias + self.residual) * self.elements
        return Work(moved * self.dtype.bytes + self.mask_bytes + self.random_state.bytes, {Unit.FP32: operations})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``y``, which may be ``x`` if it lies alike, and what else there is, all judged bit for bit."""
        x, y = self.tensor("x", self.dtype, Role.INPUT), self.tensor("y", self.dtype, Role.OUTPUT)
        found = [x, replace(y, in_place="x") if self.layout_of("x") == self.layout_of("y") else y]
        if self.residual:
            found.append(self.tensor("r", self.dtype, Role.INPUT))
        if self.bias:
            found.append(Tensor.flat("bias", self.dtype, self.columns, Role.INPUT, self.align_bias))
        found += self.random_state.tensors
        if self.mask is Mask.BYTES:
            mask = Tensor("mask", DType.UINT8, self.stored["x"], (self.columns, 1), Role.OUTPUT, self.align_mask)
            found.append(mask)
        elif self.mask is Mask.BITS:
            found.append(Tensor.flat("mask", DType.UINT8, self.mask_bytes, Role.OUTPUT, self.align_mask))
        return tuple(found)

    @property
    def scalars(self) -> Mapping[str, float]:
        """A third is dropped; seed and offset take more than 32 bits."""
        return {"p": 1 / 3, **self.random_state.scalars}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, among them zeros of both signs, infinities and NaN; a state of more than 32 bits."""
        random = np.random.default_rng(seed)
        made = {
            tensor.name: repeated(lambda count: _numbers(random, count).astype(self.dtype.numpy), tensor.size)
            for tensor in self.tensors
            if tensor.role is Role.INPUT and tensor.name != STATE
        }
        return made | self.random_state.inputs(random)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in its own type, and the mask."""
        views, kept = self.views(inputs), self._kept(inputs, scalars).reshape(self.stored["x"])
        p = float(scalars["p"])
        scale = np.float32(0 if p == 1 else np.float32(1) / np.float32(1 - p))
        with np.errstate(invalid="ignore", over="ignore"):  # the gaps are NaN
            values = views["x"].astype(np.float32)
            if self.bias:
                values = values + inputs["bias"].astype(np.float32)
            values = np.where(kept, values * scale, np.float32(0))
            if self.residual:
                values = values + views["r"].astype(np.float32)
            found = self.buffers({"y": values.astype(self.dtype.numpy)})
        if self.mask is Mask.NONE:
            return found
        flat = kept.reshape(-1).astype(np.uint8)
        return found | {"mask": flat if self.mask is Mask.BYTES else np.packbits(flat, bitorder="little")}

    def _kept(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> Array:
        """Whether each element is kept, in the order of rows."""
        ((seed, offset),) = self.random_state.resolved(inputs, scalars)
        kept: Array = random_words(self.elements, seed, offset) >= np.uint64(floor(scalars["p"] * 2**32))
        return kept


def _numbers(random: np.random.Generator, count: int) -> Array:
    numbers = random.standard_normal(count, np.float32)
    for special in (0.0, -0.0, np.inf, -np.inf, np.nan):
        numbers[random.integers(0, count, count // 500)] = special
    return numbers
