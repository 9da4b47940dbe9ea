"""What adapting to a device brought, while it goes on and when it is over."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import geometric_mean
from typing import TYPE_CHECKING, Any

from autotune.cli.printable import printable
from autotune.db.states import TimeSource
from autotune.search_spaces.machine.rates import duration

from .output import print_table

if TYPE_CHECKING:
    from autotune.devices.base import Device
    from autotune.tuner.adapted import Adapted, AdaptResult
    from autotune.tuner.known_problems import Wanted

_PAUSE = 10.0  # seconds between lines where there is no terminal
_FASTER = 1.01  # a smaller gain is none


@contextmanager
def shown_adaption(problems: int, seconds: float) -> Iterator[Callable[[Wanted, AdaptResult], None]]:
    """What `adapt` calls after each problem: on stderr a bar in a terminal, elsewhere a line now and then."""
    shown = 0.0

    def line(of: Wanted, result: AdaptResult) -> str:
        operator, problem = of
        found = result.adapted.get(of)
        gain = f"{found.gain:.3f}×" if found and found.gain else "skipped" if found is None else "failed"
        return printable(f"{problems - result.left}/{problems}  {operator.name} {problem.key}  {gain}")

    def tell(of: Wanted, result: AdaptResult) -> None:
        nonlocal shown
        if result.seconds >= shown + _PAUSE:
            shown = result.seconds
            print(f"{shown:.0f} s  {line(of, result)}", file=sys.stderr, flush=True)

    if not sys.stderr.isatty():
        yield tell
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = BarColumn(20), TimeElapsedColumn(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("compiling the first kernels", total=1.0)

        def move(of: Wanted, result: AdaptResult) -> None:
            share = max(1 - result.left / problems, result.seconds / seconds)
            bar.update(task, completed=share, description=line(of, result))

        yield move


def print_adapted(result: AdaptResult, device: Device) -> None:
    """A row for each operator, and what is left."""
    measured = f"{len(result.adapted)} of {result.wanted} problems"
    title = f"{measured} on {device.spec.name} in {result.seconds:.0f} s, {device.time_source}"
    columns = ("operator", "problems", "before ÷ after", "most", "faster", "schedules", "failed")
    rows = [
        (
            name,
            one["problems"],
            f"{one['mean_gain']:.3f}" if one["mean_gain"] else None,
            f"{one['largest_gain']:.2f}" if one["largest_gain"] else None,
            one["faster"],
            one["schedules"],
            one["failed"],
        )
        for name, one in _by_operator(result).items()
    ]
    if rows:
        print_table(title, columns, rows)
    gains = [one for one in result.adapted.values() if (one.gain or 0) >= _FASTER]
    best = sorted(gains, key=lambda one: -(one.gain or 0))[:10]
    if best:
        most = [(one.operator.name, one.problem.key, *_times(one), f"{one.gain:.2f}") for one in best]
        print_table("The largest gains", ("operator", "problem", "before", "after", "before ÷ after"), most)
    for (operator, problem), why in result.skipped.items():
        print(printable(f"skipped: {operator.name} {problem.key}: {why}"), file=sys.stderr)
    if result.known:
        print(f"known     {len(result.known)} problems were measured before")
    if result.left:
        print(f"left      {result.left} problems: the same command continues")
    if device.time_source is TimeSource.MODELLED:
        print("modelled  times are those of the time model: nothing was measured")


def document(result: AdaptResult, device: Device) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "device": device.spec.name,
        "time_source": device.time_source,
        "environment": dict(device.environment),
        "seconds": result.seconds,
        "wanted": result.wanted,
        "known": len(result.known),
        "left": result.left,
        "operators": _by_operator(result),
        "problems": [_document(one) for one in result.adapted.values()],
        "skipped": [
            {"operator": operator.name, "problem": problem.key, "reason": why}
            for (operator, problem), why in result.skipped.items()
        ],
    }


def _document(one: Adapted) -> dict[str, Any]:
    return {
        "operator": one.operator.name,
        "problem": one.problem.key,
        "before": one.before and one.before.seconds,
        "after": one.best and one.best.seconds,
        "schedule": one.best and one.best.schedule,
        "tried": one.tried,
        "failed": one.failed,
    }


def _by_operator(result: AdaptResult) -> dict[str, dict[str, Any]]:
    of: dict[str, list[Adapted]] = {}
    for one in result.adapted.values():
        of.setdefault(one.operator.name, []).append(one)
    return {name: _figures(listed) for name, listed in sorted(of.items())}


def _figures(listed: Sequence[Adapted]) -> dict[str, Any]:
    gains = [one.gain for one in listed if one.gain]
    return {
        "problems": len(listed),
        "mean_gain": geometric_mean(gains) if gains else None,
        "largest_gain": max(gains, default=None),
        "faster": sum(gain >= _FASTER for gain in gains),
        "schedules": sum(one.tried for one in listed),
        "failed": sum(one.failed for one in listed),
    }


def _times(one: Adapted) -> list[str]:
    return [duration(trial.seconds) if trial and trial.seconds else "" for trial in (one.before, one.best)]
