"""How users call chain_speculative_sampling."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.random_state import RANDOM_SCALARS
from autotune.codegen.selection.chain_speculative_sampling.problem import ChainSpeculativeSamplingProblem
from autotune.codegen.selection.sampling.problem import Pairs
from autotune.search_spaces.contract.array_checks import check_array, check_dtype
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.random_state import random_pairs


def chain_speculative_sampling(
    draft_probs: Any,
    draft_tokens: Any,
    target_probs: Any,
    seed: int,
    offset: int = 0,
    *,
    state: Any = None,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The tokens of a draft that a target accepts, and one more, so that all are distributed as the target's.

    A draft token is accepted with the probability min(1, target / draft), and none after one that is not. The next
    token is drawn by what the target has more than the draft at that place, or, where all were accepted, by the target
    alone. Sums are of integers, ⌊2^44 p⌋, so that one result is right.

    Args:
        draft_probs: float32 of shape (rows, drafts, tokens), contiguous: what each draft token was drawn by.
        draft_tokens: int64 of shape (rows, drafts). One that is no token is not accepted; -1 stands for none.
        target_probs: float32 of shape (rows, drafts + 1, tokens), contiguous.
        seed: 0 … 2^64 - 1.
        offset: 0 … 2^64 - 1. Calls with one seed and different offsets draw independently of each other.
        state: see ``sampling``.
        out: the tokens and the counts as a tuple. By default new arrays of the library of `draft_probs`.

    Returns:
        The tokens, int64 of shape (rows, drafts + 1): those that were accepted, then the one that was drawn, and then
        -1; and how many were accepted, int32.
    """


def _types(
    draft_probs: Layout, draft_tokens: Layout, target_probs: Layout, state: Layout | None
) -> Mapping[str, ArrayType]:
    check_dtype("chain_speculative_sampling", "draft_probs", draft_probs, (DType.FLOAT32,))
    if len(draft_probs.shape) != 3:
        raise ValueError(f"draft_probs has shape {draft_probs.shape}: expected (rows, drafts, tokens)")
    rows, drafts, columns = draft_probs.shape
    check_array("draft_tokens", draft_tokens, DType.INT64, (rows, drafts))
    check_array("target_probs", target_probs, DType.FLOAT32, (rows, drafts + 1, columns))
    random_pairs(state, rows)
    return {"tokens": ArrayType((rows, drafts + 1), DType.INT64), "accepted": ArrayType((rows,), DType.INT32)}


def _bind(draft_probs: Layout, state: Layout | None) -> Binding:
    rows, drafts, columns = draft_probs.shape
    of_rows = state is not None and len(state.shape) > 1
    pairs = Pairs.NONE if state is None else Pairs.ROWS if of_rows else Pairs.ONE
    return Binding(ChainSpeculativeSamplingProblem(rows, drafts, columns, pairs))


CALL = Call(
    declaration=chain_speculative_sampling,
    inputs=("draft_probs", "draft_tokens", "target_probs", "state"),
    outputs=("tokens", "accepted"),
    types=_types,
    bind=_bind,
    scalars=RANDOM_SCALARS,
    optional=("state",),
)
