"""A time model that follows a schedule's pipeline, of what is counted before anything is compiled.

A kernel takes as long as the SM that has the most blocks, or as its bytes take to cross device memory. The blocks of an
SM run in waves of as many as it holds at once. A block waits for its first tile, goes through its steps and stores its
results; a step takes as long as the slowest of four: its instructions, which the schedulers take from the resident
blocks in turn, and its barriers; the cache lines and the bytes that the SM loads meanwhile; and its share of a load's
latency, of as many loads as are in flight (Little's law).

The constants were fitted to the logarithms of 5237 times of 319 problems on an H200, those of near the best schedules
of a problem most. They are clocks of an SM, or bytes in a clock, where the clock matters, else seconds.
"""

from __future__ import annotations

from typing import Any

from ..codegen.integers import ceil_div
from ..codegen.problem import Problem
from ..codegen.schedule import Schedule
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.operator import Operator
from ..search_spaces.workload import Workload
from .model import fixed_seconds

LATENCY_SECONDS = 0.64e-6  # of a load from device memory
_ISSUE_CLOCKS = 1.11  # that an instruction takes its scheduler
_SCHEDULERS = 4  # of an SM
_COPY, _DIRECT_LOAD = 8.7, 52.0  # instructions that a copy, or a load to registers, with its address and bounds is
_BARRIER_CLOCKS = 164.0  # of a step, which the other blocks of an SM work in
_LINE_CLOCKS = 2.5  # that a cache line takes the SM that loads from it
_LOADED_BYTES, _STORED_BYTES = 41.0, 20.5  # of an SM through L2 in a clock
_BANDWIDTH = 0.88  # of the datasheet's
_CLUSTER_SECONDS = 0.93e-6  # to add up the results of a cluster
_SUMMED_WORD_CLOCKS = 30.0  # to add up the parts of warps
_SHARED_VECTOR_CLOCKS = 19.0  # to read a vector of another cluster's part
# Of the SMs, that clusters of four or more blocks fill: a cluster lies within one GPC, whose SMs they do not divide. By
# the times of an H200, 30 or 31 clusters of four run there at once, not 33.
_CLUSTERED = 0.91


def modelled_seconds(operator: Operator[Any, Any], problem: Problem, schedule: Schedule, limits: DeviceSpec) -> float:
    """The time of a legal schedule's kernel: of its launch, of the fullest SM or of device memory, and of adding up."""
    work = operator.workload(problem, schedule, limits)
    sms = limits.sm_count * (_CLUSTERED if work.cluster > 2 else 1.0)
    blocks = -int(-work.blocks // sms)
    waves, rest = divmod(blocks, work.resident)
    busy = waves * _wave_seconds(work, work.resident, limits) + (_wave_seconds(work, rest, limits) if rest else 0.0)
    shared = work.shared_vectors > 0
    clocks = _SUMMED_WORD_CLOCKS * work.summed_words + _SHARED_VECTOR_CLOCKS * work.shared_vectors
    adding_up = clocks / limits.clock_hz
    adding_up += _CLUSTER_SECONDS if work.cluster > 1 else 0.0
    memory = problem.work.bytes / (_BANDWIDTH * limits.bandwidth)
    return fixed_seconds(shared) + max(busy + adding_up, memory)


def _wave_seconds(work: Workload, blocks: int, limits: DeviceSpec) -> float:
    """Seconds that an SM takes for blocks that it holds at once."""
    # Of a scheduler's warps each issues in turn, and only one has to be waited for where it is alone.
    turns = _ISSUE_CLOCKS * max(1, ceil_div(blocks * work.warps, _SCHEDULERS)) / work.warps
    copying = (_COPY * work.copies + _DIRECT_LOAD * work.direct_loads) * turns
    computing = max(
        work.computing * turns + copying + _BARRIER_CLOCKS / blocks,
        blocks * work.lines * _LINE_CLOCKS,
        blocks * work.bytes_loaded / _LOADED_BYTES,
    )
    latency = LATENCY_SECONDS * limits.clock_hz
    step = max(computing, latency / work.in_flight) if work.in_flight else latency + computing
    clocks = work.ahead * copying + computing + (work.steps - 1) * step + blocks * work.bytes_stored / _STORED_BYTES
    return (latency + clocks) / limits.clock_hz
