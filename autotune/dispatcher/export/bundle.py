"""What is exported: the records of some problems, their kernels, and a kernel for any size."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...codegen.sgemm.problem import SgemmProblem
from ...codegen.sgemm.schedule import SgemmSchedule
from ...codegen.source import KernelSource
from ...compile_pool import CompilePool
from ...search_spaces.limits import DeviceLimits
from ...search_spaces.sgemm import OPERATOR
from ..records import Record
from ..transfer import for_any_size
from .tables import tables

_FOLDER = Path(__file__).parent
_ODD = 4095  # a size that no tile and no vector divides


@dataclass(frozen=True)
class Exported:
    """A record, and the sources of its kernels: for its own size, and for all others of its layout."""

    record: Record
    own: KernelSource
    others: KernelSource

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
        schedule, source: of the kernel that serves where no record does.
    """

    limits: DeviceLimits
    layout: SgemmProblem
    exported: tuple[Exported, ...]
    schedule: SgemmSchedule
    source: KernelSource

    @property
    def kernels(self) -> dict[str, tuple[SgemmSchedule, KernelSource]]:
        """Schedules and sources by the digest of the source."""
        pairs = [(self.schedule, self.source)]
        for one in self.exported:
            pairs += [(one.schedule, one.own), (one.schedule, one.others)]
        return {source.digest: (schedule, source) for schedule, source in pairs}


def bundle_of(problems: Sequence[SgemmProblem], limits: DeviceLimits, known: Iterable[Record]) -> Bundle:
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
    layout = _any_size(problems[0], vector=1)
    schedule = OPERATOR.default(layout, limits)
    return Bundle(limits, layout, exported, schedule, OPERATOR.source(layout, schedule, limits))


def write_bundle(bundle: Bundle, folder: Path) -> None:
    """Compile the kernels and write the folder, all of it or nothing.

    Raises:
        CompileError: a kernel does not compile.
        FileExistsError: the folder exists.
        OSError: it cannot be written.
    """
    folder.mkdir(parents=True)  # fails before anything is compiled if somebody else's files are there
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as temporary:
            built = Path(temporary) / folder.name
            built.mkdir(mode=0o755)
            _write_kernels(bundle, built)
            for name in ("selector.hpp", "sgemm.h", "sgemm.cpp", "example.cpp"):
                shutil.copy(_FOLDER / name, built)
            (built / "tables.hpp").write_text(tables(bundle), encoding="utf-8")
            built.replace(folder)
    except BaseException:
        folder.rmdir()
        raise


def _write_kernels(bundle: Bundle, folder: Path) -> None:
    with CompilePool() as pool:
        jobs = {digest: pool.submit(source, bundle.limits.arch) for digest, (_, source) in bundle.kernels.items()}
        for digest, job in jobs.items():
            (folder / f"{digest[:16]}.cubin").write_bytes(job.result().cubin)


def _exported(record: Record, limits: DeviceLimits) -> Exported | None:
    """A record with its kernels, if it is legal."""
    assert isinstance(record.problem, SgemmProblem)
    assert isinstance(record.schedule, SgemmSchedule)
    if OPERATOR.violations(record.problem, record.schedule, limits):
        return None
    widest = max(record.schedule.vector_a, record.schedule.vector_b, record.schedule.vector_c)
    any_size = _any_size(record.problem, widest)
    general = for_any_size(record.schedule)
    assert isinstance(general, SgemmSchedule)
    return Exported(
        record,
        OPERATOR.source(record.problem, record.schedule, limits),
        OPERATOR.emit(any_size, general),  # legal wherever the selector says so
    )


def _any_size(problem: SgemmProblem, vector: int) -> SgemmProblem:
    """A problem of the same layout whose every tile sticks out, and whose rows vectors of so many words divide."""
    row = _ODD + (1 if vector > 1 else 0)
    return SgemmProblem(_ODD, _ODD, _ODD, problem.transpose_a, problem.transpose_b, lda=row, ldb=row, ldc=row)
