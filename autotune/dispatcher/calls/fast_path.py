"""Calls with PyTorch tensors like those of an earlier call, recognised by PyTorch itself.

Reading three tensors one attribute after the other takes longer than a launch. ``torch.compile`` has the same question
before it runs what it compiled, and PyTorch answers it by one call in C++: whether types, dtypes, devices, sizes,
strides, gradients, lazy conjugation and negation are those of tensors that it saw before.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from .arguments import Values

_CALLS_KEPT = 4096
_RECENT_KEPT = 256  # calls, the most after which an order is known to repeat
_ALIKE_KEPT = 8  # kinds of tensors for one key, which are tried one after the other


def nothing(*_: object) -> None:
    """Launches nothing."""


@dataclass(slots=True, eq=False)
class Recognised:
    """A call that was made before.

    Attributes:
        case: the options, and which arrays are left out.
        alike: whether tensors are like those of that call.
        recorded: tells whether PyTorch records a gradient of one of them, which it may not; None if none requires one.
        extents: bytes of each array, gaps included; 0 of one that is left out. Empty if none that is written is given,
            so that no two can have memory in common that they may not.
        in_place: whether arrays that may be the same one have the same layout.
        check_apart: raises `ValueError` if arrays at these addresses have elements in common that they may not have.
        current: tells the stream on which PyTorch works now; 0 for the legacy default stream.
        launch: launches on a stream with the addresses of the arrays and the scalars.
        allocate: makes new outputs: an array, or a tuple of them.
    """

    case: Hashable
    alike: Callable[..., bool]
    recorded: Callable[[], bool] | None = None
    extents: tuple[int, ...] = ()
    in_place: bool = False
    check_apart: Callable[[Values], None] = nothing
    current: Callable[[], int] = int
    launch: Callable[[int, Values], None] = nothing
    allocate: Callable[[], Any] = nothing


def _nothing_yet() -> deque[Recognised]:
    """What is before the first call, and like none: as many as are kept, so that any thread finds any index."""
    return deque([Recognised(None, lambda *_: False)] * _RECENT_KEPT, _RECENT_KEPT)


@dataclass(slots=True)
class Memory:
    """The calls of one operator that are recognised.

    Programs repeat their calls in the same order: a call is compared first with what came as long ago as the call
    before it had been made before, and needs no key if it is alike.

    Attributes:
        recent: the calls that were recognised last, the newest one first.
        ahead: the index there of what is expected next.
    """

    recent: deque[Recognised] = field(default_factory=_nothing_yet)
    ahead: int = 0
    _calls: dict[Hashable, tuple[Recognised, ...]] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget all."""
        self.recent = _nothing_yet()
        self._calls.clear()

    def find(self, case: Hashable, tensors: Sequence[Any]) -> Recognised | None:
        """The call with such tensors, which is the newest one then; None for any other arrays."""
        try:
            found = next(one for one in self._calls.get(_key(case, tensors), ()) if one.alike(*tensors))
        except (StopIteration, TypeError):  # TypeError: what is no tensor, or an option that is a list
            return None
        if found.recorded and found.recorded():
            return None
        self._expect_what_followed(found)
        return found

    def _expect_what_followed(self, found: Recognised) -> None:
        """Go on as after the last time that this call came behind the same one as now, or behind any."""
        recent = self.recent
        before = recent[0]
        recent.appendleft(found)
        index = 0
        with suppress(ValueError, IndexError):  # there are no more
            while index == 0 or recent[index + 1] is not before:
                index = recent.index(found, index + 1)
                self.ahead = index - 1

    def remember(self, call: Recognised, tensors: Sequence[Any]) -> None:
        """Keep a call, to be found with such tensors."""
        if len(self._calls) >= _CALLS_KEPT:
            self.clear()
        key = _key(call.case, tensors)
        with suppress(TypeError):  # an option that is a list
            self._calls[key] = (call, *self._calls.get(key, ()))[:_ALIKE_KEPT]


def _key(case: Hashable, tensors: Sequence[Any]) -> Hashable:
    return case, *[getattr(tensor, "shape", None) for tensor in tensors]


def recording(tensors: Sequence[Any]) -> Callable[[], bool] | None:
    """Tells whether PyTorch records gradients; None if none of these tensors requires one."""
    tracked = any(tensor.requires_grad for tensor in tensors)
    return sys.modules["torch"].is_grad_enabled if tracked else None


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
