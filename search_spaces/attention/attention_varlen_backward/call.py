"""How users call the gradients of attention of packed sequences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention_backward.varlen import VarlenBackwardProblem
from autotune.search_spaces.attention.gradients import gradient_binding, gradient_types
from autotune.search_spaces.attention.heads import PACKED, check_offsets
from autotune.search_spaces.contract.call import ArrayType, Binding, Call
from autotune.search_spaces.contract.layouts import Layout


def attention_varlen_backward(
    grad_output: Any,
    q: Any,
    k: Any,
    v: Any,
    output: Any,
    lse: Any,
    offsets: Any,
    offsets_k: Any = None,
    sinks: Any = None,
    numbers: Any = None,
    integers: Any = None,
    *,
    scale: float = 0.0,
    causal: bool = False,
    window_left: int = 0,
    window_right: int = 0,
    top_left: bool = False,
    softcap: float = 0.0,
    score: str = "",
    mask: str = "",
    deterministic: bool = False,
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The gradients of the operands of attention_varlen from that of its result, with sums in FP32.

    Args:
        grad_output: the gradient of `output`, of its shape and dtype.
        q: as attention_varlen took it: bfloat16 or float16, of shape (queries, heads, head_dim). Elements of a head are
            contiguous, other axes may have any strides.
        k: (keys, heads_kv, head_dim).
        v: (keys, heads_kv, value_dim).
        output: o, the result of attention_varlen, (queries, heads, value_dim).
        lse: the logarithms of the sums, as attention_varlen wrote them: float32 of shape (heads, queries).
        offsets: int32, ascending, one more than there are sequences: where each begins among the queries, and the
            number of all queries. Its contents are not checked.
        offsets_k: likewise among the keys, if attention_varlen took any.
        sinks: float32 for each head, if attention_varlen had any.
        numbers: float32 of one axis, the table that fragments read as ``numbers[i]``, if they do.
        integers: int32 of one axis, likewise ``integers[i]``, of absolute values of 2²⁹ at most, which are not checked.
        scale: of the products of queries and keys; 0 stands for 1 / √head_dim.
        causal: whether a query saw no key behind its diagonal.
        window_left: keys up to the diagonal, it included, that a query saw; 0: all.
        window_right: keys from the diagonal on, it included, that a query saw; 0: all.
        top_left: whether the first query of a sequence met its first key, rather than the last ones each other.
        softcap: of the scores; 0: none.
        score: how scores changed once they were scaled, a text of `autotune.fragments`.
        mask: which keys were seen of those that the windows left, likewise.
        deterministic: whether equal operands give equal bits. Else the gradient of q may be added up in any order.
        out: the gradients of q, k and v, each of the shape of its operand, and of sinks, which has no elements if there
            are none. By default new arrays of the library of `grad_output`.

    Returns:
        The four gradients.
    """


def _types(offsets: Layout, offsets_k: Layout | None, **given: Any) -> Mapping[str, ArrayType]:
    arrays = {name: given[name] for name in CALL.inputs if name in given}
    types = gradient_types(**arrays, order=PACKED)
    check_offsets(arrays["q"], arrays["k"], offsets, offsets_k)
    return types


def _bind(offsets: Layout, offsets_k: Layout | None, softcap_nonzero: bool, **given: Any) -> Binding:
    arrays = {name: given.pop(name) for name in CALL.arrays if name in given}
    fields = {"batch": offsets.shape[0] - 1, "cross": offsets_k is not None, "softcap": softcap_nonzero}
    return gradient_binding(VarlenBackwardProblem, arrays, PACKED, **fields, **given)


CALL = Call(
    declaration=attention_varlen_backward,
    inputs=("grad_output", "q", "k", "v", "output", "lse", "offsets", "offsets_k", "sinks", "numbers", "integers"),
    outputs=("grad_q", "grad_k", "grad_v", "grad_sinks"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=("offsets_k", "sinks", "numbers", "integers"),
    switches=("softcap",),
    nonnegative=("scale", "softcap"),
)
