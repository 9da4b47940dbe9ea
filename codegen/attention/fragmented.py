"""Attention whose scores and masks are fragments: what it and its gradients have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from autotune.codegen.attention.fragments.derivative import derivative
from autotune.codegen.attention.fragments.expression import MOST_HEADS, PLACES, SCORE, Expression, Kind, parsed
from autotune.codegen.attention.fragments.meaning import evaluated
from autotune.codegen.model.fields import kind
from autotune.codegen.model.problem import Array

from .problem import HeadProblem, Places


@dataclass(frozen=True)
class FragmentedProblem(HeadProblem):
    """Heads whose scores fragments may change, and which of them they may leave out.

    Attributes:
        score: how scores change once they are scaled, as `fragments` state it.
        mask: which keys are seen of those that windows leave, likewise.
    """

    score: str = kind("", implied="", short="score=", transfers=True)
    mask: str = kind("", implied="", short="mask=", transfers=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "score", self._canonical("score", self.score_fragment))
        object.__setattr__(self, "mask", self._canonical("mask", self.mask_fragment))

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
        return parsed(self.score, (SCORE, *PLACES), Kind.NUMBER) if self.score else None

    def mask_fragment(self) -> Expression | None:
        """Which keys are seen; None if windows alone say it."""
        return parsed(self.mask, PLACES, Kind.TRUTH) if self.mask else None

    def slope_fragment(self) -> Expression | None:
        """How fast scores change with what they were; None if they do not change."""
        score = self.score_fragment()
        return derivative(score) if score else None

    @property
    def scored(self) -> bool:
        """See `HeadProblem.scored`."""
        return bool(self.score)

    @property
    def masked(self) -> bool:
        """See `HeadProblem.masked`."""
        return bool(self.mask)

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
