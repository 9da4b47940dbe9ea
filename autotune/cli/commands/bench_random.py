"""``autotune bench dispatch --against``: random problems against what users would call instead."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from autotune.base.files import write_text
from autotune.cli.errors import InterruptedRunError, user_input
from autotune.cli.options import gpu_of
from autotune.cli.rendering.bench_document import document
from autotune.cli.rendering.bench_random import print_standing, standing_document
from autotune.cli.rendering.output import json_text, print_json

from .bench import installed, known_baselines, progress

if TYPE_CHECKING:
    from autotune.bench import Run, Setting
    from autotune.codegen.model.problem import Problem
    from autotune.db import TuningDB
    from autotune.search_spaces.contract.operator import Operator

_AT_ONCE = 64  # problems whose kernels are compiled together


def bench_random(
    operator: Operator[Any, Any],
    device: str,
    against: str,
    count: int,
    seed: int,
    seconds: float | None,
    rounds: int,
    output: Path | None,
    db: str | None,
    as_json: bool,
) -> None:
    """Measure what the dispatcher chooses for random problems without records; see `bench_dispatch`."""
    from autotune.bench import Setting
    from autotune.bench.dispatch.random_problems import likes_of, random_problems
    from autotune.db import TuningDB
    from autotune.tuner.known_problems import known_problems

    baselines, skipped = installed(known_baselines(operator, against), named=True)
    target = gpu_of(device, "bench dispatch --against")
    with TuningDB(db, create=False) as database:
        known = [problem for _, problem in known_problems([operator], database)]
        with user_input():
            problems = random_problems(likes_of(operator, known), target.spec, count, seed)
        setting = Setting(operator, target, baselines, rounds, database.peaks(target.spec))
        runs, interrupted = _runs(setting, problems, database, seconds)
    drawn = {"seed": seed, "drawn": count, "seconds": seconds}
    result = {**document(setting, skipped, runs), "random": {**drawn, **standing_document(runs)}}
    if output:
        write_text(output, json_text(result) + "\n")
    if as_json:
        print_json(result)
    else:
        print_standing(setting, runs)
    if interrupted:
        raise InterruptedRunError(f"interrupted; {len(runs)} of {count} problems were measured")


def _runs(
    setting: Setting, problems: list[Problem], database: TuningDB, seconds: float | None
) -> tuple[list[Run], bool]:
    """The result for each problem until the time is over or an interruption, and whether there was one."""
    from autotune.bench import find_own_schedule
    from autotune.bench.dispatch.held_out import compiled
    from autotune.dispatcher.choice.records import read_records

    operator, spec, spent = setting.operator, setting.device.spec, 0.0
    known = cache(lambda one: read_records(one, spec, database))
    runs: list[Run] = []
    try:
        for first in range(0, len(problems), _AT_ONCE):
            some = problems[first : first + _AT_ONCE]
            entered = [(problem, find_own_schedule(operator, problem, spec, database, known)) for problem in some]
            compiled(spec, [own.program(operator, problem, spec) for problem, own in entered])
            for problem, own in entered:
                if seconds is not None and spent >= seconds:
                    return runs, False
                start = monotonic()
                runs.append(setting.run(problem, own, own.source))
                spent += monotonic() - start
                print(f"{len(runs)}/{len(problems)}  {problem.key}  {progress(runs[-1], setting)}", file=sys.stderr)
    except KeyboardInterrupt:
        return runs, True
    return runs, False
