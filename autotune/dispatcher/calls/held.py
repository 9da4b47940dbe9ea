"""What a call finds out once for all arrays of a kind: their plan, and how far they reach."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TypeVar

from ...codegen.problem import Problem
from ...search_spaces.registry import operator
from ..arrays.layout import LAYOUTS_KEPT, View
from .plans import Plan, plan_for
from .problems import check_output

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Held:
    """What is held for a call with arrays of these layouts, wherever they are.

    Attributes:
        plan: None where nothing is to be computed.
        swapped: whether the first two operands change places.
        out, inputs: the arrays of the first such call; its pointers mean nothing for the next one.
        reaches: bytes of each input, gaps included; 0 of a second one that there is not.
        out_reach: bytes of the output.
    """

    plan: Plan | None
    swapped: bool
    out: View
    inputs: dict[str, View]
    reaches: tuple[int, int]
    out_reach: int

    def check_apart(self, at_out: int, at_first: int, at_second: int = 0) -> None:
        """``ValueError`` if the output overlaps an input, at these addresses."""
        end, (first, second) = at_out + self.out_reach, self.reaches
        # Not a loop over both, which takes twice as long.
        if (at_first < end and at_out < at_first + first) or (at_second < end and at_out < at_second + second):
            pointers = dict(zip(self.inputs, (at_first, at_second), strict=False))
            views = {name: view._replace(pointer=pointers[name]) for name, view in self.inputs.items()}
            check_output(self.out._replace(pointer=at_out), **views)


def hold(name: str, problem: Problem, out: View, inputs: dict[str, View], stream: int, swapped: bool) -> Held:
    """Make sure that a kernel may write `out`, and get the plan of a problem unless it is empty.

    Raises:
        ValueError: `out` overlaps an input, or is on another device.
        CaptureError, CompileError, LaunchError, DeviceError: see `plan_for`.
    """
    check_output(out, **inputs)
    plan = None if 0 in out.layout.shape else plan_for(operator(name), problem, out.device, stream)
    first, second = *(view.extent for view in inputs.values()), *[0] * (2 - len(inputs))
    return Held(plan, swapped, out, inputs, (first, second), out.extent)


def kept(cache: dict[Hashable, T], key: Hashable, make: Callable[[], T]) -> T:
    """A new value, kept in a cache that begins anew when it is full."""
    value = make()
    if len(cache) >= LAYOUTS_KEPT:
        cache.clear()
    cache[key] = value
    return value
