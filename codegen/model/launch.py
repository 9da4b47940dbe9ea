"""The steps of a program: launches, memsets of its workspace, and repetitions of both."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from math import prod
from typing import Any

from autotune.base.errors import InputError

from .integers import INT_MAX
from .tensor_map import TensorMap

_MOST_BLOCKS = INT_MAX, 65535, 65535  # of a grid along x, y, z


@dataclass(frozen=True)
class Region:
    """A part of the workspace.

    Attributes:
        offset: bytes from the start of the workspace.
        bytes: how many.
        name: of the part, for messages.
    """

    offset: int
    bytes: int
    name: str = field(default="", compare=False)


Fixed = int | float | str | Region | TensorMap | None


@dataclass(frozen=True)
class InTurn:
    """What the turns of a `Repeat` take, one value each, and then from the first one again."""

    values: tuple[Fixed, ...]


@dataclass(frozen=True)
class Counting:
    """What the turns of a `Repeat` take: `start`, `start + step`, `start + 2 * step`, …"""

    start: int
    step: int


Value = Fixed | InTurn | Counting


def grid_excess(grid: tuple[int, int, int]) -> Iterator[str]:
    """Along which axes there are more blocks than a device launches."""
    for axis, blocks, most in zip("xyz", grid, _MOST_BLOCKS, strict=True):
        if blocks > most:
            yield f"{blocks} blocks along {axis} over the {most} of a grid"


class GridError(InputError, ValueError):
    """More blocks than a device launches."""


@dataclass(frozen=True)
class Launch:
    """A launch of one entry of a source.

    A grid with a zero in it means that there is nothing to compute and nothing to launch. One of more blocks than a
    device launches raises `GridError`.

    Attributes:
        entry: the name of the ``extern "C" __global__`` function.
        grid, block: blocks of the grid and threads of a block along x, y, z.
        shared_bytes: dynamic shared memory of a block.
        cluster: blocks of a cluster; more than one are declared by the entry too (``__cluster_dims__``).
        arguments: by name, the members of ``struct Arguments`` that are other than the program says; see `taking`.
        module: the number of the source in `Program.modules`.
    """

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)
    arguments: tuple[tuple[str, Value], ...] = ()
    module: int = 0

    def __post_init__(self) -> None:
        for excess in grid_excess(self.grid):
            raise GridError(f"{self.entry}: {excess}")

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    def taking(self, **values: Value) -> Launch:
        """The launch with other values of members of ``struct Arguments``.

        A number is a constant, and None is a null pointer. A name is that of the tensor, the scalar or the part of the
        workspace (`Program.in_workspace`) which the member gets. A tensor map takes the place of a tensor map.
        """
        return replace(self, arguments=tuple((dict(self.arguments) | values).items()))


@dataclass(frozen=True)
class Memset:
    """A part of the workspace that is set to one byte value before the steps that follow.

    Attributes:
        offset: bytes from the start of the workspace, or of its part.
        bytes: how many.
        value: of each byte, 0 to 255.
        region: the name of a part of the workspace (`Program.in_workspace`).
    """

    offset: int
    bytes: int
    value: int = 0
    region: str = ""


@dataclass(frozen=True)
class Repeat:
    """Steps that are run several times, each turn with the values of its number.

    Attributes:
        times: how often.
        steps: of one turn.
    """

    times: int
    steps: tuple[Step, ...]


SingleStep = Launch | Memset
Step = SingleStep | Repeat
_UNLESS_STATED = ("arguments", "module", "region")  # what steps without them do not mention


def unrolled(steps: Iterable[Step], turn: int = 0) -> Iterator[SingleStep]:
    """The steps one by one, repetitions as often as they run, with the values that are those of a turn."""
    for step in steps:
        if isinstance(step, Repeat):
            number = 0
            while number < step.times:  # sizes that an export traces have no range
                yield from unrolled(step.steps, number)
                number += 1
        elif isinstance(step, Launch) and step.arguments:
            yield replace(step, arguments=tuple((name, at(value, turn)) for name, value in step.arguments))
        else:
            yield step


def at(value: Value, turn: int) -> Fixed:
    """What a value is in a turn."""
    if isinstance(value, InTurn):
        return value.values[turn % len(value.values)]
    return value.start + turn * value.step if isinstance(value, Counting) else value


def stated(step: SingleStep) -> dict[str, Any]:
    """The step as JSON values, without what it does not state; digests are made of these."""
    members = asdict(step, dict_factory=_unnamed)
    return {name: value for name, value in members.items() if value or name not in _UNLESS_STATED}


def _unnamed(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """The members of a step, or of a part of the workspace without its name."""
    found = dict(members)
    return {name: found[name] for name in found if name != "name" or found.keys() != {"offset", "bytes", "name"}}


def document(step: Step) -> dict[str, Any]:
    """The step as JSON values for people: what kind it is, and what it states."""
    kind = {"step": type(step).__name__.lower()}
    if isinstance(step, Repeat):
        return kind | {"times": step.times, "steps": [document(one) for one in step.steps]}
    members = stated(step)
    return kind | members | ({"arguments": dict(members["arguments"])} if "arguments" in members else {})
