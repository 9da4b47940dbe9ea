"""The operators that there are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from importlib.util import resolve_name
from typing import Any

from autotune.base.suggestion import did_you_mean

from .operator import Operator

_PACKAGE = __package__.rpartition(".")[0]  # the package whose subpackages are the families


class _Operators(MutableMapping[str, Operator[Any, Any]]):
    """Operators by name. A module is imported when its operator is first asked for: each takes some 20 ms."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = dict(modules)
        self._imported: dict[str, Operator[Any, Any]] = {}

    def __getitem__(self, name: str) -> Operator[Any, Any]:
        if name not in self._imported:
            self._imported[name] = _imported(name, self._modules[name])
        return self._imported[name]

    def __setitem__(self, name: str, operator: Operator[Any, Any]) -> None:
        self._modules.setdefault(name, "")
        self._imported[name] = operator

    def __delitem__(self, name: str) -> None:
        del self._modules[name], self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def _imported(name: str, path: str) -> Operator[Any, Any]:
    module = resolve_name(path, _PACKAGE)
    try:
        found = import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):  # the module is there, and imports one that is not
            raise
        raise ValueError(f"operator {name!r} is registered as {path!r}: there is no module {error.name}") from None
    if not isinstance(getattr(found, "OPERATOR", None), Operator):
        raise ValueError(f"operator {name!r} is registered as {path!r}: expected {module}.OPERATOR, an Operator")
    registered: Operator[Any, Any] = found.OPERATOR
    return registered


OPERATORS = _Operators(
    {
        "sgemm": ".matmul.sgemm",
        "transpose": ".layout.transpose",
        "reduce": ".rows.reduce",
        "softmax": ".rows.softmax",
        "softmax_backward": ".rows.softmax_backward",
        "rms_norm": ".rows.norm.rms_norm",
        "layer_norm": ".rows.norm.layer_norm",
        "norm_backward": ".rows.norm_backward",
        "cross_entropy": ".rows.cross_entropy.cross_entropy",
        "cross_entropy_backward": ".rows.cross_entropy.cross_entropy_backward",
        "scan": ".scan.scan",
        "gemv": ".matmul.gemv",
        "pack": ".matmul.pack",
        "gemm": ".matmul.gemm",
        "dropout": ".streaming.dropout",
        "map": ".streaming.map",
        "rope": ".streaming.rope",
        "attention": ".attention.attention",
    }
)


def operator(name: str) -> Operator[Any, Any]:
    """The operator of a name; ``ValueError`` lists those that there are."""
    if name not in list(OPERATORS):
        raise ValueError(f"unknown operator {name!r}; {did_you_mean(name, OPERATORS)}known: {', '.join(OPERATORS)}")
    return OPERATORS[name]
