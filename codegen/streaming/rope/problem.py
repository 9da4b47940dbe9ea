"""What a rotary position embedding computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from math import pi
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.integers import widest_divisor
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

DTYPES = (DType.FLOAT32, DType.BFLOAT16, DType.FLOAT16)
MOST_DIM = 1024  # elements of a head
MOST_HEADS = 2**29  # heads of q or k, so that one beyond those of both is a 32-bit number, too
# Errors of a result relative to the pair, and to its angle in radians, of what is computed in float32.
_ERROR = 2.0**-21
_MOST_POSITION = 1 << 17
_OFFSET = 3  # of places, to verify and to time with
_OPERANDS = {"q": "heads_q", "k": "heads_k", "r": "heads_q", "s": "heads_k"}


class Angles(StrEnum):
    """Where sines and cosines come from."""

    COMPUTED = "computed"
    TABLE = "table"


class Positions(StrEnum):
    """Where the position of a token comes from."""

    OFFSET = "offset"  # its place in its sequence, and a number that is added
    INT32 = "int32"  # an array
    INT64 = "int64"


@dataclass(frozen=True)
class RopeProblem(MatrixProblem):
    """Each pair of elements of a head is turned by an angle that follows from the position of its token.

    Source: Su et al., RoFormer: Enhanced Transformer with Rotary Position Embedding, 2021.

    Pair i of the R elements that are rotated, (a, b), becomes (a·cos - b·sin, a·sin + b·cos), accumulated in float32
    and rounded once. Its elements are i and i + R/2 or, interleaved, 2i and 2i + 1. The other elements are copied.
    The computed angle is position·f, where f = theta^(-2i/R), by the formula of Llama 3.1 divided by `factor` for long
    wavelengths.

    Attributes:
        batch: tokens.
        heads_q, heads_k: heads of q and k of each token.
        head_dim: elements of a head.
        rotary_dim: elements of a head that are rotated, an even number; 0 stands for all, but for an odd last one.
        sequence: tokens after which positions begin anew; 0 for all tokens.
        table_rows: positions that a table is for.
        dtype: of the elements of q, k and the results r and s.
        interleaved: whether the elements of a pair are neighbours.
        conj: whether angles are negated, as for a gradient.
        angles: ``computed``, or from a ``table`` of float32: for each position R/2 cosines, then R/2 sines.
        positions: ``offset`` plus the place in the sequence, or an array of ``int32`` or ``int64``.
        ldq, ldk, ldr, lds: elements from one head to the next; 0 stands for heads without gaps.
        stride_q, stride_k, stride_r, stride_s: elements from one token to the next; 0 stands for tokens without gaps.
        align_q, align_k, align_r, align_s, align_table: bytes that the pointers are a multiple of, at most 16.
    """

    written = frozenset("rs")

    batch: int = size(4096, most=None)
    heads_q: int = size(32, most=MOST_HEADS, short="q")
    heads_k: int = size(8, most=MOST_HEADS, short="k")
    head_dim: int = size(128, least=1, most=MOST_DIM, short="d")
    rotary_dim: int = size(64, implied=0, at_most="head_dim", short="rotary")
    sequence: int = size(4096, implied=0, most=None)
    table_rows: int = size(131072, implied=0, most=None, short="table")
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    interleaved: bool = kind(False, codes=("", "interleaved"))
    conj: bool = kind(False, codes=("", "conj"))
    angles: Angles = kind(Angles.COMPUTED)
    positions: Positions = kind(Positions.OFFSET)
    ldq: int = layout()
    stride_q: int = layout(short="sq")
    align_q: int = layout(WIDEST_ACCESS)
    ldk: int = layout()
    stride_k: int = layout(short="sk")
    align_k: int = layout(WIDEST_ACCESS)
    ldr: int = layout()
    stride_r: int = layout(short="sr")
    align_r: int = layout(WIDEST_ACCESS)
    lds: int = layout()
    stride_s: int = layout(short="ss")
    align_s: int = layout(WIDEST_ACCESS)
    align_table: int = layout(WIDEST_ACCESS)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """A row of a table for each place in a sequence, behind the offset."""
        fitted = super().fitted(fields)
        if fitted["angles"] == Angles.TABLE and fitted["positions"] == Positions.OFFSET:
            places = min(fitted["sequence"] or fitted["batch"], fitted["batch"])
            fitted["table_rows"] = max(fitted["table_rows"], places + _OFFSET)
        return fitted

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rotary_dim % 2:
            raise ValueError(f"rotary_dim={self.rotary_dim}: expected an even number of elements of a head")
        if (self.angles is Angles.TABLE) != bool(self.table_rows):
            expected = "at least 1 with a table" if self.angles is Angles.TABLE else "0 without a table"
            raise ValueError(f"table_rows={self.table_rows}: expected {expected}")
        self._check_alignment("align_table", DType.FLOAT32.bytes)
        if self.rotary_dim == self.head_dim // 2 * 2:
            object.__setattr__(self, "rotary_dim", 0)
        if self.sequence >= self.batch:
            object.__setattr__(self, "sequence", 0)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Heads and elements of a head of ``q``, ``k`` and the rotated ``r`` and ``s``."""
        return {operand: (getattr(self, heads), self.head_dim) for operand, heads in _OPERANDS.items()}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    def usual(self, name: str) -> int:
        """See `MatrixProblem.usual`; a table is no batch of matrices."""
        return WIDEST_ACCESS if name == "align_table" else super().usual(name)

    @property
    def rotated(self) -> int:
        """Elements of a head that are rotated."""
        return self.rotary_dim or self.head_dim // 2 * 2

    @property
    def heads(self) -> int:
        """Heads of q and k together."""
        return self.heads_q + self.heads_k

    @property
    def places(self) -> int:
        """Tokens of a sequence."""
        return self.sequence or self.batch

    @property
    def widest(self) -> int:
        """Elements of the widest accesses to heads, of which all that are rotated and all others are whole ones."""
        rotated = self.rotated if self.interleaved else self.rotated // 2
        aligned = min(
            self.vector_width(operand) for operand, (heads, _) in self.stored.items() if heads or not self.heads
        )
        return widest_divisor(aligned, rotated, self.head_dim - self.rotated)

    @property
    def work(self) -> Work:
        """Heads are read once and written once, a row of the table is read for each place in a sequence."""
        elements = self.batch * self.heads * self.head_dim
        if not elements:
            return Work(0)
        positions = 0 if self.positions is Positions.OFFSET else self.places * DType(self.positions).bytes
        rows = min(self.places, self.table_rows)
        rotated = self.batch * self.heads * self.rotated
        table = rows * self.rotated * DType.FLOAT32.bytes
        special = 0 if self.angles is Angles.TABLE else self.places * self.rotated
        return Work(
            2 * elements * self.dtype.bytes + positions + table, {Unit.FP32: 3 * rotated, Unit.SPECIAL: special}
        )

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``q``, ``k``, and the rotated ``r`` and ``s``, which may be these if they lie alike."""
        q, k = (self.tensor(operand, self.dtype, Role.INPUT) for operand in "qk")
        found = [q, k, *(self._result(operand, given) for operand, given in (("r", "q"), ("s", "k")))]
        if self.positions is not Positions.OFFSET:
            dtype = DType(self.positions)
            indices = Indices(self.table_rows - 1) if self.table_rows else None
            found.append(Tensor.flat("positions", dtype, self.places, Role.INPUT, dtype.bytes, indices=indices))
        if self.angles is Angles.TABLE:
            table = (self.table_rows, self.rotated)
            found.append(Tensor("table", DType.FLOAT32, table, (self.rotated, 1), Role.INPUT, self.align_table))
        return tuple(found)

    @property
    def error_weight(self) -> float:
        """The weight w in the scale |y| + w·(|a| + |b|)·(1 + |angle|) of a result's errors, of a pair (a, b).

        So it may be off as if angles, sines, cosines and products were rounded to float32.
        """
        return _ERROR / self.dtype.roundoff

    def _result(self, operand: str, given: str) -> Tensor:
        tensor = self.tensor(operand, self.dtype, Role.OUTPUT, Within.rounded(self.dtype))
        return replace(tensor, in_place=given) if self.layout_of(operand) == self.layout_of(given) else tensor

    @property
    def scalars(self) -> Mapping[str, float]:
        """Llama 3.1's, for computed angles."""
        offset = {"offset": _OFFSET} if self.positions is Positions.OFFSET else {}
        if self.angles is Angles.TABLE:
            return offset
        scaling = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "old_context": 8192.0}
        return offset | {"theta": 500_000.0, **scaling}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers; positions of all orders, up to the last one of a table; a table of random numbers."""
        random = np.random.default_rng(seed)
        made: dict[str, Array] = {}
        for tensor in self.tensors:
            if tensor.name in ("q", "k"):
                made[tensor.name] = repeated(
                    lambda count: random.standard_normal(count, np.float32).astype(self.dtype.numpy), tensor.size
                )
            elif tensor.name == "positions":
                most = self.table_rows or _MOST_POSITION
                made[tensor.name] = (most ** random.random(tensor.size) - 0.5).astype(tensor.dtype.numpy)
            elif tensor.name == "table":
                made[tensor.name] = repeated(lambda count: random.uniform(-1, 1, count).astype(np.float32), tensor.size)
        return made

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """r and s in float64, ``r_scale`` and ``s_scale``."""
        angles, cosines, sines = (each[:, None] for each in self._turns(inputs, scalars))
        weights = self.error_weight * (1 + np.abs(angles))
        views, half, found = self.views(inputs), self.rotated // 2, dict[str, Array]()
        first = slice(0, self.rotated, 2) if self.interleaved else slice(0, half)
        second = slice(1, self.rotated, 2) if self.interleaved else slice(half, self.rotated)
        for given, result in (("q", "r"), ("k", "s")):
            x = views[given].astype(np.float64)
            a, b, y = x[..., first], x[..., second], x.copy()
            y[..., first], y[..., second] = a * cosines - b * sines, a * sines + b * cosines
            scale = np.abs(y)
            scale[..., first] += weights * (np.abs(a) + np.abs(b))
            scale[..., second] += weights * (np.abs(a) + np.abs(b))
            found |= {result: y, f"{result}_scale": scale}
        return self.buffers(found)

    def _turns(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Angle (0 with a table), cosine and sine for each token and pair."""
        half = self.rotated // 2
        if self.positions is Positions.OFFSET:
            positions = np.arange(self.places, dtype=np.int64) + int(scalars["offset"])
        else:
            positions = inputs["positions"].astype(np.int64)
        positions = np.resize(positions, self.batch)
        sign = -1.0 if self.conj else 1.0
        if self.angles is Angles.TABLE:
            rows = inputs["table"].reshape(self.table_rows, self.rotated)[positions].astype(np.float64)
            return np.zeros((self.batch, half)), rows[:, :half], sign * rows[:, half:]
        angles = positions[:, None] * frequencies(self.rotated, scalars)
        return angles, np.cos(angles), sign * np.sin(angles)


def frequencies(rotated: int, scalars: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """Radians from a position to the next for each pair, divided by `factor` for wavelengths that are long compared
    with the old context, as in Llama 3.1."""
    plain = scalars["theta"] ** (-2.0 * np.arange(rotated // 2) / rotated)
    low, high = scalars["low_freq_factor"], scalars["high_freq_factor"]
    turns = scalars["old_context"] * plain / (2 * pi)  # in the old context
    kept = np.clip((turns - low) / (high - low), 0.0, 1.0)
    scaled: npt.NDArray[np.float64] = plain * (kept + (1 - kept) / scalars["factor"])
    return scaled
