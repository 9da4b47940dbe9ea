"""What is exported: the records of some problems, their kernels, and a kernel for any size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from ..codegen.matmul.sgemm.problem import SgemmProblem
from ..codegen.matmul.sgemm.schedule import SgemmSchedule
from ..codegen.program import Program
from ..dispatcher.choice.records import Record
from ..search_spaces.device_spec import DeviceSpec
from ..search_spaces.matmul.sgemm import OPERATOR

_PRIME = 1021  # larger than any tile, none of which divides it


@dataclass(frozen=True)
class Exported:
    """A record, and the sources of its kernels.

    Attributes:
        own: for its own size.
        larger: for all others of its layout that are larger than a tile in each dimension, if it serves others.
        others: for all others, likewise.
    """

    record: Record
    own: Program
    larger: Program
    others: Program

    @property
    def schedule(self) -> SgemmSchedule:
        """The record's."""
        assert isinstance(self.record.schedule, SgemmSchedule)
        return self.record.schedule


@dataclass(frozen=True)
class Bundle:
    """What a folder holds.

    Attributes:
        limits: the device.
        layout: a problem of the layout that all of them have.
        exported: in the order in which ties are decided.
        schedule, program: of the kernel that serves where no record does.
    """

    limits: DeviceSpec
    layout: SgemmProblem
    exported: tuple[Exported, ...]
    schedule: SgemmSchedule
    program: Program

    @property
    def kernels(self) -> dict[str, tuple[SgemmSchedule, Program]]:
        """Schedules and sources by the digest of the source."""
        pairs = [(self.schedule, self.program)]
        for one in self.exported:
            pairs += [(one.schedule, program) for program in (one.own, one.larger, one.others)]
        return {program.source_digest: (schedule, program) for schedule, program in pairs}


def bundle_of(problems: Sequence[SgemmProblem], limits: DeviceSpec, known: Iterable[Record]) -> Bundle:
    """The records of these problems, as far as there are any that are legal.

    Raises:
        ValueError: problems of several layouts, batches, gaps between rows, or little alignment.
    """
    for problem in problems:
        dense = SgemmProblem(problem.m, problem.n, problem.k, problem.transpose_a, problem.transpose_b)
        if problem != dense:
            raise ValueError(f"{problem.key}: only dense matrices, one of each, aligned to 16 bytes, are exported")
        if problem.layout != problems[0].layout:
            raise ValueError(f"{problem.key} and {problems[0].key}: one layout is exported at a time")
    keys = {problem.key for problem in problems}
    wanted = sorted((record for record in known if record.problem.key in keys), key=lambda one: one.problem.key)
    exported = tuple(filter(None, (_exported(record, limits) for record in wanted)))
    schedule = OPERATOR.default(_of_size(problems[0], _PRIME, _PRIME, _PRIME), limits)
    layout = _of_size(problems[0], 1, 1, 1)
    return Bundle(limits, layout, exported, schedule, OPERATOR.emit(layout, schedule))


def _exported(record: Record, limits: DeviceSpec) -> Exported | None:
    """A record with its kernels, if it is legal."""
    assert isinstance(record.problem, SgemmProblem)
    assert isinstance(record.schedule, SgemmSchedule)
    if OPERATOR.violations(record.problem, record.schedule, limits):
        return None
    own = OPERATOR.program(replace(record.problem, beta_nonzero=True), record.schedule, limits)
    if record.own_only:
        return Exported(record, own, own, own)
    sizes = (_PRIME * record.schedule.vector_along(record.problem, dimension) for dimension in "mnk")
    larger, others = (_of_size(record.problem, *of_size) for of_size in (sizes, (1, 1, 1)))
    # Legal wherever the selector says so.
    return Exported(record, own, *(OPERATOR.emit(problem, record.schedule) for problem in (larger, others)))


def _of_size(problem: SgemmProblem, m: int, n: int, k: int) -> SgemmProblem:
    """A problem of the same layout; whether C is read is decided by beta, when a kernel runs."""
    return SgemmProblem(m, n, k, problem.transpose_a, problem.transpose_b, beta_nonzero=True)
