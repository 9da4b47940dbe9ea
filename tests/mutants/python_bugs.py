"""Bugs in Python, by its syntax tree."""

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

Edit = tuple[int, int, str]  # where it begins and ends in the text, and what is there instead

_COMPARED = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==",
    "is": "is not", "is not": "is", "in": "not in", "not in": "in",
}  # fmt: skip
_CALCULATED = {"+": "-", "-": "+", "*": "+", "//": "*", "/": "*", "%": "+", "<<": ">>", "&": "|", "|": "&"}
_OTHER_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_LEFT_OUT = ("annotation", "returns", "decorator_list", "type_params", "bases")  # of what no test can depend on


def edits(text: str) -> Iterator[Edit]:
    """All of a text, in the order of its nodes."""
    return _Text(text).edits(ast.parse(text))


class _Text:
    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def edits(self, node: ast.AST) -> Iterator[Edit]:
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            return
        yield from self._own(node)
        for name, value in ast.iter_fields(node):
            if name in _LEFT_OUT:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.edits(child)

    def _own(self, node: ast.AST) -> Iterator[Edit]:
        match node:
            case ast.Compare(left=left, comparators=right):
                for first, second in pairwise([left, *right]):
                    yield from self._between(first, second, _COMPARED)
            case ast.BinOp(left=left, right=right_operand) if not isinstance(left, ast.JoinedStr):
                yield from self._between(left, right_operand, _CALCULATED)
            case ast.BoolOp(values=values):
                for first, second in pairwise(values):
                    yield from self._between(first, second, {"and": "or", "or": "and"})
            case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
                yield self._begin(node), self._begin(operand), ""
            case ast.Constant(value=bool() as value):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int() as value):
                yield *self._span(node), str(value + 1)
            case ast.Call(func=ast.Name(id=name) as called) if name in _OTHER_NAMES:
                yield *self._span(called), _OTHER_NAMES[name]
            case ast.Call(args=[first, second, *_]) if not isinstance(first, ast.Starred):
                yield from self._swapped(first, second)
            case ast.If(test=test) if not isinstance(test, ast.Compare | ast.BoolOp | ast.UnaryOp):
                begin, end = self._span(test)
                yield begin, end, f"not ({self._text[begin:end]})"
            case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Delete():
                yield *self._span(node), "pass"
            case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
                yield *self._span(node), "pass"
            case ast.Assign(targets=[ast.Name()], value=value) | ast.Return(value=ast.expr() as value):
                if not isinstance(value, ast.Constant):
                    yield *self._span(value), "None"

    def _between(self, first: ast.AST, second: ast.AST, others: dict[str, str]) -> Iterator[Edit]:
        begin, end = self._span(first)[1], self._begin(second)
        for operator in sorted(others, key=len, reverse=True):
            pattern = re.escape(operator).replace(r"\ ", r"\s+")
            pattern = rf"\b{pattern}\b" if operator[0].isalpha() else pattern
            if found := re.search(pattern, self._text[begin:end]):
                yield begin + found.start(), begin + found.end(), others[operator]
                return

    def _swapped(self, first: ast.AST, second: ast.AST) -> Iterator[Edit]:
        (begin, middle), (follows, end) = self._span(first), self._span(second)
        one, other = self._text[begin:middle], self._text[follows:end]
        if one != other and not isinstance(second, ast.Starred):
            yield begin, end, f"{other}{self._text[middle:follows]}{one}"

    def _span(self, node: ast.AST) -> tuple[int, int]:
        return self._begin(node), self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _begin(self, node: ast.AST) -> int:
        return self._place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _place(self, line: int, column: int) -> int:
        """Columns are counted in bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())
