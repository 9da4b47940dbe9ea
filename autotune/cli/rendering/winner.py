"""What came of tuning a problem on a device, as a table and as JSON."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autotune.base.files import write_text
from autotune.search_spaces.machine.rates import duration, peak_share, rate, rates_document

from .output import print_table
from .trials import energy, trial_document

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.db import Trial
    from autotune.devices.base import Device
    from autotune.search_spaces.machine.device_spec import DeviceSpec
    from autotune.search_spaces.machine.roofline import Peaks
    from autotune.tuner import Runoff, TuneResult

_MOST_SOURCES = 1000  # winners' sources, of 10 to 60 KB


@dataclass(frozen=True)
class Tuned:
    """What came of one problem on one device.

    Attributes:
        operator, problem, device: what was tuned, and for what.
        peaks: what the device does at best, as far as it was measured.
        result: how the run ended.
        source: the file with the winner's source; None if there is no winner, or no room for the file.
    """

    operator: Any
    problem: Problem
    device: Device
    peaks: Peaks
    result: TuneResult
    source: Path | None


def tuned(operator: Any, problem: Problem, device: Device, peaks: Peaks, result: TuneResult) -> Tuned:
    """Put it together, and write the winner's source."""
    source = None
    if result.best:
        try:
            source = _written_source(operator, problem, device.spec, result.best)
        except OSError as error:  # the result is stored, and other problems may follow
            text = f"{error.filename}: {error.strerror}; the winner's source is not written: autotune emit prints it"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
    return Tuned(operator, problem, device, peaks, result, source)


def title(operator: Any, problem: Problem, device: Device) -> str:
    """A run as its bar and its table name it."""
    return f"{operator.name} {problem.key} on {device.spec.name}"


def _written_source(operator: Any, problem: Problem, spec: DeviceSpec, best: Trial) -> Path:
    from autotune.base.cache import cache_folder, keep_newest, own_place
    from autotune.codegen.source.listing import listing

    schedule = operator.schedule(best.schedule)
    program = operator.program(problem, schedule, spec)
    path = cache_folder("sources") / f"{operator.name}-{program.digest[:16]}.cu"
    write_text(own_place(path), listing(program))
    keep_newest(path.parent, _MOST_SOURCES)
    return path


def print_winner(run: Tuned) -> None:
    """Print the table of the winner, if there is one."""
    from autotune.runs.failure_report import failures_folder

    best = run.result.best
    if best is None or best.seconds is None:
        return
    rows = [
        ("device", run.device.selector),
        ("time", f"{duration(best.seconds)} {best.time_source}"),
        *([("energy", energy(best))] if best.joules else []),
        ("rate", rate(run.problem, run.peaks, best.seconds)),
        ("share of peak", f"{peak_share(run.problem, run.peaks, best.seconds):.1%}"),
        ("schedule", best.summary),
        *([("runoff", _runoff(run.result.runoff))] if run.result.runoff else []),
        ("tried", f"{counts(run.result)} in {run.result.seconds:.0f} s; {run.result.known} known before"),
        *([("source", run.source)] if run.source else []),
    ]
    if run.result.failed:
        rows.append(("failed", f"{run.result.failed} reports for autotune replay in {failures_folder()}"))
    print_table(title(run.operator, run.problem, run.device), ("winner", ""), rows)


def _runoff(runoff: Runoff) -> str:
    verdict = "the incumbent stays" if runoff.winner is runoff.incumbent else "the challenger wins"
    ratio = runoff.ratio
    return f"{verdict}: the challenger takes {ratio.middle:.3f} ({ratio.low:.3f} to {ratio.high:.3f}) of its time"


def counts(result: TuneResult) -> str:
    """How many evaluations ended in which way."""
    ended = [f"{count} {status}" for status, count in result.by_status.items() if count]
    return ", ".join(ended) or "nothing new"


def document(run: Tuned) -> dict[str, Any]:
    """The same for scripts."""
    best, result = run.result.best, run.result
    seconds = best.seconds if best else None
    return {
        "operator": run.operator.name,
        "problem": run.problem.key,
        "fields": run.problem.to_dict(),
        "device": run.device.spec.name,
        "selector": run.device.selector,
        "best": trial_document(best) if best else None,
        **rates_document(run.problem, seconds),
        "peak_share": peak_share(run.problem, run.peaks, seconds) if seconds else None,
        "source": run.source,
        "evaluated": result.evaluated,
        "known": result.known,
        "by_status": dict(result.by_status),
        "illegal": result.illegal,
        "seconds": result.seconds,
        "exhausted": result.exhausted,
        "interrupted": result.interrupted,
        "runoff": _runoff_document(result.runoff) if result.runoff else None,
    }


def _runoff_document(runoff: Runoff) -> dict[str, Any]:
    return {"won_by": "incumbent" if runoff.winner is runoff.incumbent else "challenger", "ratio": asdict(runoff.ratio)}
