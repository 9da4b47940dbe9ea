"""Operators as PyTorch knows them, and the functions for users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Signature, signature
from types import SimpleNamespace
from typing import Any

import torch

from .. import dispatcher
from ..dispatcher.calls.resolve import plain_option
from ..dispatcher.calls.shorthand import shorthands
from ..search_spaces.call import OUT, STREAM, Call
from ..search_spaces.derivative import Backward, Derivative
from ..search_spaces.layouts import Layout
from ..search_spaces.registry import OPERATORS
from .schema import outputs_made, schema

_PLAIN = (torch.Tensor, torch.nn.Parameter)


class _Operator:
    """An operator of PyTorch's that computes a call with new outputs.

    There are two ways to it. Tracers and subclasses of tensors take ``torch.ops.autotune.<name>``. Plain tensors get an
    autograd node of our own, since PyTorch's way takes twice as long on the host, or longer.
    """

    def __init__(self, call: Call, derivative: Derivative | None) -> None:
        self._call, self._derivative = call, derivative
        self._parameters = call.functional
        self._defaults = {name: call.signature.parameters[name].default for name in self._parameters}
        self._made = outputs_made(call, derivative)
        self._required = len(call.required_outputs)
        operator = torch.library.custom_op(
            f"autotune::{call.name}", self._dispatched, mutates_args=(), schema=schema(call, derivative)
        )
        operator.register_fake(self._fake)
        if derivative is not None:
            operator.register_autograd(self._backward, setup_context=self._save)
            self._node = self._autograd_node()

    def function(self) -> Callable[..., Any]:
        """What users call."""
        call, count = self._call, self._required

        def function(*arguments: Any, **options: Any) -> Any:
            given = [one for one in (*arguments, *options.values()) if isinstance(one, torch.Tensor)]
            plain = not torch.compiler.is_compiling() and all(type(tensor) in _PLAIN for tensor in given)
            recorded = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
            if plain and not recorded:
                return getattr(dispatcher, call.name)(*arguments, **options)
            if plain and self._derivative is not None:
                returned = self._node.apply(*self._named(arguments, options).values())
            else:
                returned = getattr(torch.ops.autotune, call.name)(*arguments, **options)
            if len(self._made) == count:
                return returned
            return returned[0] if count == 1 else returned[:count]

        function.__name__ = function.__qualname__ = call.name
        function.__doc__ = f"``dispatcher.{call.name}`` with new outputs, for autograd and ``torch.compile``."
        parameters = [call.signature.parameters[name] for name in self._parameters]
        function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return function

    def _autograd_node(self) -> Any:
        """The class whose ``apply`` takes all parameters in their order."""

        def forward(ctx: Any, *arguments: Any) -> Any:
            outputs = self._computed(self._named(arguments, {}))
            self._save(ctx, arguments, outputs)
            return outputs

        methods = {"forward": staticmethod(forward), "backward": staticmethod(self._backward)}
        # With the operator's name, which PyTorch shows where it shows a tensor.
        return type(torch.autograd.Function)(self._call.name, (torch.autograd.Function,), methods)

    def _named(self, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments by name, those that are left out too."""
        return self._defaults | dict(zip(self._parameters, arguments, strict=False)) | dict(options)

    def _dispatched(self, *arguments: Any, **options: Any) -> Any:
        """The outputs that are made, for PyTorch's dispatcher, which turns tuples into lists."""
        return self._computed({name: _plain(value) for name, value in self._named(arguments, options).items()})

    def _computed(self, named: Mapping[str, Any]) -> Any:
        saved = self._saved_outputs(named)
        written = {name: tensor for name, tensor in saved.items() if tensor.numel()}
        returned = getattr(dispatcher, self._call.name)(**named, **written)
        return (*_tuple(returned), *saved.values()) if saved else returned

    def _saved_outputs(self, named: Mapping[str, Any]) -> dict[str, Any]:
        """New tensors for the outputs that only the derivative needs, without elements for those that it does not."""
        names = self._made[self._required :]
        if not names or self._derivative is None:
            return {}
        unneeded = self._derivative.unneeded(named)
        needed = self._new(tuple(name for name in names if name not in unneeded), named)
        return {name: needed[name] if name in needed else named[self._call.inputs[0]].new_empty(0) for name in names}

    def _fake(self, *arguments: Any, **options: Any) -> Any:
        """Tensors without values, of the shapes and dtypes that a tracer has to know."""
        named = self._named(arguments, options)
        found = (*self._new(self._made[: self._required], named).values(), *self._saved_outputs(named).values())
        return found[0] if len(found) == 1 else found

    def _new(self, outputs: tuple[str, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """New tensors for outputs of the call."""
        if not outputs:
            return {}
        call = self._call
        inputs = {name: None if named[name] is None else _layout(named[name]) for name in call.inputs}
        types = call.types(**inputs, **{name: plain_option(named[name]) for name in call.options})
        like = named[call.inputs[0]]
        return {name: like.new_empty(types[name].shape, dtype=getattr(torch, types[name].dtype)) for name in outputs}

    def _save(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        assert self._derivative is not None
        named = self._named(inputs, {})
        arrays = named | dict(zip(self._made, _tuple(output), strict=True))
        ctx.save_for_backward(*(arrays[name] for name in self._derivative.saves))
        ctx.shapes = {name: tuple(named[name].shape) for name in self._call.inputs if named[name] is not None}
        ctx.arguments = {name: value for name, value in named.items() if name not in self._call.inputs}

    def _backward(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        assert self._derivative is not None
        # PyTorch leaves out arguments at the end that have their default values.
        inputs = dict(zip(self._parameters, ctx.needs_input_grad, strict=False))
        found = self._derivative.backward(
            Backward(
                _differentiable,
                dict(zip(self._derivative.saves, ctx.saved_tensors, strict=True)),
                ctx.shapes,
                ctx.arguments,
                dict(zip(self._made, gradients, strict=True)),
                frozenset(name for name, needed in inputs.items() if needed),
            )
        )
        return tuple(found.get(name) for name in inputs)


def _plain(argument: Any) -> Any:
    if isinstance(argument, torch.Tensor):
        return argument.detach()
    return tuple(argument) if isinstance(argument, list) else argument


def _layout(tensor: Any) -> Layout:
    """The layout of a tensor whose sizes may be symbols, and which may have no address."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Layout(tuple(tensor.shape), tuple(tensor.stride()), dtype, tensor.itemsize, 16)


def _tuple(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else (returned,)


def _shorthand(call: Callable[..., Any], stated: Callable[..., Mapping[str, Any]]) -> Callable[..., Any]:
    """A function that an operator states beside its call, with new outputs on the current stream."""

    @wraps(stated)
    def function(*arguments: Any, **options: Any) -> Any:
        named = stated(*arguments, **options)
        return call(**{name: value for name, value in named.items() if name not in (OUT, STREAM)})

    parameters = signature(stated, eval_str=True).parameters
    function.__signature__ = Signature([parameters[name] for name in parameters if name not in (OUT, STREAM)])  # type: ignore[attr-defined]
    return function


functions = {
    name: _Operator(operator.call, operator.derivative).function()
    for name, operator in OPERATORS.items()
    if operator.call
}
_differentiable = SimpleNamespace(**functions)
functions |= {stated.__name__: _shorthand(functions[name], stated) for name, stated in shorthands()}
