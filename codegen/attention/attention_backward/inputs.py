"""Numbers to verify the gradients of attention with."""

from __future__ import annotations

import numpy as np

from autotune.codegen.attention.attention import inputs
from autotune.codegen.attention.attention.problem import AttentionProblem
from autotune.codegen.attention.problem import HeadProblem
from autotune.codegen.model.problem import Array
from autotune.codegen.model.tensor import Role

_COMPUTED = 1 << 22  # pairs of a query and a key up to which o and lse are those of attention
_LEAST_DIM = 4  # elements of a head, of which all but one have a sum of 0
_MOST_FACTOR = 3  # of gradients of scores, beside powers of two and the odd factor of the elements of a head
_MEAN_FACTOR = 7 / 12  # of the squares of the factors by which keys rise


def random_inputs(problem: HeadProblem, forward: AttentionProblem, seed: int) -> dict[str, Array]:
    """Normal numbers, some queries large, as those of attention.

    Of few pairs, o and lse are what attention gives. Of many, o is normal, and lse what it is for normal scores on
    average: gradients are defined for any.

    Args:
        problem: whose inputs these are.
        forward: the attention whose gradients it has, with lse.
        seed: of the random numbers.
    """
    made = inputs.random_inputs(problem.batched_tensors, seed) | problem.offsets(seed)
    views, scalars = problem.batched_views(made), problem.scalars
    if not problem.queries or not problem.all_heads:
        return made
    if problem.rows * problem.keys <= _COMPUTED:
        given = forward.buffers({one.name: views[one.name] for one in forward.tensors if one.name in views})
        found = forward.batched_views(forward.reference(given | problem.offsets(seed), scalars))
        views["o"][...] = found["o"]
        views["lse"][...] = found["lse"].transpose(0, 2, 1)
        return made
    scale = scalars["scale"] or problem.usual_scale
    spread = (scale * views["q"].astype(np.float32)) ** 2
    exponent = np.minimum(_MEAN_FACTOR / 2 * spread.sum(axis=-1), scalars["softcap"] or np.inf).transpose(0, 2, 1)
    with np.errstate(divide="ignore"):
        lse = exponent + np.log(problem.seen_counts(made))
    views["lse"][...] = np.logaddexp(lse, views["sinks"][:, None]) if problem.sinks else lse
    return made


def exact_inputs(problem: HeadProblem, seed: int) -> dict[str, Array] | None:
    """Inputs whose outputs are sums of few binary digits; None where they need too many.

    All scores of a row are the same, and lse is as large, so that all weights are 1. All gradients of scores are
    positive, so that nothing cancels: any pair too much or too little shows in dv, and any error of δ in dq and dk.
    Sinks take no weight.
    """
    random = np.random.default_rng(seed)
    odd = problem.value_elements // (problem.value_elements & -problem.value_elements)
    inexact = problem.softcap or problem.scored or problem.masked or problem.head_dim < _LEAST_DIM
    if inexact or _MOST_FACTOR * odd * problem.dtype.roundoff > 1:
        return None
    tensors = [one for one in problem.batched_tensors if one.role is Role.INPUT]
    made = {one.name: random.choice([1, 2], one.size).astype(one.dtype.numpy) for one in tensors}
    views = problem.batched_views(made)
    # The first element makes the score; to the others, which are multiples of a pattern, the sum of the pattern is 0.
    balanced = np.resize([1, -1], problem.head_dim - 1)
    if balanced.size % 2:
        balanced[-3:] = 1, 1, -2
    views["q"][..., 1:] = random.choice([1, 2], (*views["q"].shape[:-1], 1)) * balanced
    views["k"][..., 0] = 1
    views["k"][..., 1:] = random.choice([1, 2], (*views["k"].shape[:-1], 1))
    pattern = random.choice([-1, 1], problem.value_elements)
    for name, multiples in {"v": (1, 3), "o": (-1, -3), "dout": (1, 2)}.items():
        views[name][...] = random.choice(multiples, (*views[name].shape[:-1], 1)) * pattern
    scores = views["q"][..., 0].astype(np.float32).transpose(0, 2, 1) * (
        problem.scalars["scale"] or problem.usual_scale
    )
    offsets = problem.offsets(seed)
    views["lse"][...] = np.where(problem.seen_counts(offsets) > 0, scores, -np.inf)
    if problem.sinks:
        made["sinks"][...] = -random.uniform(1e4, 2e4, problem.heads)
    return made | offsets
