"""The search space of an operator with several kernels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from autotune.codegen.model.schedule import KERNEL, Schedule

from .space import Draw, Parameter, Space, Value

S = TypeVar("S", bound=Schedule)


@dataclass(frozen=True)
class UnionSpace(Space[S]):
    """The parameter ``kernel``, and the parameters of all kernels: a draw builds a schedule from those of its kernel.

    Kernels share a parameter if its name and its values are the same. Of the others ``grid`` is called ``wgmma.grid``.
    Of other kernels' parameters a draw may have any value; draws that are made here have the first one.

    Attributes:
        spaces: by kernel.
        names: by kernel, the parameters here by their names there.
    """

    spaces: Mapping[str, Space[Any]]
    names: Mapping[str, Mapping[str, str]]

    @property
    def size(self) -> int:
        """The number of draws of all kernels."""
        return sum(space.size for space in self.spaces.values())

    def draw_of(self, schedule: S) -> Draw:
        """See `Space`."""
        if schedule.kernel not in self.spaces:
            raise ValueError(f"{schedule} is not in the search space")
        return self._whole(schedule.kernel, self.spaces[schedule.kernel].draw_of(schedule))

    def all_draws(self) -> Iterator[Draw]:
        """Every draw of each kernel once."""
        return (self._whole(name, draw) for name, space in self.spaces.items() for draw in space.all_draws())

    def random_draws(self, seed: int) -> Iterator[Draw]:
        """Draws without end of which each kernel has its share, the same for the same seed."""
        random, draws = Random(seed), {name: space.random_draws(seed) for name, space in self.spaces.items()}
        while True:
            name = random.choice([*draws])
            yield self._whole(name, next(draws[name]))

    def keeping(self, values: Mapping[str, Sequence[Value]]) -> Space[S]:
        """See `Space`."""
        kept = values.get(KERNEL, tuple(self.spaces))
        return union_of(
            {
                name: space.keeping({own: values[here] for own, here in self.names[name].items() if here in values})
                for name, space in self.spaces.items()
                if name in kept
            }
        )

    def _whole(self, kernel: str, draw: Draw) -> Draw:
        """The draw of a kernel with the parameters of the others."""
        known = {here: draw[own] for own, here in self.names[kernel].items()}
        return {p.name: known.get(p.name, p.values[0]) for p in self.parameters} | {KERNEL: kernel}


def union_of(spaces: Mapping[str, Space[Any]]) -> UnionSpace[Any]:
    """The union of the spaces of several kernels, by their names."""
    values: dict[str, set[tuple[Value, ...]]] = {}
    for space in spaces.values():
        for parameter in space.parameters:
            values.setdefault(parameter.name, set()).add(parameter.values)
    names = {
        kernel: {
            p.name: f"{kernel}.{p.name}" if kernel and len(values[p.name]) > 1 else p.name for p in space.parameters
        }
        for kernel, space in spaces.items()
    }
    parameters = {
        (here := names[kernel][p.name]): Parameter(here, p.values)
        for kernel, space in spaces.items()
        for p in space.parameters
    }

    def build(draw: Draw) -> Any:
        kernel = str(draw[KERNEL])
        return spaces[kernel].build({own: draw[here] for own, here in names[kernel].items()})

    listed = (Parameter(KERNEL, tuple(spaces)), *parameters.values())
    return UnionSpace(listed, build, dict(spaces), names)
