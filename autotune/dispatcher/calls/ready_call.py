"""What is known of a call before it is launched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from autotune.dispatcher.arrays import arrays
from autotune.dispatcher.arrays.views import View
from autotune.dispatcher.targets.factory import target
from autotune.search_spaces.contract.call import Binding

from .arguments import Values
from .launcher import Launcher
from .plan import Plan

Arrays = tuple[Any, ...]  # None for one that is left out


@dataclass(frozen=True, slots=True)
class Resolved:
    """What is known of a call with arrays of these layouts, wherever they are.

    Attributes:
        views: by name, the arrays of the first such call; their pointers mean nothing for the next one.
        plan, launcher: None where nothing is to be computed.
        numbers: what the kernel takes for the elements of lists.
        binding: what is computed; None where nothing is.
    """

    views: Mapping[str, View]
    plan: Plan | None
    launcher: Launcher | None
    numbers: Values = ()
    binding: Binding | None = None

    def check_indices(self, inputs: Mapping[str, Any]) -> None:
        """Read all indices; ``ValueError`` if one leads to what is not there."""
        if self.binding is None:
            return
        problem = self.binding.problem
        indexing = {tensor.name for tensor in problem.tensors if tensor.indices}
        named = {self.binding.tensor_of(name): array for name, array in inputs.items() if array is not None}
        found = {name: arrays.values(array) for name, array in named.items() if name in indexing}
        if wrong := problem.why_misleading(found):
            raise ValueError(wrong)


class ReadyCall(NamedTuple):
    """A call that only has to be launched.

    Attributes:
        resolved: what is known of its layouts.
        stream: the handle of the stream.
        values: the addresses of all arrays, 0 for one that is left out; then the numbers and the scalars.
        outputs: in the order of `Call.outputs`.
        measurable: whether the plan is to measure candidates, and another launch finds what it reads as this one does.
    """

    resolved: Resolved
    stream: int
    values: Values
    outputs: Arrays
    measurable: bool

    def launch(self) -> None:
        """Launch; of immutable arrays, wait for the result."""
        launcher = self.resolved.launcher
        if launcher is not None:
            if self.measurable:
                launcher.measure(self.stream, self.values)
            launcher.launch(self.stream, self.values)
            if not arrays.IMMUTABLE.isdisjoint(map(type, arrays.each(self.outputs))):
                target(next(iter(self.resolved.views.values())).device).synchronize(self.stream)
