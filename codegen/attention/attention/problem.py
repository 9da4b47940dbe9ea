"""What an attention computes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autotune.codegen.attention.fragments.expression import MOST_HEADS, PLACES, SCORE, Expression, Kind, parsed
from autotune.codegen.attention.fragments.meaning import evaluated
from autotune.codegen.model.fields import kind
from autotune.codegen.model.problem import Array
from autotune.codegen.model.strided import Axes
from autotune.codegen.model.work import Work

from . import inputs
from .weighted_values import WeightedValues


@dataclass(frozen=True)
class AttentionProblem(WeightedValues):
    """O = softmax(scale·Q·Kᵀ)·V of each head, and the logarithm of the softmax's sums; sums are FP32.

    Source: Dao et al., FlashAttention: Fast and Memory-Efficient Exact Attention with IO-Awareness, 2022.

    A row that sees no key is 0, its logarithm -infinity.

    Attributes:
        score: how scores change once they are scaled, as `fragments` state it.
        mask: which keys are seen of those that windows leave, likewise.
    """

    operands = {  # noqa: RUF012
        "q": Axes("bshd"),
        "k": Axes("btgd"),
        "v": Axes("btge"),
        "o": Axes("bshe"),
    }

    score: str = kind("", implied="", short="score=", transfers=True)
    mask: str = kind("", implied="", short="mask=", transfers=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "score", self._canonical("score", self.score_fragment))
        object.__setattr__(self, "mask", self._canonical("mask", self.mask_fragment))

    def _canonical(self, name: str, parse: Callable[[], Expression | None]) -> str:
        text = getattr(self, name)
        if text and (self.softcap or self.segmented):
            other = "softcap, which a score may state" if self.softcap else "packed sequences"
            raise ValueError(f"{name}={text!r}: expected none with {other}")
        if text and max(self.heads, self.batch) > MOST_HEADS:
            raise ValueError(f"{name}={text!r}: expected {MOST_HEADS} heads and sequences at most")
        try:
            return str(parse() or "")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def score_fragment(self) -> Expression | None:
        """How scores change; None if they do not."""
        return parsed(self.score, (SCORE, *PLACES), Kind.NUMBER) if self.score else None

    def mask_fragment(self) -> Expression | None:
        """Which keys are seen; None if windows alone say it."""
        return parsed(self.mask, PLACES, Kind.TRUTH) if self.mask else None

    @property
    def scored(self) -> bool:
        """See `HeadProblem.scored`."""
        return bool(self.score)

    @property
    def masked(self) -> bool:
        """See `HeadProblem.masked`."""
        return bool(self.mask)

    @property
    def work(self) -> Work:
        """See `work_of`; what a mask leaves is not counted, and may be nothing."""
        pairs = 0 if self.masked else self.all_heads * self.pairs
        return self.work_of(pairs, sum(map(self.bytes_of, "qkv")) + self.sink_bytes if pairs else 0)

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `inputs.random_inputs`."""
        return inputs.random_inputs(self.batched_tensors, seed) | self.offsets(seed)

    def exact_inputs(self, seed: int) -> dict[str, Array] | None:
        """See `inputs.exact_inputs`: logarithms are never exact."""
        named = {tensor.name: tensor for tensor in self.batched_tensors}
        inexact = self.lse or not self.keys or self.scored or self.masked
        exact = None if inexact else inputs.exact_inputs(named, seed, plain=not self.softcap)
        return None if exact is None else exact | self.offsets(seed)

    def changed(self, scores: Array, batch: int, head: int, queries: Array) -> tuple[Array, Array]:
        """What fragments make of all scores of some queries of a head, and which keys they let these see."""
        given = {"batch": batch, "head": head, "q": queries[:, None].astype(np.int64), "k": np.arange(self.keys)}
        score, mask = self.score_fragment(), self.mask_fragment()
        changed = evaluated(score, {SCORE: scores, **given}) if score else scores
        seen = evaluated(mask, given) if mask else True
        return np.broadcast_to(changed, scores.shape).copy(), np.broadcast_to(seen, scores.shape)
