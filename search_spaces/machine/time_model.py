"""The time model: the seconds of a schedule on a device, from its workload alone.

It serves where a kernel is not measured: offline devices, the search's prior knowledge, the choice of a schedule for
sizes without a record, and the transfer of a record's time to other sizes.

A launch takes as long as its fullest SM or as device memory, whichever takes longer. The blocks of an SM run in waves
of as many as it holds at once. A block waits for its first loads, goes through its steps and stores its results. A step
takes as long as the slowest of these: its instructions, which the schedulers issue from the resident blocks in turn,
what their warps wait meanwhile, and its barrier; the busiest arithmetic unit; shared memory; the cache lines and the
bytes that the SM loads; and its share of a load's latency, by how many loads are in flight (Little's law). The waits of
a wave's blocks are hidden as far as the other resident blocks have work, and so are their stores.

A loop that the instruction cache does not hold is fetched anew in each step, once for all warps that run it together.
Two limits of about the same length, such as fetching and issuing, take a little longer than either.

What each of these takes is data (coefficients.py), fitted to times of one H200, and holds for other devices as far as
they resemble it. Clocks, and bytes in a clock, scale with the clock; seconds stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import ceil

from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div, largest
from autotune.codegen.model.resources import Resources

from .coefficients import Coefficients, version
from .device_spec import DeviceSpec
from .occupancy import occupancy, resident_blocks
from .workload import Workload

_RULES = "26"  # counts up when these rules, or the counts of a workload, change a modelled time


@dataclass(frozen=True)
class MachineCosts(Coefficients, section="machine"):
    """What a GPU takes for what any kernel does.

    Attributes:
        launch_seconds: of any launch, however little it computes.
        next_launch_seconds: between two launches of a program.
        fix_up_seconds: to complete tiles that clusters share.
        latency_seconds: of a load from device memory.
        store_seconds: from a block's last load to the end of its stores.
        block_clocks: between the starts of two blocks on an SM.
        clustered_block_clocks: the same of blocks in clusters.
        issue_clocks: of an instruction on its scheduler.
        barrier_clocks: of a step, hidden by the other blocks of the SM.
        cached_instructions: of a loop, as they are counted here, that the instruction cache of an SM holds.
        fetch_clocks: of an instruction of a longer loop, for all warps that run it together.
        line_clocks: of a cache line.
        loaded_bytes: of an SM through L2 in a clock.
        stored_bytes: of an SM through L2 in a clock.
        bandwidth: share of the datasheet's bandwidth that is reached.
        overlap: the norm in which two limits add up; infinite would be the longer one.
        turnaround_seconds: from a block's first load to the next block in its place, beside its computing and its share
            of device memory, of blocks that do one after the other.
        turn_share: of the time in which device memory serves a block at an even share of the SMs, that its turn takes:
            others compute meanwhile.
        turns: the norm in which such turns add up with what they leave idle otherwise.
        storing: the same of the stores of blocks and what the other blocks of the SM compute meanwhile.
        cluster_seconds: to reduce the results of a cluster.
        tile_clocks: between two tiles of a block.
        sliced_word_clocks: to reduce a word of several warps.
        shared_vector_clocks: to read a vector of another cluster's partial sum.
        stored_part: what each further part of a vector that is stored in parts takes, as a share of the whole vector.
        stored_narrow_part: the same of parts of less than a word.
        clustered: share of the SMs that clusters of four or more blocks fill: a cluster lies within one GPC, whose SMs
            they do not divide. By the times of an H200, 30 or 31 clusters of four run there at once, not 33.
        l2_share: share of L2 that keeps what is read again until then.
    """

    launch_seconds: float
    next_launch_seconds: float
    fix_up_seconds: float
    latency_seconds: float
    store_seconds: float
    block_clocks: float
    clustered_block_clocks: float
    issue_clocks: float
    barrier_clocks: float
    cached_instructions: float
    fetch_clocks: float
    line_clocks: float
    loaded_bytes: float
    stored_bytes: float
    bandwidth: float
    overlap: float
    turnaround_seconds: float
    turn_share: float
    turns: float
    storing: float
    cluster_seconds: float
    tile_clocks: float
    sliced_word_clocks: float
    shared_vector_clocks: float
    stored_part: float
    stored_narrow_part: float
    clustered: float
    l2_share: float


def model_version(spec: DeviceSpec) -> str:
    """Names rules and coefficients: trials that were modelled by another version are stale."""
    return f"{_RULES}-{version(spec)}"


def program_seconds(launches: Iterable[Workload], spec: DeviceSpec, compiled: Resources | None = None) -> float:
    """The time of launches, one after the other, each as often as it runs.

    Args:
        launches: what each does.
        spec: the device.
        compiled: what the compiled kernels use, if that is known, in place of the workload's estimate.

    Raises:
        ValueError: the compiled kernel does not fit on an SM.
    """
    costs = MachineCosts.of(spec)
    seconds = costs.launch_seconds
    for number, work in enumerate(launches):
        if work.blocks:
            waits = costs.next_launch_seconds * (work.repeat - 1 + min(1, number))
            seconds += waits + work.repeat * _launch_seconds(work, spec, costs, compiled)
    return seconds


def _launch_seconds(work: Workload, spec: DeviceSpec, costs: MachineCosts, compiled: Resources | None) -> float:
    """Seconds from the start of the first block to the end of the last one."""
    spilling = 1.0
    if compiled is not None:
        work = _compiled(work, spec, compiled)
        # A word that is spilled costs about what a register's worth of a thread's state is of the whole.
        spilled_words = (compiled.spill_store_bytes + compiled.spill_load_bytes) / 4
        spilling += spilled_words / max(1, compiled.registers)
    clocks = spilling * _sm_clocks(work, spec, costs)
    waves = ceil_div(ceil(work.blocks / spec.sm_count), resident_blocks(work.footprint, spec))
    clocks += costs.tile_clocks * (work.tiles - 1) + costs.sliced_word_clocks * work.sliced_words * work.tiles * waves
    clocks += costs.shared_vector_clocks * work.shared_vectors
    busy = clocks / spec.clock_hz + (costs.cluster_seconds if work.footprint.cluster > 1 else 0.0)
    memory = work.memory_bytes / (costs.bandwidth * spec.bandwidth)
    fix_up = costs.fix_up_seconds if work.shared_vectors else 0.0
    seconds = _longer(busy, memory, costs.overlap)
    if work.in_turn:
        seconds = _longer(seconds, _turns_seconds(work, memory, spec, costs), costs.turns)
    return fix_up + work.waits * costs.latency_seconds + seconds


def _turns_seconds(work: Workload, memory: float, spec: DeviceSpec, costs: MachineCosts) -> float:
    """Seconds in which the blocks of an SM take their turns, of which each loads, computes and stores.

    While a block computes it asks device memory for nothing, so that memory is idle unless enough others are resident.
    Where warps do not wait for each other, each of them has turns of its own.

    Args:
        work, spec, costs: as above.
        memory: seconds that device memory takes for all blocks.
    """
    blocks = ceil(work.blocks / _sms(work, spec, costs))
    resident = min(blocks, resident_blocks(work.footprint, spec))
    share = costs.turn_share * memory * spec.sm_count / max(work.blocks, spec.sm_count)
    if work.independent:
        share /= work.footprint.threads // WARP
    turn = costs.turnaround_seconds + share + _wave_clocks(work, 1, spec, costs) / spec.clock_hz
    return turn * blocks / resident


def _sms(work: Workload, spec: DeviceSpec, costs: MachineCosts) -> float:
    """SMs that the grid fills."""
    return spec.sm_count * (costs.clustered if work.footprint.cluster > 2 else 1.0)


def _compiled(work: Workload, spec: DeviceSpec, compiled: Resources) -> Workload:
    """The workload with the resources that the compiler tells."""
    threads, registers = work.footprint.threads, compiled.registers
    shared_bytes = work.footprint.shared_bytes + compiled.shared_bytes
    fit = occupancy(spec, threads, registers, shared_bytes)
    taken = replace(work.footprint, registers=registers, wanted_registers=registers, shared_bytes=shared_bytes)
    if fit.blocks_per_sm == 0:
        raise ValueError(
            f"a block of {threads} threads with {registers} registers each and {shared_bytes} B of shared memory does "
            f"not fit on an SM of {spec.name}: too many {', '.join(fit.limiters)}"
        )
    return replace(work, footprint=taken)


def _sm_clocks(work: Workload, spec: DeviceSpec, costs: MachineCosts) -> float:
    """Clocks that the fullest SM works on its blocks."""
    blocks = ceil(work.blocks / _sms(work, spec, costs))
    resident = resident_blocks(work.footprint, spec)
    waves, rest = blocks // resident, blocks % resident
    full = _wave_clocks(work, resident, spec, costs)
    storing = work.bytes_stored / costs.stored_bytes
    latency = (costs.latency_seconds + costs.store_seconds) * spec.clock_hz + work.outside_clocks
    # A block that starts waits while the other resident blocks work.
    exposed = largest(0.0, latency - (full + resident * storing) * (resident - 1) / resident)
    later_waves = waves + min(1, rest) - 1
    clocks = waves * full + (_wave_clocks(work, rest, spec, costs) if rest else 0.0)
    if min(resident, blocks) > 1 and work.in_flight:
        # Blocks store while others compute, but the last one does not. Those without a pipeline mostly move data.
        clocks = _longer(clocks, blocks * storing, costs.storing) + storing
    else:
        clocks += blocks * storing
    starts = costs.clustered_block_clocks if work.footprint.cluster > 1 else costs.block_clocks
    return largest(clocks + latency + later_waves * exposed, blocks * starts)


def _wave_clocks(work: Workload, blocks: int, spec: DeviceSpec, costs: MachineCosts) -> float:
    """Clocks that so many resident blocks take but for the wait of each for its first loads, and for its stores."""
    warps = work.footprint.threads // WARP
    # The warps of a scheduler issue in turn; the fullest scheduler has at least one.
    busy = largest(1, ceil_div(blocks * warps, SCHEDULERS))
    turns = costs.issue_clocks * busy / warps
    loading = work.load_instructions * turns
    in_loop = (work.instructions + work.load_instructions) / warps
    issuing = work.instructions * costs.issue_clocks * largest(busy, work.dependent) / warps
    issuing += loading + costs.barrier_clocks / blocks
    issuing += work.exposed_clocks / largest(1.0, blocks * warps / SCHEDULERS)
    if in_loop > costs.cached_instructions:
        issuing = _longer(issuing, in_loop * costs.fetch_clocks, costs.overlap)
    computing = largest(
        issuing,
        blocks * work.unit_clocks,
        blocks * work.shared_clocks,
        blocks * work.lines * costs.line_clocks,
        blocks * work.bytes_loaded / costs.loaded_bytes,
    )
    latency = costs.latency_seconds * spec.clock_hz
    if work.in_flight:
        step = largest(computing, latency / work.in_flight)
    elif work.independent:
        step = largest(computing, latency + computing / largest(1.0, blocks * warps / SCHEDULERS))
    else:
        step = latency + computing
    return work.ahead * loading + computing + (work.steps - 1) * step


def _longer(one: float, other: float, norm: float) -> float:
    """The longer of two times that go on together, and a little more where they are about as long."""
    both: float = (one**norm + other**norm) ** (1 / norm)
    return both
