"""Kernels compiled and loaded before the first call asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from autotune.codegen.model.problem import Problem
from autotune.compiler import CompileError
from autotune.dispatcher.choice.choose import Choice
from autotune.dispatcher.choice.formulation import KnownRecords, formulation_of
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
    """What serves a problem, and lies compiled in the disk cache."""

    problem: Problem
    choice: Choice


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
            yield Compiled(job.problem, job.finish())


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
        self._choices: Iterator[Choice] = (
            one for choice in self._stated.choices for one in (choice.shape_specialized, choice)
        )
        self._spec, self._pool = spec, pool
        self._start()

    def finish(self) -> Choice:
        """The first choice that compiles."""
        while True:
            try:
                self._kernel.result()
            except CompileError as error:
                last = error
                if not self._start():
                    raise last from None
            else:
                return self._choice

    def _start(self) -> bool:
        """Have the next choice compiled; False if there is none."""
        choice = next(self._choices, None)
        if choice is None:
            return False
        self._choice = choice
        program = self._stated.operator.program(self._stated.problem, self._choice.schedule, self._spec)
        self._kernel: Future[CompiledKernel] = self._pool.submit(program, self._spec.arch)
        return True


def _operator_of(problem: Problem) -> Operator[Any, Any]:
    for operator in OPERATORS.values():
        if isinstance(problem, operator.problem_type):
            return operator
    known = ", ".join(operator.problem_type.__name__ for operator in OPERATORS.values())
    raise TypeError(f"{problem!r}: expected a problem, one of {known}")
