"""Renewing the shipped records for other versions of NVRTC: kernels are compiled anywhere, and measured together.

    python benchmarks/renew.py compile FILE DEVICE OPERATOR…
    python benchmarks/renew.py measure DEVICE DATABASE OPERATOR=SECONDS… FILE…

`compile` writes the kernels of the schedules that ship for DEVICE, such as h200, by the NVRTC in use (`LD_PRELOAD`
names another), into FILE. It needs no GPU. `measure` takes such files of several versions, made by yourself, since they
hold pickles. For each problem it measures, in one session, the kernels of versions that have no trial of it, or only
older ones than the schedule. It stores their trials in DATABASE, which `autotune db ship` writes to files. The last
problem of an operator begins within SECONDS.

Versions often make the same machine code of a source. Then it is measured once, and the environment of the other
versions' trials says as what: ``measured as``.
"""

from __future__ import annotations

import lzma
import pickle
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from itertools import chain, islice
from pathlib import Path
from time import monotonic
from typing import Any

from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.compiler import CompiledKernel, compiler_version
from autotune.db import Trial, TuningDB
from autotune.db.freshness import changed_program
from autotune.db.states import Status, TimeSource
from autotune.devices.base import Device, DeviceError, Session
from autotune.devices.select import worker_device
from autotune.machine_code import machine_code_digest
from autotune.runs.provenance import environment
from autotune.search_spaces.contract.operator import Operator
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec
from autotune.search_spaces.machine.devices import device_spec, named_device
from autotune.tuner.evaluator import Evaluator, Job

MOST = 4  # schedules of a problem
MEASURED_AS = "measured as"  # in the environment of a trial whose kernel was measured as another compiler's

Code = tuple[Schedule, str]

_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class Candidate:
    """A kernel to measure, of a schedule that emits its program since `found_at`, and the digest of that program."""

    operator: str
    problem: Problem
    schedule: Schedule
    found_at: datetime
    program: str
    kernel: CompiledKernel

    @cached_property
    def code(self) -> Code:
        """What tells it apart: one schedule makes other machine code with another compiler, or the same."""
        return self.schedule, machine_code_digest(self.kernel)


def compile_all(path: Path, model: str, operators: list[str]) -> None:
    """Write the kernels of some operators' records of a device model by the compiler in use."""
    compiled: list[Candidate] = []
    with CompilePool() as pool, TuningDB("sqlite://") as shipped:
        for name in operators:
            operator = registered(name)
            jobs = []
            for problem, schedule, found_at, program, spec in shipped_schedules(operator, model, shipped):
                candidate = partial(Candidate, name, problem, schedule, found_at, program.digest)
                jobs.append((candidate, pool.submit(program, spec.arch)))
            for candidate, job in jobs:
                if error := job.exception():
                    print(f"{name}: {error}", flush=True)
                else:
                    compiled.append(candidate(job.result()))
            print(f"{name}: {len(jobs)} kernels for {compiler_version()}", flush=True)
    path.write_bytes(lzma.compress(pickle.dumps(compiled)))


def measured_trials(operator: Operator[Any, Any], model: str, db: TuningDB) -> dict[str, list[Trial]]:
    """By problem, the measured trials on a device model, the fastest first."""
    found: dict[str, list[Trial]] = defaultdict(list)
    for trial in db.trials(operator.name, device=model, status=Status.OK):
        if trial.time_source is TimeSource.MEASURED:
            found[trial.problem.key].append(trial)
    for trials in found.values():
        trials.sort(key=lambda trial: trial.seconds or 0.0)
    return found


def shipped_schedules(
    operator: Operator[Any, Any], model: str, db: TuningDB
) -> Iterator[tuple[Problem, Schedule, datetime, Program, DeviceSpec]]:
    """The fastest few schedules of each problem, by whatever compiler, and since when they emit their program.

    A schedule whose program has changed since it was measured is likely to be good still: it counts as found now.
    """
    now = datetime.now(UTC)
    for trials in measured_trials(operator, model, db).values():
        problem, spec = operator.problem_type.from_dict(trials[0].problem.fields), device_spec(trials[0].device.limits)
        since: dict[Schedule, datetime] = {}
        programs: dict[Schedule, Program] = {}
        for trial in trials:
            with suppress(ValueError):  # it is not legal any more
                schedule = operator.schedule(trial.schedule)
                programs[schedule] = operator.program(problem, schedule, spec)
                found_at = now if changed_program(trial) else trial.created_at
                since[schedule] = min(since.get(schedule, found_at), found_at)
        for schedule, found_at in islice(since.items(), MOST):
            yield problem, schedule, found_at, programs[schedule], spec


def measure(selector: str, database: str, limits: dict[str, float], files: list[Path]) -> None:
    """Measure what has no trial of its compiler yet, one operator after another."""
    candidates: dict[str, dict[Problem, list[Candidate]]] = defaultdict(lambda: defaultdict(list))
    for one in chain.from_iterable(pickle.loads(lzma.decompress(path.read_bytes())) for path in files):
        candidates[one.operator][one.problem].append(one)
    with worker_device(selector) as device, CompilePool() as pool, TuningDB(database) as db:
        for name, seconds in limits.items():
            measure_operator(registered(name), candidates[name], seconds, device, pool, db)


def measure_operator(
    operator: Operator[Any, Any],
    candidates: Mapping[Problem, list[Candidate]],
    seconds: float,
    device: Device,
    pool: CompilePool,
    db: TuningDB,
) -> None:
    """Measure what an operator has no trial of yet, until the time is over, and say how much that was."""
    start = monotonic()
    stored = measured_trials(operator, device.spec.name, db)
    tasks = [
        Task(operator, problem, listed, stored.get(problem.key, []), device) for problem, listed in candidates.items()
    ]
    tasks.sort(key=lambda task: task.measures)  # what needs no GPU is done in any case
    for task in tasks:
        if task.measures:
            pool.prepare(operator.reference(task.problem), device.spec.arch)
    renewed = 0
    for task in tasks:
        if task.measures and monotonic() > start + seconds:
            break
        try:
            for trial in task.trials(pool):
                db.record(trial)
                renewed += trial.ok
                if not trial.ok:
                    print(f"{operator.name} {trial.problem.key}, {trial.compiler}: {trial.status} {trial.error}")
        except DeviceError as error:
            print(error)
    wanted = sum(len(task.missing) for task in tasks)
    print(f"{operator.name}: {renewed} of {wanted} kernels in {monotonic() - start:.1f} s", flush=True)


class Task:
    """A problem, and its kernels of compilers that have no trial of it, or only older ones than the schedule.

    Args:
        operator, problem: what is measured.
        candidates: kernels of all compilers; those of other programs than today's are left aside.
        trials: what was measured; those of other programs than today's are left aside, too.
        device: where they are measured; trials with another driver or limits tell nothing of it.

    Attributes:
        problem: as above.
        missing: the kernels that need a trial.
    """

    def __init__(
        self,
        operator: Operator[Any, Any],
        problem: Problem,
        candidates: list[Candidate],
        trials: list[Trial],
        device: Device,
    ) -> None:
        self._operator, self.problem, self._device = operator, problem, device
        now = environment(device)
        trials = [trial for trial in trials if not changed_program(trial)]
        alike = {
            (trial.schedule_digest, trial.compiler): trial
            for trial in trials
            if all(trial.environment.get(name) == now.get(name) for name in ("driver", "limits"))
        }
        self._programs: dict[Schedule, Program] = {}
        for schedule in {one.schedule for one in candidates}:
            with suppress(ValueError):  # it is not legal any more
                self._programs[schedule] = operator.program(problem, schedule, device.spec)
        named = {
            (one.schedule.digest, one.kernel.compiler): one  # once, though several files have it
            for one in candidates
            if (program := self._programs.get(one.schedule)) and program.digest == one.program
        }
        self._known = {one.code: alike[name] for name, one in named.items() if name in alike}
        newest: dict[str, datetime] = {}
        for trial in trials:
            newest[trial.compiler] = max(newest.get(trial.compiler, trial.created_at), trial.created_at)
        self.missing = [
            one
            for name, one in named.items()
            if name not in alike and newest.get(one.kernel.compiler, _NEVER) < one.found_at
        ]

    @property
    def measures(self) -> bool:
        """Whether one of them must be measured, since its machine code is unknown."""
        return any(one.code not in self._known for one in self.missing)

    def trials(self, pool: CompilePool) -> Iterator[Trial]:
        """Those of the missing kernels; of kernels with the same machine code one is measured."""
        evaluator = Evaluator(self._operator, self.problem, self._device, pool)
        session: Session | None = None
        with ExitStack() as stack:
            for one in self.missing:
                compiler = one.kernel.compiler
                if known := self._known.get(one.code):
                    measured_as = known.environment.get(MEASURED_AS, known.compiler)
                    told = {**known.environment, "compiler": compiler, MEASURED_AS: measured_as}
                    yield replace(known, compiler=compiler, environment=told)
                    continue
                session = session or stack.enter_context(self._device.session(self._operator, self.problem, 0))
                kernel: Future[CompiledKernel] = Future()
                kernel.set_result(one.kernel)
                trial = evaluator.finish(Job(one.schedule, self._programs[one.schedule], kernel), session)
                trial = replace(trial, environment={**trial.environment, "compiler": compiler})
                self._known[one.code] = trial
                yield trial


def main(words: list[str]) -> None:
    """Take the words of the command line."""
    if words[:1] == ["compile"] and len(words) > 3:
        compile_all(Path(words[1]), named_device(words[2]).name, words[3:])
    elif words[:1] == ["measure"] and len(words) > 4:
        limits = {name: float(seconds) for name, given, seconds in (word.partition("=") for word in words[3:]) if given}
        measure(words[1], words[2], limits, [Path(word) for word in words[3:] if "=" not in word])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
