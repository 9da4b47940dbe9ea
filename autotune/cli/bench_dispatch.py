"""``autotune bench dispatch``."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..db.states import TimeSource
from ..files import write_text
from .errors import CommandError, InterruptedRunError, user_input
from .figures import duration
from .options import DatabaseOption, DeviceOption, JsonOption, device_of
from .output import json_text, print_json, print_table

if TYPE_CHECKING:
    from ..devices.base import Device
    from ..dispatcher.regret import HeldOut
    from ..search_spaces.operator import Operator


def bench_dispatch(
    operator: Annotated[str, typer.Argument(help="Whose records are held out.")] = "sgemm",
    device: DeviceOption = "auto",
    splits: Annotated[int, typer.Option(min=1, help="Random thirds that are held out.")] = 5,
    rounds: Annotated[int, typer.Option(min=4, help="Samples of each kernel and of each call.")] = 20,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result as JSON to this file.")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure what the dispatcher costs: the time of a call, and the regret on problems that were not tuned."""
    from ..search_spaces.registry import operator as registered

    with user_input():
        chosen = registered(operator)
    target = device_of(device)
    overheads = _overheads(target, rounds)
    held = _held_out(chosen, target, splits, rounds, db)
    result = _document(chosen, target, overheads, held)
    if output:
        write_text(output, json_text(result) + "\n")
    if as_json:
        print_json(result)
        return
    if overheads:
        _print_overheads(overheads)
    _print_regrets(held, f"{operator}: {splits} thirds held out on {target.limits.name}, {target.time_source}")


def _overheads(device: Device, rounds: int) -> Mapping[str, float]:
    """Seconds of a call by contender; none, with the reason, where they cannot be measured."""
    from ..dispatcher.overhead import missing, overheads

    if device.time_source is TimeSource.MODELLED:
        return {}
    reason = missing()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return {}
    return {name: median(samples) for name, samples in overheads(rounds).items()}


def _held_out(operator: Operator[Any, Any], device: Device, splits: int, rounds: int, db: str | None) -> list[HeldOut]:
    from ..db import TuningDB
    from ..devices.cuda import CudaDevice
    from ..dispatcher.records import read_records
    from ..dispatcher.regret import held_out, measured, modelled, regrets

    with TuningDB(db) as database:
        known = [
            record
            for record in read_records(operator, device.limits, database)
            if record.time_source is TimeSource.MEASURED or device.time_source is TimeSource.MODELLED
        ]
    if len(known) < 3:
        raise CommandError(
            f"{len(known)} problems of {operator.name} have records on {device.limits.name}: 3 or more are needed; "
            "autotune tune makes some"
        )
    cases = held_out(operator, known, device.limits, splits)
    measure = (
        measured(operator, device, rounds) if isinstance(device, CudaDevice) else modelled(operator, device.limits)
    )
    done: list[HeldOut] = []
    try:
        for same in regrets(cases, measure):
            done += same
            print(f"{len(done)}/{len(cases)}  {same[0].record.problem.key}", file=sys.stderr)
    except KeyboardInterrupt:
        raise InterruptedRunError(f"interrupted; {len(done)} of {len(cases)} cases were measured") from None
    return done


def _print_overheads(overheads: Mapping[str, float]) -> None:
    from ..dispatcher.overhead import BAREST

    rows = [(name, duration(seconds), f"{seconds / overheads[BAREST]:.2f}×") for name, seconds in overheads.items()]
    print_table("A call from Python, until it is launched", ("call", "median", f"of {BAREST}"), rows)


def _print_regrets(held: Sequence[HeldOut], title: str) -> None:
    columns = ("rule", "cases", "median regret", "95th percentile", "largest")
    rules = dict.fromkeys(case.choice.rule for case in held)
    groups = {str(rule): [case for case in held if case.choice.rule is rule] for rule in rules} | {"all": held}
    print_table(title, columns, [(name, len(cases), *_percents(cases)) for name, cases in groups.items()])
    for case in held:
        if case.error:
            print(f"failed: {case.record.problem.key}: {case.error}", file=sys.stderr)


def _percents(cases: Sequence[HeldOut]) -> list[str]:
    return [f"{value:.1%}" for value in _figures(cases).values()]


def _figures(cases: Sequence[HeldOut]) -> dict[str, float]:
    found = [case.regret for case in cases if case.regret is not None]
    if not found:
        return {}
    percentile = quantiles(found, n=20, method="inclusive")[-1] if len(found) > 1 else found[0]
    return {"median": median(found), "percentile_95": percentile, "largest": max(found)}


def _document(
    operator: Operator[Any, Any], device: Device, overheads: Mapping[str, float], held: Sequence[HeldOut]
) -> dict[str, Any]:
    return {
        "operator": operator.name,
        "device": device.limits.name,
        "time_source": device.time_source,
        "environment": dict(device.environment),
        "overheads": dict(overheads),
        "regret": _figures(held),
        "cases": [_case(case) for case in held],
    }


def _case(case: HeldOut) -> dict[str, Any]:
    return {
        "split": case.split,
        "problem": case.record.problem.key,
        "rule": case.choice.rule,
        "record": case.choice.record,
        "distance": case.choice.distance,
        "regret": case.regret,
        "error": case.error,
    }
