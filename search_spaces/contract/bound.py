"""What a call computes on some arrays: what its operator states, and what follows from the problem's tensors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.tensor import Tensor, joined_axes, row_major

from .call import ArrayType, Binding, Call
from .layouts import MAKE_CONTIGUOUS, Layout, Shape, elements, viewed

_ROWS = "contiguous rows, evenly spaced, that do not overlap"
_GIVEN = Layout((), (), "", 1, 16)  # what `bind` gets of outputs when it is asked for their types


def output_types(call: Call, inputs: Mapping[str, Any], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Shape and dtype of each output: as `Call.types` says, or those of the problem's tensors.

    Args:
        call: the operator's.
        inputs: the `Layout` of each input, None for one that is left out, and of a list those of its elements. Sizes
            may be symbols, which a call without `types` makes numbers.
        options: all of the call.

    Raises:
        TypeError, ValueError: the operator does not take such inputs.
    """
    if call.types is not None:
        return call.types(**inputs, **options)
    known = {name: _of_numbers(layout) for name, layout in inputs.items() if layout is not None}
    switches = {f"{name}_nonzero": False for name in call.all_switches}
    binding = _stated(call, {**inputs, **known, **dict.fromkeys(call.outputs, _GIVEN), **switches, **options})
    tensors = {tensor.name: tensor for tensor in binding.problem.tensors}
    for name, layout in known.items():
        _check_input(name, layout, _tensor_of(name, binding, tensors), binding.shapes.get(name))
    made = {name: _tensor_of(name, binding, tensors) for name in call.outputs}
    return {name: ArrayType(binding.shapes.get(name, tensor.shape), tensor.dtype) for name, tensor in made.items()}


def bound(call: Call, arrays: Mapping[str, Any], options: Mapping[str, Any]) -> Binding:
    """What a call computes, whose arrays are the problem's tensors.

    Strides and alignments that `Call.bind` leaves at their usual values become those of the arrays.

    Args:
        call: the operator's.
        arrays: the `Layout` of each array; see `output_types`.
        options: all of the call, and ``<name>_nonzero`` of its switches.

    Raises:
        TypeError, ValueError: the operator does not take such arrays; or a tensor of the problem that it has bound to
            them has other elements, or these in another order, or is aligned to more.
    """
    binding = _stated(call, {**arrays, **options})
    lists = {name: layouts for name, layouts in arrays.items() if name in call.lists and layouts is not None}
    singles = {name: one for name, one in arrays.items() if name not in call.lists and one is not None}
    given: dict[str, Layout] = {**singles, **elements(**lists)}
    straight = {binding.tensor_of(name): one for name, one in given.items() if name not in call.reordered}
    problem = _laid_out(binding.problem, straight)
    binding = binding._replace(problem=problem)
    tensors = {tensor.name: tensor for tensor in problem.tensors_with({**problem.scalars, **binding.numbers})}
    for name, layout in given.items():
        if 0 not in layout.shape or binding.tensor_of(name) in tensors:
            _check_array(call, name, layout, _tensor_of(name, binding, tensors), problem)
    return binding


def _stated(call: Call, arguments: Mapping[str, Any]) -> Binding:
    """What `bind` says, which gets those of all arguments that it names."""
    named = call.bound_parameters
    return call.bind(**{name: value for name, value in arguments.items() if named is None or name in named})


def _tensor_of(name: str, binding: Binding, tensors: Mapping[str, Tensor]) -> Tensor:
    known = binding.tensor_of(name)
    if known not in tensors:
        raise ValueError(f"{name} is {known}, which is no tensor of {binding.problem.key}: {', '.join(tensors)}")
    return tensors[known]


def _of_numbers(layout: Layout) -> Layout:
    """The layout with sizes that are no symbols: a tracer of PyTorch's then keeps to them."""
    return layout._replace(shape=tuple(map(int, layout.shape)), strides=tuple(map(int, layout.strides)))


def _check_input(name: str, layout: Layout, tensor: Tensor, stated: Shape | None) -> None:
    """Check dtype and shape; where no shape is stated, several axes of an array may be the first axis of its tensor."""
    if layout.dtype != tensor.dtype:
        raise TypeError(f"{name} has dtype {layout.dtype}: expected {tensor.dtype}")
    behind = len(layout.shape) - len(tensor.shape) + 1
    joined = prod(layout.shape[: max(0, behind)]), *layout.shape[max(0, behind) :]
    if layout.shape != stated if stated is not None else joined != tensor.shape:
        raise ValueError(f"{name} has shape {layout.shape}: expected {tensor.shape if stated is None else stated}")


def _laid_out(problem: Problem, arrays: Mapping[str, Layout]) -> Problem:
    """The problem with the arrays' strides and alignments, of operands whose strides are the usual ones."""
    stated, changed = problem.layouts, dict[str, int]()
    for name, array in arrays.items():
        aligned = f"align_{name}"
        if name in stated:
            operand, aligned = stated[name], stated[name].alignment_field
            strides = viewed(array, operand.shape)
            usual = all(getattr(problem, field) == problem.usual(field) for field in operand.fields)
            if usual and strides and min(strides) >= 0 and (strides[-1] == 1 or operand.shape[-1] <= 1):
                changed |= _differing(problem, dict(zip(operand.fields, strides, strict=False)))
        if hasattr(problem, aligned) and getattr(problem, aligned) > array.alignment:
            changed[aligned] = array.alignment
    return replace(problem, **changed) if changed else problem


def _differing(problem: Problem, fields: Mapping[str, int]) -> Iterable[tuple[str, int]]:
    return [(name, stride) for name, stride in fields.items() if stride and stride != getattr(problem, name)]


def _check_array(call: Call, name: str, layout: Layout, tensor: Tensor, problem: Problem) -> None:
    """``ValueError`` if an array's elements are not those of a tensor, or not as aligned."""
    if not tensor.size:
        return
    seen, bytes_ = layout, tensor.dtype.bytes
    if layout.itemsize > bytes_:  # several elements of the tensor's
        each = layout.itemsize // bytes_
        seen = layout._replace(shape=(*layout.shape, each), strides=(*(step * each for step in layout.strides), 1))
    if layout.itemsize % bytes_:
        raise ValueError(f"{name} has elements of {layout.itemsize} B: expected {tensor.dtype} of {bytes_} B")
    if not (_has_elements if name in call.reordered else _has_order)(seen, tensor):
        rows = prod(problem.layouts[tensor.name].shape[:-1]) if tensor.name in problem.layouts else 1
        raise ValueError(
            f"{name} has shape {layout.shape} and strides {layout.strides}: expected "
            f"{_ROWS if rows > 1 else 'a contiguous array'}; {MAKE_CONTIGUOUS}"
        )
    if layout.alignment < tensor.alignment:
        raise ValueError(f"{name} is aligned to {layout.alignment} B: expected {tensor.alignment} B; pass a copy")


def _has_elements(layout: Layout, tensor: Tensor) -> bool:
    """Whether an array reaches the elements of a tensor, in any order and any number of times."""
    return joined_axes(layout.shape, layout.strides) == tensor.axes


def _has_order(layout: Layout, tensor: Tensor) -> bool:
    """Whether an array's elements are those of a tensor, and in this order."""

    def alike(strides: Shape | None, shape: Shape, others: Shape) -> bool:
        axes = zip(shape, strides or (), others, strict=strides is not None)
        return strides is not None and all(n == 1 or step == other for n, step, other in axes)

    whole = (tensor.size,)
    if alike(tensor.strides, tensor.shape, row_major(tensor.shape)):
        return alike(viewed(layout, whole), whole, (1,))
    return alike(viewed(layout, tensor.shape), tensor.shape, tensor.strides)
