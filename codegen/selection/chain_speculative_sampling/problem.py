"""What to accept, and what to draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.fields import kind, size
from autotune.codegen.model.indices import Indices
from autotune.codegen.model.philox import philox
from autotune.codegen.model.problem import Array, Problem
from autotune.codegen.model.random_state import RandomState
from autotune.codegen.model.tensor import Role, Tensor, row_major
from autotune.codegen.model.work import Work
from autotune.codegen.selection.sampling.problem import MOST_COLUMNS, Pairs
from autotune.codegen.selection.sampling.weights import WEIGHT_BITS

_ODD_EVERY = 7  # one in so many draft tokens is no token


@dataclass(frozen=True)
class ChainSpeculativeSamplingProblem(Problem):
    """The first of each row's draft tokens that the target accepts, and one more that is drawn.

    Of probabilities q of the draft and p of the target, token x is accepted if ⌊r·⌊2^44 q(x)⌋ / 2^64⌋ < ⌊2^44 p(x)⌋ for
    64 random bits r, and none after one that is not. Then a token is drawn by the integers max(0, ⌊2^44 p⌋ - ⌊2^44 q⌋)
    of that place, or, where all were accepted, by ⌊2^44 p⌋ of the last one: the first where their sum exceeds
    ⌊r·W / 2^64⌋ of the sum W of all. So tokens are distributed as those of the target (Leviathan, Kalman and Matias,
    Fast Inference from Transformers via Speculative Decoding, 2023), and one result is right. Where W is 0, the token
    is -1. Elements of `tokens` behind it are -1, too.

    Attributes:
        rows: sequences.
        drafts: tokens that the draft proposed for each.
        columns: tokens that there are.
        pairs: of seed and offset in device memory.
    """

    rows: int = size(64, most=None)
    drafts: int = size(4, least=1, most=1024)
    columns: int = size(128256, least=1, most=MOST_COLUMNS)
    pairs: Pairs = kind(Pairs.NONE, implied=Pairs.NONE)

    @property
    def random_state(self) -> RandomState:
        """Seeds and offsets."""
        return RandomState({Pairs.NONE: 0, Pairs.ONE: 1, Pairs.ROWS: self.rows}[self.pairs])

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Probabilities and tokens of the draft, probabilities of the target; tokens, and how many were accepted."""
        places = self.drafts + 1
        return (
            _array("draft_probs", DType.FLOAT32, (self.rows, self.drafts, self.columns)),
            replace(_array("draft_tokens", DType.INT64, (self.rows, self.drafts)), indices=self._tokens),
            _array("target_probs", DType.FLOAT32, (self.rows, places, self.columns)),
            *self.random_state.tensors,
            _array("tokens", DType.INT64, (self.rows, places), Role.OUTPUT),
            _array("accepted", DType.INT32, (self.rows,), Role.OUTPUT),
        )

    @property
    def _tokens(self) -> Indices:
        """What tokens of the draft may be; -1 stands for none."""
        return Indices(self.columns - 1, -1, tolerant=True)

    @property
    def scalars(self) -> Mapping[str, float]:
        """Seed and offset."""
        return self.random_state.scalars

    @property
    def work(self) -> Work:
        """Two rows of probabilities for each sequence: those of the place where a token is drawn."""
        return Work(self.rows * (2 * self.columns * DType.FLOAT32.bytes + 2 * self.drafts * DType.INT64.bytes))

    def inputs(self, seed: int) -> dict[str, Array]:
        """Targets that are like drafts, whose tokens are likely ones; some are none."""
        random = np.random.default_rng(seed)
        logits = 3 * random.standard_normal((self.rows, self.drafts + 1, self.columns), np.float32)
        draft = _softmax(logits[:, :-1])
        target = _softmax(logits + random.standard_normal(logits.shape, np.float32) / 4)
        tokens = np.argmax(np.log(draft) + random.gumbel(size=draft.shape), axis=-1).astype(np.int64).reshape(-1)
        tokens[_ODD_EVERY - 1 :: 2 * _ODD_EVERY], tokens[2 * _ODD_EVERY - 1 :: 2 * _ODD_EVERY] = -1, self.columns
        found = {"draft_probs": draft.reshape(-1), "draft_tokens": tokens, "target_probs": target.reshape(-1)}
        return found | self.random_state.inputs(random)

    def reference(self, inputs: Mapping[str, Array], scalars: Mapping[str, float]) -> dict[str, Array]:
        """Row by row, by integers of any size."""
        given, resolved = self.views(inputs), self.random_state.resolved(inputs, scalars)
        tokens, accepted = np.full((self.rows, self.drafts + 1), -1, np.int64), np.zeros(self.rows, np.int32)
        for row in range(self.rows):
            draft, target = _weights(given["draft_probs"][row]), _weights(given["target_probs"][row])
            proposed, bits = given["draft_tokens"][row], self._random(row, resolved)
            count = 0
            while count < self.drafts and 0 <= (token := int(proposed[count])) < self.columns:
                if bits[count] * int(draft[count, token]) >> 64 >= int(target[count, token]):
                    break
                count += 1
            rest = target[count].copy()
            if count < self.drafts:
                rest -= np.minimum(rest, draft[count])
            running = rest.cumsum()
            drawn = bits[-1] * int(running[-1]) >> 64
            tokens[row, :count], accepted[row] = proposed[:count], count
            if running[-1]:
                tokens[row, count] = np.searchsorted(running, np.uint64(drawn), side="right")
        return {"tokens": tokens.reshape(-1), "accepted": accepted}

    def _random(self, row: int, resolved: list[tuple[int, int]]) -> list[int]:
        """64 random bits for each place of a row."""
        own = self.pairs is Pairs.ROWS
        seed, offset = resolved[row if own else 0]
        draws = self.drafts + 1
        counters = [number + (0 if own else row * draws) for number in range(draws)]
        words = philox(
            np.array([[one % 2**32, one >> 32, offset % 2**32, offset >> 32] for one in counters], np.uint32),
            (seed % 2**32, seed >> 32),
        )
        return [int(high) << 32 | int(low) for low, high in words[:, :2]]


def _array(name: str, dtype: DType, shape: tuple[int, ...], role: Role = Role.INPUT) -> Tensor:
    return Tensor(name, dtype, shape, row_major(shape), role, dtype.bytes)


def _softmax(logits: Array) -> Array:
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True, initial=-np.inf))
    found: Array = powers / powers.sum(axis=-1, keepdims=True)
    return found


def _weights(probabilities: Array) -> npt.NDArray[np.uint64]:
    """⌊2^44 x⌋ of numbers from 0 to 1; 0 of NaN."""
    bounded = np.where(probabilities > 0, np.minimum(probabilities, np.float32(1)), np.float32(0))
    found: npt.NDArray[np.uint64] = (bounded * np.float32(2**WEIGHT_BITS)).astype(np.uint64)
    return found
