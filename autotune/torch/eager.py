"""The way of plain tensors in eager mode: what tells that it may be taken, and the autograd node that it takes.

PyTorch's own way, a custom operator, takes longer on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from inspect import Parameter
from itertools import compress
from typing import Any

import torch
from torch.compiler import is_compiling

from autotune.dispatcher.calls.source import declared

_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))
_NO_TENSORS = frozenset((type(None), bool, int, float, str, tuple, torch.dtype))

Named = Mapping[str, Any]  # arguments or outputs of a call by name


def examined(arguments: Iterable[Any]) -> tuple[bool, bool]:
    """Whether arguments may take this way, and whether a gradient of one of them is recorded.

    They may not while the compiler, a mode or a transform wants to see operators, such as ``FakeTensorMode`` or
    ``torch.func.vmap``; nor may subclasses of tensors. What is no tensor is let pass.
    """
    if is_compiling() or torch._C._len_torch_dispatch_stack() or torch._C._are_functorch_transforms_active():
        return False, False
    tracked = False
    for argument in arguments:
        kind = type(argument)
        if kind in _PLAIN:
            tracked = tracked or argument.requires_grad
        elif kind not in _NO_TENSORS and isinstance(
            argument, torch.Tensor
        ):  # which a class of PyTorch's says in Python
            return False, False
    return True, tracked and torch.is_grad_enabled()


def recorder(
    name: str,
    computation: Callable[[Named], tuple[Callable[..., Any], tuple[str, ...]]],
    save: Callable[[Any, Named, Named, Named], None],
    gradients: Callable[[Any, bool, frozenset[str], tuple[Any, ...]], Named],
) -> Callable[[Named, Named], Any]:
    """What computes a call from its inputs and its other arguments, and records how it is differentiated.

    Args:
        name: of the node, which PyTorch shows where it shows a tensor.
        computation: what computes the outputs of a call with such other arguments, and their names.
        save: saves to the context of the node what `gradients` needs, from inputs, other arguments and outputs, and
            sets the context's `shapes`: those of the inputs that are given.
        gradients: of inputs, from the context, whether they are recorded in turn, the inputs that need one, and the
            gradients of the outputs.
    """

    def forward(ctx: Any, inputs: Named, others: Named, *_tensors: Any) -> Any:
        compute, names = computation(others)
        returned = compute(**inputs, **others)
        save(ctx, inputs, others, {names[0]: returned} if len(names) == 1 else dict(zip(names, returned, strict=True)))
        return returned

    known: dict[tuple[tuple[str, ...], tuple[bool, ...]], frozenset[str]] = {}  # a new set takes 1.5 µs

    def backward(ctx: Any, *of_outputs: Any) -> tuple[Any, ...]:
        names, needed = tuple(ctx.shapes), ctx.needs_input_grad
        recorded = torch.is_grad_enabled() or not examined(of_outputs)[0]
        wanted = known.get((names, needed))
        if wanted is None:
            wanted = known[names, needed] = frozenset(compress(names, needed[2:]))
        found = gradients(ctx, recorded, wanted, of_outputs)
        return None, None, *map(found.get, names)

    methods = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    metaclass: Any = type(torch.autograd.Function)
    node = metaclass(name, (torch.autograd.Function,), methods)

    def record(inputs: Named, others: Named) -> Any:
        return apply(node, inputs, others, *[tensor for tensor in inputs.values() if tensor is not None])

    return record


def apply(node: Any, *arguments: Any) -> Any:
    """The part of ``node.apply``, of a ``torch.autograd.Function``, that is not about transforms."""
    return super(torch.autograd.Function, node).apply(*arguments)


def binder(
    name: str, parameters: Iterable[Parameter], inputs: Collection[str]
) -> Callable[..., tuple[dict[str, Any], dict[str, Any]]]:
    """A function of these parameters that returns the inputs and the other arguments, by name.

    It is written out as source: for gemm ``Signature.bind`` takes 22 µs, and this 1.2 µs.
    """
    parameters = tuple(parameters)
    names = [parameter.name for parameter in parameters]
    first, second = (
        ", ".join(f"{one!r}: {one}" for one in names if (one in inputs) is wanted) for wanted in (True, False)
    )
    scope: dict[str, Any] = {"_defaults": {parameter.name: parameter.default for parameter in parameters}}
    exec(f"def {name}({', '.join(declared(parameters))}):\n    return {{{first}}}, {{{second}}}\n", scope)
    bind: Callable[..., tuple[dict[str, Any], dict[str, Any]]] = scope[name]
    return bind
