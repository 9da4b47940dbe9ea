"""What ``autotune adapt`` brought, beside a library: before, after and the library in turns, in one session a problem.

    python benchmarks/adapted.py DEVICE FILE OPERATOR=SUITE/BASELINE…

*Before* is what the dispatcher chooses by the records of other devices alone, *after* what it chooses by all records of
the database (AUTOTUNE_DB). The times are written to FILE, each a median of 30 samples, in seconds.
"""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from autotune.base.files import write_text
from autotune.bench import OWN, baselines_of, compare, find_own_schedule
from autotune.bench.dispatch.held_out import compiled
from autotune.cli.suite import entries_of
from autotune.compiler import CompileError
from autotune.db import TuningDB
from autotune.devices.base import DeviceError
from autotune.devices.cuda import CudaDevice
from autotune.dispatcher.choice.choose import choices
from autotune.dispatcher.choice.records import read_records
from autotune.search_spaces.contract.registry import operator as registered

ROUNDS = 30
BEFORE = "before"


def measured(device: CudaDevice, database: TuningDB, name: str, suite: str, library: str) -> dict[str, Any]:
    """The times of a suite's problems by *before*, *after* and the library."""
    operator, spec = registered(name), device.spec
    baseline = baselines_of(operator)[library]
    known = cache(lambda one: read_records(one, spec, database))
    of_kin = [record for record in known(operator) if record.kin]
    tasks = []
    for entry in entries_of(operator, {}, Path(suite)):
        problem = entry.problem
        before = next(choices(operator, problem, spec, of_kin))
        after = find_own_schedule(operator, problem, spec, database, known)
        programs = {
            BEFORE: operator.program(problem, before.schedule, spec),
            OWN: after.program(operator, problem, spec),
        }
        tasks.append((problem, entry.group, before.rule, after.source, programs))
    compiled(spec, [program for *_, programs in tasks for program in programs.values()])
    runs = []
    for problem, group, rule, source, programs in tasks:
        try:
            with device.session(operator, problem, seed=0) as session:
                found = compare(session, programs, {library: baseline}, ROUNDS)
        except (CompileError, DeviceError) as error:
            print(f"{name} {problem.key}: {error}", file=sys.stderr)
            continue
        seconds = {one: found.seconds(one) for one in found.samples}
        runs.append({"problem": problem.key, "group": group, "before": rule, "after": source, "seconds": seconds})
    ratios = {
        one: [run["seconds"][library] / run["seconds"][one] for run in runs if library in run["seconds"]]
        for one in (BEFORE, OWN)
    }
    figures = {one: {"mean": geometric_mean(found), "least": min(found)} for one, found in ratios.items() if found}
    print(name, suite, library, len(runs), figures, flush=True)
    versions = dict(baseline.versions())
    return {"operator": name, "suite": suite, "library": library, "versions": versions, "ratios": figures, "runs": runs}


def main(selector: str, path: str, *wanted: str) -> None:
    """Take the words of the command line."""
    device = CudaDevice(int(selector))
    with TuningDB() as database:
        suites = []
        for word in wanted:
            name, _, rest = word.partition("=")
            suite, _, library = rest.partition("/")
            suites.append(measured(device, database, name, suite, library))
    environment = {"device": device.spec.name, **device.environment, "taken_at": datetime.now(UTC).isoformat()}
    write_text(
        Path(path), json.dumps({"environment": environment, "rounds": ROUNDS, "suites": suites}, indent=1) + "\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
