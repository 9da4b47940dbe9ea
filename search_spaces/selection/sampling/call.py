"""How users call sampling."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.random_state import RANDOM_SCALARS
from autotune.codegen.selection.sampling.problem import DTYPES, Pairs, SamplingProblem
from autotune.search_spaces.contract.array_checks import check_rows
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.random_state import random_pairs
from autotune.search_spaces.selection.parameters import check_parameters, row_fields


def sampling(
    logits: Any,
    seed: int,
    offset: int = 0,
    *,
    temperature: Any = None,
    top_k: Any = None,
    top_p: Any = None,
    min_p: Any = None,
    state: Any = None,
    source: str = "logits",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """A token for each row of logits, drawn by its probability among those that the row's parameters keep.

    The first `top_k` tokens stay, of these the fewest whose share of the rest's probability is `top_p` or more, and of
    these all that have `min_p` of the first one's probability. Equal logits are ordered by index. Weights are integers,
    whose sums do not depend on their order, so the token follows from the logits, the parameters, seed and offset
    alone: all schedules and devices draw the same.

    Args:
        logits: float32, float16 or bfloat16, of any number of axes, with up to 524288 tokens along the last one, which
            are contiguous. Rows are evenly spaced.
        seed: 0 … 2^64 - 1.
        offset: 0 … 2^64 - 1. Calls with one seed and different offsets draw independently of each other.
        temperature: float32, one for each row, by which its logits are divided. 0 takes the first token. Without it, 1.
        top_k: int32, one for each row, 1 … 2048; any other keeps all.
        top_p: float32, one for each row; 1 keeps all.
        min_p: float32, one for each row; 0 keeps all.
        state: uint64 or int64, numbers in device memory that are added to `seed` and `offset`, which a captured graph
            reads anew. Of shape (2,), rows draw by their number; of shape (rows, 2), each draws by its own pair, and
            its token does not depend on its place in the batch.
        source: ``logits``, or ``probs`` where `logits` has probabilities, which need not add up to 1 and have no
            temperature. Of these, a row that has nothing above 0 has the token -1.
        out: the tokens. By default a new array of the library of `logits`.

    Returns:
        The tokens, int64; -1 of a row that has a NaN, or nothing above -infinity.
    """


def _types(logits: Layout, state: Layout | None, source: str, **parameters: Layout | None) -> Mapping[str, ArrayType]:
    check_rows("sampling", "logits", logits, DTYPES)
    check_parameters(logits, parameters)
    random_pairs(state, prod(logits.shape[:-1]))
    return {"out": ArrayType(logits.shape[:-1], DType.INT64)}


def _bind(logits: Layout, state: Layout | None, source: str, **parameters: Layout | None) -> Binding:
    of_rows = state is not None and len(state.shape) > 1
    pairs = Pairs.NONE if state is None else Pairs.ROWS if of_rows else Pairs.ONE
    problem = SamplingProblem(pairs=pairs, **row_fields(logits, source, parameters))
    return Binding(problem, {"logits": "x", "out": "tokens"})


CALL = Call(
    declaration=sampling,
    inputs=("logits", "temperature", "top_k", "top_p", "min_p", "state"),
    outputs=("out",),
    types=_types,
    bind=_bind,
    scalars=RANDOM_SCALARS,
    optional=("temperature", "top_k", "top_p", "min_p", "state"),
)
