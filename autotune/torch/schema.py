"""The schemas of operators in PyTorch's language."""

from __future__ import annotations

import math
import sys
import types
from inspect import Parameter
from typing import Any, Union, get_args, get_origin

from autotune.codegen.model.dtype import DType
from autotune.search_spaces.contract.call import Call
from autotune.search_spaces.contract.derivative import Derivative

_SCHEMA = {int: "int", float: "float", bool: "bool", str: "str", DType: "ScalarType", tuple[int, ...]: "int[1]"}


def schema(call: Call, derivative: Derivative | None = None) -> str:
    """The schema of an operator that makes new outputs.

    It leaves out what is updated only if it is given: PyTorch 2.11 takes no optional tensor that is written.
    """
    named = (name for name in call.functional if name not in call.optional_updates)
    parameters = (_parameter(call, call.signature.parameters[name]) for name in named)
    made = outputs_made(call, derivative)
    outputs = ", ".join("Tensor[]" if name in call.lists else "Tensor" for name in made)
    return f"({', '.join(parameters)}) -> {outputs if len(made) == 1 else f'({outputs})'}"


def outputs_made(call: Call, derivative: Derivative | None) -> tuple[str, ...]:
    """The outputs of the operator: those that a call always computes, and then others that its derivative saves."""
    return (*call.required_outputs, *(derivative.saved_outputs(call) if derivative else ()))


def _parameter(call: Call, parameter: Parameter) -> str:
    if parameter.name in call.inputs:
        alias = "[]" if parameter.name in call.lists else ""
        alias += f"(a{call.updates.index(parameter.name)}!)" if parameter.name in call.updates else ""
        kind = f"Tensor{alias}{'?' if parameter.name in call.optional else ''}"
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
    if isinstance(default, float) and math.isinf(default):  # PyTorch cannot read inf; this is infinite in float32
        return repr(math.copysign(sys.float_info.max, default))
    return str(list(default)) if isinstance(default, tuple) else repr(default)
