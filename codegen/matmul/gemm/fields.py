"""What is asked of a gemm: its fields, which of them go together, and the types and layouts that follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self

from autotune.codegen.epilogue.activation import FUSED, Activation
from autotune.codegen.epilogue.epilogue import Bias, Epilogue
from autotune.codegen.epilogue.gate import PACKED, Gate
from autotune.codegen.epilogue.out_dtype import OutDType
from autotune.codegen.matmul.problem import ProductProblem
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.integers import ceil_div, widest_divisor

from .numbers import DTYPES, FLOAT8, SCALE_BLOCK

_BUCKETS = (16, *(2**power for power in range(6, 31)))  # numbers of rows
MOST = 2**30  # rows and columns, so that one beyond the last tile is a 32-bit number, too
MOST_INT8 = 2**17 - 1  # terms whose sum is an int32, whatever they are
_LESS_THAN_COPIED = 2  # bytes


class Scales(StrEnum):
    """Which products share a factor, that is a factor of A times one of B, each float32."""

    NONE = "none"
    TENSOR = "tensor_scales"  # all of them
    ROW = "row_scales"  # those of a row of op(A) with a column of op(B)
    BLOCK = "block_scales"  # 1×128 of op(A) with 128×128 of op(B), as DeepSeek-V3 has them


@dataclass(frozen=True)
class GemmFields(ProductProblem):
    """The fields of `GemmProblem`, which says what they mean for the product.

    Attributes:
        m: rows of D.
        n: columns of op(B).
        k: length of the sums.
        transpose_a: whether A is stored transposed.
        transpose_b: whether B is stored transposed.
        dtype: of A and B. Of float32, the first 11 bits are multiplied (TF32).
        mixed: whether B is of the other type of float8 than A.
        out_dtype: of D, C and bias, if it is another one; with results of 8 bits, the bias is float32. int32 is for
            int8 without an epilogue.
        fast_accumulation: whether sums of float8 may be those of tensor cores, which keep about 14 bits; otherwise,
            those of 128 terms are added up in FP32.
        scales: of A and B of 8 bits. Those of blocks are stored as m×⌈k/128⌉ and ⌈n/128⌉×⌈k/128⌉ without gaps.
        batch: matrices of each operand.
        bias: what is added to each row or each column, the same for the whole batch.
        activation: applied to the scaled product and its bias.
        gate: whether columns of Z are pairs of a gate and a factor, and where the factors are.
        residual: whether beta·C is added.
        preactivation: whether Z is written, too, in the type of D, without gaps.
        bucket_rows: whether it is served as a problem of more rows is, one of few: 16, 64 or the next power of two.
        lda, ldb: elements from a row to the next as stored; 0 means rows without gaps.
        ldd: the same of D and C.
        stride_a, stride_b: elements from a matrix to the next; 0 broadcasts one matrix to the whole batch.
        stride_d: elements from a matrix of D or C to the next; 0 means matrices without gaps.
        align_a, align_b: bytes that the pointer is a multiple of, at most 16.
        align_d: the same of D, C and Z.
    """

    broadcast = frozenset("ab")
    written = frozenset("d")

    m: int = size(4096, most=MOST)
    n: int = size(4096, most=MOST)
    k: int = size(4096, most=MOST)
    dtype: DType = kind(DType.BFLOAT16, allowed=DTYPES)
    mixed: bool = kind(False, codes=("", "mixed"))
    out_dtype: OutDType = kind(OutDType.SAME, implied=OutDType.SAME)
    fast_accumulation: bool = kind(False, codes=("", "fast"))
    scales: Scales = kind(Scales.NONE, implied=Scales.NONE)
    batch: int = size(1, implied=1)
    bias: Bias = kind(Bias.NONE, implied=Bias.NONE, transfers=True)
    activation: Activation = kind(Activation.IDENTITY, allowed=FUSED, implied=Activation.IDENTITY, transfers=True)
    gate: Gate = kind(Gate.NONE, allowed=PACKED, implied=Gate.NONE, transfers=True)
    residual: bool = kind(False, codes=("", "residual"), transfers=True)
    preactivation: bool = kind(False, codes=("", "preactivation"), transfers=True)
    bucket_rows: bool = kind(False, codes=("", "bucketed"), transfers=True)
    lda: int = layout()
    stride_a: int = layout(short="sa")
    align_a: int = layout(16)
    ldb: int = layout()
    stride_b: int = layout(short="sb")
    align_b: int = layout(16)
    ldd: int = layout()
    stride_d: int = layout(short="sd")
    align_d: int = layout(16)

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """See `Problem.fitted`: pairs of columns for a gate, and no more terms of int8 than int32 can hold."""
        fitted = super().fitted(fields)
        if fitted["gate"] is not Gate.NONE:
            fitted["n"] = max(2, fitted["n"] - fitted["n"] % 2)
        if fitted["dtype"] is DType.INT8:
            fitted["k"] = min(fitted["k"], MOST_INT8)
        return fitted

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.n % self.parts:
            raise ValueError(f"n={self.n}: expected an even number of columns for gate={self.gate}")
        if self.bucket_rows and (self.transpose_a or self.batch > 1):
            raise ValueError("bucket_rows=True: expected one matrix A that is stored row by row")
        object.__setattr__(self, "out_dtype", self.out_dtype.beside(self.dtype))
        self._check_kinds()

    def _check_kinds(self) -> None:
        """``ValueError`` for what no kernel computes."""
        for name in ("mixed", "fast_accumulation"):
            if getattr(self, name) and self.dtype not in FLOAT8:
                raise ValueError(f"{name}=True: expected a dtype of {' or '.join(FLOAT8)}, not {self.dtype}")
        self._check_scales()
        if self.dtype is DType.INT8 and self.k > MOST_INT8:
            raise ValueError(f"k={self.k}: expected at most {MOST_INT8} terms of int8, whose sums are int32")
        plain = self.dtype is DType.INT8 and self.epilogue == Epilogue() and self.scales is Scales.NONE
        if self.result is DType.INT32 and not plain:
            raise ValueError("out_dtype=int32: expected int8 without scales and without an epilogue")

    def _check_scales(self) -> None:
        known = {DType.INT8: tuple(Scales)[:3]} | dict.fromkeys(FLOAT8, tuple(Scales))
        allowed = known.get(self.dtype, (Scales.NONE,))
        if self.scales not in allowed:
            raise ValueError(f"scales={self.scales}: expected {' or '.join(allowed)} of {self.dtype}")
        if self.batch > 1 and self.scales in (Scales.ROW, Scales.BLOCK):
            raise ValueError(f"batch={self.batch}: expected 1 with {self.scales}")
        if self.fast_accumulation and self.scales is Scales.BLOCK:
            raise ValueError(f"fast_accumulation=True: {self.scales} are added up in FP32, block by block")
        if self.gate is Gate.HALVES and self.scales is Scales.BLOCK:
            raise ValueError(f"gate={self.gate}: expected {Gate.INTERLEAVED} with {self.scales}")

    @property
    def epilogue(self) -> Epilogue:
        """What becomes of the product."""
        return Epilogue(self.bias, self.activation, self.gate, self.residual, self.preactivation)

    @property
    def result(self) -> DType:
        """The type of D."""
        return self.out_dtype.of(self.dtype)

    @property
    def dtype_b(self) -> DType:
        """The type of B."""
        return FLOAT8[1 - FLOAT8.index(self.dtype)] if self.mixed else self.dtype

    @property
    def scale_shapes(self) -> dict[str, tuple[int, ...]]:
        """Of ``scale_a`` and ``scale_b``, as far as there are any."""
        blocks = ceil_div(self.k, SCALE_BLOCK)
        shapes: dict[Scales, tuple[tuple[int, ...], ...]] = {
            Scales.TENSOR: ((1,), (1,)),
            Scales.ROW: ((self.m,), (self.n,)),
            Scales.BLOCK: ((self.m, blocks), (ceil_div(self.n, SCALE_BLOCK), blocks)),
        }
        return dict(zip(("scale_a", "scale_b"), shapes.get(self.scales, ()), strict=False))

    @property
    def bias_dtype(self) -> DType:
        """The type of the bias."""
        return self.result if self.result.bits > 8 else DType.FLOAT32

    @property
    def allow_tf32(self) -> bool:
        """Whether it takes the option of that name."""
        return self.dtype is DType.FLOAT32

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        if not self.bucket_rows:
            return None
        return replace(self, m=next((rows for rows in _BUCKETS if self.m <= rows), self.m), bucket_rows=False)

    @property
    def least_of_bucket(self) -> Self:
        """With `bucket_rows`, the problem of the fewest rows that the same kernel serves; otherwise itself."""
        if not self.bucket_rows:
            return self
        return replace(self, m=max(rows + 1 for rows in (0, *_BUCKETS) if rows < max(1, self.m)), bucket_rows=False)

    @property
    def parts(self) -> int:
        """Columns of Z for each of D."""
        return 1 if self.gate is Gate.NONE else 2

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """See `ProductProblem.stored`."""
        return super().stored | {"d": (self.m, self.n // self.parts)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of D."""
        return (self.result if operand == "d" else self.dtype).bytes

    def vector_width(self, operand: str) -> int:
        """See `MatrixProblem.vector_width`; vectors of the second half of a row, and those of Z, are aligned, too.

        One element where two of 8 bits are less than cp.async copies.
        """
        width = super().vector_width(operand)
        across = operand == "b" and self.gate is Gate.HALVES and not self.transpose_b
        if across or (operand == "d" and self.preactivation):
            width = widest_divisor(width, self.n // 2 if self.gate is Gate.HALVES else self.n)
        return 1 if operand in "ab" and width * self.dtype.bytes == _LESS_THAN_COPIED and width > 1 else width
