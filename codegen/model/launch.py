"""The steps of a program: launches, and memsets of its workspace."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True)
class Launch:
    """A launch of one entry of the source.

    A grid with a zero in it means that there is nothing to compute and nothing to launch.

    Attributes:
        entry: the name of the ``extern "C" __global__`` function.
        grid, block: blocks of the grid and threads of a block along x, y, z.
        shared_bytes: dynamic shared memory of a block.
        cluster: blocks of a cluster; more than one are declared by the entry too (``__cluster_dims__``).
    """

    entry: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int = 0
    cluster: tuple[int, int, int] = (1, 1, 1)

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)


@dataclass(frozen=True)
class Memset:
    """A part of the workspace that is set to one byte value before the steps that follow.

    Attributes:
        offset: bytes from the start of the workspace.
        bytes: how many.
        value: of each byte, 0 to 255.
    """

    offset: int
    bytes: int
    value: int = 0


Step = Launch | Memset
