"""``autotune tune``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..db.states import TimeSource
from ..files import write_text
from .errors import BadInputError, CommandError, InterruptedRunError, user_input
from .figures import duration, peak_share, rate
from .options import DatabaseOption, DeviceOption, JsonOption, worker_device_of
from .output import print_json, print_table
from .progress import shown_progress
from .suite import SuiteOption, entries_of
from .trials import schedule_words, trial_document

if TYPE_CHECKING:
    from ..codegen.problem import Problem
    from ..db import Trial, TuningDB
    from ..devices.base import Device
    from ..search_spaces.limits import DeviceLimits
    from ..tuner import Final, TuneResult


@dataclass(frozen=True)
class _Run:
    """What came of one problem.

    Attributes:
        operator, problem, limits: what was tuned, and for what.
        result: how the run ended.
        source: the file with the winner's source; None if there is no winner.
    """

    operator: Any
    problem: Problem
    limits: DeviceLimits
    result: TuneResult
    source: Path | None


def tune(
    operator: Any,
    fields: Mapping[str, Any],
    device: DeviceOption = "auto",
    trials: Annotated[int, typer.Option(help="Try so many new schedules at most.")] = 200,
    seconds: Annotated[float | None, typer.Option(help="End after this time.", show_default=False)] = None,
    sampler: Annotated[str, typer.Option(help="What proposes schedules: bayes, tpe, random or nsga2.")] = "bayes",
    seed: Annotated[int, typer.Option(help="Of the sampler and of the random inputs.")] = 0,
    suite: SuiteOption = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Tune each problem whose record here is stale; db doctor lists them.")
    ] = False,
    from_misses: Annotated[
        bool,
        typer.Option("--from-misses", help="Tune what the dispatcher was asked for and had no record of, here."),
    ] = False,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Find the fastest schedule of a problem on a device. The same command goes on where an earlier run stopped."""
    from ..compile_pool import CompilePool
    from ..db import TuningDB
    from ..tuner import TuneOptions
    from ..tuner import tune as search
    from ..tuner.history import stale_problems

    with user_input():
        options = TuneOptions(trials=trials, seconds=seconds, sampler=sampler, seed=seed)
    chosen = [name for name, given in (("suite", suite), ("stale", stale), ("from-misses", from_misses)) if given]
    if len(chosen) > 1:
        raise BadInputError(f"--{' and --'.join(chosen)} exclude each other: each says what to tune")
    runs: list[_Run] = []
    with CompilePool() as pool, worker_device_of(device) as target, TuningDB(db) as database:
        if stale:
            problems = stale_problems(operator, target, database)
        elif from_misses:
            problems = _missed(operator, target, database)
        else:
            problems = [entry.problem for entry in entries_of(operator, fields, suite)]
        for problem in problems:
            with shown_progress(_title(operator, problem, target.limits), problem, options.trials) as show:
                result = search(operator, problem, target, database, options, show, pool=pool)
            path = _written_source(operator, problem, target.limits, result.best) if result.best else None
            runs.append(_Run(operator, problem, target.limits, result, path))
            if not as_json:
                _print_winner(runs[-1])
            if result.interrupted:
                break
    if as_json:
        print_json({"database": database.location, "runs": [_document(run) for run in runs]})
    else:
        if stale and not runs:
            print(f"no record of {operator.name} for {target.limits.name} is stale")
        print(f"database  {database.location}")
        print(f"next      autotune db best {operator.name}{f' --db {quote(database.location)}' if db else ''}")
    _check_outcome(runs)


def _missed(operator: Any, device: Device, database: TuningDB) -> list[Problem]:
    """What calls on this device model asked for most first, as far as this device has no record of it yet."""
    from ..dispatcher.misses import misses

    model = device.limits.name
    sources = (TimeSource.MEASURED, device.time_source)
    known = {best.problem.key for best in database.bests(operator.name, model) if best.time_source in sources}
    called = [operator.problem_type.from_dict(miss.problem) for miss in misses(operator.name, model)]
    missed = [problem for problem in called if problem.key not in known]
    if not missed:
        print(f"nothing to tune: no calls of {operator.name} on {model} lacked a record", file=sys.stderr)
    return missed


def _title(operator: Any, problem: Problem, limits: DeviceLimits) -> str:
    return f"{operator.name} {problem.key} on {limits.name}"


def _written_source(operator: Any, problem: Problem, limits: DeviceLimits, best: Trial) -> Path:
    from ..cache import cache_folder

    schedule = operator.schedule_type.from_dict(best.schedule)
    source = operator.source(problem, schedule, limits)
    path = cache_folder("sources") / f"{operator.name}-{source.digest[:16]}.cu"
    write_text(path, source.text)
    return path


def _print_winner(run: _Run) -> None:
    from ..tuner.bundle import failures_folder

    best = run.result.best
    if best is None or best.seconds is None:
        return
    rows = [
        ("time", f"{duration(best.seconds)} {best.time_source}"),
        ("rate", rate(run.problem, best.seconds)),
        ("share of peak", f"{peak_share(run.problem, run.limits, best.seconds):.1%}"),
        ("schedule", schedule_words(best)),
        *([("final", _final(run.result.final))] if run.result.final else []),
        ("tried", f"{_counts(run.result)} in {run.result.seconds:.0f} s; {run.result.known} known before"),
        ("source", run.source),
    ]
    if run.result.failed:
        rows.append(("failed", f"{run.result.failed} bundles for autotune replay in {failures_folder()}"))
    print_table(_title(run.operator, run.problem, run.limits), ("winner", ""), rows)


def _final(final: Final) -> str:
    verdict = "the incumbent stays" if final.winner is final.incumbent else "the challenger wins"
    ratio = final.ratio
    return f"{verdict}: the challenger takes {ratio.middle:.3f} ({ratio.low:.3f} to {ratio.high:.3f}) of its time"


def _counts(result: TuneResult) -> str:
    counts = [f"{count} {status}" for status, count in result.by_status.items() if count]
    return ", ".join(counts) or "nothing new"


def _document(run: _Run) -> dict[str, Any]:
    best, result = run.result.best, run.result
    seconds = best.seconds if best else None
    return {
        "operator": run.operator.name,
        "problem": run.problem.key,
        "fields": run.problem.to_dict(),
        "device": run.limits.name,
        "best": trial_document(best) if best else None,
        "flops_per_second": run.problem.flops / seconds if seconds else None,
        "bytes_per_second": run.problem.bytes_moved / seconds if seconds else None,
        "peak_share": peak_share(run.problem, run.limits, seconds) if seconds else None,
        "source": run.source,
        "evaluated": result.evaluated,
        "known": result.known,
        "by_status": dict(result.by_status),
        "illegal": result.illegal,
        "seconds": result.seconds,
        "exhausted": result.exhausted,
        "interrupted": result.interrupted,
        "final": _final_document(result.final) if result.final else None,
    }


def _final_document(final: Final) -> dict[str, Any]:
    return {"won_by": "incumbent" if final.winner is final.incumbent else "challenger", "ratio": asdict(final.ratio)}


def _check_outcome(runs: list[_Run]) -> None:
    """Raise unless every problem has a winner and nobody stopped the search."""
    if runs and runs[-1].result.interrupted:
        raise InterruptedRunError("interrupted; every trial is kept, and the same command goes on from there")
    failed = [f"{run.problem.key}: {_counts(run.result)}" for run in runs if run.result.best is None]
    if failed:
        raise CommandError(f"no schedule worked for {'; '.join(failed)}; autotune db trials lists the errors")
