"""What to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import ceil
from typing import Any

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, kind, layout, size
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.philox import philox
from autotune.codegen.model.problem import Array
from autotune.codegen.model.random_state import RandomState
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.selection.keys import keys

from .weights import WEIGHT_BITS, share_of, weights, weights_of_probabilities

DTYPES = (DType.FLOAT32, DType.FLOAT16, DType.BFLOAT16)
MOST_COLUMNS = 2**19  # so that the sum of all weights takes 63 bits
MOST_K = 2048
_PARAMETERS = {
    "temperatures": ("temperature", DType.FLOAT32),
    "top_k": ("top_k", DType.INT32),
    "top_p": ("top_p", DType.FLOAT32),
    "min_p": ("min_p", DType.FLOAT32),
}
_ODD = {
    "temperature": (0.0, 1.0, -1.0, 1e-40, 30.0),
    "top_k": (1, 0, -5, 2, 3000, 2048, 100),
    "top_p": (1.0, 0.0, np.nextafter(np.float32(1), np.float32(0)), 0.5, 1e-9, 1e-30, 2.0),
    "min_p": (0.0, 1.0, 1e-12, 3.0),
}


class Pairs(StrEnum):
    """Where seeds and offsets are that are added to those by value."""

    NONE = "none"
    ONE = "one"  # one pair in device memory
    ROWS = "rows"  # one for each row


class Source(StrEnum):
    """What the numbers of a row are."""

    LOGITS = "logits"
    PROBS = "probs"


class Logits(StrEnum):
    """What logits and parameters are like."""

    PEAKED = "peaked"  # few tokens have most of the mass, as of a language model
    FLAT = "flat"  # many tokens have most of it
    ODD = "odd"  # some rows of NaN, infinities and equal numbers, and parameters at their limits


@dataclass(frozen=True)
class SamplingProblem(MatrixProblem):
    """A token for each row of logits: that of a random number among those that the row's parameters keep.

    A token weighs floor(2^44 e^(x/T - max)), an integer (weights.py). Tokens are ordered as elements of `topk`: by
    logit, then by index. The first k stay, of these the first ones up to and with that where the sum of their weights
    reaches ⌈p·sum of all⌉, and of these all that weigh ⌈min_p·2^44⌉ or more. Of W, the sum of what is left,
    u = ⌊r·W/2^64⌋ is drawn by 64 random bits r, and the token is the first by index where the sum exceeds u. So one
    token is right.

    A temperature of 0 or less, k = 1 and p = 0 take the first token. A row that has a NaN, or nothing above -infinity,
    has the token -1.

    A probability, which need not be one of numbers that add up to 1, weighs as many 2^e / 2^43 as it has, where the
    largest one is from 2^e on and below 2^(e + 1); and nothing above 0 takes the place of nothing above -infinity.

    Attributes:
        rows, columns: of x, the logits.
        dtype: of the logits.
        temperatures: whether each row has a temperature; else it is 1.
        top_k: whether each row has a k, from 1 to 2048; any other one keeps all.
        top_p: whether each row has a p; one of 1 or more keeps all.
        min_p: whether each row has a share of the largest probability, below which none is drawn.
        pairs: of seed and offset in device memory.
        source: whether x has logits or probabilities, which have no temperature.
        logits: what logits are like.
        ldx: elements from one row to the next; 0 stands for rows without gaps.
        align_x: bytes that the address of x is a multiple of, at most 16.
    """

    rows: int = size(128, most=None)
    columns: int = size(128256, most=MOST_COLUMNS)
    dtype: DType = kind(DType.FLOAT32, allowed=DTYPES)
    temperatures: bool = kind(True, codes=("", "t"))
    top_k: bool = kind(False, codes=("", "k"))
    top_p: bool = kind(False, codes=("", "p"))
    min_p: bool = kind(False, codes=("", "minp"))
    pairs: Pairs = kind(Pairs.NONE, implied=Pairs.NONE)
    source: Source = kind(Source.LOGITS, implied=Source.LOGITS)
    logits: Logits = data(Logits.PEAKED)
    ldx: int = layout()
    align_x: int = layout(16)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.temperatures and self.source is Source.PROBS:
            raise ValueError("temperatures=True, source=probs: expected logits, which temperatures divide")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Probabilities have no temperature."""
        fitted = super().fitted(fields)
        return fitted | {"temperatures": fitted["temperatures"] and fitted["source"] == Source.LOGITS}

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``."""
        return {"x": (self.rows, self.columns)}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`."""
        return self.dtype.bytes

    @property
    def widest(self) -> int:
        """Elements of the widest load; a row may begin between such vectors."""
        return self.align_x // self.dtype.bytes

    @property
    def random_state(self) -> RandomState:
        """Seeds and offsets."""
        return RandomState({Pairs.NONE: 0, Pairs.ONE: 1, Pairs.ROWS: self.rows}[self.pairs])

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x``, the parameters of rows that there are, ``state`` if there is one, and ``tokens``."""
        parameters = (
            Tensor.flat(name, dtype, self.rows, Role.INPUT, dtype.bytes)
            for field, (name, dtype) in _PARAMETERS.items()
            if getattr(self, field)
        )
        tokens = Tensor.flat("tokens", DType.INT64, self.rows, Role.OUTPUT, DType.INT64.bytes)
        return (self.tensor("x", self.dtype, Role.INPUT), *parameters, *self.random_state.tensors, tokens)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Seed and offset."""
        return self.random_state.scalars

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `Logits`; parameters are those of usual requests."""
        random = np.random.default_rng(seed)
        spread = 1 if self.logits is Logits.FLAT else 4

        def draw(count: int) -> Array:
            numbers = random.standard_normal(count, np.float32) * np.float32(spread)
            numbers = np.exp(numbers - np.float32(16)) if self.source is Source.PROBS else numbers
            return numbers.astype(self.dtype.numpy)

        tensors = {tensor.name: tensor for tensor in self.tensors}
        found = {"x": repeated(draw, tensors["x"].size)}
        usual = {
            "temperature": random.uniform(0.5, 1.5, self.rows),
            "top_k": random.integers(2, 65, self.rows),
            "top_p": random.uniform(0.8, 1, self.rows),
            "min_p": random.uniform(0.01, 0.2, self.rows),
        }
        for name in (name for name in usual if name in tensors):
            odd = np.resize(np.array(_ODD[name]), self.rows)
            values = np.where(random.integers(0, 2, self.rows), odd, usual[name])
            chosen = values if self.logits is Logits.ODD else usual[name]
            found[name] = chosen.astype(tensors[name].dtype.numpy)
        if self.logits is Logits.ODD and self.columns:
            x, least = self.views(found)["x"], 0 if self.source is Source.PROBS else -np.inf
            x[1::11], x[2::11, :-1], x[4::11, self.columns // 2] = 1.5, least, np.inf
            x[5::11], x[7::11, ::3], x[8::11, -1] = least, -0.0, np.nan
        return found | self.random_state.inputs(random)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Row by row, by integers of any size."""
        x = self.views(inputs)["x"]
        resolved = self.random_state.resolved(inputs, scalars)
        tokens = np.full(self.rows, -1, np.int64)
        for row in range(self.rows):
            seed, offset = resolved[row if self.pairs is Pairs.ROWS else 0]
            counter = [0 if self.pairs is Pairs.ROWS else row % 2**32, row >> 32, offset % 2**32, offset >> 32]
            words = philox(np.array(counter, np.uint32), (seed % 2**32, seed >> 32))
            tokens[row] = _drawn(self.kept(x[row], inputs, row), int(words[1]) << 32 | int(words[0]))
        return {"tokens": tokens}

    def kept(self, numbers: Array, inputs: Mapping[str, Array], row: int) -> Kept:
        """What may be drawn of a row, by its parameters among the inputs."""
        own = {name: inputs[name][row] for name, _ in _PARAMETERS.values() if name in inputs}
        return _kept_tokens(np.ascontiguousarray(numbers), own, self.source)


@dataclass(frozen=True)
class Kept:
    """What may be drawn of a row.

    Attributes:
        tokens: in ascending order; none of a row that has no token.
        weights: theirs.
    """

    tokens: Array
    weights: npt.NDArray[np.uint64]


def _kept_tokens(numbers: Array, own: Mapping[str, Array], source: Source) -> Kept:
    """The tokens of a row that its parameters leave."""
    order = stable_order(~keys(numbers, True))
    found, nothing = numbers.astype(np.float32), 0 if source is Source.PROBS else -np.inf
    if not found.size or not found[order[0]] > nothing:
        return Kept(order[:0], np.zeros(0, np.uint64))
    k, p = int(own.get("top_k", 0)), np.float32(own.get("top_p", 1))
    with np.errstate(divide="ignore", over="ignore"):
        scale = np.float32(1) / np.float32(own.get("temperature", 1))
    if not 0 < scale < np.inf or k == 1 or p <= 0:
        return Kept(order[:1], np.ones(1, np.uint64))
    weighed = weights_of_probabilities(found) if source is Source.PROBS else weights(found, scale)
    kept = order[:k] if 1 <= k <= MOST_K else order
    running = weighed[kept].cumsum()
    if p < 1:
        kept = kept[: 1 + int(np.searchsorted(running, np.uint64(share_of(p, int(running[-1])))))]
    share = np.float32(min(1.0, max(0.0, float(own.get("min_p", 0)))))
    first, least = int(weighed[order[0]]), ceil(float(share) * 2**WEIGHT_BITS)
    if source is Source.PROBS:
        least = share_of(share, first) if share < 1 else first
    kept = np.sort(kept[weighed[kept] >= np.uint64(least)])
    return Kept(kept, weighed[kept])


def _drawn(kept: Kept, random: int) -> int:
    """A token by 64 random bits."""
    if not kept.tokens.size:
        return -1
    running = kept.weights.cumsum()
    drawn = random * int(running[-1]) >> 64
    return int(kept.tokens[np.searchsorted(running, np.uint64(drawn), side="right")])
