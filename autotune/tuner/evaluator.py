"""From a schedule to its trial: emit, compile elsewhere, verify and time, and say all that was found out."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import CompiledKernel, CompileError, CompilerKilledError, compiler_version
from autotune.db.freshness import JUDGE, KILLED, judge
from autotune.db.states import Status
from autotune.db.trials import DeviceRecord, ProblemRecord, Trial
from autotune.devices.base import Device, Evaluation, Session
from autotune.machine_code import machine_code_digest
from autotune.runs.provenance import environment
from autotune.search_spaces.contract.operator import Operator


@dataclass(frozen=True)
class Job:
    """A schedule whose kernel is being compiled."""

    schedule: Schedule
    program: Program
    kernel: Future[CompiledKernel]


class Evaluator:
    """Evaluates the schedules of one problem on one device, in two steps so that compiling can run ahead.

    Args:
        operator, problem, device: what is evaluated.
        pool: compiles.
        run: the id of the run that the trials are of, if there is one.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        device: Device,
        pool: CompilePool,
        run: str | None = None,
    ) -> None:
        spec = device.spec
        self._operator, self._problem, self._spec = operator, problem, spec
        self._pool = pool
        self._environment = environment(device)
        self._trial = partial(
            Trial,
            device=DeviceRecord.of(spec),
            problem=ProblemRecord.of(operator.name, problem),
            time_source=device.time_source,
            run=run,
        )

    def start(self, schedule: Schedule) -> Job:
        """Emit a legal schedule and have it compiled."""
        program = self._operator.program(self._problem, schedule, self._spec)
        return Job(schedule, program, self._pool.submit(program, self._spec.arch))

    def prepare(self, schedule: Schedule) -> None:
        """Have a schedule compiled that may be started later."""
        self._pool.prepare(self._operator.program(self._problem, schedule, self._spec), self._spec.arch)

    def finish(self, job: Job, session: Session) -> Trial:
        """Wait for the kernel, verify and time it in a session of the problem.

        Raises:
            CompilerMissingError: there is no compiler.
            DeviceError: the device cannot be used any more.
        """
        trial = partial(
            self._trial,
            schedule=job.schedule.to_dict(),
            schedule_digest=job.schedule.digest,
            program_digest=job.program.digest,
        )
        try:
            kernel = job.kernel.result()
        except CompileError as error:
            killed = isinstance(error, CompilerKilledError)
            return trial(
                environment=self._environment | ({KILLED: "twice"} if killed else {}),
                status=Status.CRASHED if killed else Status.COMPILE_ERROR,
                error=str(error),
                compiler=compiler_version(),
            )
        evaluation = session.evaluate(job.schedule, job.program, kernel)
        return trial(
            environment=self._environment | self._verdict(evaluation),
            status=evaluation.status,
            samples=evaluation.samples,
            error=evaluation.error,
            max_error=evaluation.max_error,
            resources=asdict(kernel.resources),
            compiler=kernel.compiler,
            machine_code_digest=machine_code_digest(kernel),
            conditions=evaluation.conditions,
        )

    def _verdict(self, evaluation: Evaluation) -> dict[str, str]:
        """What a failure depends on beside the kernel."""
        if evaluation.status is Status.WRONG:
            return {JUDGE: judge(self._operator, self._problem)}
        return {KILLED: "twice"} if evaluation.killed else {}
