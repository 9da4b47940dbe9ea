"""Numbers that follow from sizes and parameters, as users state them."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Mapping
from typing import Any

from autotune.codegen.model.integers import ceil_div

Stated = int | str | Callable[..., Any]
_FUNCTIONS = {"ceil": math.ceil, "ceil_div": ceil_div, "abs": abs, "max": max, "min": min}
_NODES = (
    ast.Expression, ast.Name, ast.Load, ast.Constant, ast.Call, ast.IfExp, ast.Tuple, ast.List,
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp, ast.Add, ast.Sub, ast.Mult,
    ast.Div, ast.FloorDiv, ast.Mod, ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn,
)  # fmt: skip


class Expression:
    """A number, a text such as ``"ceil_div(n, block_size)"``, or a function that takes sizes and parameters by name.

    A text is an expression of Python of names, numbers, strings, arithmetic without powers, comparisons and conditions;
    `ceil`, `ceil_div`, `abs`, `max` and `min` are its functions. So a text from elsewhere can do nothing but compute.

    Attributes:
        names: what it takes.

    Raises:
        ValueError, TypeError: it is none of these.
    """

    def __init__(self, stated: Stated) -> None:
        self._stated = stated
        if callable(stated):
            parameters = inspect.signature(stated).parameters.values()
            if any(one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY) for one in parameters):
                raise ValueError(f"{self}: expected a function that takes sizes and parameters by name")
            self.names = frozenset(one.name for one in parameters)
            self._compute: Callable[..., Any] = stated
        elif isinstance(stated, str):
            self.names, self._compute = _compiled(stated)
        elif type(stated) is int:
            self.names, self._compute = frozenset(), lambda: stated
        else:
            raise TypeError(f"{stated!r}: expected a number, an expression such as 'ceil_div(n, 32)', or a function")

    def __str__(self) -> str:
        """The text, or the function's name."""
        return getattr(self._stated, "__name__", None) or str(self._stated)

    def of(self, values: Mapping[str, Any]) -> Any:
        """What it comes to.

        Raises:
            ValueError: it cannot be computed of these values.
        """
        taken = {name: values[name] for name in self.names}
        try:
            return self._compute(**taken)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise ValueError(f"{self} with {_shown(taken)}: {error}") from None

    def number_of(self, values: Mapping[str, Any], least: int = 0) -> int:
        """What it comes to, a whole number.

        Raises:
            ValueError: it is none, or too small.
        """
        found = self.of(values)
        whole = isinstance(found, float) and found.is_integer()
        if not (type(found) is int or whole) or found < least:
            raise ValueError(f"{self.explained(values)}, is {found}: expected a whole number from {least} on")
        return int(found)

    def explained(self, values: Mapping[str, Any]) -> str:
        """The text with the values that it takes: ``x * y <= 1024, with x=64, y=32``."""
        taken = _shown({name: values[name] for name in sorted(self.names)})
        return f"{self}, with {taken}" if taken else str(self)


def _compiled(text: str) -> tuple[frozenset[str], Callable[..., Any]]:
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{text!r}: expected an expression such as 'ceil_div(n, block_size)'") from None
    called = set()
    for node in ast.walk(tree):
        if not isinstance(node, _NODES):
            raise ValueError(f"{text!r}: expected names, numbers, arithmetic and comparisons, no {_kind(node)}")
        if isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name not in _FUNCTIONS or node.keywords:
                raise ValueError(f"{text!r}: expected one of the functions {', '.join(_FUNCTIONS)}")
            called.add(node.func)
    names = frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and node not in called)
    if taken := names & _FUNCTIONS.keys():
        raise ValueError(f"{text!r}: {min(taken)} is a function")
    code = compile(tree, "<expression>", "eval")
    return names, lambda **values: eval(code, {"__builtins__": {}, **_FUNCTIONS}, values)


def _kind(node: ast.AST) -> str:
    return type(node).__name__.lower()


def _shown(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in values.items())
