"""Calls with PyTorch tensors like those of an earlier call, recognised by PyTorch itself.

Reading three tensors one attribute after the other takes longer than a launch. ``torch.compile`` has the same question
before it runs what it compiled, and PyTorch answers it by one call in C++: whether types, dtypes, devices, sizes,
strides, gradients, lazy conjugation and negation are those of tensors that it saw before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .arguments import Values

_CALLS_KEPT = 4096
_ALIKE_KEPT = 8  # kinds of tensors for one key, which are tried one after the other


def nothing(*_: object) -> None:
    """Launches nothing."""


@dataclass(slots=True, eq=False)
class Recognised:
    """A call that was made before.

    Attributes:
        case: the options, and which arrays are left out.
        alike: whether tensors are like those of that call.
        tracked: whether one of them requires a gradient, which only may be where none are recorded.
        extents: bytes of each array, gaps included; 0 of one that is left out. Empty if none that is written is given,
            so that no two can have memory in common that they may not.
        in_place: whether arrays that may be the same one have the same layout.
        check_apart: raises `ValueError` if arrays at these addresses have elements in common that they may not have.
        current: tells the stream on which PyTorch works now; 0 for the legacy default stream.
        launch: launches on a stream with the addresses of the arrays and the scalars.
        allocate: makes new outputs: an array, or a tuple of them.
        following: the call that was made after this one, at last: programs repeat theirs in the same order.
    """

    case: Hashable
    alike: Callable[..., bool]
    tracked: bool = False
    extents: tuple[int, ...] = ()
    in_place: bool = False
    check_apart: Callable[[Values], None] = nothing
    current: Callable[[], int] = int
    launch: Callable[[int, Values], None] = nothing
    allocate: Callable[[], Any] = nothing
    following: Recognised = field(init=False)

    def __post_init__(self) -> None:
        self.following = self


def _nothing_yet() -> Recognised:
    """What is before the first call, and like none."""
    return Recognised(None, lambda *_: False)


@dataclass(slots=True)
class Memory:
    """The calls of one operator that are recognised.

    Attributes:
        newest: the one that was recognised last. A call is compared first with the one that followed that before, and
            needs no key if it is alike.
    """

    newest: Recognised = field(default_factory=_nothing_yet)
    _calls: dict[Hashable, tuple[Recognised, ...]] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget all."""
        self.newest = _nothing_yet()
        self._calls.clear()

    def find(self, case: Hashable, tensors: Sequence[Any]) -> Recognised | None:
        """The call with such tensors, which is the newest one then; None for any other arrays."""
        newest = self.newest
        try:
            if newest.case == case and newest.alike(*tensors):
                found = newest  # the same once more, which leaves what follows as it is
            else:
                alike = (one for one in self._calls.get(_key(case, tensors), ()) if one.alike(*tensors))
                found = newest.following = next(alike)
        except (StopIteration, TypeError):  # TypeError: what is no tensor, or an option that is a list
            return None
        self.newest = found
        return None if found.tracked and gradients_are_recorded() else found

    def remember(self, call: Recognised, tensors: Sequence[Any]) -> None:
        """Keep a call, to be found with such tensors."""
        if len(self._calls) >= _CALLS_KEPT:
            self.clear()
        key = _key(call.case, tensors)
        with suppress(TypeError):  # an option that is a list
            self._calls[key] = (call, *self._calls.get(key, ()))[:_ALIKE_KEPT]


def _key(case: Hashable, tensors: Sequence[Any]) -> Hashable:
    return case, *[getattr(tensor, "shape", None) for tensor in tensors]


def gradients_are_recorded() -> bool:
    """Whether PyTorch, which must have been imported, records gradients."""
    return bool(sys.modules["torch"].is_grad_enabled())


def comparison(tensors: Sequence[Any]) -> Callable[..., bool] | None:
    """PyTorch's comparison with tensors like these; their addresses are not part of it.

    None if they are not its own, if this PyTorch has none, or if a tensor comes twice, for which it always says no.
    """
    torch = sys.modules.get("torch")
    if torch is None or len(set(map(id, tensors))) < len(tensors):
        return None
    try:
        guards = torch._C._dynamo.guards.TensorGuards
        if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
            return None
        sizes, strides = [list(t.shape) for t in tensors], [list(t.stride()) for t in tensors]
        alike: Callable[..., bool] = guards(*tensors, dynamic_dims_sizes=sizes, dynamic_dims_strides=strides).check
    except (AttributeError, TypeError):
        return None
    return alike


def allocator(tensors: Sequence[Any]) -> Callable[[], Any]:
    """What makes new tensors like these: one, or a tuple of several."""
    each = [_maker(tensor) for tensor in tensors]
    return each[0] if len(each) == 1 else lambda: tuple([make() for make in each])


def _maker(tensor: Any) -> Callable[[], Any]:
    """What makes a new tensor like this one: like one element, if that has such strides, which is sooner."""
    torch = sys.modules["torch"]
    like = partial(torch.empty_like, tensor.new_empty(()).expand(tensor.shape))
    if like().stride() == tensor.stride():
        return like
    return partial(torch.empty_strided, tensor.shape, tensor.stride(), dtype=tensor.dtype, device=tensor.device)
