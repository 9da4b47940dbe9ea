"""Calls with PyTorch tensors like those of an earlier call, recognised by PyTorch itself.

Reading three tensors one attribute after the other takes longer than a launch. ``torch.compile`` has the same question
before it runs what it compiled, and PyTorch answers it by one call in C++: whether types, dtypes, devices, sizes,
strides, gradients, lazy conjugation and negation are those of tensors that it saw before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..arrays.layout import LAYOUTS_KEPT

T = TypeVar("T")

_ALIKE_KEPT = 8  # kinds of tensors for one key, which are tried one after the other


@dataclass(frozen=True, slots=True)
class _Seen:
    """A call that was seen.

    Attributes:
        case: what else tells calls apart.
        alike: whether tensors are like those of this call.
        tracked: whether one of them requires a gradient, which only may be where none are recorded.
        found: what was found for it.
    """

    case: Hashable
    alike: Callable[..., bool]
    tracked: bool
    found: Any


class Repeated(Generic[T]):
    """What was found for calls, by their case and by the kinds of their tensors."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        self._seen: dict[Hashable, tuple[_Seen, ...]] = {}
        self._newest = _Seen(None, lambda *_: False, False, None)

    def like(self, case: Hashable, a: Any, b: Any) -> T | None:
        """What was found last for operands of these shapes from the library of `a`."""
        seen = self._seen.get(_key(case, a, b))
        return seen[0].found if seen else None

    def find(self, case: Hashable, a: Any, b: Any, out: Any) -> T | None:
        """What was found for such tensors; None for any other arrays."""
        seen = self._newest  # first: whoever repeats one call needs no key
        if seen.case != case or not seen.alike(a, b, out):
            for seen in self._seen.get(_key(case, a, b), ()):
                if seen.alike(a, b, out):
                    self._newest = seen
                    break
            else:
                return None
        found: T = seen.found
        return None if seen.tracked and sys.modules["torch"].is_grad_enabled() else found

    def remember(self, case: Hashable, found: T, a: Any, b: Any, out: Any) -> None:
        """Keep what was found, if PyTorch can tell such tensors from others. Their addresses are not part of that."""
        alike = None if a is b else _comparison((a, b, out))  # PyTorch's says no where one tensor comes twice
        if alike is None:
            return
        if len(self._seen) >= LAYOUTS_KEPT:
            self.clear()
        seen = _Seen(case, alike, any(tensor.requires_grad for tensor in (a, b, out)), found)
        key = _key(case, a, b)
        self._seen[key] = (seen, *self._seen.get(key, ()))[:_ALIKE_KEPT]


def _key(case: Hashable, a: Any, b: Any) -> Hashable:
    return case, type(a), getattr(a, "shape", None), getattr(b, "shape", None)


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
