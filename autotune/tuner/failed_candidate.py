"""A candidate that failed, evaluated again; as a program, launched once, for a sanitizer to watch.

python -m autotune.tuner.failed_candidate REPORT GPU
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import compile_kernel
from autotune.db.trials import Trial
from autotune.devices.base import Device
from autotune.runs.failure_report import FailureReport
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.verification import launch_arrays

from .evaluator import Evaluator


@dataclass(frozen=True)
class FailedCandidate:
    """A report's problem and schedule, checked, and the source that this generator emits for them."""

    operator: Operator[Any, Any]
    problem: Problem
    schedule: Schedule
    program: Program

    @classmethod
    def of(cls, report: FailureReport, spec: DeviceSpec) -> FailedCandidate:
        """The candidate of a report on such a device.

        Raises:
            ValueError: this version knows no such operator, problem or schedule, or the schedule is not legal there.
        """
        record = report.trial.problem
        operator = registered(record.operator)
        problem = operator.problem_type.from_dict(record.fields)
        schedule = operator.schedule(report.trial.schedule)
        return cls(operator, problem, schedule, operator.program(problem, schedule, spec))


def replay(report: FailureReport, device: Device) -> Trial:
    """Compile, verify and time the candidate as the tuner did; nothing is stored.

    Raises:
        ValueError: as `FailedCandidate.of`.
        DeviceError: the device cannot be used.
        CompilerMissingError: there is no compiler.
    """
    candidate = FailedCandidate.of(report, device.spec)
    operator, problem = candidate.operator, candidate.problem
    with CompilePool(1) as pool, device.session(operator, problem, report.seed) as session:
        evaluator = Evaluator(operator, problem, device, pool)
        return evaluator.finish(evaluator.start(candidate.schedule), session)


def launch(report: str, ordinal: str) -> None:
    """Launch on the report's inputs and poisoned outputs; the result is not checked."""
    from autotune.devices.cuda import CudaDevice
    from autotune.devices.sanitizer_launch import run

    spec = CudaDevice(int(ordinal)).spec
    read = FailureReport.read(Path(report))
    candidate = FailedCandidate.of(read, spec)
    problem, program = candidate.problem, candidate.program
    arrays = launch_arrays(problem, read.seed)
    kernel = compile_kernel(program, spec.arch)
    run(program, problem.tensors, arrays, problem.scalars, kernel=kernel)


if __name__ == "__main__":
    launch(*sys.argv[1:])
