"""What Python computes from a problem's sizes, and for which sizes it computes the same.

A function is called for some sizes, each of them a `Number`: its value, and how it follows from the sizes. What the
function asks of numbers turns out as their values have it, and is noted as a condition of the `Path`. So what it
returns holds for all sizes for which the same conditions turn out the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import Any

from numpy.lib.mixins import NDArrayOperatorsMixin

from autotune.base.errors import AutotuneError
from autotune.codegen.model.integers import TracedNumber

from .terms import COMPUTE, Values

UNKNOWN = "\x02"  # stands for the value of a number in a text; no source has this character
_EXACT = 2**53  # C++ has whole numbers up to this one


class TraceError(AutotuneError, TypeError):
    """An operator does with a size what an export cannot follow."""


class ValueNeededError(AutotuneError):
    """What a function returns may hold no value of a number, and it asks for one."""


@dataclass(eq=False)
class Path:
    """One way through a function.

    Attributes:
        values: of the traced sizes.
        own: whether values may be asked for; then it is the path of these values alone.
        conditions: the rows of what was asked, and how it turned out.
    """

    values: Values
    own: bool
    conditions: dict[int, bool] = field(default_factory=dict)

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes to call a function with."""
        return {name: self.number(self.values.terms.row("size", name)) for name in self.values.sizes}

    def number(self, row: int) -> Any:
        """The number of a row."""
        return Number(self, row)

    def row(self, value: Any) -> int:
        """The row of a number, traced or not."""
        if isinstance(value, Number):
            return value.row
        if isinstance(value, float):
            return self.values.terms.constant(float(value))
        if abs(value) > _EXACT:
            raise TraceError(f"the number {value}: C++ has whole numbers up to {_EXACT}")
        return self.values.terms.constant(int(value))

    def computed(self, operation: str, *operands: Any) -> Any:
        """A number that follows from others."""
        return self.number(self.values.terms.row(operation, *map(self.row, operands)))

    def asked(self, operation: str, left: Any, right: Any) -> bool:
        """How a comparison turns out, which is noted."""
        condition = self.values.terms.row(operation, self.row(left), self.row(right))
        self.conditions[condition] = outcome = bool(self.values[condition])
        return outcome


@dataclass(eq=False, slots=True)
class Number(NDArrayOperatorsMixin, TracedNumber):
    """A number that follows from sizes. Its operators are NumPy's, by `__array_ufunc__`.

    Attributes:
        path: where conditions on it are noted.
        row: of its term.
    """

    path: Path
    row: int

    @property
    def value(self) -> Any:
        """What it is for the traced sizes."""
        return self.path.values[self.row]

    def __array_ufunc__(self, function: Any, _: str, *operands: Any, **__: Any) -> Any:
        one, other = (*operands, 0)[:2]
        match function.__name__:
            case "less" | "greater_equal" as name:
                return self.path.asked("less", one, other) is (name == "less")
            case "greater" | "less_equal" as name:
                return self.path.asked("less", other, one) is (name == "greater")
            case "equal" | "not_equal" as name:
                alike = isinstance(other, Number | int | float) and self.path.asked("equal", one, other)
                return alike is (name == "equal")
            case "negative":
                return 0 - one
            case "divmod":
                return one // other, one % other
            case name if name in COMPUTE:
                return self.path.computed(name, *operands)
        return NotImplemented

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __ceil__(self) -> Any:
        return self if isinstance(self.value, int) else self.path.computed("ceil", self)

    def __floor__(self) -> Any:
        return self if isinstance(self.value, int) else -math.ceil(-self)

    def __round__(self) -> Any:
        return self if isinstance(self.value, int) else self.path.computed("rint", self)

    def largest(self, values: Iterable[Any]) -> Any:
        """See `largest`."""
        return reduce(partial(self.path.computed, "maximum"), values)

    def log(self, base: float) -> Any:
        """See `logarithm`."""
        return self.path.computed("logarithm", self, base)

    def _narrowed(self) -> Any:
        """The value; the path is that of this value."""
        if not self.path.own:
            raise ValueNeededError
        self.path.asked("equal", self, self.value)
        return self.value

    def __index__(self) -> int:
        return int(self._narrowed())

    __int__ = __trunc__ = __index__

    def __float__(self) -> float:
        return float(self._narrowed())

    def __str__(self) -> str:
        """The value, or a mark: texts such as comments are not always needed."""
        return str(self._narrowed()) if self.path.own else UNKNOWN

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        return str(self)

    def __hash__(self) -> int:
        """What is cached by a size would be served again where conditions on it turn out otherwise."""
        raise TraceError("a size, or what follows from it, is looked up in a table or a cache here")
