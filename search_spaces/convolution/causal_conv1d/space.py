"""Which schedules of causal_conv1d are legal, which to draw from, which to try first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from autotune.codegen.convolution.causal_conv1d.presets import widest
from autotune.codegen.convolution.causal_conv1d.problem import CausalConv1dProblem
from autotune.codegen.convolution.causal_conv1d.schedule import CausalConv1dSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WARP
from autotune.codegen.model.integers import ceil_div, doublings
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.occupancy import fitting_blocks

_BLOCKS_PER_SM, _TPR, _LOADS = (
    field_specs(CausalConv1dSchedule)[name].values for name in ("min_blocks_per_sm", "threads_per_row", "loads")
)
# Loads, rounds and prefetch of the schedules to try first where steps are neighbours; where channels are, elements that
# a thread loads in a round, in place of loads. More take so many registers that an H200 took up to 28 % longer.
_SIDE_BY_SIDE = ((1, 4, True), (2, 4, True), (2, 2, False), (1, 1, False), (2, 4, False), (4, 2, False), (1, 4, False))
_ROLLING = (
    (32, 4, False),
    (64, 8, True),
    (32, 8, False),
    (32, 2, False),
    (64, 16, True),
    (32, 16, False),
    (32, 1, False),
)


def constraints(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    if schedule.vector > (most := widest(problem)):
        yield f"vector {schedule.vector} over the {most} elements that X and Y are aligned for, and have whole ones of"
    if schedule.threads % schedule.threads_per_row:
        yield f"threads {schedule.threads} is not a multiple of threads_per_row {schedule.threads_per_row}"


def space(problem: CausalConv1dProblem, spec: DeviceSpec) -> Space[CausalConv1dSchedule]:
    """Fields are drawn; vectors are no wider than X and Y allow, and than registers have room for."""
    vectors = tuple(width for width in (1, 2, 4, 8) if width <= widest(problem))
    return Space(field_parameters(CausalConv1dSchedule, vector=vectors), partial(_build, problem, spec))


def _build(problem: CausalConv1dProblem, spec: DeviceSpec, draw: Draw) -> CausalConv1dSchedule:
    return _fitted(problem, CausalConv1dSchedule.from_dict(dict(draw)), spec)


def _fitted(problem: CausalConv1dProblem, schedule: CausalConv1dSchedule, spec: DeviceSpec) -> CausalConv1dSchedule:
    own = schedule.replace(threads_per_row=min(schedule.threads_per_row, schedule.threads))
    while own.footprint(problem).registers > spec.registers_per_thread:
        own = own.replace(loads=own.loads // 2) if own.loads > 1 else own.replace(vector=own.vector // 2)
    while own.footprint(problem).shared_bytes > spec.shared_per_block:
        own = own.replace(threads_per_row=own.threads_per_row // 2)
    return own.replace(min_blocks_per_sm=fitting_blocks(own.footprint(problem), spec, _BLOCKS_PER_SM))


def candidates(problem: CausalConv1dProblem, spec: DeviceSpec) -> Iterator[CausalConv1dSchedule]:
    """The widest accesses; with as many steps for a thread as leave blocks for all SMs first."""
    likely = [
        _fitted(problem, _along_a_row(problem, threads, vector, loads, rounds, prefetch), spec)
        for vector in dict.fromkeys((widest(problem), max(1, widest(problem) // 2)))
        for threads in (128, 64, 256)
        for loads, rounds, prefetch in _loads(problem, vector)
    ]
    yield from sorted(dict.fromkeys(likely), key=lambda one: one.blocks(problem) < 2 * spec.sm_count)


def _loads(problem: CausalConv1dProblem, vector: int) -> Iterable[tuple[int, int, bool]]:
    if not problem.channels_last:
        return _SIDE_BY_SIDE
    return [
        (min(_LOADS[-1], elements // vector), rounds, prefetch)
        for elements, rounds, prefetch in _ROLLING
        if not (prefetch and problem.numbered)  # numbers are in registers, too
    ]


def _along_a_row(
    problem: CausalConv1dProblem, threads: int, vector: int, loads: int, rounds: int, prefetch: bool
) -> CausalConv1dSchedule:
    """As many threads along a row as it has vectors for, or channels of a cache line four times."""
    own = CausalConv1dSchedule(threads, threads, vector, loads, rounds, prefetch)
    if problem.channels_last:
        along = min(WARP, 1 << doublings(ceil_div(problem.channels, vector)))
    else:
        along = min(threads, 1 << doublings(ceil_div(own.row_vectors(problem), loads * rounds)))
    return own.replace(threads_per_row=max(_TPR[0], along))


def checks(
    problem: CausalConv1dProblem, schedule: CausalConv1dSchedule
) -> list[tuple[CausalConv1dProblem, CausalConv1dSchedule]]:
    """Whole vectors of a block, or rows that begin between them; and several blocks of sequences that end within a
    vector, in two with gaps."""
    vector, along = schedule.vector, schedule.threads_per_row * schedule.vector
    rows, steps, skew = schedule.rows, schedule.loads * schedule.rounds, int(schedule.skewed(problem))
    if problem.channels_last:
        whole, ragged = (along, steps * rows), (along + vector, steps * rows + schedule.loads + 1)
    else:
        whole, ragged = (rows, along * steps - skew), (min(rows + 1, 3), along * steps + vector + 1)
    found = []
    for batch, (channels, length) in enumerate((whole, ragged), 1):
        fields: dict[str, Any] = {"channels": channels, "length": length, "batch": batch}
        fields |= {f"{name}{operand}": 0 for name in ("ld", "stride_") for operand in "xy"}
        fields |= dict.fromkeys(("align_x", "align_y"), vector * problem.dtype.bytes)
        small = replace(problem, **fields)
        if batch > 1:
            rows, columns = small.stored["x"]
            leading = ceil_div(columns, vector) * vector + vector + skew
            gaps: dict[str, Any] = {"ldx": leading, "ldy": leading, "stride_x": rows * leading + vector}
            small = replace(small, **gaps, stride_y=0)
        found.append((small, schedule))
    return found
