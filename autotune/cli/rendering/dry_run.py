"""What ``autotune tune --dry-run`` would do, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .output import print_table
from .winner import title

if TYPE_CHECKING:
    from autotune.codegen.model.problem import Problem
    from autotune.devices.base import Device
    from autotune.runs.outlook import Outlook
    from autotune.tuner import TuneOptions

_SHOWN = 5  # first candidates


def outlook_document(
    operator: Any, problem: Problem, device: Device, found: Outlook, options: TuneOptions
) -> dict[str, Any]:
    """What is known before a run, as JSON values; docs/command-line.md says what each member is."""
    limit, seconds = _end(found, options)
    return {
        "operator": operator.name,
        "problem": problem.key,
        "device": device.spec.name,
        "space": {"raw": found.size.raw, "legal": found.size.legal, "standard_error": found.size.standard_error},
        "known": found.known,
        "first": [schedule.to_dict() for schedule in found.first],
        "trials": options.trials,
        "seconds": options.seconds,
        "seconds_per_trial": found.seconds_per_trial,
        "ended_by": limit,
        "expected_seconds": seconds,
    }


def print_outlook(operator: Any, problem: Problem, device: Device, found: Outlook, options: TuneOptions) -> None:
    """Print it for people."""
    limit, seconds = _end(found, options)
    size, pace = found.size, found.seconds_per_trial
    names = {"seconds": f"{options.seconds or 0:g} s", "trials": f"{options.trials} trials"}
    until = names[limit] if limit else f"{names['seconds']} or {names['trials']}, whichever ends first"
    rows = [
        ("space", f"{size.raw:.3g} draws, {size.legal / size.raw:.1%} of them legal"),
        ("known", f"{found.known} schedules, which are not tried again"),
        *((f"first {number}", one.summary) for number, one in enumerate(found.first[:_SHOWN], 1)),
        ("then", f"{max(0, len(found.first) - _SHOWN)} more such, then what the sampler {options.sampler} draws"),
        ("until", until),
        ("one trial", "unknown: no run of this operator on this device model yet" if pace is None else f"{pace:.2g} s"),
        ("takes", _takes(seconds)),
    ]
    print_table(title(operator, problem, device), ("would run", ""), rows)


def print_outlooks(looked: Sequence[tuple[Any, Problem, Device, Outlook, TuneOptions]]) -> None:
    """Print a row for each of many problems, and the whole time."""
    ends = [_end(found, options) for *_, found, options in looked]
    rows = [
        (operator.name, problem.key, device.selector, f"{found.size.legal:.2g}", found.known, limit, _takes(seconds))
        for (operator, problem, device, found, _), (limit, seconds) in zip(looked, ends, strict=True)
    ]
    columns = ("operator", "problem", "device", "legal schedules, about", "known", "ended by", "takes")
    print_table("Would run", columns, rows, ("ended by", "known"))
    known = [seconds for _, seconds in ends if seconds is not None]
    untold = len(ends) - len(known)
    because = "since no such operator ran on such a device yet"
    together = f"{_takes(sum(known))} together" if known else f"how long they take is unknown, {because}"
    without = f"; of {untold} it is unknown, {because}" if known and untold else ""
    print(f"{len(looked)} runs: {together}{without}")


def _takes(seconds: float | None) -> str:
    if seconds is None:
        return "unknown"
    return f"about {seconds:.0f} s" if seconds < 600 else f"about {seconds / 3600:.1f} h"


def _end(found: Outlook, options: TuneOptions) -> tuple[str | None, float | None]:
    """The limit that ends the run, and after how many seconds; None for what cannot be told."""
    left = min(float(options.trials), max(0.0, found.size.legal - found.known))
    by_trials = None if found.seconds_per_trial is None else left * found.seconds_per_trial
    if options.seconds is None:
        return "trials", by_trials
    if by_trials is None:
        return None, None
    return ("seconds", options.seconds) if options.seconds < by_trials else ("trials", by_trials)
