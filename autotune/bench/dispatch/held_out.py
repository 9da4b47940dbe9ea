"""What the dispatcher loses on problems that were not tuned: tuned ones whose records it may not look at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from ...codegen.problem import Problem
from ...codegen.schedule import Schedule
from ...compile_pool import CompilePool
from ...compiler import CompileError, compile_kernel
from ...devices.base import DeviceError
from ...devices.time_model import modelled_seconds
from ...dispatcher.choice.choose import Choice, choices
from ...dispatcher.choice.records import Record
from ...search_spaces.device_spec import DeviceSpec
from ...search_spaces.operator import Operator

if TYPE_CHECKING:
    from ...devices.cuda import CudaDevice

Measure = Callable[[Problem, Sequence[Schedule]], Sequence[float]]


@dataclass(frozen=True)
class HeldOut:
    """A tuned problem, and what it was given without its own record.

    Attributes:
        split: the number of the split that left its record out.
        record: its own.
        choice: by the records that the split kept.
        regret: by how much the choice is slower than the record, as a share of the record's time, both measured
            together; None if that failed.
        warmed: the same of the choice's kernel for the problem's shape alone, which who compiles ahead gets.
        error: one line that says why.
    """

    split: int
    record: Record
    choice: Choice
    regret: float | None = None
    warmed: float | None = None
    error: str = ""


def held_out(operator: Operator[Any, Any], known: Sequence[Record], limits: DeviceSpec, splits: int) -> list[HeldOut]:
    """What each of `splits` random thirds of the problems is given by the records of the other two thirds."""
    own = {record.problem: record for record in reversed(known)}  # the best of each problem
    cases: list[HeldOut] = []
    for split in range(splits):
        left_out = Random(split).sample(list(own), len(own) // 3)
        kept = [record for record in known if record.problem not in left_out]
        cases += [HeldOut(split, own[one], next(choices(operator, one, limits, kept))) for one in left_out]
    return cases


def regrets(cases: Sequence[HeldOut], measure: Measure) -> Iterator[list[HeldOut]]:
    """The cases with their regrets, problem by problem; each schedule of a problem is measured once."""
    for problem in dict.fromkeys(case.record.problem for case in cases):
        same = [case for case in cases if case.record.problem == problem]
        schedules = list(dict.fromkeys(schedule for case in same for schedule in to_measure(case)))
        try:
            seconds = dict(zip(schedules, measure(problem, schedules), strict=True))
        except (CompileError, DeviceError) as error:
            yield [replace(case, error=str(error)) for case in same]
        else:
            own = seconds[same[0].record.schedule]
            yield [_with_regret(case, own, seconds) for case in same]


def to_measure(case: HeldOut) -> list[Schedule]:
    """The record's schedule, and the choice's for any size and for the problem's shape alone."""
    return [case.record.schedule, case.choice.schedule, case.choice.shape_specialized.schedule]


def _with_regret(case: HeldOut, own: float, seconds: Mapping[Schedule, float]) -> HeldOut:
    regret, warmed = (seconds[schedule] / own - 1 for schedule in to_measure(case)[1:])
    return replace(case, regret=regret, warmed=warmed)


def compiled(
    operator: Operator[Any, Any], limits: DeviceSpec, wanted: Iterable[tuple[Problem, Sequence[Schedule]]]
) -> None:
    """Compile schedules of problems into the disk cache on all CPUs; what fails does so again when it is measured."""
    programs = (operator.program(problem, one, limits) for problem, schedules in wanted for one in schedules)
    distinct = {program.source_digest: program for program in programs}
    with CompilePool() as pool:
        wait([pool.submit(program, limits.arch) for program in distinct.values()])


def modelled(operator: Operator[Any, Any], limits: DeviceSpec) -> Measure:
    """Times of the time model, for a device that is not here."""

    def measure(problem: Problem, schedules: Sequence[Schedule]) -> list[float]:
        programs = [operator.program(problem, schedule, limits) for schedule in schedules]
        kernels = [compile_kernel(program, limits.arch) for program in programs]
        return [
            modelled_seconds(operator, problem, schedule, limits, kernel.resources)
            for schedule, kernel in zip(schedules, kernels, strict=True)
        ]

    return measure


def measured(operator: Operator[Any, Any], device: CudaDevice, rounds: int) -> Measure:
    """Times on a GPU, of verified kernels that are sampled in turns, `rounds` times each."""
    from ...cuda_core import CUDAError
    from .. import compare

    def measure(problem: Problem, schedules: Sequence[Schedule]) -> list[float]:
        kernels = {str(schedule): operator.program(problem, schedule, device.limits) for schedule in schedules}
        try:
            with device.session(operator, problem, seed=0) as session:
                comparison = compare(session, kernels, {}, rounds)
        except CUDAError as error:
            raise DeviceError(" ".join(str(error).split())) from None
        return [comparison.seconds(name) for name in kernels]

    return measure
