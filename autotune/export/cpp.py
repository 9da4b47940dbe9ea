"""Trees of expressions as C++."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .expressions import Condition, Expression, TraceError
from .trace import Leaf, Tree

T = TypeVar("T")
_INT64 = 2**63 - 1
_WIDE = 2**126
_INFIX = ("+", "-", "*", "/")


class Writer:
    """The lines of a function's body, in which each expression that occurs is computed once.

    Attributes:
        lines: so far.
    """

    def __init__(self, indent: str = "  ", names: dict[int, str] | None = None) -> None:
        self.lines: list[str] = []
        self._indent, self._names = indent, dict(names or {})

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append(f"{self._indent}{text}")

    def number(self, value: Any, kind: str = "") -> str:
        """A number as an operand of a type, its own if none is given; what it needs is computed before."""
        own = type_of(value)
        if not isinstance(value, Expression):
            return _literal(value, kind or own)
        if value.number not in self._names:
            text = self._text(value)
            self._names[value.number] = name = f"x{len(self._names)}"
            self.line(f"const {own} {name} = {text};")
        name = self._names[value.number]
        return name if kind in ("", own) else f"static_cast<{kind}>({name})"

    def condition(self, condition: Condition) -> str:
        """A comparison."""
        kind = _widest(condition.left, condition.right)
        return f"{self.number(condition.left, kind)} {condition.operation} {self.number(condition.right, kind)}"

    def tree(self, tree: Tree[T], write: Callable[[Writer, T], None]) -> None:
        """What `write` makes of the leaf at which the conditions end."""
        if isinstance(tree, Leaf):
            write(self, tree.value)
            return
        self.line(f"if ({' && '.join(map(self.condition, tree.conditions))}) {{")
        for branch, end in ((tree.yes, "} else {"), (tree.no, "}")):
            inner = Writer(f"{self._indent}  ", self._names)
            inner.tree(branch, write)
            self.lines += inner.lines
            self.line(end)

    def _text(self, value: Expression) -> str:
        if value.operation == "size":
            return f"sizes.{value.operands[0]}"
        operation, own = value.operation, type_of(value)
        if operation in ("ceil", "floor"):
            return f"static_cast<{own}>(std::{operation}({self.number(value.operands[0], 'double')}))"
        kind = own if own == "double" else _widest(value, *value.operands)
        operands = [self.number(one, kind) for one in value.operands]
        if operation in _INFIX:
            text = f" {operation} ".join(operands)
        elif operation == "neg":
            text = f"-{operands[0]}"
        else:
            name = {"//": "floor_div", "%": "floor_mod", "ceil_div": "ceil_div"}.get(operation, f"std::{operation}")
            text = f"{name}({', '.join(operands)})"
        return text if kind == own else f"static_cast<{own}>({text})"


def type_of(value: Any) -> str:
    """The C++ type that holds a number."""
    if not isinstance(value, Expression):
        return "double" if isinstance(value, float) else _type(value, value)
    return "double" if value.low is None or value.high is None else _type(value.low, value.high)


def _type(low: int, high: int) -> str:
    if low >= -_INT64 and high <= _INT64:
        return "long long"
    if low >= -_WIDE and high <= _WIDE:
        return "Wide"
    raise TraceError(f"a number from {low} to {high} is over 127 bits")


def _widest(*values: Any) -> str:
    kinds = {type_of(one) for one in values}
    return next(kind for kind in ("double", "Wide", "long long") if kind in kinds)


def _literal(value: Any, kind: str) -> str:
    if kind == "double":
        return float(value).hex()
    text = f"{int(value)}LL" if abs(value) >= 2**31 else str(int(value))
    if kind == "long long" and not text.endswith("LL"):
        text += "LL"
    return f"static_cast<Wide>({text})" if kind == "Wide" else text
