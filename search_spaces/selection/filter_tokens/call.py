"""How users call filter_tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.selection.filter_tokens.problem import FilterTokensProblem, Result
from autotune.codegen.selection.sampling.problem import DTYPES
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.selection.parameters import check_parameters, row_fields


def filter_tokens(
    logits: Any,
    *,
    temperature: Any = None,
    top_k: Any = None,
    top_p: Any = None,
    min_p: Any = None,
    source: str = "logits",
    masked: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The probabilities by which ``sampling`` draws a token of each row; 0 of those that its parameters leave out.

    Args:
        logits: float32, float16 or bfloat16, of any number of axes, with up to 524288 tokens along the last one, which
            are contiguous. Rows are evenly spaced.
        temperature: float32, one for each row, by which its logits are divided. 0 keeps the first token. Without it, 1.
        top_k: int32, one for each row, 1 … 2048; any other keeps all.
        top_p: float32, one for each row; 1 keeps all.
        min_p: float32, one for each row; 0 keeps all.
        source: ``logits``, or ``probs`` where `logits` has probabilities, which need not add up to 1.
        masked: whether the logits themselves are returned, -infinity of the tokens that are left out.
        out: by default a new array of the library of `logits`.

    Returns:
        Probabilities, float32; or logits, of the dtype of `logits`. Of a row that has no token to draw, which has a NaN
        or nothing above -infinity, all are 0 or -infinity.
    """


def top_k_mask_logits(logits: Any, top_k: Any, *, out: Any = None, stream: Any = None) -> Mapping[str, Any]:
    """The logits of the first `top_k` tokens of each row, by ``filter_tokens``; those of the others are -infinity.

    Args:
        logits, top_k, out: see ``filter_tokens``.
    """
    return {"logits": logits, "top_k": top_k, "masked": True, "out": out, "stream": stream}


def top_k_renorm_probs(probs: Any, top_k: Any, *, out: Any = None, stream: Any = None) -> Mapping[str, Any]:
    """The probabilities of the first `top_k` tokens of each row, divided by their sum, by ``filter_tokens``.

    Args:
        probs: probabilities.
        top_k, out: see ``filter_tokens``.
    """
    return {"logits": probs, "top_k": top_k, "source": "probs", "out": out, "stream": stream}


def top_p_renorm_probs(probs: Any, top_p: Any, *, out: Any = None, stream: Any = None) -> Mapping[str, Any]:
    """The probabilities of the first tokens of each row whose share is `top_p`, divided by their sum.

    By ``filter_tokens``.

    Args:
        probs: probabilities.
        top_p, out: see ``filter_tokens``.
    """
    return {"logits": probs, "top_p": top_p, "source": "probs", "out": out, "stream": stream}


def _types(logits: Layout, source: str, masked: bool, **parameters: Layout | None) -> Mapping[str, ArrayType]:
    check_rows("filter_tokens", "logits", logits, DTYPES)
    check_parameters(logits, parameters)
    return {"out": ArrayType(logits.shape, logits.dtype if masked else DType.FLOAT32)}


def _bind(logits: Layout, source: str, masked: bool, **parameters: Layout | None) -> Binding:
    result = Result.MASKED if masked else Result.SHARES
    problem = FilterTokensProblem(result=result, **row_fields(logits, source, parameters))
    return Binding(problem, {"logits": "x", "out": "y"})


CALL = Call(
    declaration=filter_tokens,
    inputs=("logits", "temperature", "top_k", "top_p", "min_p"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    optional=("temperature", "top_k", "top_p", "min_p"),
)
