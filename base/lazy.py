"""Packages whose public names are imported from their modules when they are first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str], otherwise: Callable[[str], Any] | None = None
) -> Callable[[str], Any]:
    """The ``__getattr__`` of a package.

    Args:
        package: the package's ``__name__``.
        modules: where each public name is defined, relative to the package, such as ``.calls.warming``.
        otherwise: makes what other names stand for; ``ValueError`` for a name that stands for nothing.
    """

    def load(name: str) -> Any:
        if name in modules:
            found = getattr(import_module(modules[name], package), name)
        else:
            try:
                if otherwise is None or name.startswith("_"):
                    raise ValueError
                found = otherwise(name)
            except ValueError:
                raise AttributeError(f"module {package!r} has no attribute {name!r}") from None
        setattr(sys.modules[package], name, found)
        return found

    return load
