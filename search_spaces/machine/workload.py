"""What the blocks of a schedule do, counted before anything is compiled: all that the time model knows of a kernel."""

from __future__ import annotations

from dataclasses import dataclass

from autotune.codegen.model.footprint import Footprint


@dataclass(frozen=True)
class Workload:
    """The work of one launch: blocks that go through steps, in each of which they load from global memory and compute.

    Counts are averages, so they need not be whole. Instructions are warp instructions, those of all warps of a block.
    A kernel without a pipeline has one step.

    Attributes:
        blocks: of the grid.
        footprint: of a block of whole warps, with about the registers that ptxas would take if nothing capped them.
        memory_bytes: that all blocks together move between L2 and device memory; what crosses twice counts twice.
        steps: of the block that has the most.
        ahead: steps whose loads are issued before the first step computes.
        in_flight: steps whose loads are in flight while one computes; 0 if a block loads and computes in turn.
        independent: whether a warp waits for its own loads only, while others compute; of blocks that load and compute
            in turn.
        instructions: of a step, all but `load_instructions`.
        load_instructions: of a step, to load from global memory: loads, their addresses and their bounds.
        in_turn: whether a block that loads and computes in turn asks device memory for nothing while it computes.
        dependent: times as long as it takes to issue an instruction, from it to the next one of its warp. Fewer warps
            of a scheduler leave it idle.
        exposed_clocks: of a step, that a warp waits within it; other warps of its scheduler hide them.
        unit_clocks: of an SM, that the busiest arithmetic unit takes for a step at its peak rate.
        shared_clocks: of an SM, that shared memory takes for a step, a clock for each 128 bytes or bank conflict.
        lines: cache lines that the accesses of a step to global memory touch, counted for each instruction.
        bytes_loaded: from global memory, in a step.
        bytes_stored: to global memory, by a block; a sector that is stored in parts counts for each of them.
        tiles: that a block computes one after the other; the pipeline is empty between two of them.
        sliced_words: of a thread and a tile, that the warps of a block reduce through shared memory.
        shared_vectors: of partial sums, that a thread reads one after the other to complete a tile that clusters share;
            0 if no tile is shared.
        outside_clocks: of a block, before its first step and after its last one; other blocks of the SM work meanwhile.
        waits: for loads from device memory, one after the other, after the last step.
        repeat: how often the launch runs; the times of all of them count.
    """

    blocks: int
    footprint: Footprint
    memory_bytes: float
    steps: float = 1
    ahead: int = 0
    in_flight: float = 0
    independent: bool = False
    in_turn: bool = False
    instructions: float = 0.0
    load_instructions: float = 0.0
    dependent: float = 0.0
    exposed_clocks: float = 0.0
    unit_clocks: float = 0.0
    shared_clocks: float = 0.0
    lines: float = 0.0
    bytes_loaded: float = 0.0
    bytes_stored: float = 0.0
    tiles: float = 1.0
    sliced_words: float = 0.0
    shared_vectors: float = 0.0
    outside_clocks: float = 0.0
    waits: float = 0.0
    repeat: int = 1
