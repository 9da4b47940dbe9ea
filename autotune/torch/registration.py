"""How PyTorch's dispatcher gets to know an operator that makes new outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import _C
from torch._library.autograd import Info, make_autograd_impl

_NAMESPACE = "autotune"
_PLAIN = (_C.DispatchKey.CUDA, _C.DispatchKey.CPU)
_known: dict[int, bool] = {}  # whether keys lead to a plain one: PyTorch takes 0.9 µs to say, and this 0.1
_libraries: list[torch.library.Library] = []  # operators live as long as these


def register(
    name: str,
    schema: str,
    compute: Callable[..., Any],
    fake: Callable[..., Any],
    backward: Callable[..., tuple[Any, ...]],
    setup: Callable[..., None],
) -> None:
    """Register a differentiable operator that updates nothing.

    ``torch.library.custom_op`` does as much, but a call by compiled code then passes five functions of Python, which
    takes three times as long on the host. Here it passes one, unless a gradient or a tracer wants to see it.

    Args:
        name: of the operator.
        schema: its parameters and results.
        compute: makes the outputs.
        fake: the same without values.
        backward: the gradients, from a context and the gradients of the outputs.
        setup: fills the context from inputs and outputs.
    """
    library = torch.library.Library(_NAMESPACE, "FRAGMENT")
    _libraries.append(library)
    library.define(name + schema, tags=torch.Tag.pt2_compliant_tag)
    library.impl(name, compute, "CompositeExplicitAutograd")
    torch.library.register_fake(f"{_NAMESPACE}::{name}", fake, lib=library)
    recorded = make_autograd_impl(getattr(torch.ops.autotune, name).default, Info(backward, setup))

    def differentiable(keys: Any, *arguments: Any, **options: Any) -> Any:
        plain = _known.get(bits := keys.raw_repr())
        if plain is None:
            plain = _known[bits] = (keys & _C._after_autograd_keyset).highestPriorityTypeId() in _PLAIN
        if plain and not (_C.is_grad_enabled() and _C._any_requires_grad(*arguments)):
            return compute(*arguments, **options)
        return recorded(keys, *arguments, **options)

    library.impl(name, differentiable, "Autograd", with_keyset=True)
