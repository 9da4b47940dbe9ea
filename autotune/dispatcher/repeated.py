"""Calls with PyTorch tensors like those of an earlier call, recognised by PyTorch itself.

Reading three tensors one attribute after the other takes longer than a launch. ``torch.compile`` has the same question
before it runs what it compiled, and PyTorch answers it by one call in C++: whether types, dtypes, devices, sizes,
strides, gradients, lazy conjugation and negation are those of tensors that it saw before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from typing import Any, Generic, TypeVar

from .layout import LAYOUTS_KEPT

T = TypeVar("T")

_ALIKE_KEPT = 8  # kinds of tensors for one key, which are tried one after the other


class Repeated(Generic[T]):
    """What was found for calls, by a key and by the tensors' kinds."""

    def __init__(self) -> None:
        self._seen: dict[Hashable, tuple[tuple[Callable[..., bool], bool, T], ...]] = {}

    def clear(self) -> None:
        """Forget all."""
        self._seen.clear()

    def latest(self, key: Hashable) -> T | None:
        """What was found last for this key."""
        seen = self._seen.get(key)
        return seen[0][2] if seen else None

    def find(self, key: Hashable, *tensors: Any) -> T | None:
        """What was found for such tensors, of which at least the first is PyTorch's."""
        for alike, tracked, found in self._seen.get(key, ()):
            if alike(*tensors):
                return None if tracked and sys.modules["torch"].is_grad_enabled() else found
        return None

    def remember(self, key: Hashable, found: T, *tensors: Any) -> None:
        """Keep what was found, if PyTorch can tell such tensors from others. Their addresses are not part of that."""
        alike = _comparison(tensors)
        if alike is None:
            return
        if len(self._seen) >= LAYOUTS_KEPT:
            self._seen.clear()
        tracked = any(tensor.requires_grad for tensor in tensors)
        self._seen[key] = ((alike, tracked, found), *self._seen.get(key, ()))[:_ALIKE_KEPT]


def _comparison(tensors: tuple[Any, ...]) -> Callable[..., bool] | None:
    """PyTorch's comparison with tensors like these; None if they are not its own, or if this PyTorch has none."""
    torch = sys.modules.get("torch")
    try:
        guards = torch._C._dynamo.guards.TensorGuards  # type: ignore[union-attr]
        if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):  # type: ignore[union-attr]
            return None
        sizes, strides = [list(t.shape) for t in tensors], [list(t.stride()) for t in tensors]
        alike: Callable[..., bool] = guards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check
    except (AttributeError, TypeError):
        return None
    return alike
