"""The dispatcher's regret on untuned problems: tuned problems whose records are held out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import CompileError, compile_kernel
from autotune.devices.base import DeviceError
from autotune.dispatcher.choice.choose import Choice, choices
from autotune.dispatcher.choice.records import Record
from autotune.search_spaces.contract.modelled_time import modelled_seconds
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

if TYPE_CHECKING:
    from autotune.devices.cuda import CudaDevice

Measure = Callable[[Problem, Sequence[Schedule]], Sequence[float]]


@dataclass(frozen=True)
class HeldOut:
    """A tuned problem, and the dispatcher's choice for it without its own record.

    Attributes:
        split: the number of the split that holds its record out.
        record: its own.
        choice: by the other records of the split.
        regret: how much slower the choice is than the record, as a share of the record's time, both measured
            interleaved; None if that failed.
        warmed: regret of the choice's shape-specialised kernel, as after `autotune warm`.
        error: why it failed, in one line; else empty.
    """

    split: int
    record: Record
    choice: Choice
    regret: float | None = None
    warmed: float | None = None
    error: str = ""


def held_out(operator: Operator[Any, Any], known: Sequence[Record], spec: DeviceSpec, splits: int) -> list[HeldOut]:
    """The choices for each of `splits` random thirds of the problems, by the records of the other two thirds."""
    own = {record.problem: record for record in reversed(known)}  # the best of each problem
    cases: list[HeldOut] = []
    for split in range(splits):
        left_out = Random(split).sample(list(own), len(own) // 3)
        others = [record for record in known if record.problem not in left_out]
        cases += [HeldOut(split, own[one], next(choices(operator, one, spec, others))) for one in left_out]
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
    """The record's schedule, and the choice's as it is and shape-specialised."""
    return [case.record.schedule, case.choice.schedule, case.choice.shape_specialized.schedule]


def _with_regret(case: HeldOut, own: float, seconds: Mapping[Schedule, float]) -> HeldOut:
    regret, warmed = (seconds[schedule] / own - 1 for schedule in to_measure(case)[1:])
    return replace(case, regret=regret, warmed=warmed)


def programs_of(
    operator: Operator[Any, Any], spec: DeviceSpec, wanted: Iterable[tuple[Problem, Sequence[Schedule]]]
) -> Iterator[Program]:
    """The programs of schedules of problems."""
    return (operator.program(problem, one, spec) for problem, schedules in wanted for one in schedules)


def compiled(spec: DeviceSpec, programs: Iterable[Program]) -> None:
    """Compile programs into the disk cache on all CPUs; what fails does so again when it is measured."""
    distinct = {program.source_digest: program for program in programs}
    with CompilePool() as pool:
        wait([pool.submit(program, spec.arch) for program in distinct.values()])


def modelled(operator: Operator[Any, Any], spec: DeviceSpec) -> Measure:
    """Times of the time model, for a device that is not here."""

    def measure(problem: Problem, schedules: Sequence[Schedule]) -> list[float]:
        programs = [operator.program(problem, schedule, spec) for schedule in schedules]
        kernels = [compile_kernel(program, spec.arch) for program in programs]
        return [
            modelled_seconds(operator, problem, schedule, spec, kernel.resources)
            for schedule, kernel in zip(schedules, kernels, strict=True)
        ]

    return measure


def measured(operator: Operator[Any, Any], device: CudaDevice, rounds: int) -> Measure:
    """Times on a GPU, of verified kernels that are sampled in turns, `rounds` times each."""
    from autotune.base.cuda_core import CUDAError
    from autotune.bench import compare

    def measure(problem: Problem, schedules: Sequence[Schedule]) -> list[float]:
        kernels = {str(schedule): operator.program(problem, schedule, device.spec) for schedule in schedules}
        try:
            with device.session(operator, problem, seed=0) as session:
                comparison = compare(session, kernels, {}, rounds)
        except CUDAError as error:
            raise DeviceError(" ".join(str(error).split())) from None
        return [comparison.seconds(name) for name in kernels]

    return measure
