"""What to continue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import data, layout, size
from autotune.codegen.model.matrices import MatrixProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.stable_order import stable_order
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Unit, Work
from autotune.codegen.selection.keys import keys

MOST_BEAMS, MOST_TOKENS, MOST_CONTINUATIONS = 64, 2**24, 2048
_LEVELS = 16


class Pattern(StrEnum):
    """What logarithms of probabilities are like."""

    RANDOM = "random"  # of random logits
    TIE_HEAVY = "tie_heavy"  # of few numbers, some of them -infinity, a few NaN


@dataclass(frozen=True)
class BeamStepProblem(MatrixProblem):
    """The k best continuations of each request's beams by one token each.

    A continuation's score is that of its beam plus the logarithm of its token's probability, in float32. Continuations
    have a total order, so there is one right answer: by score, where NaN is above all numbers and -0 equals 0, then by
    beam, then by token, the lower one first.

    Attributes:
        requests: that have beams of their own.
        beams: of each request.
        columns: tokens.
        k: continuations of each request, at most 2048, and at most as many as there are tokens.
        pattern: what logarithms are like.
        ldx: elements from the tokens of one beam to those of the next; 0 stands for beams without gaps.
        ldp, ldt, ldv: elements from one request's parents, tokens and totals to those of the next; likewise.
        align_x, align_p, align_t, align_v: bytes that the addresses are a multiple of, at most 16.
    """

    requests: int = size(16, most=None)
    beams: int = size(4, least=1, most=MOST_BEAMS)
    columns: int = size(128256, most=MOST_TOKENS)
    k: int = size(4, most=MOST_CONTINUATIONS, at_most="columns", short="k")
    pattern: Pattern = data(Pattern.RANDOM)
    ldx: int = layout()
    align_x: int = layout(16)
    ldp: int = layout()
    align_p: int = layout(16)
    ldt: int = layout()
    align_t: int = layout(16)
    ldv: int = layout()
    align_v: int = layout(16)

    written = frozenset("ptv")

    @property
    def rows(self) -> int:
        """Beams of all requests."""
        return self.requests * self.beams

    @property
    def dtype(self) -> DType:
        """Of scores."""
        return DType.FLOAT32

    @property
    def widest(self) -> int:
        """Tokens of the widest load; those of a beam may begin between such vectors."""
        return self.align_x // self.dtype.bytes

    @property
    def stored(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of ``x``, of the parents, the tokens and the totals."""
        return {"x": (self.rows, self.columns), **dict.fromkeys("ptv", (self.requests, self.k))}

    def element_bytes_of(self, operand: str) -> int:
        """Those of `dtype`, or of indices."""
        return (DType.INT64 if operand in "pt" else self.dtype).bytes

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """``x`` and ``scores`` of all beams; ``parents``, ``tokens`` and ``totals`` of all continuations."""
        beams, strides = (self.requests, self.beams), (self.beams * self.ldx, self.ldx, 1)
        return (
            Tensor("x", self.dtype, (*beams, self.columns), strides, Role.INPUT, self.align_x),
            Tensor("scores", self.dtype, beams, row_major(beams), Role.INPUT, self.dtype.bytes),
            replace(self.tensor("p", DType.INT64, Role.OUTPUT), name="parents"),
            replace(self.tensor("t", DType.INT64, Role.OUTPUT), name="tokens"),
            replace(self.tensor("v", self.dtype, Role.OUTPUT), name="totals"),
        )

    @property
    def work(self) -> Work:
        """An addition for each continuation."""
        return Work(self.tensor_bytes, {Unit.FP32: self.rows * self.columns})

    def inputs(self, seed: int) -> dict[str, Array]:
        """See `Pattern`; one of a request's beams may have ended, with a score of -infinity."""
        random = np.random.default_rng(seed)
        count = self.tensors[0].size
        x: Array = -np.abs(random.standard_normal(count, np.float32)) * np.float32(4)
        scores: Array = -random.uniform(0, 4, self.rows).astype(np.float32)
        if self.pattern is Pattern.TIE_HEAVY:
            x = random.integers(-_LEVELS, 1, count).astype(np.float32) / np.float32(2)
            x[random.integers(0, 8, count) == 0] = -np.inf
            x[random.integers(0, 1000, count) == 0] = np.nan
            scores = np.rint(scores * 2) / np.float32(2)
        if self.beams > 1:
            scores[:: 2 * self.beams] = -np.inf
        return {"x": x, "scores": scores}

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """By a stable sort of each request's continuations."""
        given = self.views(inputs)
        shape = (self.requests, self.beams * self.columns)
        totals = (given["x"] + given["scores"][..., None]).reshape(shape)
        places = [stable_order(~keys(row, True))[: self.k] for row in totals]
        found = np.array(places, np.int64).reshape(self.requests, self.k)
        parents, tokens = np.divmod(found, max(1, self.columns))
        chosen = np.take_along_axis(totals, found, 1)
        return self.buffers({"parents": parents, "tokens": tokens, "totals": chosen})
