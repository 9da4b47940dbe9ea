"""How fast a score changes with what it was: the derivative of an expression, which is an expression, too."""

from __future__ import annotations

from math import log

from .expression import SCORE, Expression, Kind, constant

_ZERO, _ONE = constant(0.0), constant(1.0)


def derivative(score: Expression) -> Expression:
    """That of a number in the score; where two numbers are the same, min and max have that of their first one.

    Raises:
        ValueError: it is too large an expression.
    """
    if score.head == SCORE:
        return _ONE
    if not score.arguments:
        return _ZERO
    if score.head == "where":
        condition, *chosen = score.arguments
        return _chosen(condition, *map(derivative, chosen))
    slopes = [derivative(one) if one.kind is Kind.NUMBER else _ZERO for one in score.arguments]
    if all(slope == _ZERO for slope in slopes):
        return _ZERO
    return _of_function(score, *slopes)


def _of_function(score: Expression, slope: Expression, other: Expression = _ZERO) -> Expression:
    """By the slopes of its arguments."""
    first, *second = score.arguments
    match score.head:
        case "add":
            return _sum(slope, other)
        case "sub":
            return _sum(slope, _negative(other))
        case "mul":
            return _sum(_product(slope, second[0]), _product(first, other))
        case "div":
            return _sum(_quotient(slope, second[0]), _negative(_quotient(_product(score, other), second[0])))
        case "min":
            return _chosen(Expression("lt", (second[0], first)), other, slope)
        case "max":
            return _chosen(Expression("lt", (first, second[0])), other, slope)
        case "neg":
            return _negative(slope)
        case "abs":
            return _chosen(Expression("lt", (first, _ZERO)), _negative(slope), slope)
        case "tanh":
            return _product(Expression("sub", (_ONE, Expression("mul", (score, score)))), slope)
        case "exp2":
            return _product(Expression("mul", (score, constant(log(2)))), slope)
    raise AssertionError(score.head)  # of integers alone


def _sum(a: Expression, b: Expression) -> Expression:
    return b if a == _ZERO else a if b == _ZERO else Expression("add", (a, b))


def _negative(a: Expression) -> Expression:
    return a if a == _ZERO else Expression("neg", (a,))


def _product(a: Expression, b: Expression) -> Expression:
    if _ZERO in (a, b):
        return _ZERO
    return b if a == _ONE else a if b == _ONE else Expression("mul", (a, b))


def _quotient(a: Expression, b: Expression) -> Expression:
    return a if a == _ZERO else Expression("div", (a, b))


def _chosen(condition: Expression, a: Expression, b: Expression) -> Expression:
    return a if a == b else Expression("where", (condition, a, b))
