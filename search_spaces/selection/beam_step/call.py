"""How users call beam_step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.beam_step.problem import MOST_CONTINUATIONS, BeamStepProblem
from autotune.search_spaces.contract.array_checks import check_array, check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout, rows


def beam_step(log_probs: Any, scores: Any, k: int | None = None, *, out: Any = None, stream: Any = None) -> Any:
    """The k best continuations of each request's beams by one token each, of a beam search.

    A continuation's score is that of its beam plus the logarithm of its token's probability. There is one right answer:
    NaN is above all numbers, -0 equals 0, and of equal scores the one of the lower beam comes first, then that of the
    lower token. A beam of the score -infinity is continued only if there is nothing else.

    Args:
        log_probs: float32 of shape (…, beams, tokens), of up to 64 beams, such as `log_softmax` of logits. Tokens are
            contiguous, and the rows of all beams are evenly spaced.
        scores: float32 of shape (…, beams): the sums so far.
        k: continuations of each request, 0 … 2048, and at most as many as there are tokens. By default as many as there
            are beams. More leave a choice to those who end some.
        out: the parents, the tokens and the scores as a tuple of arrays whose rows are contiguous. By default new
            arrays of the library of `log_probs`.

    Returns:
        The beams that are continued, int64; their next tokens, int64; and their scores, float32. Each has k elements
        along the last axis, the best one first.
    """


def _types(log_probs: Layout, scores: Layout, k: int | None) -> Mapping[str, ArrayType]:
    check_rows("beam_step", "log_probs", log_probs, (DType.FLOAT32,))
    if len(log_probs.shape) < 2:
        raise ValueError(f"log_probs has shape {log_probs.shape}: expected (…, beams, tokens)")
    *requests, beams, columns = log_probs.shape
    check_array("scores", scores, DType.FLOAT32, (*requests, beams))
    count, most = beams if k is None else k, min(MOST_CONTINUATIONS, columns)
    if not 0 <= count <= most:
        raise ValueError(f"k={count}: expected 0 … {most} continuations by {columns} tokens")
    shape = (*requests, count)
    return {
        "parents": ArrayType(shape, DType.INT64),
        "tokens": ArrayType(shape, DType.INT64),
        "totals": ArrayType(shape, DType.FLOAT32),
    }


def _bind(log_probs: Layout, parents: Layout, tokens: Layout, totals: Layout) -> Binding:
    x, p, t, v = rows("log_probs", log_probs), rows("parents", parents), rows("tokens", tokens), rows("totals", totals)
    problem = BeamStepProblem(
        requests=p.rows,
        beams=log_probs.shape[-2],
        columns=x.columns,
        k=p.columns,
        **x.fields("x"),
        **p.fields("p"),
        **t.fields("t"),
        **v.fields("v"),
    )
    return Binding(problem, {"log_probs": "x"})


CALL = Call(
    declaration=beam_step,
    inputs=("log_probs", "scores"),
    outputs=("parents", "tokens", "totals"),
    types=_types,
    bind=_bind,
)
