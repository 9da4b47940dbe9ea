"""What expressions mean: in NumPy, and in CUDA C++."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from textwrap import indent, wrap
from typing import Any

import numpy as np

from .expression import PLACES, SCORE, TABLES, Expression, Kind, constant

_NUMPY: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.fmin,
    "max": np.fmax,
    "neg": np.negative,
    "abs": np.abs,
    "tanh": np.tanh,
    "exp2": np.exp2,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "floordiv": np.floor_divide,
    "mod": np.mod,
    "where": np.where,
}
_CUDA = {
    "add": "({} + {})",
    "sub": "({} - {})",
    "mul": "({} * {})",
    "div": "({} / {})",
    "min": "smaller({}, {})",
    "max": "larger({}, {})",
    "neg": "(-{})",
    "abs": "magnitude({})",
    "tanh": "hyperbolic_tangent({})",
    "exp2": "power_of_two({})",
    "lt": "({} < {})",
    "le": "({} <= {})",
    "gt": "({} > {})",
    "ge": "({} >= {})",
    "eq": "({} == {})",
    "ne": "({} != {})",
    "and": "({} && {})",
    "or": "({} || {})",
    "not": "(!{})",
    "floordiv": "floored({}, {})",
    "mod": "modulo({}, {})",
    "where": "({} ? {} : {})",
    "number": "number_at(arguments, {})",
    "integer": "integer_at(arguments, {})",
}
_MOST_DIVISOR = 2.0**126  # whose reciprocal has all digits of a float
CONTINUED = 50 * " "  # ahead of what does not fit a line of a function's head
_ARGUMENTS, _PLACES = "const Arguments& arguments", ", ".join(f"int {name}" for name in PLACES)
# What functions call: tables are read at their ends where places are beyond, NaN is no extremum, and integers are
# divided as Python does, by 1 or more. Functions of float are those of the special function unit, which are as exact as
# scores are.
_HELPERS = {
    "min": "template <typename Number>\n"
    "  static __device__ __forceinline__ Number smaller(Number a, Number b) {\n"
    "    return b < a || a != a ? b : a;\n  }",
    "max": "template <typename Number>\n"
    "  static __device__ __forceinline__ Number larger(Number a, Number b) {\n"
    "    return a < b || a != a ? b : a;\n  }",
    "abs": "template <typename Number>\n"
    "  static __device__ __forceinline__ Number magnitude(Number a) {\n    return a < 0 ? -a : a;\n  }",
    "tanh": "static __device__ __forceinline__ double hyperbolic_tangent(double x) { return tanh(x); }\n"
    "  static __device__ __forceinline__ float hyperbolic_tangent(float x) {\n"
    "#ifdef AUTOTUNE_EMULATOR\n"
    "    return tanhf(x);\n"
    "#else\n"
    "    float power, inverse;\n"
    '    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(2.885390082f * x));\n'
    '    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(1.0f + power));\n'
    "    return fmaf(-2.0f, inverse, 1.0f);\n"
    "#endif\n  }",
    "exp2": "static __device__ __forceinline__ double power_of_two(double x) { return exp2(x); }\n"
    "  static __device__ __forceinline__ float power_of_two(float x) {\n"
    "#ifdef AUTOTUNE_EMULATOR\n"
    "    return exp2f(x);\n"
    "#else\n"
    "    float power;\n"
    '    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));\n'
    "    return power;\n"
    "#endif\n  }",
    **{
        name: f"static __device__ __forceinline__ {kind} {name}_at(const Arguments& arguments, int place) {{\n"
        "    const Problem problem(arguments);\n"
        f"    return arguments.{table}[max(0, min(place, problem.{table}_count - 1))];\n  }}"
        for kind, (name, table) in zip(("float", "int"), TABLES.items(), strict=True)
    },
    "floordiv": "static __device__ __forceinline__ int floored(int a, int b) {\n    return a / b - (a % b < 0);\n  }",
    "mod": "static __device__ __forceinline__ int modulo(int a, int b) {\n    return a % b + (a % b < 0 ? b : 0);\n  }",
}


def evaluated(expression: Expression, given: Mapping[str, Any]) -> Any:
    """Its value in float64 and int64, of values of its names and tables; beyond a table's end is its last entry."""
    if expression.value is not None:
        return expression.value
    if not expression.arguments:
        return given[expression.head]
    values = [evaluated(one, given) for one in expression.arguments]
    if expression.head in TABLES:
        table = given[TABLES[expression.head]]
        return table[np.clip(values[0], 0, table.size - 1)]
    with np.errstate(all="ignore"):
        return _NUMPY[expression.head](*values)


def score_lines(expression: Expression, name: str, *beside: Expression) -> str:
    """``name(score, arguments, batch, head, q, k)``, of a struct, in float and in double; see `mask_lines`."""
    defined = [
        f"static __device__ __forceinline__ {number} {name}({number} {SCORE}, {_ARGUMENTS},\n"
        f"{CONTINUED}{_PLACES}) {{\n{returned(_cuda(expression, number, Kind.NUMBER))}\n  }}"
        for number in ("float", "double")
    ]
    return "\n  ".join((*_missing(expression, beside), *defined))


def mask_lines(expression: Expression, *beside: Expression) -> str:
    """``sees(arguments, batch, head, q, k)``, a member of a struct that has the lines of other expressions, too."""
    body = returned(_cuda(expression, "float"))
    defined = f"static __device__ __forceinline__ bool sees({_ARGUMENTS}, {_PLACES}) {{\n{body}\n  }}"
    return "\n  ".join((*_missing(expression, beside), defined))


def _missing(expression: Expression, beside: tuple[Expression, ...]) -> tuple[str, ...]:
    """The helpers that it needs, and others have not brought."""
    there = {text for one in beside for text in _helpers(one)}
    return tuple(text for text in _helpers(expression) if text not in there)


def returned(value: str) -> str:
    """A statement in lines of at most 110 columns."""
    lines = wrap(f"return {value};", 106, subsequent_indent=" " * 4, break_long_words=False, break_on_hyphens=False)
    return indent("\n".join(lines), " " * 4)


def _helpers(expression: Expression) -> tuple[str, ...]:
    used = _functions(expression)
    return tuple(text for name, text in _HELPERS.items() if name in used)


def _functions(expression: Expression) -> frozenset[str]:
    return reduce(frozenset.union, map(_functions, expression.arguments), frozenset({expression.head}))


def _cuda(expression: Expression, number: str, wanted: Kind | None = None) -> str:
    """The text of its value, where numbers are of a type."""
    written = _unconverted(expression, number)
    if wanted is Kind.NUMBER and expression.kind is Kind.INTEGER:
        return f"static_cast<{number}>({written})"
    return written


def _unconverted(expression: Expression, number: str) -> str:
    suffix = "f" if number == "float" else ""
    if expression.value is not None:
        text = repr(expression.value)
        text += suffix if expression.kind is Kind.NUMBER else ""
        return f"({text})" if text.startswith("-") else text
    if not expression.arguments:
        return expression.head
    kinds = [one.kind for one in expression.arguments]
    if expression.head == "number" and number == "double":
        return f"static_cast<double>({_unconverted(expression, 'float')})"
    numbers = (Kind.NUMBER in kinds or expression.kind is Kind.NUMBER) and expression.head not in TABLES
    wanted = [Kind.NUMBER if numbers and one is not Kind.TRUTH else one for one in kinds]
    arguments = [_cuda(one, number, kind) for one, kind in zip(expression.arguments, wanted, strict=True)]
    if (divisor := _factor(expression, number)) is not None:
        return f"({arguments[0]} * {divisor})"
    return _CUDA[expression.head].format(*arguments)


def _factor(expression: Expression, number: str) -> str | None:
    """What multiplies a score in float that is divided by a constant: divisions take many instructions.

    Other quotients are those of a division, for comparisons tell.
    """
    divisor = expression.arguments[-1].value if expression.head == "div" else None
    if number != "float" or divisor is None or not 1 / _MOST_DIVISOR <= abs(divisor) <= _MOST_DIVISOR:
        return None
    return _unconverted(constant(1 / divisor), number) if SCORE in _functions(expression.arguments[0]) else None
