"""How a user's kernel is called: by its inputs and scalars, as the operators of this package are."""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import Any

from autotune.codegen.model.tensor import Role
from autotune.search_spaces.contract.call import STREAM, Binding, Call

from .declaration import Declaration
from .problem import OwnProblem


def call_of(own: Declaration, problem_type: type[OwnProblem]) -> Call:
    """The function of a kernel.

    Sizes follow from the shapes of inputs where an extent is a size by name; all others are options.
    """
    inputs = tuple(name for name, one in own.arrays.items() if one.role is not Role.OUTPUT)
    outputs = own.of_role(Role.OUTPUT)
    where = _where(own, inputs)
    options = tuple(name for name in own.problem if name not in where)
    names = ("out",) if len(outputs) == 1 else outputs

    def bind(**given: Any) -> Binding:
        sizes = {name: given[name] for name in options}
        for name, (array, axis) in where.items():
            layout = given[array]
            if axis >= len(layout.shape):
                raise ValueError(f"{array} has {len(layout.shape)} axes: expected {len(own.arrays[array].shape)}")
            sizes[name] = layout.shape[axis]
        problem = problem_type.from_dict(sizes)
        shapes = {tensor.name: tensor.shape for tensor in problem.tensors}
        for name in inputs:
            if given[name].shape != shapes[name]:
                raise ValueError(f"{name} has shape {given[name].shape}: expected {shapes[name]}")
        return Binding(problem, dict(zip(names, outputs, strict=True)))

    def declaration() -> None:
        pass

    declaration.__name__ = own.name
    declaration.__doc__ = f"{own.summary[0].upper()}{own.summary[1:]}."
    positional = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=Any) for name in inputs]
    numbers = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD, annotation=float) for name in own.scalars]
    sized = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=int) for name in options]
    others = [Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=Any) for name in (*names, STREAM)]
    signature = Signature([*positional, *numbers, *sized, *others], return_annotation=Any)
    declaration.__dict__["__signature__"] = signature
    return Call(declaration, inputs, names, bind, scalars=tuple(own.scalars), updates=own.of_role(Role.IN_OUT))


def _where(own: Declaration, inputs: tuple[str, ...]) -> dict[str, tuple[str, int]]:
    """For each size that is an extent of an input, the input and the axis."""
    found: dict[str, tuple[str, int]] = {}
    for array in inputs:
        for axis, extent in enumerate(own.arrays[array].shape):
            if str(extent) in own.problem:
                found.setdefault(str(extent), (array, axis))
    return found
