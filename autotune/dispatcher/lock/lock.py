"""What a program may run, and nothing else: the choices of a lock, and their machine code in a folder beside it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from autotune.base.files import read_regular
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.resources import Resources
from autotune.compiler import CompiledKernel
from autotune.search_spaces.contract.operator import IllegalScheduleError, Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .document import Document, Locked, LockError, read

_MOST_BYTES = 64 << 20  # of a cubin


class Serving(NamedTuple):
    """What serves a problem; of a problem that it restates, its tensor for each of that one's."""

    locked: Locked
    pointers: Mapping[str, str]


class Lock:
    """A lock, as it was when the process read it.

    Attributes:
        path: of the file.
        document: what it states.
    """

    def __init__(self, path: Path) -> None:
        _check_place(path)
        self.path = path
        try:
            self.document: Document = read(path)
        except OSError as error:
            raise LockError(f"{path}: {error.strerror}; expected a file that autotune lock wrote") from None

    @property
    def choices(self) -> Mapping[tuple[str, Problem], Locked]:
        """What serves, by the operator's name and the problem."""
        return self.document.choices

    def serving(self, operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec) -> Serving:
        """What serves a problem on a device, by the operator's kernels or by those of one that computes the same.

        Raises:
            LockError: nothing does, or what does is no longer what was locked.
        """
        title, locked_on = f"{operator.name} {problem.key}", self.document.spec
        if (locked_on.name, locked_on.arch) != (spec.name, spec.arch):
            raise LockError(f"{title}: {self.path} is for {locked_on.name}, and this is {spec.name}: make one for it")
        found, pointers = self.choices.get((operator.name, problem)), dict[str, str]()
        restated = operator.restated(problem) if not found and operator.restated else None
        if restated:
            found, pointers = self.choices.get((restated.operator, restated.problem)), dict(restated.pointers)
        if not found:
            raise LockError(f"{title} is not in {self.path}: run autotune lock again, after a run that calls it")
        self.program(found, spec)
        return Serving(found, pointers)

    def program(self, locked: Locked, spec: DeviceSpec) -> Program:
        """What a choice emits.

        Raises:
            LockError: it is another program than the one that was locked.
        """
        try:
            program = locked.operator.program(locked.problem, locked.schedule, spec)
        except IllegalScheduleError as error:
            raise LockError(f"{locked.title}: the schedule in {self.path} is not legal here: {error}") from None
        if program.digest != locked.program or len(program.modules) != len(locked.cubins):
            by = f"autotune {self.document.autotune} made {self.path}"
            raise LockError(f"{locked.title}: {by}, and this version has another program: run autotune lock again")
        return program

    def travelled(self, locked: Locked, arch: str) -> CompiledKernel | None:
        """The machine code of a choice from the folder beside the lock; None if that has not all of it, intact.

        Whoever wrote there need not be trusted, since the lock has digests of the content.
        """
        try:
            cubins = [read_regular(self.cubin(digest), _MOST_BYTES) for digest in locked.cubins]
        except (OSError, ValueError):
            return None
        if digests(cubins) != locked.cubins:
            return None
        # What ptxas says of its resources stays where it was compiled: nobody who launches asks for that.
        return CompiledKernel(cubins[0], Resources(0), arch, self.document.compiler, tuple(cubins[1:]))

    def check(self, locked: Locked, kernel: CompiledKernel) -> None:
        """Check that a choice has the machine code that was locked.

        Raises:
            LockError: it has other machine code.
        """
        if digests(kernel.cubins) != locked.cubins:
            by = f"{kernel.compiler} makes other machine code than {self.document.compiler} made for {self.path}"
            raise LockError(f"{locked.title}: {by}: run autotune lock again")

    @property
    def folder(self) -> Path:
        """The folder of machine code beside the lock."""
        return self.path.with_name(f"{self.path.name}.kernels")

    def cubin(self, digest: str) -> Path:
        """Where machine code of this digest is, if it is there."""
        return self.folder / f"{digest}.cubin"


def digests(cubins: list[bytes] | tuple[bytes, ...]) -> tuple[str, ...]:
    """SHA-256 of each."""
    return tuple(sha256(cubin).hexdigest() for cubin in cubins)


@cache
def opened(path: Path) -> Lock:
    """The lock of a file, read once by the process.

    Raises:
        LockError: it is none, or anybody could write to it.
    """
    return Lock(path)


def _check_place(path: Path) -> None:
    """Check that not everybody may exchange the file: it says what machine code runs.

    Raises:
        LockError: anybody may.
    """
    whole = Path(os.path.realpath(path))
    for one in (whole, *whole.parents):
        try:
            mode = one.stat().st_mode
        except OSError:
            return  # which reading it reports
        if mode & stat.S_IWOTH and not (stat.S_ISDIR(mode) and mode & stat.S_ISVTX):
            raise LockError(f"{path}: anybody may write to {one}: run chmod o-w on it")
