"""pack: which schedules are legal, which to draw from, and which to try first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from autotune.codegen.matmul.pack.presets import held
from autotune.codegen.matmul.pack.problem import PackProblem
from autotune.codegen.matmul.pack.schedule import PackSchedule
from autotune.codegen.model.fields import field_specs
from autotune.codegen.model.hardware import WORD_BYTES
from autotune.codegen.model.integers import ceil_div, round_up
from autotune.codegen.model.schedule import Specialize
from autotune.search_spaces.contract.space import Draw, Space, field_parameters
from autotune.search_spaces.machine.device_spec import DeviceSpec

_MOST_LOADED = 64  # registers of a thread's vectors
_SPECS = field_specs(PackSchedule)


def constraints(problem: PackProblem, schedule: PackSchedule, spec: DeviceSpec) -> Iterator[str]:
    """What makes a schedule illegal beyond its fields and its footprint."""
    width, widest, packed = schedule.vector_width, problem.vector_width("w"), problem.weights.packed
    if schedule.threads_per_group > schedule.threads:
        yield f"threads_per_group {schedule.threads_per_group} over the {schedule.threads} threads of a block"
        return
    if width < packed:
        yield f"vector_width {width}: expected {packed} or more, the codes of a byte"
    if width > max(widest, packed):
        yield f"vector_width {width} over the {widest} elements that W is aligned for"
    words = _loaded_words(problem, schedule)
    if words > _MOST_LOADED:
        yield f"{words} registers of a thread's vectors over {_MOST_LOADED}"


def _loaded_words(problem: PackProblem, schedule: PackSchedule) -> int:
    return schedule.loaded(problem) * ceil_div(schedule.vector_width * problem.dtype.bytes, WORD_BYTES)


def space(problem: PackProblem, spec: DeviceSpec) -> Space[PackSchedule]:
    """All fields; no more threads for a group than it has vectors, and no more loads than there is room for."""
    packed, widest = problem.weights.packed, max(problem.vector_width("w"), problem.weights.packed)
    widths = tuple(width for width in _SPECS["vector_width"].values if packed <= width <= widest)
    of_group = tuple(count for count in _SPECS["threads_per_group"].values if count < 2 * _vectors(problem, packed))
    parameters = field_parameters(PackSchedule, vector_width=widths, threads_per_group=of_group)

    def build(draw: Draw) -> PackSchedule:
        return _fitted(problem, PackSchedule.from_dict(draw))

    return Space(parameters, build)


def _vectors(problem: PackProblem, width: int) -> int:
    return max(1, PackSchedule(vector_width=width).vectors(problem))


def _fitted(problem: PackProblem, schedule: PackSchedule) -> PackSchedule:
    vectors = _vectors(problem, schedule.vector_width)
    most = max(count for count in _SPECS["threads_per_group"].values if count < 2 * vectors)
    schedule = replace(schedule, threads_per_group=min(schedule.threads_per_group, schedule.threads, most))
    while _loaded_words(problem, schedule) > _MOST_LOADED:
        if schedule.groups_per_thread > 1:
            schedule = replace(schedule, groups_per_thread=schedule.groups_per_thread // 2)
        else:
            schedule = replace(schedule, loads_in_flight=schedule.loads_in_flight // 2)
    return schedule


def default(problem: PackProblem, spec: DeviceSpec) -> PackSchedule:
    """Groups in registers, as far as they fit."""
    return _fitted(problem, held(problem))


def candidates(problem: PackProblem, spec: DeviceSpec) -> Iterator[PackSchedule]:
    """The default; more threads or more groups for each; then what caches and the compiler make of it."""
    usual = default(problem, spec)
    yield usual
    for threads, of_group, items in ((256, 1, 2), (256, 1, 4), (256, 2, 1), (256, 2, 2), (512, 4, 1), (1024, 4, 1)):
        of_group = min(threads, of_group * usual.threads_per_group)
        wanted = replace(usual, threads=threads, threads_per_group=of_group, groups_per_thread=items)
        yield _fitted(problem, wanted)
    yield replace(usual, streaming=True)
    yield replace(usual, specialize=Specialize.SHAPE)
    yield _fitted(problem, replace(usual, groups_per_thread=2, streaming=True, specialize=Specialize.SHAPE))


def checks(problem: PackProblem, schedule: PackSchedule) -> list[tuple[PackProblem, PackSchedule]]:
    """Whole groups; and groups and rows that are partly there, with gaps, just aligned enough."""
    width, stored = schedule.vector_width, schedule.vector_width // problem.weights.packed
    rows, columns = problem.group_rows, problem.group_size
    rounds = min(schedule.rounds(problem), 2 * schedule.loads_in_flight)
    if not columns:
        columns = max(1, min(problem.k, rounds * schedule.threads_per_group * width))
    whole = replace(problem, n=2 * rows, k=columns, ldw=0, ldq=0)
    part = columns + max(1, columns // 2) + 1
    if not problem.group_size:
        part = max(1, columns - width // 2)
    edges = replace(
        problem,
        n=rows + ceil_div(rows, 2),
        k=part,
        ldw=round_up(part, width) + width,
        ldq=round_up(ceil_div(part, problem.weights.packed), max(1, stored)) + max(1, stored),
        align_w=min(problem.align_w, width * problem.dtype.bytes),
        align_q=min(problem.align_q, max(1, stored)),
    )
    return [(whole, schedule), (edges, schedule)]
