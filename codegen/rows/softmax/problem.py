"""What a softmax computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.integers import INT_MAX, ceil_div
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.rows.invariance import chosen_by_columns
from autotune.codegen.rows.logits import hard_logits
from autotune.codegen.rows.problem import RowProblem

from .mask import Mask, masked, random_mask

_MOST_BLOCKED_ROWS = 2**32 - 1  # whose number a kernel divides
# Largest error of a logarithm before it is rounded, relative to 1 and itself: of the sum, of log, of the maximum.
_LOGARITHM_ERROR = 2.0**-19


@dataclass(frozen=True)
class SoftmaxProblem(RowProblem):
    """y[r] = softmax(x[r] / temperature) for each row r, or its logarithm, accumulated in FP32.

    With lengths, the columns of row r from lengths[r] on count as -infinity, whatever they hold; if it is causal, those
    behind r % queries + causal_offset do. A mask has a row for each row of a block, and serves `heads` blocks in turn;
    the sum of x / temperature and a mask is rounded to the type of x.

    A row with NaN or infinity in it is NaN in all columns, as in PyTorch. So is a row of nothing but -infinity, unless
    its softmax is stated to be 0.

    Attributes:
        rows, columns: of x and y.
        dtype: of the elements of x and y.
        log: whether y is the logarithm of the softmax.
        lengths: whether each row has a length of its own, of type int32.
        causal: whether rows are those of blocks of `queries` rows, each of which ends one column behind the last.
        mask: ``none``, or ``keepmask`` of type bool, or ``addmask`` of type `dtype`.
        zero_rows: whether the softmax of a row of nothing but -infinity is 0, and not NaN.
        lse: whether the logarithm of the sum of exponentials of each row is written, too, of type float32.
        batch_invariant: whether the bits of a row's result may depend on nothing but the row and how rows are aligned.
        queries: rows of a block that is causal or has a mask; 0 stands for as many as it has columns.
        heads: blocks that share a mask; 0 stands for all.
        ldx, ldy: elements from one row to the next; 0 stands for rows without gaps.
        align_x, align_y: bytes that the pointers are a multiple of, at most 16.
        ldm, align_m: the same of the mask.
    """

    written = frozenset("y")

    log: bool = kind(False, codes=("", "log"), transfers=True)
    lengths: bool = kind(False, codes=("", "lengths"))
    causal: bool = kind(False, codes=("", "causal"))
    mask: Mask = kind(Mask.NONE, implied=Mask.NONE)
    zero_rows: bool = kind(False, codes=("", "zerorows"), transfers=True)
    lse: bool = kind(False, codes=("", "lse"), transfers=True)
    batch_invariant: bool = kind(False, codes=("", "batchinvariant"), transfers=True)
    queries: int = layout(most=INT_MAX)
    heads: int = layout(most=INT_MAX)
    ldx: int = layout()
    align_x: int = layout(16)
    ldy: int = layout()
    align_y: int = layout(16)
    ldm: int = layout()
    align_m: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "queries", self._queries if self.blocked else 0)
        object.__setattr__(self, "heads", self._heads if self.has_mask else 0)
        for name in () if self.has_mask else ("ldm", "align_m"):
            object.__setattr__(self, name, self.usual(name))
        if self.lse and self.columns == 0:
            raise ValueError("columns=0: expected at least 1, of whose exponentials lse is the sum")
        if self.blocked and self.rows > _MOST_BLOCKED_ROWS:
            raise ValueError(f"rows={self.rows}: expected at most {_MOST_BLOCKED_ROWS} of blocks")

    def usual(self, name: str) -> int:
        """See `Problem.usual`: square blocks, which share one mask."""
        if name == "queries":
            return max(1, self.columns) if self.blocked else 0
        if name == "heads":
            return ceil_div(max(1, self.rows), self._queries) if self.has_mask else 0
        if name in ("ldm", "align_m") and not self.has_mask:
            return {"ldm": 0, "align_m": 16}[name]
        return super().usual(name)

    @property
    def has_mask(self) -> bool:
        """Whether there is a mask in memory."""
        return self.mask is not Mask.NONE

    @property
    def blocked(self) -> bool:
        """Whether rows are those of blocks of `queries`."""
        return self.causal or self.has_mask

    @property
    def _queries(self) -> int:
        return self.queries or self.usual("queries")

    @property
    def _heads(self) -> int:
        return self.heads or self.usual("heads")

    @property
    def mask_dtype(self) -> DType:
        """The type of a mask's elements."""
        return DType.BOOL if self.mask is Mask.KEEP else self.dtype

    @property
    def served_as(self) -> Self | None:
        """See `Problem.served_as`."""
        return chosen_by_columns(self)

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, ``y`` and, if there is one, the mask, by the name ``m``."""
        if not self.has_mask:
            return super().stored
        masks = ceil_div(self.rows, self._queries * self._heads)
        return super().stored | {"m": (masks * self._queries, self.columns)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of the mask."""
        return (self.mask_dtype if operand == "m" else self.dtype).bytes

    @property
    def masked(self) -> bool:
        """Whether elements of a row may count as -infinity whatever they hold."""
        return self.lengths or self.causal

    @property
    def _mask_rows(self) -> int:
        """Rows of masks that rows have; those behind the last row's are not read."""
        blocks, others = divmod(self.rows, self._queries * self._heads)
        return blocks * self._queries + min(others, self._queries)

    @property
    def work(self) -> Work:
        """What is kept of x is read once, y is written once; an element takes an exponential, two sums, two products.

        With lengths, half of x is read, which is what `inputs` ask for.
        """
        elements, read = self.rows * self.columns, self.counted
        of_row = (DType.INT32.bytes if self.lengths else 0) + (DType.FLOAT32.bytes if self.lse else 0)
        small = of_row * self.rows if elements else 0
        small += self._mask_rows * self.columns * self.mask_dtype.bytes if self.has_mask and elements else 0
        return Work(
            (elements + read) * self.dtype.bytes + small,
            {Unit.FP32: 4 * elements, Unit.SPECIAL: elements},
        )

    @property
    def counted(self) -> int:
        """Elements that count, of those that `inputs` and `scalars` ask for."""
        elements = self.rows * self.columns
        return min(elements // 2 if self.lengths else elements, self._kept_by_queries)

    @property
    def _kept_by_queries(self) -> int:
        """Elements that the rows keep with the `causal_offset` of `scalars`: in a block's last row all of them."""
        if not self.causal:
            return self.rows * self.columns
        unseen = self.columns - self.queries  # by which a block's first row ends ahead of the first column, or behind
        last = self.rows % self.queries
        whole, part = (_triangle(rows + unseen) - _triangle(unseen) for rows in (self.queries, last))
        return self.rows // self.queries * whole + part

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, ``y``, which may be ``x`` if it lies alike, and ``lengths``, ``mask``, ``lse`` if there are."""
        x = self.tensor("x", self.dtype, Role.INPUT)
        y = self.tensor("y", self.dtype, Role.OUTPUT, self._tolerance)
        alike = self.layout_of("x") == self.layout_of("y")
        allowed = Indices(self.columns)
        lengths = Tensor.flat("lengths", DType.INT32, self.rows, Role.INPUT, DType.INT32.bytes, indices=allowed)
        lse = Tensor.flat(
            "lse", DType.FLOAT32, self.rows, Role.OUTPUT, DType.FLOAT32.bytes, Within.rounded(DType.FLOAT32)
        )
        return (
            x,
            replace(y, in_place="x") if alike else y,
            *([lengths] if self.lengths else []),
            *([replace(self.tensor("m", self.mask_dtype, Role.INPUT), name="mask")] if self.has_mask else []),
            *([lse] if self.lse else []),
        )

    @property
    def _tolerance(self) -> Within:
        """The exponent z of 2^z has a relative error of about four unit roundoffs, so 2^z has one of 2^-22.5·|z|.

        That is below 2^-18 down to 2^-22, and of smaller results the absolute error is below 2^-44. The functions, the
        sum (of at most some hundred terms in a row, then of pairs) and its reciprocal add less than 2^-20. `reference`
        states the scale of a logarithm.
        """
        if self.log:
            return Within.rounded(self.dtype)
        return Within.rounded(self.dtype, absolute=2.0**-44, relative=2.0**-18)

    @property
    def logarithms(self) -> frozenset[str]:
        """The outputs that are logarithms."""
        return frozenset([*(["y"] if self.log else []), *(["lse"] if self.lse else [])])

    def error_weight(self, dtype: DType) -> float:
        """What the errors of a logarithm before it is rounded to a type are multiplied by in its scale."""
        return _LOGARITHM_ERROR / dtype.roundoff

    @property
    def scalars(self) -> Mapping[str, float]:
        """The temperature is 1 without masks, where PyTorch is called, which has none.

        With them, PyTorch divides by it before the maximum is subtracted: by a power of two, which is exact. The last
        row of a causal block keeps all columns.
        """
        offset = {"causal_offset": self.columns - self.queries} if self.causal else {}
        return {"temperature": 0.5 if self.masked or self.has_mask else 1.0, **offset}

    def inputs(self, seed: int) -> dict[str, Array]:
        """Normal numbers, but for hard rows; lengths from 0 to all columns, in random order."""
        random = np.random.default_rng(seed)
        buffers = {"x": hard_logits(random, self.tensors[0])}
        if self.lengths:
            steps = np.arange(self.rows, dtype=np.int64) * self.columns // max(1, self.rows - 1)
            buffers["lengths"] = random.permutation(steps).astype(np.int32)
        if self.has_mask:
            buffers["mask"] = random_mask(random, self.mask, self.mask_dtype, self.matrix_elements("m"))
        return buffers

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y and lse in float64, and the scales of logarithms."""
        views = self.views(inputs)
        values = views["x"].astype(np.float64)
        temperature, columns = scalars["temperature"], np.arange(self.columns)
        if self.has_mask:
            numbers = np.arange(self.rows)
            masks = numbers // (self.queries * self.heads) * self.queries + numbers % self.queries
            mask = views["mask"][masks]
            values = masked(values, self.mask, mask, temperature, self.dtype)
            temperature = 1.0 if self.mask is Mask.ADD else temperature
        if self.lengths:
            values[columns >= inputs["lengths"][:, None]] = -np.inf
        if self.causal:
            last = np.arange(self.rows) % self.queries + int(scalars["causal_offset"])
            values[columns > last[:, None]] = -np.inf
        with np.errstate(invalid="ignore", divide="ignore"):  # infinity - infinity, the logarithm of 0
            largest = values.max(axis=1, keepdims=True, initial=-np.inf)
            values -= np.where(largest == -np.inf, 0, largest) if self.zero_rows else largest
            values /= temperature
            terms = np.exp(values)
            sums = terms.sum(axis=1, keepdims=True)
            if self.zero_rows:
                sums[largest == -np.inf] = np.inf
            outputs = {"y": values - np.log(sums) if self.log else terms / sums}
            if self.lse:
                found = largest / temperature + np.log(sums)
                outputs["lse"] = np.where(np.isinf(largest), largest, found)
        dtypes = {tensor.name: tensor.dtype for tensor in self.tensors}
        for name in self.logarithms:
            size, weight = np.abs(outputs[name]), self.error_weight(dtypes[name])
            outputs[f"{name}_scale"] = np.where(np.isfinite(size), size + weight * (1 + size), 0)
        return self.buffers(outputs)


def _triangle(rows: int) -> int:
    """Elements of rows of 1, 2, 3, … elements."""
    return max(0, rows) * (max(0, rows) + 1) // 2
