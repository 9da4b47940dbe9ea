"""How users call attention_backward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from autotune.codegen.attention.attention_backward.problem import AttentionBackwardProblem
from autotune.search_spaces.attention.gradients import gradient_binding, gradient_types
from autotune.search_spaces.attention.heads import check_order
from autotune.search_spaces.contract.call import ArrayType, Binding, Call


def attention_backward(
    grad_output: Any,
    q: Any,
    k: Any,
    v: Any,
    output: Any,
    lse: Any,
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
    order: str = "bshd",
    out: Any = None,
    stream: Any = None,
) -> Any:
    """The gradients of the operands of attention from that of its result, with sums in FP32.

    Args:
        grad_output: the gradient of `output`, of its shape and dtype.
        q: as attention took it: bfloat16 or float16, of shape (batch, queries, heads, head_dim), or in another `order`.
            Elements of a head are contiguous; axes may have any strides.
        k: (batch, keys, heads_kv, head_dim).
        v: (batch, keys, heads_kv, value_dim).
        output: o, the result of attention, (batch, queries, heads, value_dim).
        lse: the logarithms of the sums, as attention wrote them: float32 of shape (batch, heads, queries).
        sinks: float32 for each head, if attention had any.
        numbers: float32 of one axis, the table that fragments read as ``numbers[i]``, if they do.
        integers: int32 of one axis, likewise ``integers[i]``, of absolute values of 2²⁹ at most, which are not checked.
        scale: of the products of queries and keys; 0 stands for 1 / √head_dim.
        causal: whether a query saw no key behind its diagonal.
        window_left: keys up to the diagonal, it included, that a query saw; 0: all.
        window_right: keys from the diagonal on, it included, that a query saw; 0: all.
        top_left: whether the first query met the first key on the diagonal, rather than the last ones.
        softcap: of the scores; 0: none.
        score: how scores changed once they were scaled, a text of `autotune.fragments`.
        mask: which keys were seen of those that the windows left, likewise.
        deterministic: whether equal operands give equal bits. Else the gradient of q may be added up in any order.
        order: of the axes of all but `lse`: ``bshd``, or ``bhsd`` with heads ahead of queries.
        out: the gradients of q, k and v, each of the shape of its operand, and of sinks, which has no elements if there
            are none. By default new arrays of the library of `grad_output`.

    Returns:
        The four gradients.
    """


def _types(order: str, **given: Any) -> Mapping[str, ArrayType]:
    check_order(order)
    arrays = {name: given[name] for name in CALL.inputs}
    return gradient_types(**arrays, order=order)


def _bind(order: str, softcap_nonzero: bool, **given: Any) -> Binding:
    arrays = {name: given.pop(name) for name in CALL.arrays}
    batch = arrays["q"].shape[order.index("b")]
    return gradient_binding(AttentionBackwardProblem, arrays, order, batch=batch, softcap=softcap_nonzero, **given)


CALL = Call(
    declaration=attention_backward,
    inputs=("grad_output", "q", "k", "v", "output", "lse", "sinks", "numbers", "integers"),
    outputs=("grad_q", "grad_k", "grad_v", "grad_sinks"),
    types=_types,
    bind=_bind,
    scalars=("scale", "softcap"),
    optional=(
        "sinks",
        "numbers",
        "integers",
    ),
    switches=("softcap",),
    nonnegative=("scale", "softcap"),
    reordered=("grad_output", "q", "k", "v", "output", "grad_q", "grad_k", "grad_v"),
)
