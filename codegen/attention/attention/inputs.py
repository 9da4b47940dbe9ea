"""Numbers to verify attention with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from autotune.codegen.model.dtype import DType
from autotune.codegen.model.problem import Array
from autotune.codegen.model.repeated import repeated
from autotune.codegen.model.tensor import Role, Tensor

_PEAKED = 8  # one in so many queries is as many times as large: of its weights, few are not small
_RISING = 256  # keys after which they are as large as the first ones again
_COUNTED_KEYS = 128  # keys up to which sums of odd numbers are small
_PATTERNS = 8  # keys of `_patterned` that differ
_FACTORS = np.array([1, 2, 4])  # of three elements of a query: scores of different patterns are apart
_RUN, _RUNS = 40, 5  # entries of the table of integers that are equal, on average, and how many differ
_APART = 150.0  # binary digits that the weight of the second best pattern is less, so that it is 0


def random_inputs(tensors: Sequence[Tensor], seed: int) -> dict[str, Array]:
    """Normal numbers. Some queries are large; keys rise, so that later scores are larger than earlier ones.

    Integers are those of fragments: runs of equal ones, as of the tokens of documents.
    """
    random = np.random.default_rng(seed)
    made: dict[str, Array] = {}
    for tensor in tensors:
        if tensor.role is Role.INPUT:
            made[tensor.name] = repeated(partial(_normal, random, tensor), tensor.size)
    named = {tensor.name: tensor for tensor in tensors}
    if made["q"].size:
        q = named["q"].view(made["q"])
        q[:, ::_PEAKED] = (q[:, ::_PEAKED].astype(np.float32) * _PEAKED).astype(q.dtype)
    _rise(named["k"].view(made["k"]))
    return made


def _rise(k: Array) -> None:
    """Multiply each key by a factor of its place. To look bytes up takes NumPy a fifth of the time to round."""
    codes = np.arange(1 << 8, dtype=np.uint8)
    for place in range(min(k.shape[1], _RISING)):
        factor = np.float32(0.5 + place / _RISING)
        keys = k[:, place::_RISING]
        if k.itemsize == codes.itemsize:
            products = (codes.view(k.dtype).astype(np.float32) * factor).astype(k.dtype)
            keys[...] = products[keys.view(codes.dtype)]
        else:
            keys[...] = (keys.astype(np.float32) * factor).astype(k.dtype)


def exact_inputs(tensors: Mapping[str, Tensor], seed: int, *, plain: bool) -> dict[str, Array] | None:
    """Inputs whose outputs are small whole numbers.

    Of few keys, all scores of a row are equal: value j is 2j + 1 or its negative, so that the mean of those from key
    a to key b is a + b + 1, and any key that is seen too much or too little shows. Of many keys, one of eight patterns
    takes all the weight, and its value is the row's.

    Args:
        tensors: of the problem, by name.
        seed: of the random signs and patterns.
        plain: whether scores are as far apart as products are.
    """
    random = np.random.default_rng(seed)
    keys, head_dim = tensors["k"].shape[1], tensors["k"].shape[3]
    made = {name: np.zeros(tensors[name].size, tensors[name].dtype.numpy) for name in "qkv"}
    view = {name: tensors[name].view(array) for name, array in made.items()}
    signs = random.choice([-1, 1], tensors["v"].shape[-1])
    if keys <= _COUNTED_KEYS:
        view["q"][...] = random.integers(1, 5, tensors["q"].shape)
        view["k"][...] = random.choice([-1, 1], head_dim)
        view["v"][...] = (2 * np.arange(keys) + 1)[:, None, None] * signs
    elif plain and head_dim >= _FACTORS.size:
        _patterned(random, view, signs)
    else:
        return None
    if "sinks" in tensors:
        made["sinks"] = np.full(tensors["sinks"].size, -np.inf, np.float32)
    for array in made.values():  # what lies in gaps is not 0 either
        array[array == 0] = 1
    return made


def _patterned(random: np.random.Generator, view: Mapping[str, Array], signs: Array) -> None:
    """Scores as far apart as needed, and no farther: kernels round the largest one."""
    head_dim = view["q"].shape[-1]
    repeats = head_dim // _FACTORS.size
    patterns = 2 * (np.arange(_PATTERNS)[:, None] >> np.arange(_FACTORS.size) & 1) - 1
    patterns = np.tile(patterns, repeats + 1)[:, :head_dim]
    factors = np.ones(head_dim)
    factors[: repeats * _FACTORS.size] = np.tile(_FACTORS, repeats)
    factor = 2.0 ** np.ceil(np.log2(_APART * np.sqrt(head_dim) / (2 * repeats * np.log2(np.e))))
    chosen = random.integers(_PATTERNS, size=view["k"].shape[:-1])
    of_query = random.integers(_PATTERNS, size=view["q"].shape[:-1])
    tables = {"q": patterns * factor * factors, "k": patterns, "v": (1 + np.arange(_PATTERNS))[:, None] * signs}
    for name, table in tables.items():
        view[name][...] = table.astype(view[name].dtype)[of_query if name == "q" else chosen]


def _normal(random: np.random.Generator, tensor: Tensor, count: int) -> Array:
    if tensor.dtype is DType.INT32:
        return (np.cumsum(random.random(count) < 1 / _RUN) % _RUNS).astype(np.int32)
    return random.standard_normal(count, np.float32).astype(tensor.dtype.numpy)
