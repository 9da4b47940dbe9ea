"""Operators for PyTorch's autograd and compiler: ``torch.ops.autotune.<name>``, and a linear layer made of products.

Importing this module registers each operator that states a call, with the shapes and dtypes of its outputs and with its
derivative. Nothing else of autotune imports PyTorch.

``autotune.torch.<name>`` is the function for users: it has the parameters of ``dispatcher.<name>`` without outputs,
stream, and what scales an output's old content.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import Any, Union, get_args, get_origin

import torch

from . import dispatcher
from .codegen.dtype import DType
from .dispatcher.calls.resolve import plain_option
from .dispatcher.calls.shorthand import shorthands
from .search_spaces.call import OUT, STREAM, Call
from .search_spaces.derivative import Backward, Derivative
from .search_spaces.layouts import Layout
from .search_spaces.registry import OPERATORS

_PLAIN = (torch.Tensor, torch.nn.Parameter)
_SCHEMA = {int: "int", float: "float", bool: "bool", str: "str", DType: "ScalarType", tuple[int, ...]: "int[1]"}


class Linear(torch.nn.Linear):
    """``torch.nn.Linear`` by gemm in bfloat16 and float16, and by sgemm in true FP32; leading axes are rows."""

    def forward(self, input: Any) -> Any:
        """X·Wᵀ + bias."""
        rows, weights = input.reshape(-1, self.in_features), self.weight.mT
        if self.weight.dtype is torch.float32:
            product = _functions["sgemm"](rows, weights)
            product = product if self.bias is None else product + self.bias
        else:
            product = _functions["gemm"](rows, weights, self.bias)
        return product.reshape(*input.shape[:-1], self.out_features)


def schema(call: Call, derivative: Derivative | None = None) -> str:
    """The schema of an operator that makes new outputs, in PyTorch's language."""
    parameters = (_parameter(call, call.signature.parameters[name]) for name in call.functional)
    made = _made(call, derivative)
    outputs = ", ".join("Tensor" for _ in made)
    return f"({', '.join(parameters)}) -> {outputs if len(made) == 1 else f'({outputs})'}"


def _made(call: Call, derivative: Derivative | None) -> tuple[str, ...]:
    """The outputs of the operator: those that a call always computes, and then others that its derivative saves."""
    return (*call.required_outputs, *(derivative.saved_outputs(call) if derivative else ()))


def _parameter(call: Call, parameter: Parameter) -> str:
    if parameter.name in call.inputs:
        kind = "Tensor?" if parameter.name in call.optional else "Tensor"
    else:
        kind = _kind(parameter.annotation)
    default = "" if parameter.default is Parameter.empty else f"={_literal(parameter.default)}"
    return f"{kind} {parameter.name}{default}"


def _kind(annotation: Any) -> str:
    """The schema's type of a scalar or an option."""
    if get_origin(annotation) in (Union, types.UnionType):
        members = [member for member in get_args(annotation) if member is not type(None)]
        # int[1] takes an int, too
        widest = tuple[int, ...] if tuple[int, ...] in members else members[0]
        return _SCHEMA[widest] + ("?" if type(None) in get_args(annotation) else "")
    return _SCHEMA[annotation]


def _literal(default: Any) -> str:
    if isinstance(default, str):
        return f'"{default}"'
    return str(list(default)) if isinstance(default, tuple) else repr(default)


def _layout(tensor: Any) -> Layout:
    """The layout of a tensor whose sizes may be symbols, and which may have no address."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Layout(tuple(tensor.shape), tuple(tensor.stride()), dtype, tensor.itemsize, 16)


def _named(call: Call, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a functional call by name, those that are left out too."""
    defaults = {name: call.signature.parameters[name].default for name in call.functional}
    return defaults | dict(zip(call.functional, arguments, strict=False)) | dict(options)


def _detached(argument: Any) -> Any:
    return argument.detach() if isinstance(argument, torch.Tensor) else argument


def _forward(call: Call, saved: tuple[str, ...], *arguments: Any, **options: Any) -> Any:
    named = _named(call, arguments, options)
    more = _new(call, saved, named)
    given = {name: _detached(argument) for name, argument in named.items()}
    returned = getattr(dispatcher, call.name)(**given, **more)
    return (*_tuple(returned), *more.values()) if saved else returned


def _fake(call: Call, made: tuple[str, ...], *arguments: Any, **options: Any) -> Any:
    """Tensors without values, of the shapes and dtypes that a tracer has to know."""
    found = tuple(_new(call, made, _named(call, arguments, options)).values())
    return found[0] if len(found) == 1 else found


def _new(call: Call, outputs: tuple[str, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """New tensors for outputs of a call."""
    inputs = {name: None if named[name] is None else _layout(named[name]) for name in call.inputs}
    types = call.types(**inputs, **{name: plain_option(named[name]) for name in call.options}) if outputs else {}
    like = named[call.inputs[0]]
    return {name: like.new_empty(types[name].shape, dtype=getattr(torch, types[name].dtype)) for name in outputs}


def _tuple(returned: Any) -> tuple[Any, ...]:
    return returned if isinstance(returned, tuple) else (returned,)


def _save(call: Call, derivative: Derivative, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    named = _named(call, inputs, {})
    outputs = zip(_made(call, derivative), _tuple(output), strict=True)
    arrays = {name: named[name] for name in call.inputs} | dict(outputs)
    ctx.save_for_backward(*(arrays[name] for name in derivative.saves))
    ctx.shapes = {name: tuple(named[name].shape) for name in call.inputs if named[name] is not None}
    ctx.arguments = {name: value for name, value in named.items() if name not in call.inputs}


def _backward(call: Call, derivative: Derivative, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
    # PyTorch leaves out arguments at the end that have their default values.
    inputs = dict(zip(call.functional, ctx.needs_input_grad, strict=False))
    found = derivative.backward(
        Backward(
            torch.ops.autotune,
            dict(zip(derivative.saves, ctx.saved_tensors, strict=True)),
            ctx.shapes,
            ctx.arguments,
            dict(zip(_made(call, derivative), gradients, strict=True)),
            frozenset(name for name, needed in inputs.items() if needed),
        )
    )
    return tuple(found.get(name) for name in inputs)


def _registered(call: Call, derivative: Derivative | None) -> Callable[..., Any]:
    """Register an operator with PyTorch, and make the function for users."""
    name, made = f"autotune::{call.name}", _made(call, derivative)
    count = len(call.required_outputs)
    forward = partial(_forward, call, made[count:])
    operator = torch.library.custom_op(name, forward, mutates_args=(), schema=schema(call, derivative))
    operator.register_fake(partial(_fake, call, made))
    if derivative is not None:
        operator.register_autograd(partial(_backward, call, derivative), setup_context=partial(_save, call, derivative))

    def function(*arguments: Any, **options: Any) -> Any:
        if not torch.compiler.is_compiling():
            given = [one for one in (*arguments, *options.values()) if isinstance(one, torch.Tensor)]
            recorded = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in given)
            # PyTorch's own way to an operator takes longer; tracers have tensors of their own.
            if not recorded and all(type(tensor) in _PLAIN for tensor in given):
                return getattr(dispatcher, call.name)(*arguments, **options)
        returned = getattr(torch.ops.autotune, call.name)(*arguments, **options)
        if len(made) == count:
            return returned
        return returned[0] if count == 1 else returned[:count]

    function.__name__ = function.__qualname__ = call.name
    function.__doc__ = f"``dispatcher.{call.name}`` with new outputs, for autograd and ``torch.compile``."
    parameters = [call.signature.parameters[name] for name in call.functional]
    function.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return function


def _shorthand(call: Callable[..., Any], stated: Callable[..., Mapping[str, Any]]) -> Callable[..., Any]:
    """A function that an operator states beside its call, with new outputs on the current stream."""

    @wraps(stated)
    def function(*arguments: Any, **options: Any) -> Any:
        named = stated(*arguments, **options)
        return call(**{name: value for name, value in named.items() if name not in (OUT, STREAM)})

    parameters = signature(stated, eval_str=True).parameters
    function.__signature__ = Signature([parameters[name] for name in parameters if name not in (OUT, STREAM)])  # type: ignore[attr-defined]
    return function


_functions = {
    name: _registered(operator.call, operator.derivative) for name, operator in OPERATORS.items() if operator.call
}
_functions |= {stated.__name__: _shorthand(_functions[name], stated) for name, stated in shorthands()}


def __getattr__(name: str) -> Any:
    if name in _functions:
        return _functions[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_functions})
