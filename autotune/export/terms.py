"""Numbers that follow from a problem's sizes, as texts that C++ and Python evaluate alike."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import CodeType
from typing import Any

_FUNCTIONS = {"floor_div": operator.floordiv, "floor_mod": operator.mod, "wide": int, "real": float, "gcd": math.gcd}


@dataclass(eq=False)
class Terms:
    """The numbers of an export, each defined once.

    Attributes:
        most: what each size may be; 1 at least.
        names: of terms, by what defines them.
        definitions: by name, a type of C++ and an expression of sizes and other terms.
    """

    most: Mapping[str, int]
    names: dict[str, str] = field(default_factory=dict)
    definitions: dict[str, tuple[str, str]] = field(default_factory=dict)

    def name(self, kind: str, text: str) -> str:
        """The name of a term."""
        if text not in self.names:
            self.names[text] = name = f"x{len(self.names)}"
            self.definitions[name] = kind, text
        return self.names[text]


class Values(dict[str, Any]):
    """What terms are for some sizes, each computed when it is asked for."""

    def __init__(self, terms: Terms, sizes: Mapping[str, int]) -> None:
        super().__init__(sizes)
        self._terms = terms

    def __missing__(self, name: str) -> Any:
        if name not in self._terms.definitions:
            raise KeyError(name)
        self[name] = value = self.of(self._terms.definitions[name][1])
        return value

    def of(self, text: str) -> Any:
        """What an expression is."""
        return eval(_compiled(text), _FUNCTIONS, self)


@cache
def _compiled(text: str) -> CodeType:
    return compile(text, "", "eval")
