"""Problems and calls to measure an operator's dispatch with, made from what the operator states."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import BoundArguments, Parameter
from itertools import permutations, product
from typing import Any

from autotune.codegen.model.fields import FieldRole, FieldSpec, field_specs
from autotune.codegen.model.hardware import WIDEST_ACCESS
from autotune.codegen.model.lists import grouped, is_element
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Role, Tensor
from autotune.dispatcher.calls.lists import one_by_one, together
from autotune.search_spaces.contract.bound import bound, output_types
from autotune.search_spaces.contract.call import OUT, Binding, Call
from autotune.search_spaces.contract.layouts import Layout
from autotune.search_spaces.contract.operator import Operator


def problem_of_sizes(problem_type: type[Problem], size: Callable[[str, FieldSpec], int]) -> Problem:
    """The problem with a value for each size without an implied one, made to fit, and default fields otherwise."""
    specs = field_specs(problem_type).items()
    required = {name: spec for name, spec in specs if spec.role is FieldRole.SIZE and spec.implied is None}
    return problem_type(**problem_type.fitted({name: size(name, spec) for name, spec in required.items()}))


def is_ordinary(problem: Problem) -> bool:
    """Whether only its sizes are not the defaults: no gaps, one of each."""
    return problem == problem_of_sizes(type(problem), lambda name, _: int(getattr(problem, name)))


@dataclass(frozen=True)
class ExampleCall:
    """A call of an operator's function that computes a given problem.

    Attributes:
        call: the function.
        tensors: by the names of the call's arrays, or of the elements of lists, what the kernel knows each as.
        dropped: leading axes of extent 1 that the call's arrays have not.
        options: the call's other arguments.
        scalars: those of the call's that have no default, and its switches that are not 0.
    """

    call: Call
    tensors: Mapping[str, Tensor]
    dropped: int
    options: Mapping[str, Any]
    scalars: Mapping[str, float]

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of an array."""
        return self.tensors[name].shape[self.dropped :]

    def strides(self, name: str) -> tuple[int, ...]:
        """Elements from one to the next along each axis of an array."""
        return self.tensors[name].strides[self.dropped :]

    def bound(self, arrays: Mapping[str, Any]) -> BoundArguments:
        """The arguments of the call for arrays by name, outputs among them."""
        values = {**self.options, **self.scalars, **together(self.call, arrays)}
        if self.call.outputs_packed:
            values[OUT] = tuple(values.pop(name, None) for name in self.call.outputs)
        return self.call.signature.bind(**values)


def example_call(operator: Operator[Any, Any], problem: Problem) -> ExampleCall:
    """The call that computes a problem.

    Tensors that are read are tried as the call's inputs, others as its outputs and updates, in all orders; an array of
    the same name is the tensor's. Arrays without a tensor are left out. Options are the problem's fields of the same
    names.

    Raises:
        ValueError: the operator has no call, or none is found; why the first one tried is none.
    """
    if operator.call is None:
        raise ValueError(f"{operator.name} has no call")
    reason = "its tensors are not as many as the call's arrays"
    for number, example in enumerate(_candidates(operator.call, problem)):
        wrong = _why_another(example, problem)
        if not wrong:
            return example
        reason = reason if number else wrong
    raise ValueError(f"no call of {operator.name} is known to compute {problem.key}: {reason}")


def _why_another(example: ExampleCall, problem: Problem) -> str:
    """Why a call does not compute a problem; empty if it does."""
    try:
        found = binding(example)
    except (TypeError, ValueError) as error:
        return str(error)
    for name, tensor in example.tensors.items():
        if (pointer := found.tensor_of(name)) != tensor.name:
            return f"{name} is bound to {pointer}, not to {tensor.name}"
    return "" if found.problem == problem else f"it computes {found.problem.key}"


def _candidates(call: Call, problem: Problem) -> Iterator[ExampleCall]:
    """Calls on the problem's tensors.

    First with arrays that lack all leading axes of extent 1 that the tensors have in common, then with ever more axes.
    """
    options = {name: getattr(problem, name) for name in call.options if hasattr(problem, name)}
    required = [name for name in call.scalars if call.signature.parameters[name].default is Parameter.empty]
    scalars = {name: problem.scalars[name] for name in required}
    scalars |= {name: problem.scalars[name] for name in call.switches if problem.scalars[name] != 0}
    only_read = [name for name in call.inputs if name not in call.updates]
    named = {tensor.name: tensor for tensor in problem.tensors}
    groups = {name: tuple(named[one] for one in names) for name, names in grouped(named).items()}
    read = {name: group for name, group in groups.items() if group[0].role is Role.INPUT}
    written = {name: group for name, group in groups.items() if group[0].role is not Role.INPUT}
    leading = min(next((axis for axis, n in enumerate(t.shape) if n != 1), len(t.shape)) for t in problem.tensors)
    changed = (*call.updates, *call.outputs)
    for inputs, outputs in product(_orders(only_read, [*read]), _orders(changed, [*written])):
        if not {*call.arrays} - {*call.optional} <= {*inputs, *outputs}:
            continue
        taken = list(zip(inputs + outputs, (*read.values(), *written.values()), strict=True))
        if any((name in call.lists) is not is_element(group[0].name) for name, group in taken):
            continue
        tensors = dict(one_by_one(call, ((name, group if name in call.lists else group[0]) for name, group in taken)))
        for dropped in range(leading, -1, -1):
            yield ExampleCall(call, tensors, dropped, options, scalars)


def _orders(arrays: Sequence[str], tensors: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """An array for each tensor, in all orders but that names which both have stay together."""
    unnamed = [name for name in tensors if name not in arrays]
    for chosen in permutations([name for name in arrays if name not in tensors], len(unnamed)):
        found = dict(zip(unnamed, chosen, strict=True))
        yield tuple(found.get(name, name) for name in tensors)


def binding(example: ExampleCall) -> Binding:
    """What the operator binds the call to, whose arrays are checked first, as in every call."""
    call = example.call
    options: dict[str, Any] = {
        name: parameter.default for name, parameter in call.signature.parameters.items() if name in call.options
    }
    options |= example.options
    layouts: dict[str, Layout] = {}
    for name, tensor in example.tensors.items():
        alignment = min(WIDEST_ACCESS, tensor.alignment)
        layouts[name] = Layout(example.shape(name), example.strides(name), tensor.dtype, tensor.dtype.bytes, alignment)
    arrays = dict.fromkeys(call.arrays) | together(call, layouts)
    types = output_types(call, {name: arrays[name] for name in call.inputs}, options)
    for name, stated in one_by_one(call, types.items()):
        given = layouts.get(name)
        if given is not None and (given.shape, given.dtype) != tuple(stated):
            raise ValueError(f"{name} has shape {given.shape} and dtype {given.dtype}: expected {stated}")
    options |= {f"{name}_nonzero": example.scalars.get(name, 0) != 0 for name in call.all_switches}
    return bound(call, arrays, options)
