"""How much longer the dispatcher's choices take than records that are held out, for many operators in one process.

    python benchmarks/regrets.py DEVICE FILE SPLITS OPERATOR=SECONDS…

The cases are those of ``autotune bench dispatch OPERATOR --splits SPLITS``, chosen on all processors; their kernels
are compiled ahead of the GPU. The last problem of an operator begins within SECONDS, problems of few bytes come first.
FILE gets, for each operator, the median, the 95th percentile and the largest regret, and each case with the schedules
and the times of the record and of the choice, also of that for its shape alone (`warmed`).
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import Future, ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from statistics import median, quantiles
from time import monotonic
from typing import Any

from autotune.base.files import write_text
from autotune.bench.dispatch.held_out import HeldOut, held_out, measured, programs_of, regrets, to_measure
from autotune.codegen.model.problem import Problem
from autotune.codegen.model.program import Program
from autotune.codegen.model.schedule import Schedule
from autotune.compile_pool import CompilePool
from autotune.db import TuningDB
from autotune.db.states import TimeSource
from autotune.devices.cuda import CudaDevice
from autotune.dispatcher.choice.records import read_records
from autotune.search_spaces.contract.registry import operator as registered
from autotune.search_spaces.machine.device_spec import DeviceSpec

ROUNDS = 12


def cases_of(name: str, spec: DeviceSpec, splits: int) -> list[HeldOut]:
    """What the dispatcher chooses for held-out problems, the smallest first."""
    operator = registered(name)
    with TuningDB() as database:
        known = [
            one
            for one in read_records(operator, spec, database)
            if one.kin is None and one.time_source is TimeSource.MEASURED
        ]
    cases = held_out(operator, known, spec, splits)
    return sorted(cases, key=lambda case: (case.record.problem.work.bytes, case.record.problem.key))


class Measuring:
    """Measures held-out cases on a GPU, and keeps the times.

    Attributes:
        seconds: of each problem's schedules.
    """

    def __init__(self, device: CudaDevice, pool: CompilePool, cases: dict[str, list[HeldOut]]) -> None:
        self._device, self._pool = device, pool
        self.seconds: dict[tuple[str, Problem, Schedule], float] = {}
        self._compiled: dict[tuple[str, Problem], list[Future[Any]]] = {}
        for name, held in cases.items():
            for case in held:
                self._compiled.setdefault((name, case.record.problem), []).extend(self._submitted(name, case))

    def _submitted(self, name: str, case: HeldOut) -> list[Future[Any]]:
        operator, problem, spec = registered(name), case.record.problem, self._device.spec
        programs: list[Program] = list(programs_of(operator, spec, [(problem, to_measure(case))]))
        if operator.reference:
            programs.append(operator.reference(problem))
        return [self._pool.submit(program, spec.arch) for program in programs]

    def regrets(self, name: str, cases: list[HeldOut], limit: float) -> list[HeldOut]:
        """The cases of an operator that were measured before the time was over."""
        measure, start = measured(registered(name), self._device, ROUNDS), monotonic()

        def timed(problem: Problem, schedules: Any) -> Any:
            for future in self._compiled[name, problem]:
                future.exception()
            seconds = measure(problem, schedules)
            self.seconds.update({(name, problem, one): time for one, time in zip(schedules, seconds, strict=True)})
            return seconds

        done: list[HeldOut] = []
        found = regrets(cases, timed)
        while monotonic() < start + limit and (same := next(found, None)):
            done += same
        return done

    def document(self, name: str, case: HeldOut) -> dict[str, Any]:
        """A case as JSON values."""
        problem, choice = case.record.problem, case.choice
        record, chosen, warmed = to_measure(case)
        seconds = {
            what: self.seconds.get((name, problem, one))
            for what, one in (("record", record), ("choice", chosen), ("warmed", warmed))
        }
        return {
            "split": case.split,
            "problem": problem.key,
            "rule": choice.rule,
            "by": choice.record,
            "regret": case.regret,
            "warmed": case.warmed,
            "record": str(record),
            "choice": str(chosen),
            "seconds": seconds,
            "error": case.error,
        }


def figures(losses: list[float]) -> dict[str, float]:
    """The median, the 95th percentile and the largest of some."""
    if len(losses) < 2:
        return {}
    last = quantiles(losses, n=20, method="inclusive")[-1]
    return {"median": median(losses), "percentile_95": last, "largest": max(losses)}


def main(selector: str, path: str, splits: str, *wanted: str) -> None:
    """Take the words of the command line."""
    limits = {name: float(seconds) for name, _, seconds in (word.partition("=") for word in wanted)}
    device = CudaDevice(int(selector))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as processes:
        chosen = {name: processes.submit(cases_of, name, device.spec, int(splits)) for name in limits}
        cases = {name: future.result() for name, future in chosen.items()}
    result: dict[str, Any] = {
        "environment": {"device": device.spec.name, **device.environment, "taken_at": datetime.now(UTC).isoformat()},
        "splits": int(splits),
        "rounds": ROUNDS,
        "operators": {},
    }
    with CompilePool() as pool:
        measuring = Measuring(device, pool, cases)
        for name, limit in limits.items():
            start = monotonic()
            done = measuring.regrets(name, cases[name], limit)
            regret = figures([case.regret for case in done if case.regret is not None])
            warmed = figures([case.warmed for case in done if case.warmed is not None])
            shares = [f"{value:7.1%}" for value in (*regret.values(), *warmed.values())]
            counts = f"{len(done)} of {len(cases[name])}, {sum(bool(case.error) for case in done)} failed"
            print(f"{name:23}{counts:>24}", *shares, f"{monotonic() - start:.0f} s", flush=True)
            held = [measuring.document(name, case) for case in done]
            result["operators"][name] = {"regret": regret, "regret_warmed": warmed, "held_out": held}
            write_text(Path(path), json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
