"""Rotary position embeddings of one attention layer, whose model's function for them is shared by its whole family."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from inspect import unwrap
from types import CellType, FunctionType, MethodType
from typing import Any

import torch

from autotune import torch as functions

from .capturing import is_captured

NAME = "apply_rotary_pos_emb"  # of the function that transformers' attention layers call
_TABLES = "_autotune_tables"  # the attribute of cosines that bring their table
_TRIAL = (2, 3, 5, 16)  # sequences, heads, tokens and elements of a head


def forms(module: Any) -> Iterator[tuple[Callable[..., Any], partial[Any]]]:
    """A layer's own function for q, k, cos and sin, with each one of this project that may be the same.

    There are none for layers without it, and for those whose forward is wrapped by other things than functions.
    """
    forward = unwrap(type(module).forward)
    if isinstance(forward, FunctionType) and NAME in forward.__code__.co_names and _is_held(type(module).forward):
        own = forward.__globals__[NAME]
        for doubled, interleaved in ((True, False), (False, False), (True, True)):
            yield own, partial(rotated, doubled=doubled, interleaved=interleaved)


def trial(doubled: bool, like: Any) -> tuple[Any, ...]:
    """Random q, k, cos and sin of the dtype and on the device of a tensor."""
    batch, heads, tokens, elements = _TRIAL
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(batch, heads, tokens, elements, generator=generator)
    k = torch.randn(batch, 1, tokens, elements, generator=generator)
    angles = torch.randn(batch, tokens, elements // 2, generator=generator)
    angles = torch.cat((angles, angles), -1) if doubled else angles
    return tuple(one.to(like) for one in (q, k, angles.cos(), angles.sin()))


def forward_with(module: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    """A layer's forward that calls another function for its rotary embeddings, while other layers keep theirs."""
    return MethodType(_calling(type(module).forward, function), module)


def _calling(forward: Any, function: Callable[..., Any]) -> Any:
    """The same of a function, and of the functions of decorators around it, which hold what they wrap."""
    inner = getattr(forward, "__wrapped__", None)
    if inner is None:
        # Without a name of its module, a compiler looks names up here rather than in the module.
        names = {name: value for name, value in forward.__globals__.items() if name != "__name__"} | {NAME: function}
        return _copied(forward, names, forward.__closure__)
    changed = _calling(inner, function)
    cells = (CellType(changed) if cell == CellType(inner) else cell for cell in forward.__closure__)
    wrapper = _copied(forward, forward.__globals__, tuple(cells))
    wrapper.__wrapped__ = changed
    return wrapper


def _copied(function: Any, names: dict[str, Any], cells: tuple[CellType, ...] | None) -> Any:
    copy: Any = FunctionType(function.__code__, names, function.__name__, function.__defaults__, cells)
    copy.__kwdefaults__ = function.__kwdefaults__
    update_wrapper(copy, function)
    del copy.__wrapped__  # or a compiler, and who asks for its signature, would find the one that was copied
    return copy


def _is_held(forward: Any) -> bool:
    """Whether each decorator around a function is a function that holds what it wraps as a variable."""
    inner = getattr(forward, "__wrapped__", None)
    if inner is None:
        return True
    return isinstance(forward, FunctionType) and CellType(inner) in (forward.__closure__ or ()) and _is_held(inner)


def rotated(
    q: Any, k: Any, cos: Any, sin: Any, unsqueeze_dim: int = 1, *, doubled: bool, interleaved: bool
) -> tuple[Any, Any]:
    """q and k, rotated as transformers' functions do.

    Args:
        q: (batch, heads, tokens, elements), or (batch, tokens, heads, elements) if `unsqueeze_dim` is 2.
        k: the same, with heads of its own.
        cos: (batch or 1, tokens, rotated elements, or half of them).
        sin: the same.
        unsqueeze_dim: the axis of the heads.
        doubled: whether cos and sin have each angle twice, its second half being the first.
        interleaved: whether the elements of a pair are neighbours.
    """
    tables = {} if torch.compiler.is_compiling() else getattr(cos, _TABLES, {})
    table = tables.get(_table_key(cos, doubled)) if tables else None
    table = _table(cos, sin, doubled) if table is None else table
    q, k = (_by_tokens(one, unsqueeze_dim) for one in (q, k))
    positions = None
    if cos.shape[0] > 1:  # angles of each sequence by itself
        positions = torch.arange(table.shape[0], device=table.device).view(cos.shape[:2])
    q, k = functions.rope(q, k, positions, table, interleaved=interleaved, rotary_dim=table.shape[-1])
    return (q, k) if unsqueeze_dim == 2 else (q.transpose(1, 2), k.transpose(1, 2))


def form_of(forward: Any) -> bool | None:
    """Whether a forward that `forward_with` made takes cosines and sines with each angle twice; None of others."""
    function = getattr(unwrap(forward), "__globals__", {}).get(NAME)
    return function.keywords["doubled"] if isinstance(function, partial) else None


def forward_with_table(module: Any, doubled: bool | None) -> Callable[..., Any]:
    """The forward of a layer that computes cosines and sines: they bring their table to all layers of a step."""
    own = partial(type(module).forward, module)

    def forward(*arguments: Any, **options: Any) -> Any:
        cos, sin = own(*arguments, **options)
        setattr(cos, _TABLES, {_table_key(cos, doubled): _table(cos, sin, doubled)})
        return cos, sin

    return forward


def _table_key(cos: Any, doubled: bool | None) -> tuple[bool | None, bool]:
    """What a table is for: a graph that is being captured takes those alone that it makes."""
    return doubled, is_captured(cos)


def _table(cos: Any, sin: Any, doubled: bool | None) -> Any:
    """Cosines and sines of each place side by side, float32 of shape (places, rotated elements)."""
    half = cos.shape[-1] // 2 if doubled else cos.shape[-1]
    return torch.cat((cos[..., :half], sin[..., :half]), -1).float().view(-1, 2 * half)


def _by_tokens(x: Any, heads_axis: int) -> Any:
    """(batch, tokens, heads, elements) with tokens evenly spaced and elements side by side."""
    x = x if heads_axis == 2 else x.transpose(1, 2)
    even = x.shape[0] == 1 or x.stride(0) == x.shape[1] * x.stride(1)
    return x if even and x.stride(3) == 1 else x.contiguous()
