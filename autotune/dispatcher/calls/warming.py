"""Kernels compiled and loaded before the first call asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.compiler import CompileError
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.formulation import KnownRecords, formulation_of
from autotune.dispatcher.choice.rule import Rule
from autotune.dispatcher.lock.document import Locked
from autotune.dispatcher.lock.lock import Lock, digests
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import OPERATORS
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .plan import plan_for

if TYPE_CHECKING:
    from autotune.compile_pool import CompilePool
    from autotune.compiler import CompiledKernel


def warm(problems: Iterable[Problem], device: int = 0) -> list[Choice]:
    """Compile and load what serves problems on a GPU, so that calls only launch and may be captured into CUDA graphs.

    A problem without a record of its own gets a kernel for its shape alone, too, which takes seconds to compile; a call
    takes one for any size. Kernels that ``autotune warm`` compiled are taken from the disk.

    Args:
        problems: such as ``SgemmProblem(m=4096, n=4096, k=4096)``, of any operators.
        device: the GPU's ordinal, or `views.HOST` for the emulator.

    Returns:
        What serves each of them.

    Raises:
        CompileError, LaunchError: not even the default schedule of a problem could be compiled and loaded.
        DeviceError: there is no usable driver.
    """
    return [plan_for(_operator_of(problem), problem, device, one_shape=True).choice for problem in problems]


class Compiled(NamedTuple):
    """What serves a problem, and lies compiled in the disk cache.

    Attributes:
        problem: as it was asked for.
        choice: what serves it.
        locked: the same as a lock has it: as the operator states it whose kernel serves.
        kernel: the machine code.
    """

    problem: Problem
    choice: Choice
    locked: Locked
    kernel: CompiledKernel


def compile_ahead(
    operator: Operator[Any, Any], problems: Iterable[Problem], spec: DeviceSpec, known: KnownRecords
) -> Iterator[Compiled]:
    """Compile what serves problems into the disk cache, on all CPUs, for a device that need not be here.

    Args:
        operator: of the problems.
        problems: by the operator's or, where that promises to be faster, by another operator's kernels.
        spec: the device.
        known: gives the records of an operator.

    Raises:
        CompileError: not even the default schedule of a problem could be compiled.
    """
    from autotune.compile_pool import CompilePool

    with CompilePool() as pool:
        jobs = [_Job(operator, problem, spec, known, pool) for problem in problems]
        for job in jobs:
            yield job.finish()


def compile_locked(lock: Lock) -> Iterator[Compiled]:
    """Compile what a lock names, into the disk cache, on all CPUs, for a device that need not be here.

    Raises:
        CompileError: the compiler refused a kernel.
        LockError: a schedule has another program by now, or compiles to other machine code than the lock names.
    """
    from autotune.compile_pool import CompilePool

    spec = lock.document.spec
    with CompilePool() as pool:
        jobs = [(one, pool.submit(lock.program(one, spec), spec.arch)) for one in lock.choices.values()]
        for one, job in jobs:
            kernel = job.result()
            lock.check(one, kernel)
            yield Compiled(one.problem, Choice(Rule.LOCK, one.schedule), one, kernel)


class _Job:
    """A problem whose first choice is being compiled."""

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        spec: DeviceSpec,
        known: KnownRecords,
        pool: CompilePool,
    ) -> None:
        self.problem = problem
        self._stated = formulation_of(operator, problem, spec, known)
        # Where the kernel for the shape alone does not compile, that for any shape may.
        special = problem.served_as is None  # else no call takes one for the shape alone
        self._choices: Iterator[Choice] = (
            one
            for choice in self._stated.choices
            for one in ((choice.shape_specialized, choice) if special else (choice,))
        )
        self._spec, self._pool = spec, pool
        self._start()

    def finish(self) -> Compiled:
        """The first choice that compiles."""
        while True:
            try:
                kernel = self._kernel.result()
            except CompileError as error:
                last = error
                if not self._start():
                    raise last from None
            else:
                return Compiled(self.problem, self._choice, self._locked(kernel), kernel)

    def _locked(self, kernel: CompiledKernel) -> Locked:
        stated = self._stated
        return Locked(
            stated.operator, stated.problem, self._choice.schedule, self._program.digest, digests(kernel.cubins)
        )

    def _start(self) -> bool:
        """Have the next choice compiled; False if there is none."""
        choice = next(self._choices, None)
        if choice is None:
            return False
        self._choice = choice
        self._program = self._stated.operator.program(self._stated.problem, choice.schedule, self._spec)
        self._kernel: Future[CompiledKernel] = self._pool.submit(self._program, self._spec.arch)
        return True


def _operator_of(problem: Problem) -> Operator[Any, Any]:
    for operator in OPERATORS.values():
        if isinstance(problem, operator.problem_type):
            return operator
    known = ", ".join(operator.problem_type.__name__ for operator in OPERATORS.values())
    raise TypeError(f"{problem!r}: expected a problem, one of {known}")
