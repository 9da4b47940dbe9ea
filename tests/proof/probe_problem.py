"""What the proof's operator computes."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, layout, size
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.samples import sampled_rows
from autotune.codegen.model.tensor import Checked, Extent, Role, Tensor, Within
from autotune.codegen.model.work import Unit, Work

MOST_ROWS = 12  # of y that are judged, beside those at the edges of tiles
COLUMN_UNIT = 8  # elements of the 16 bytes that rows of tensor copies are multiples of


@dataclass(frozen=True)
class ProbeProblem(Problem):
    """y = (x + bias) / max |x + bias| where an element is kept and 0 elsewhere, and how many are kept in each column.

    Whether element (i, j) is kept follows from a hash of ``offset + i·columns + j``, with an offset in device memory.
    The rows that a column keeps are listed in any order.

    Attributes:
        rows, columns: of x and y, of bfloat16.
        biased: whether there is a bias, one float for each column.
        ldx, ldy: elements from a row to the next, multiples of 8; 0 stands for the fewest.
    """

    rows: int = size(256, least=1)
    columns: int = size(512, least=1)
    biased: bool = kind(False, codes=("", "bias"))
    ldx: int = layout()
    ldy: int = layout()

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("ldx", "ldy"):
            leading = getattr(self, name) or self.usual(name)
            if leading < self.columns or leading % COLUMN_UNIT:
                raise ValueError(f"{name}={leading}: expected a multiple of {COLUMN_UNIT}, {self.columns} or more")
            object.__setattr__(self, name, leading)

    def usual(self, name: str) -> int:
        """The fewest elements of a row."""
        return -(-self.columns // COLUMN_UNIT) * COLUMN_UNIT

    @property
    def work(self) -> Work:
        """x is read once, y, the counts and half of the rows are written once.

        An element takes an addition, a maximum and a division.
        """
        elements = self.rows * self.columns
        return Work(6 * elements + 4 * self.columns * (1 + self.biased) + 8, {Unit.FP32: 3 * elements})

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """y may be x if it lies as x does."""
        shape = (self.rows, self.columns)
        judged = Within.rounded(DType.BFLOAT16, relative=2.0**-22)
        in_place = "x" if self.ldx == self.ldy else ""
        bias = [Tensor.flat("bias", DType.FLOAT32, self.columns, Role.INPUT, 4)] if self.biased else []
        return (
            Tensor("x", DType.BFLOAT16, shape, (self.ldx, 1), Role.INPUT, 16),
            Tensor.flat("offset", DType.UINT64, 1, Role.INPUT, 8),
            *bias,
            Tensor("y", DType.BFLOAT16, shape, (self.ldy, 1), Role.OUTPUT, 16, judged, in_place, row_axes=1),
            Tensor.flat("kept", DType.INT32, self.columns, Role.OUTPUT, 4),
            Tensor(
                "kept_rows",
                DType.INT32,
                (self.columns, self.rows),
                (self.rows, 1),
                Role.OUTPUT,
                4,
                Checked("the rows that the column keeps, each once"),
                extent=Extent("kept", axis=1),
            ),
        )

    @property
    def deterministic(self) -> bool:
        """Rows are listed in the order in which atomics come."""
        return False

    def inputs(self, seed: int) -> dict[str, Array]:
        """Numbers of both signs, and an offset of more than 32 bits."""
        random = np.random.default_rng(seed)
        named = {tensor.name: tensor for tensor in self.tensors}
        made = {"x": random.uniform(-1, 1, named["x"].size).astype(named["x"].dtype.numpy)}
        made["offset"] = random.integers(2**63, 2**64, 1, dtype=np.uint64)
        if self.biased:
            made["bias"] = random.uniform(-1, 1, self.columns).astype(np.float32)
        return made

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """y in float64, the counts, and the rows from the first to the last one that is kept."""
        named = {tensor.name: tensor for tensor in self.tensors}
        with np.errstate(invalid="ignore"):  # the gaps are NaN
            shifted = named["x"].view(inputs["x"].astype(np.float64)) + inputs.get("bias", 0.0)
        kept = self._kept(inputs)
        largest = np.abs(shifted).max()
        y = np.zeros(named["y"].size)
        named["y"].view(y)[...] = np.where(kept, shifted / (largest or 1.0), 0.0)
        kept_rows = np.argsort(~kept.T, axis=1, kind="stable").astype(np.int32)
        return {"y": y, "kept": kept.sum(axis=0, dtype=np.int32), "kept_rows": kept_rows.ravel()}

    def sampled_rows(self, seed: int) -> Array | None:
        """A few rows of y."""
        return sampled_rows(self.rows, seed, MOST_ROWS)

    def reference_rows(
        self, inputs: Mapping[str, Array], scalars: Mapping[str, float], rows: Array
    ) -> dict[str, Array]:
        """The reference, without numbers in other rows of y."""
        found, (y,) = self.reference(inputs, scalars), (tensor for tensor in self.tensors if tensor.name == "y")
        found["y"][~y.of_rows(rows)] = np.nan
        return found

    def check(
        self, inputs: Mapping[str, Array], outputs: Mapping[str, Array], scalars: Mapping[str, float]
    ) -> dict[str, Array]:
        """Each row that is listed is one that the column keeps, and is not listed before; there are as many."""
        kept, right = self._kept(inputs), np.zeros((self.columns, self.rows), np.bool_)
        lists = outputs["kept_rows"].reshape(right.shape)
        for column, (rows, count) in enumerate(zip(lists, outputs["kept"], strict=True)):
            seen: set[int] = set()
            for place, row in enumerate(rows[:count].tolist()):
                right[column, place] = 0 <= row < self.rows and kept[row, column] and row not in seen
                seen.add(row)
        return {"kept_rows": right.ravel()}

    def _kept(self, inputs: Mapping[str, Array]) -> Array:
        numbers = inputs["offset"] + np.arange(self.rows * self.columns, dtype=np.uint64)
        return _kept(numbers).reshape(self.rows, self.columns)


def _kept(number: Array) -> Array:
    """The top bit of the finaliser of SplitMix64 (Steele, Lea, Flood 2014) is 0."""
    number = (number ^ number >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ number >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    kept: Array = (number ^ number >> np.uint64(31)) >> np.uint64(63) == 0
    return kept
