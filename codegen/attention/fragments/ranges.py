"""What a mask may be for a tile of queries and keys: from ranges of their numbers, in CUDA C++.

A range has all values of an integer; what a comparison may be follows from the ranges of its operands. Each operand is
taken for itself, so a tile may count as partly seen that is not, and never the other way round.
"""

from __future__ import annotations

from .expression import MOST_INTEGER, PLACES, Expression, Kind
from .meaning import CONTINUED, returned

EXTREMES_OF = 64  # entries of the table of integers of which the least and the largest one are known
_MOST_EXTREMES = 8  # pairs that are looked at; of more entries, nothing is known
_STRUCTS = """struct Range {
    int least;
    int most;
  };
  struct Chance {
    bool holds;  // for some pair, perhaps
    bool fails;
  };"""
_FUNCTIONS = {
    "range": "static __device__ __forceinline__ Range range_of(int a) { return {a, a}; }",
    "extremes": "static __device__ __forceinline__ Range hull(Range a, Range b) {\n"
    "    return {min(a.least, b.least), max(a.most, b.most)};\n  }",
    "add": "static __device__ __forceinline__ Range sum(Range a, Range b) {\n"
    "    return {a.least + b.least, a.most + b.most};\n  }",
    "sub": "static __device__ __forceinline__ Range difference(Range a, Range b) {\n"
    "    return {a.least - b.most, a.most - b.least};\n  }",
    "mul": "static __device__ __forceinline__ Range product(Range a, Range b) {\n"
    "    return hull(hull(range_of(a.least * b.least), range_of(a.least * b.most)),\n"
    "                hull(range_of(a.most * b.least), range_of(a.most * b.most)));\n  }",
    "min": "static __device__ __forceinline__ Range smaller(Range a, Range b) {\n"
    "    return {min(a.least, b.least), min(a.most, b.most)};\n  }",
    "max": "static __device__ __forceinline__ Range larger(Range a, Range b) {\n"
    "    return {max(a.least, b.least), max(a.most, b.most)};\n  }",
    "neg": "static __device__ __forceinline__ Range negative(Range a) { return {-a.most, -a.least}; }",
    "abs": "static __device__ __forceinline__ Range magnitude(Range a) {\n"
    "    return {max(0, max(a.least, -a.most)), max(-a.least, a.most)};\n  }",
    "integer": "static __device__ __forceinline__ Range integers_at(const Arguments& arguments, Range at) {\n"
    "    const Problem problem(arguments);\n"
    "    const int last_place = problem.integers_count - 1;\n"
    "    const int first = max(0, min(at.least, last_place)) / Problem::extremes_of;\n"
    "    const int last = max(0, min(at.most, last_place)) / Problem::extremes_of;\n"
    f"    if (last - first >= {_MOST_EXTREMES}) return {{-{MOST_INTEGER}, {MOST_INTEGER}}};\n"
    "    const int2* extremes = reinterpret_cast<const int2*>(arguments.extremes);\n"
    "    Range found = {extremes[first].x, extremes[first].y};\n"
    "    for (int i = first + 1; i <= last; ++i) found = hull(found, {extremes[i].x, extremes[i].y});\n"
    "    return found;\n  }",
    "floordiv": "static __device__ __forceinline__ Range floored(Range a, int b) {\n"
    "    return {floored(a.least, b), floored(a.most, b)};\n  }",
    "mod": "static __device__ __forceinline__ Range modulo(Range a, int b) {\n"
    "    const int ahead = a.least - modulo(a.least, b);\n"
    "    return a.most - ahead < b ? Range{a.least - ahead, a.most - ahead} : Range{0, b - 1};\n  }",
    "where": "static __device__ __forceinline__ Range chosen(Chance condition, Range a, Range b) {\n"
    "    return condition.holds ? condition.fails ? hull(a, b) : a : b;\n  }",
    "lt": "static __device__ __forceinline__ Chance less(Range a, Range b) {\n"
    "    return {a.least < b.most, a.most >= b.least};\n  }",
    "eq": "static __device__ __forceinline__ Chance equal(Range a, Range b) {\n"
    "    return {a.least <= b.most && b.least <= a.most, a.least < b.most || b.least < a.most};\n  }",
    "and": "static __device__ __forceinline__ Chance both(Chance a, Chance b) {\n"
    "    return {a.holds && b.holds, a.fails || b.fails};\n  }",
    "or": "static __device__ __forceinline__ Chance either(Chance a, Chance b) {\n"
    "    return {a.holds || b.holds, a.fails && b.fails};\n  }",
    "not": "static __device__ __forceinline__ Chance opposite(Chance a) { return {a.fails, a.holds}; }",
}
_NEEDED = {"mul": ("range", "extremes"), "where": ("extremes",), "integer": ("extremes",)}
_CALLS = {
    "add": "sum({}, {})",
    "sub": "difference({}, {})",
    "mul": "product({}, {})",
    "min": "smaller({}, {})",
    "max": "larger({}, {})",
    "integer": "integers_at(arguments, {})",
    "neg": "negative({})",
    "abs": "magnitude({})",
    "where": "chosen({}, {}, {})",
    "lt": "less({}, {})",
    "gt": "less({1}, {0})",
    "le": "opposite(less({1}, {0}))",
    "ge": "opposite(less({}, {}))",
    "eq": "equal({}, {})",
    "ne": "opposite(equal({}, {}))",
    "and": "both({}, {})",
    "or": "either({}, {})",
    "not": "opposite({})",
}
_CALLED = {"gt": ("lt",), "le": ("lt", "not"), "ge": ("lt", "not"), "ne": ("eq", "not")}


def chance_lines(expression: Expression) -> str:
    """``chance(arguments, batch, head, q, k)``, of a struct that has the lines of the mask, too: q and k are ranges."""
    body, used = _chance(expression), {"range"}
    for head in _heads(expression):
        for name in _CALLED.get(head, (head,)):
            used |= {name, *_NEEDED.get(name, ())}
    given = ", ".join(f"{'int' if name in ('batch', 'head') else 'Range'} {name}" for name in PLACES)
    head = f"static __device__ __forceinline__ Chance chance(const Arguments& arguments,\n{CONTINUED}{given})"
    defined = f"{head} {{\n{returned(body)}\n  }}"
    return "\n  ".join((_STRUCTS, *(text for name, text in _FUNCTIONS.items() if name in used), defined))


def _ranged(expression: Expression) -> bool:
    """Whether all that it is computed of are integers and their comparisons."""
    return expression.kind is not Kind.NUMBER and all(map(_ranged, expression.arguments))


def _heads(expression: Expression) -> set[str]:
    """Functions whose ranges are computed."""
    if not _ranged(expression) and expression.head not in ("and", "or", "not"):
        return set()
    found = {expression.head} if expression.arguments else set()
    return found.union(*map(_heads, expression.arguments))


def _chance(expression: Expression) -> str:
    if expression.kind is Kind.TRUTH and not _ranged(expression) and expression.head not in ("and", "or", "not"):
        return "Chance{true, true}"
    if expression.value is not None or expression.head in ("batch", "head"):
        return f"range_of({expression.head or expression.value})"
    if not expression.arguments:
        return expression.head
    if expression.head in ("floordiv", "mod"):
        name = "floored" if expression.head == "floordiv" else "modulo"
        return f"{name}({_chance(expression.arguments[0])}, {expression.arguments[1].value})"
    return _CALLS[expression.head].format(*map(_chance, expression.arguments))
