"""Operators as PyTorch knows them, and the functions for users."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from itertools import chain, compress
from types import SimpleNamespace
from typing import Any

import torch

from autotune.codegen.model.lists import list_of
from autotune.dispatcher.arrays.arrays import each
from autotune.dispatcher.calls.function import dispatched
from autotune.dispatcher.calls.lists import one_by_one, together
from autotune.dispatcher.calls.resolve import plain_option
from autotune.dispatcher.calls.shorthand import shorthands
from autotune.search_spaces.contract.bound import output_types
from autotune.search_spaces.contract.call import OUT, STREAM, Call
from autotune.search_spaces.contract.derivative import Backward, Derivative
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.registry import OPERATORS

from .eager import Named, binder, examined, recorder
from .registration import register
from .schema import outputs_made, schema


class _Operator:
    """An operator of PyTorch's that computes a call with new outputs.

    There are two ways to it. Plain tensors in eager mode get a node of our own over the dispatcher; see `eager`. All
    others take ``torch.ops.autotune.<name>``.
    """

    def __init__(self, call: Call, derivative: Derivative | None) -> None:
        self._call, self._derivative = call, derivative
        self._parameters = [call.signature.parameters[name] for name in call.functional]
        self._names = [one.name for one in self._parameters if one.name not in call.optional_updates]  # see `schema`
        self._bind = binder(call.name, self._parameters, call.inputs)
        # PyTorch's dispatcher passes all by position.
        positional = [one.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for one in self._parameters]
        passed = [one for one in positional if one.name in self._names]
        self._bind_passed = binder(call.name, passed, call.inputs)
        self._left_out = dict.fromkeys(call.optional_updates)
        self._made = outputs_made(call, derivative)
        self._required = len(call.required_outputs)
        self._computations: dict[tuple[str, ...], tuple[Callable[..., Any], tuple[str, ...]]] = {}
        stated = schema(call, derivative)
        if derivative is not None:
            register(call.name, stated, self._dispatched, self._fake, self._backward, self._setup)
        else:
            written = [name for name in call.updates if name not in call.optional_updates]
            operator = torch.library.custom_op(
                f"autotune::{call.name}", self._dispatched, mutates_args=written, schema=stated
            )
            operator.register_fake(self._fake)

    def function(self) -> Callable[..., Any]:
        """What users call."""
        call, required, several = self._call, self._required, len(self._made) > self._required
        listed = bool(call.lists)
        compute, bind, names = dispatched(call.name).function, self._bind, frozenset(call.functional)
        record = recorder(call.name, self._computation, self._save, self._gradients) if self._derivative else None

        def function(*arguments: Any, **options: Any) -> Any:
            passed = chain(arguments, options.values())
            plain, recorded = examined(each(passed) if listed else passed)
            if plain and not recorded and options.keys() <= names:
                return compute(*arguments, **options)
            inputs, others = bind(*arguments, **options)
            if plain and record is not None:
                returned = record(inputs, others)
            elif call.optional_updates:
                for name in call.optional_updates:
                    if inputs[name] is not None:
                        raise ValueError(f"{call.name}: PyTorch's tracers take no {name}: call it without compiling")
                given = {**inputs, **others}
                returned = getattr(torch.ops.autotune, call.name)(**{name: given[name] for name in self._names})
            else:
                returned = getattr(torch.ops.autotune, call.name)(*arguments, **options)
            if several and isinstance(returned, tuple):
                return returned[0] if required == 1 else returned[:required]
            return returned

        function.__name__ = function.__qualname__ = call.name
        function.__doc__ = f"``dispatcher.{call.name}`` with new outputs, for autograd and ``torch.compile``."
        function.__signature__ = Signature(self._parameters)  # type: ignore[attr-defined]
        return function

    def _named(self, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> tuple[Named, Named]:
        """Inputs and other arguments by name, of a call that PyTorch makes: all parameters are positional there."""
        inputs, others = self._bind_passed(*arguments, **options)
        inputs.update(self._left_out)
        for name, value in others.items():
            if type(value) is list:
                others[name] = tuple(value)
        return inputs, others

    def _dispatched(self, *arguments: Any, **options: Any) -> Any:
        """The outputs that are made, for PyTorch's dispatcher, which turns tuples into lists."""
        inputs, others = self._named(arguments, options)
        if torch.is_grad_enabled():
            inputs = {name: _for_each(torch.Tensor.detach, tensor) for name, tensor in inputs.items()}
        compute, names = self._computation(others)
        returned = compute(**inputs, **others)
        if names == self._made:
            return returned
        outputs = zip(names, _tuple(returned), strict=True) if names else ()
        return self._all_made(inputs, dict(outputs))

    def _computation(self, others: Named) -> tuple[Callable[..., Any], tuple[str, ...]]:
        """What computes outputs as far as this call's derivative needs them, and their names."""
        saved = self._saved_outputs(others) if self._derivative else ()
        found = self._computations.get(saved)
        if found is None:
            calls = dispatched(self._call.name, saved)
            found = self._computations[saved] = calls.function, calls.call.required_outputs
        return found

    def _all_made(self, inputs: Named, outputs: Named) -> Any:
        """What the schema promises: without elements where this call's derivative needs no output."""
        like = next(each(inputs.values()))
        made = tuple(outputs[name] if name in outputs else like.new_empty(0) for name in self._made)
        return made[0] if len(made) == 1 else made or None

    def _saved_outputs(self, others: Named) -> tuple[str, ...]:
        """The optional outputs that this call's derivative needs."""
        names = self._made[self._required :]
        if not names or self._derivative is None:
            return ()
        unneeded = self._derivative.unneeded(others)
        return tuple([name for name in names if name not in unneeded]) if unneeded else names

    def _fake(self, *arguments: Any, **options: Any) -> Any:
        """Tensors without values, of the shapes and dtypes that a tracer has to know."""
        call = self._call
        inputs, others = self._named(arguments, options)
        layouts = {name: _for_each(_layout, tensor) for name, tensor in inputs.items()}
        types = output_types(call, layouts, {name: plain_option(others[name]) for name in call.options})
        like, computed = next(each(inputs.values())), {*call.required_outputs, *self._saved_outputs(others)}
        made = {
            name: like.new_empty(shape, dtype=getattr(torch, dtype))
            for name, (shape, dtype) in one_by_one(call, types.items())
            if list_of(name) in computed
        }
        return self._all_made(inputs, together(call, made))

    def _setup(self, ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        self._save(ctx, *self._named(inputs, {}), dict(zip(self._made, _tuple(output), strict=True)))

    def _save(self, ctx: Any, inputs: Named, others: Named, outputs: Named) -> None:
        assert self._derivative is not None
        arrays = {**inputs, **outputs}
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*map(arrays.get, self._derivative.saves))
        ctx.shapes = {name: tensor.shape for name, tensor in inputs.items() if tensor is not None}
        ctx.arguments, ctx.made = others, tuple(outputs)

    def _backward(self, ctx: Any, *gradients: Any) -> tuple[Any, ...]:
        """The gradients of all parameters, for PyTorch's dispatcher.

        It leaves out arguments at the end that have their default values.
        """
        wanted = frozenset(compress(self._names, ctx.needs_input_grad))
        found = self._gradients(ctx, True, wanted, gradients)
        return tuple(found.get(name) for name in self._names[: len(ctx.needs_input_grad)])

    def _gradients(self, ctx: Any, recorded: bool, wanted: frozenset[str], gradients: tuple[Any, ...]) -> Named:
        assert self._derivative is not None
        if gradients[0] is None and all(gradient is None for gradient in gradients[: self._required]):
            return {}
        saved = dict(zip(self._derivative.saves, ctx.saved_tensors, strict=True))
        outputs = dict(zip(ctx.made, gradients, strict=True))
        operators = differentiable if recorded else direct
        return self._derivative.backward(Backward(operators, saved, ctx.shapes, ctx.arguments, outputs, wanted))


def _layout(tensor: Any) -> Layout:
    """The layout of a tensor whose sizes may be symbols, and which may have no address."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    return Layout(tuple(tensor.shape), tuple(tensor.stride()), dtype, tensor.itemsize, 16)


def _for_each(function: Callable[[Any], Any], given: Any) -> Any:
    """What a function makes of a tensor, of each one of a list, or of None: None."""
    if isinstance(given, list | tuple):
        return list(map(function, given))
    return None if given is None else function(given)


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
differentiable = SimpleNamespace(**functions)
direct = SimpleNamespace(**{name: dispatched(name).function for name in functions})
functions |= {stated.__name__: _shorthand(functions[name], stated) for name, stated in shorthands()}
