"""How a call is differentiated: from the gradients of its outputs to those of its inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from .call import Call


class Backward(NamedTuple):
    """What a backward pass is given.

    Attributes:
        operators: calls of all operators that can be differentiated again, such as ``operators.sgemm(a, b)``.
        saved: the arrays of `Derivative.saves`, by name.
        shapes: of the inputs, by name.
        arguments: scalars and options of the forward call, by name.
        gradients: those of the outputs, by name; None for an output that nothing depends on.
        wanted: the inputs whose gradients are needed.
    """

    operators: Any
    saved: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]
    arguments: Mapping[str, Any]
    gradients: Mapping[str, Any]
    wanted: frozenset[str]


def _nothing(arguments: Mapping[str, Any]) -> Collection[str]:
    return ()


@dataclass(frozen=True)
class Derivative:
    """The derivative of a call whose outputs are new.

    Attributes:
        backward: the gradients of the inputs that are wanted, by name. Arrays are PyTorch's tensors, in any strides: a
            gradient may be an expanded scalar.
        saves: the inputs and outputs that it needs. An output that is optional is computed whenever a gradient may be
            wanted.
        unneeded: which of the optional outputs among `saves` a call with such scalars and options does not need.
    """

    backward: Callable[[Backward], Mapping[str, Any]]
    saves: tuple[str, ...] = ()
    unneeded: Callable[[Mapping[str, Any]], Collection[str]] = _nothing

    def saved_outputs(self, call: Call) -> tuple[str, ...]:
        """The optional outputs of a call among `saves`."""
        return tuple(name for name in self.saves if name in call.outputs and name in call.optional)
