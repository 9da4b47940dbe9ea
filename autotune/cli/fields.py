"""The fields of a problem or a schedule as options and tables show them."""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, dataclass, fields
from enum import StrEnum
from typing import Any

from autotune.codegen.model.fields import field_specs

_ENTRY = re.compile(r"^    ((?:\w+, )*\w+): (.*(?:\n {5,}.*)*)", re.MULTILINE)


@dataclass(frozen=True)
class Field:
    """One field of a dataclass.

    Attributes:
        name: as declared.
        kind: ``int``, ``bool`` or a ``StrEnum``.
        default: None if there is none.
        example: of a problem's size, its value if the user gives none.
        help: what the docstring of the dataclass or of a base says about it under ``Attributes:``, else empty.
        choices: the only values, if not all of the kind are.
        power_of_two: whether a number must be one.
    """

    name: str
    kind: type
    default: Any
    example: int | None
    help: str
    choices: tuple[Any, ...] = ()
    power_of_two: bool = False

    @property
    def allowed(self) -> str:
        """The choices, else ``int``, ``power of two``, ``bool``, or the values of the enum."""
        if self.choices:
            return " | ".join(map(str, self.choices))
        number = "power of two" if self.power_of_two else self.kind.__name__
        return " | ".join(self.kind) if issubclass(self.kind, StrEnum) else number


def fields_of(cls: type[Any]) -> list[Field]:
    """The fields of a problem's or a schedule's dataclass; one without default is an ``int``, as in `from_dict`."""
    texts, specs = _attribute_texts(cls), field_specs(cls)
    return [
        Field(
            field.name,
            int if field.default is MISSING else type(field.default),
            None if field.default is MISSING else field.default,
            specs[field.name].example,
            texts.get(field.name, specs[field.name].text),
            specs[field.name].allowed,
            specs[field.name].power_of_two,
        )
        for field in fields(cls)
    ]


def _attribute_texts(cls: type) -> dict[str, str]:
    """What the docstrings of a class and of its bases say about their attributes, the class's own last word."""
    texts: dict[str, str] = {}
    for one in reversed(cls.__mro__):
        _, _, section = inspect.cleandoc(one.__doc__ or "").partition("Attributes:\n")
        for names, text in _ENTRY.findall(section):
            texts |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return texts
