"""What the blocks of a schedule do, counted before anything is compiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Workload:
    """What a schedule makes of a problem on a device: blocks that go through steps, each with a tile of the operands.

    Instructions are those of all warps of a block; a kernel without a pipeline has one step.

    Attributes:
        blocks: of the grid.
        warps: of a block.
        resident: blocks that an SM holds at once, 1 at least.
        cluster: blocks of a cluster, which add up their results.
        steps: of the block that has the most.
        ahead: steps whose copies are begun before the first tile is worked on.
        in_flight: tiles that are on their way while one is worked on; 0 if a block works and waits by turns.
        computing: instructions of a step that compute, or load from or store to shared memory.
        copies: instructions of a step that copy from global to shared memory.
        direct_loads: instructions of a step that load from global memory what is computed with.
        lines: cache lines that the copies and loads of a step touch, each counted for each instruction.
        bytes_loaded: from global memory, in a step.
        bytes_stored: to global memory, by a block; a sector that is written in parts counts for each of them.
        summed_words: of a thread, that warps add up through shared memory.
        shared_vectors: that a thread reads, one part after the other, of a tile that several clusters share; 0 if none
            is.
    """

    blocks: int
    warps: int
    resident: int
    bytes_loaded: float
    bytes_stored: float
    cluster: int = 1
    steps: int = 1
    ahead: int = 0
    in_flight: int = 0
    computing: float = 0.0
    copies: float = 0.0
    direct_loads: float = 0.0
    lines: float = 0.0
    summed_words: int = 0
    shared_vectors: float = 0.0
