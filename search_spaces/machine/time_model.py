"""The time model: the seconds of a schedule on a device, from its workload alone.

It serves where a kernel is not measured: offline devices, the search's prior knowledge, the choice of a schedule for
sizes without a record, and the transfer of a record's time to other sizes.

A launch takes as long as its fullest SM or as device memory, whichever takes longer. The blocks of an SM run in waves
of as many as it holds at once. A block waits for its first loads, goes through its steps and stores its results. A step
takes as long as the slowest of these: its instructions, which the schedulers issue from the resident blocks in turn,
and its barrier; the busiest arithmetic unit; shared memory; the cache lines and the bytes that the SM loads; and its
share of a load's latency, by how many loads are in flight (Little's law). The waits of a wave's blocks are hidden as
far as the other resident blocks have work.

A loop that the instruction cache does not hold is fetched anew in each step, once for all warps that run it together.
Two limits of about the same length, such as fetching and issuing, take a little longer than either.

The constants were fitted to times of one H200, and hold for other devices as far as these resemble it:

- most of them to times of 78 matrix products: tuned ones, those that the dispatcher chose for held-out ones, and three
  recordings, of which those near the best of a problem weigh most;
- those of fetching to 7858 such times, 1677 of them of the likely schedules of 89 products;
- `_STORE_SECONDS` and `_BLOCK_CLOCKS`, with the constants of transpose's workload, to a random half of the recorded
  transposes (docs/recordings.md); on the other half the rank correlation is 0.92, and 0.93 the other way round;
- `_NEXT_LAUNCH_SECONDS` to nothing; of norm_backward's second launch, the workload's constants were fitted.

Constants in clocks, or bytes in a clock, scale with the clock; seconds stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import ceil

from autotune.codegen.model.hardware import SCHEDULERS, WARP
from autotune.codegen.model.integers import ceil_div
from autotune.codegen.model.resources import Resources

from .device_spec import DeviceSpec
from .occupancy import occupancy, resident_blocks
from .workload import Workload

VERSION = "13"  # counts up when a modelled time changes: trials that were modelled by another version are stale
LAUNCH_SECONDS = 3.5e-6  # seconds of any launch, however little it computes
FIX_UP_SECONDS = 4.3e-6  # to complete tiles that clusters share
LATENCY_SECONDS = 0.64e-6  # seconds of a load from device memory
_NEXT_LAUNCH_SECONDS = 1e-6  # between two launches of a program
_STORE_SECONDS = 0.92e-6  # from a block's last load to the end of its stores
_BLOCK_CLOCKS = 155.0  # between the starts of two blocks on an SM
_ISSUE_CLOCKS = 1.094  # clocks of an instruction on its scheduler
_BARRIER_CLOCKS = 92.0  # clocks of a step, hidden by the other blocks of the SM
_CACHED_INSTRUCTIONS = (
    2300  # instructions of a loop, as they are counted here, that the instruction cache of an SM holds
)
_FETCH_CLOCKS = 1.7  # clocks of an instruction of a longer loop, for all warps that run it together
_LINE_CLOCKS = 2.0  # clocks of a cache line
_LOADED_BYTES, _STORED_BYTES = 45.5, 24.3  # bytes of an SM through L2 in a clock
_BANDWIDTH = 0.93  # share of the datasheet's bandwidth
_OVERLAP = 6.0  # the norm in which two limits add up; infinite would be the longer one
_CLUSTER_SECONDS = 1.4e-6  # to reduce the results of a cluster
_SLICED_WORD_CLOCKS = 13.8  # to reduce a word of several warps
_SHARED_VECTOR_CLOCKS = 28.0  # to read a vector of another cluster's partial sum
# Share of the SMs that clusters of four or more blocks fill: a cluster lies within one GPC, whose SMs they do not
# divide. By the times of an H200, 30 or 31 clusters of four run there at once, not 33.
_CLUSTERED = 0.91


def program_seconds(launches: Iterable[Workload], spec: DeviceSpec, compiled: Resources | None = None) -> float:
    """The time of launches, one after the other, each as often as it runs.

    Args:
        launches: what each does.
        spec: the device.
        compiled: what the compiled kernels use, if that is known, in place of the workload's estimate.

    Raises:
        ValueError: the compiled kernel does not fit on an SM.
    """
    seconds = LAUNCH_SECONDS
    for number, work in enumerate(launches):
        if work.blocks:
            following = work.repeat - 1 + min(1, number)
            seconds += _NEXT_LAUNCH_SECONDS * following + work.repeat * _launch_seconds(work, spec, compiled)
    return seconds


def _launch_seconds(work: Workload, spec: DeviceSpec, compiled: Resources | None) -> float:
    """Seconds from the start of the first block to the end of the last one."""
    spilling = 1.0
    if compiled is not None:
        work = _compiled(work, spec, compiled)
        # A word that is spilled costs about what a register's worth of a thread's state is of the whole.
        spilled_words = (compiled.spill_store_bytes + compiled.spill_load_bytes) / 4
        spilling += spilled_words / max(1, compiled.registers)
    clocks = spilling * _sm_clocks(work, spec)
    clocks += _SLICED_WORD_CLOCKS * work.sliced_words + _SHARED_VECTOR_CLOCKS * work.shared_vectors
    busy = clocks / spec.clock_hz + (_CLUSTER_SECONDS if work.footprint.cluster > 1 else 0.0)
    memory = work.memory_bytes / (_BANDWIDTH * spec.bandwidth)
    fix_up = FIX_UP_SECONDS if work.shared_vectors else 0.0
    return fix_up + _longer(busy, memory)


def _compiled(work: Workload, spec: DeviceSpec, compiled: Resources) -> Workload:
    """The workload with the resources that the compiler tells."""
    threads, registers = work.footprint.threads, compiled.registers
    shared_bytes = work.footprint.shared_bytes + compiled.shared_bytes
    fit = occupancy(spec, threads, registers, shared_bytes)
    if fit.blocks_per_sm == 0:
        raise ValueError(
            f"a block of {threads} threads with {registers} registers each and {shared_bytes} B of shared memory does "
            f"not fit on an SM of {spec.name}: too many {', '.join(fit.limiters)}"
        )
    return replace(work, footprint=replace(work.footprint, registers=registers, shared_bytes=shared_bytes))


def _sm_clocks(work: Workload, spec: DeviceSpec) -> float:
    """Clocks that the fullest SM works on its blocks."""
    sms = spec.sm_count * (_CLUSTERED if work.footprint.cluster > 2 else 1.0)
    blocks = ceil(work.blocks / sms)
    resident = resident_blocks(work.footprint, spec)
    waves, rest = blocks // resident, blocks % resident
    full = _wave_clocks(work, resident, spec)
    latency = (LATENCY_SECONDS + _STORE_SECONDS) * spec.clock_hz
    # A block that starts waits while the other resident blocks work.
    exposed = max(0.0, latency - full * (resident - 1) / resident)
    later_waves = waves + min(1, rest) - 1
    clocks = waves * full + (_wave_clocks(work, rest, spec) if rest else 0.0) + latency + later_waves * exposed
    return max(clocks, blocks * _BLOCK_CLOCKS)


def _wave_clocks(work: Workload, blocks: int, spec: DeviceSpec) -> float:
    """Clocks that so many resident blocks take but for the wait of each for its first loads and its last stores."""
    warps = work.footprint.threads // WARP
    # The warps of a scheduler issue in turn; the fullest scheduler has at least one.
    turns = _ISSUE_CLOCKS * max(1, ceil_div(blocks * warps, SCHEDULERS)) / warps
    loading = work.load_instructions * turns
    in_loop = (work.instructions + work.load_instructions) / warps
    issuing = work.instructions * turns + loading + _BARRIER_CLOCKS / blocks
    computing = max(
        _longer(issuing, in_loop * _FETCH_CLOCKS) if in_loop > _CACHED_INSTRUCTIONS else issuing,
        blocks * work.unit_clocks,
        blocks * work.shared_clocks,
        blocks * work.lines * _LINE_CLOCKS,
        blocks * work.bytes_loaded / _LOADED_BYTES,
    )
    latency = LATENCY_SECONDS * spec.clock_hz
    step = max(computing, latency / work.in_flight) if work.in_flight else latency + computing
    return work.ahead * loading + computing + (work.steps - 1) * step + blocks * work.bytes_stored / _STORED_BYTES


def _longer(one: float, other: float) -> float:
    """The longer of two times that go on together, and a little more where they are about as long."""
    both: float = (one**_OVERLAP + other**_OVERLAP) ** (1 / _OVERLAP)
    return both
