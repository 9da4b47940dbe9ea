"""The operators that there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import resolve_name
from typing import Any
from warnings import warn

from autotune.base.suggestion import did_you_mean

from .operator import Operator

_PACKAGE = __package__.rpartition(".")[0]  # the package whose subpackages are the families


class _Operators(MutableMapping[str, Operator[Any, Any]]):
    """Operators by name. A module is imported when its operator is first asked for: each takes some 20 ms.

    Behind those of this package come those of other packages that are installed, by the entry points of a group. They
    are looked for when a name is asked for that is none of this package, or when all are.
    """

    def __init__(self, modules: Mapping[str, str], group: str = "") -> None:
        self._own, self._group = dict(modules), group
        self._imported: dict[str, Operator[Any, Any]] = {}

    @cached_property
    def _others(self) -> dict[str, EntryPoint]:
        """The entry points of other packages by the names of their operators; no name is one of this package's."""
        found: dict[str, EntryPoint] = {}
        for point in entry_points(group=self._group) if self._group else ():
            if point.name in self._own or point.name in found:
                warn(f"{_package(point)}: there is an operator {point.name} already; its own is left out", stacklevel=2)
            else:
                found[point.name] = point
        return found

    def __getitem__(self, name: str) -> Operator[Any, Any]:
        if name not in self._imported:
            own = name in self._own
            self._imported[name] = _imported(name, self._own[name]) if own else _loaded(self._others[name])
        return self._imported[name]

    def __setitem__(self, name: str, operator: Operator[Any, Any]) -> None:
        self._own.setdefault(name, "")
        self._imported[name] = operator

    def __delitem__(self, name: str) -> None:
        del self._own[name], self._imported[name]

    def __iter__(self) -> Iterator[str]:
        return iter({**self._own, **self._others})

    def __len__(self) -> int:
        return len({**self._own, **self._others})


def _loaded(point: EntryPoint) -> Operator[Any, Any]:
    """The operator of another package.

    Raises:
        ValueError: the package cannot be imported, or has something else there.
    """
    what = f"operator {point.name!r} of {_package(point)}"
    try:
        found = point.load()
    except Exception as error:
        raise ValueError(f"{what}: {type(error).__name__}: {error}") from error
    if not isinstance(found, Operator) or found.name != point.name:
        raise ValueError(f"{what}: expected {point.value} to be an Operator of this name")
    return found


def _package(point: EntryPoint) -> str:
    return point.dist.name if point.dist else point.module


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
        "radix_sort": ".sorting.radix_sort.radix_sort",
        "sort": ".sorting.radix_sort.sort",
        "argsort": ".sorting.radix_sort.argsort",
        "merge": ".sorting.merge",
        "merge_sort": ".sorting.merge_sort",
        "segmented_sort": ".sorting.segmented_sort",
        "gemv": ".matmul.gemv",
        "pack": ".matmul.pack",
        "gemm": ".matmul.gemm",
        "dropout": ".streaming.dropout",
        "map": ".streaming.map",
        "rope": ".streaming.rope",
        "attention": ".attention.attention",
        "attention_backward": ".attention.attention_backward",
        "attention_varlen": ".attention.attention_varlen",
        "attention_varlen_backward": ".attention.attention_varlen_backward",
        "attention_decode": ".attention.attention_decode",
        "attention_merge": ".attention.attention_merge",
        "kv_append": ".attention.kv_append",
        "topk": ".selection.topk",
        "sampling": ".selection.sampling",
        "filter_tokens": ".selection.filter_tokens",
        "chain_speculative_sampling": ".selection.chain_speculative_sampling",
        "beam_step": ".selection.beam_step",
        "conv2d": ".convolution.conv2d",
        "conv2d_input": ".convolution.conv2d_input",
        "conv2d_planes": ".convolution.conv2d_planes",
        "conv2d_weight": ".convolution.conv2d_weight",
        "conv3d": ".convolution.conv3d",
        "causal_conv1d": ".convolution.causal_conv1d",
        "causal_conv1d_update": ".convolution.causal_conv1d_update",
        "letterbox": ".vision.letterbox",
        "letterbox_mixed": ".vision.letterbox_mixed",
        "decode": ".vision.decode",
        "decode_anchors": ".vision.decode_anchors",
        "nms": ".vision.nms",
        "detect": ".vision.detect",
        "scale_boxes": ".vision.scale_boxes",
    },
    group="autotune.operators",
)


DECLARED: dict[str, Callable[[], None]] = {}
"""By name, what registers an operator in another process, of those that neither this nor another package has."""


def register_declared(declared: Mapping[str, Callable[[], None]]) -> None:
    """Register the operators that the process had which started this one."""
    for name, register in declared.items():
        if name not in OPERATORS:
            register()


def operator(name: str) -> Operator[Any, Any]:
    """The operator of a name; ``ValueError`` lists those that there are."""
    if not isinstance(name, str) or name not in OPERATORS:
        raise ValueError(f"unknown operator {name!r}; {did_you_mean(name, OPERATORS)}known: {', '.join(OPERATORS)}")
    return OPERATORS[name]
