"""``autotune bench``."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .errors import BadInputError, CommandError, user_input
from .figures import duration, rate
from .operator_commands import problem_of
from .options import DatabaseOption, DeviceOption, JsonOption, device_of
from .output import json_text, print_json, print_table, write_text

if TYPE_CHECKING:
    from ..bench import Baseline, Contest
    from ..codegen.problem import Problem
    from ..db import Trial
    from ..devices.cuda import CudaDevice


def bench(
    operator: Any,
    fields: Mapping[str, Any],
    against: Annotated[
        str | None, typer.Option(help="Baselines by name, with commas; all that there are by default.")
    ] = None,
    device: DeviceOption = "auto",
    rounds: Annotated[int, typer.Option(min=4, help="Samples of each contender.")] = 100,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result as JSON to this file.")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the best known schedule of a problem against what a user would call instead, in turns."""
    from ..bench import hold
    from ..db import TuningDB
    from ..db.states import TimeSource

    problem = problem_of(operator, fields)
    baselines = _baselines(operator.name, against)
    target = _gpu(device)
    with TuningDB(db) as database:
        best = database.best(operator.name, problem.key, target.limits.name)
    if best is None or best.time_source is not TimeSource.MEASURED:
        raise CommandError(
            f"{operator.name} {problem.key} has no measured record on {target.limits.name}: autotune tune makes one"
        )
    with user_input():
        schedule = operator.schedule_type.from_dict(best.schedule)
        source = operator.source(problem, schedule, target.limits)
    with target.session(operator, problem, seed=0) as session:
        contest = hold(session, schedule, source, baselines, rounds)
    document = _document(operator, problem, target, best, contest, baselines)
    if output:
        write_text(output, json_text(document) + "\n")
    if as_json:
        print_json(document)
    else:
        print_table(f"{operator.name} {problem.key} on {target.limits.name}", _COLUMNS, _rows(problem, contest))


_COLUMNS = ("contender", "median", "spread", "rate", "autotune is")


def _baselines(operator: str, against: str | None) -> dict[str, Baseline]:
    from ..bench import BASELINES

    known = BASELINES.get(operator, {})
    names = list(known) if against is None else against.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInputError(f"unknown baseline {unknown[0]!r} of {operator}; known: {', '.join(known) or 'none'}")
    return {name: known[name] for name in names}


def _gpu(selector: str) -> CudaDevice:
    from ..devices.cuda import CudaDevice

    device = device_of(selector)
    if not isinstance(device, CudaDevice):
        raise BadInputError(f"bench needs a GPU, which device {selector} is not: expected a number such as 0")
    return device


def _rows(problem: Problem, contest: Contest) -> list[tuple[Any, ...]]:
    return [
        (
            name,
            duration(contest.seconds(name)),
            f"{contest.spread(name):.1%}",
            rate(problem, contest.seconds(name)),
            f"{contest.ratio(name):.3f}×",
        )
        for name in contest.samples
    ]


def _document(
    operator: Any,
    problem: Problem,
    device: CudaDevice,
    best: Trial,
    contest: Contest,
    baselines: Mapping[str, Baseline],
) -> dict[str, Any]:
    from ..bench.contest import OWN

    return {
        "operator": operator.name,
        "problem": problem.key,
        "fields": problem.to_dict(),
        "schedule": dict(best.schedule),
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": {**device.environment, **contest.versions},
        "contenders": {
            name: {
                "summary": baselines[name].summary if name in baselines else "the tuned kernel",
                "seconds": contest.seconds(name),
                "spread": contest.spread(name),
                "flops_per_second": problem.flops / contest.seconds(name),
                "bytes_per_second": problem.bytes_moved / contest.seconds(name),
                "samples": contest.samples[name],
            }
            for name in contest.samples
        },
        "ratios": {name: contest.ratio(name) for name in contest.samples if name != OWN},
    }
