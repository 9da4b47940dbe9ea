"""Attention whose scores and masks are fragments: what it and its gradients have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from autotune.codegen.attention.fragments.derivative import derivative
from autotune.codegen.attention.fragments.expression import MOST_HEADS, PLACES, SCORE, TABLES, Expression, Kind, parsed
from autotune.codegen.attention.fragments.meaning import evaluated
from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role, Tensor
from autotune.codegen.model.work import Work

from .problem import HeadProblem, Places


@dataclass(frozen=True)
class FragmentedProblem(HeadProblem):
    """Heads whose scores fragments may change, and which of them they may leave out.

    Attributes:
        score: how scores change once they are scaled, as `fragments` state it.
        mask: which keys are seen of those that windows leave, likewise.
        numbers_count, integers_count: entries of the tables that they read.
    """

    score: str = kind("", implied="", short="score=", transfers=True)
    mask: str = kind("", implied="", short="mask=", transfers=True)
    numbers_count: int = size(64, implied=0, short="numbers")
    integers_count: int = size(64, implied=0, short="integers")

    @classmethod
    def fitted(cls, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Tables with an entry or more where fragments read them."""
        read = _tables_of(_score(fields.get("score", "")), _mask(fields.get("mask", "")))
        counts = {f"{table}_count" for table in read}
        return super().fitted(fields) | {name: max(1, fields.get(name, 0)) for name in counts}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "score", self._canonical("score", self.score_fragment))
        object.__setattr__(self, "mask", self._canonical("mask", self.mask_fragment))
        read = _tables_of(self.score_fragment(), self.mask_fragment())
        for table in TABLES.values():
            if table not in read:
                object.__setattr__(self, f"{table}_count", 0)
            elif not getattr(self, f"{table}_count"):
                raise ValueError(f"{table}_count=0: expected 1 or more, for fragments read {table}")

    def _canonical(self, name: str, parse: Callable[[], Expression | None]) -> str:
        text = getattr(self, name)
        if text and self.softcap:
            raise ValueError(f"{name}={text!r}: expected none with softcap, which a score may state")
        if text and max(self.heads, self.batch) > MOST_HEADS:
            raise ValueError(f"{name}={text!r}: expected {MOST_HEADS} heads and sequences at most")
        try:
            return str(parse() or "")
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None

    def score_fragment(self) -> Expression | None:
        """How scores change; None if they do not."""
        return _score(self.score)

    def mask_fragment(self) -> Expression | None:
        """Which keys are seen; None if windows alone say it."""
        return _mask(self.mask)

    def slope_fragment(self) -> Expression | None:
        """How fast scores change with what they were; None if they do not change."""
        score = self.score_fragment()
        return derivative(score) if score else None

    @property
    def tables(self) -> tuple[Tensor, ...]:
        """See `HeadProblem.tables`: ``numbers`` of float32, and ``integers`` of int32."""
        dtypes = zip(
            TABLES.values(), (DType.FLOAT32, DType.INT32), (self.numbers_count, self.integers_count), strict=True
        )
        return tuple(Tensor.flat(name, dtype, count, Role.INPUT, 4) for name, dtype, count in dtypes if count)

    @property
    def ranged(self) -> bool:
        """See `HeadProblem.ranged`."""
        mask = self.mask_fragment()
        return mask is not None and "integers" in mask.tables

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
        """See `work_of_pairs`; what a mask leaves is not counted, and may be nothing."""
        return self._work_by(self.pairs)

    @property
    def usual_work(self) -> Work:
        """See `Problem.usual_work`."""
        return self._work_by(self.usual_pairs)

    def _work_by(self, of_head: int) -> Work:
        return self.work_of_pairs(0 if self.masked else self.all_heads * of_head)

    def work_of_pairs(self, pairs: int) -> Work:
        """What so many pairs of a query and a key that it sees take, of all heads."""
        raise NotImplementedError

    def named(self, inputs: Mapping[str, Array]) -> Callable[[int, int, Array, Array], Places]:
        """What fragments name: the places of pairs, and the tables."""
        placed, tables = self.placed(inputs), {one.name: one.view(inputs[one.name]) for one in self.tables}
        return lambda *pairs: {**placed(*pairs), **tables}

    def changed(self, scores: Array, places: Places) -> tuple[Array, Array]:
        """What fragments make of scores of pairs at some places, and which of them are seen."""
        score, mask = self.score_fragment(), self.mask_fragment()
        changed = evaluated(score, {SCORE: scores, **places}) if score else scores
        seen = evaluated(mask, places) if mask else True
        return np.broadcast_to(changed, scores.shape).copy(), np.broadcast_to(seen, scores.shape)

    def slopes(self, scores: Array, places: Places) -> Array:
        """How fast what fragments make of scores changes with these."""
        slope = self.slope_fragment()
        found = evaluated(slope, {SCORE: scores, **places}) if slope else 1.0
        return np.broadcast_to(found, scores.shape)


def _score(text: str) -> Expression | None:
    return parsed(text, (SCORE, *PLACES), Kind.NUMBER) if text else None


def _mask(text: str) -> Expression | None:
    return parsed(text, PLACES, Kind.TRUTH) if text else None


def _tables_of(*fragments: Expression | None) -> frozenset[str]:
    """The tables that they read."""
    return frozenset[str]().union(*(one.tables for one in fragments if one))
