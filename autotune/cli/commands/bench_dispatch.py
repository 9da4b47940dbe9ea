"""``autotune bench dispatch``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import write_text
from autotune.cli.errors import BadInputError, CommandError, InterruptedRunError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, device_of, output_option
from autotune.cli.rendering.bench_dispatch_result import DispatchCosts, document, print_costs
from autotune.cli.rendering.output import json_text, print_json
from autotune.db.states import TimeSource

from .bench_random import bench_random

if TYPE_CHECKING:
    from autotune.bench.dispatch.held_out import HeldOut, Measure
    from autotune.bench.dispatch.random_sizes import RandomSize
    from autotune.devices.base import Device
    from autotune.dispatcher.choice.records import Record
    from autotune.search_spaces.contract.operator import Operator

_DRAWN = 500  # random sizes, of which some are measured


def bench_dispatch(
    operator: Annotated[str, typer.Argument(help="The operator to measure.")] = "sgemm",
    device: DeviceOption = "auto",
    splits: Annotated[int, typer.Option(min=1, help="How many times to hold out a random third of the records.")] = 5,
    random: Annotated[
        int, typer.Option(min=0, max=_DRAWN, help=f"How many random sizes to measure, of {_DRAWN} that are drawn.")
    ] = 100,
    against: Annotated[
        str | None,
        typer.Option(
            help="Measure random problems of all kinds against these baselines instead, separated by commas.",
            metavar="NAMES",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="With --against: the seed of the random problems.")] = 0,
    seconds: Annotated[
        float | None,
        typer.Option(
            help="With --against: how long to measure at most, in seconds, without compiling.", show_default=False
        ),
    ] = None,
    rounds: Annotated[int, typer.Option(min=4, help="How many samples to take of each kernel and of each call.")] = 20,
    output: Annotated[Path | None, output_option("Write the result as JSON to this file.")] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Measure the dispatcher: a call, the first call, and the loss on problems that were not tuned."""
    from autotune.search_spaces.contract.registry import operator as registered

    with user_input():
        chosen = registered(operator)
    if against is not None:
        bench_random(chosen, device, against, random, seed, seconds, rounds, output, db, as_json)
        return
    if (seed, seconds) != (0, None):
        raise BadInputError("--seed and --seconds are options of --against, which draws random problems")
    target = device_of(device)
    known = _known(chosen, target, db)
    overheads, first = _overheads(chosen, target, rounds), _first_call(chosen, target, known, db)
    measure = _measure(chosen, target, rounds)
    held, missing = _held_out(chosen, target, known, splits, measure)
    drawn, missing_sizes = _random_sizes(chosen, target, known, 0 if missing else random, measure)
    costs = DispatchCosts(chosen, target, overheads, first, held, drawn)
    if output:
        write_text(output, json_text(document(costs)) + "\n")
    if as_json:
        print_json(document(costs))
    else:
        print_costs(costs)
    if missing or missing_sizes:
        raise InterruptedRunError(f"interrupted; {missing or missing_sizes} were not measured")


def _known(operator: Operator[Any, Any], device: Device, db: str | None) -> list[Record]:
    """The records that may be held out: a GPU's must be measured."""
    from autotune.db import TuningDB
    from autotune.dispatcher.choice.records import read_records

    with TuningDB(db, create=False) as database:
        known = [
            record
            for record in read_records(operator, device.spec, database)
            if record.kin is None
            and (record.time_source is TimeSource.MEASURED or device.time_source is TimeSource.MODELLED)
        ]
    problems = len({record.problem for record in known})
    if problems < 3:
        raise CommandError(
            f"{problems} problems of {operator.name} have records on {device.spec.name}: 3 or more are needed; "
            "run autotune tune first"
        )
    return known


def _overheads(operator: Operator[Any, Any], device: Device, rounds: int) -> Mapping[str, float]:
    """Seconds of a call by contender; none, with the reason, where they cannot be measured."""
    from autotune.bench.dispatch.host_time import missing, overheads

    if device.time_source is TimeSource.MODELLED:
        return {}
    reason = missing()
    if reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return {}
    try:
        return {name: median(samples) for name, samples in overheads(operator, rounds).items()}
    except ValueError as error:
        print(f"skipped: overheads are not measured: {error}", file=sys.stderr)
        return {}


def _first_call(
    operator: Operator[Any, Any], device: Device, known: Sequence[Record], db: str | None
) -> Mapping[str, float]:
    """Seconds of each part of a first call, of the smallest problem that has a record; none where there is no GPU."""
    from autotune.bench.dispatch.example_call import is_ordinary
    from autotune.bench.dispatch.process_start import first_call

    problems = [record.problem for record in known if is_ordinary(record.problem)]
    if device.time_source is TimeSource.MODELLED or not problems:
        return {}
    try:
        return first_call(operator, min(problems, key=lambda problem: problem.work.bytes), db)
    except ValueError as error:
        print(f"skipped: the first call is not measured: {error}", file=sys.stderr)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().rpartition("\n")[2]
        print(f"skipped: the first call failed: {last}", file=sys.stderr)
    return {}


def _measure(operator: Operator[Any, Any], device: Device, rounds: int) -> Measure:
    from autotune.bench.dispatch.held_out import measured, modelled
    from autotune.devices.cuda import CudaDevice

    return measured(operator, device, rounds) if isinstance(device, CudaDevice) else modelled(operator, device.spec)


def _held_out(
    operator: Operator[Any, Any], device: Device, known: Sequence[Record], splits: int, measure: Measure
) -> tuple[list[HeldOut], str]:
    """The cases that were measured, and which were not because of Ctrl-C."""
    from autotune.bench.dispatch.held_out import compiled, held_out, programs_of, regrets, to_measure

    cases = held_out(operator, known, device.spec, splits)
    done: list[HeldOut] = []
    try:
        wanted = ((case.record.problem, to_measure(case)) for case in cases)
        compiled(device.spec, programs_of(operator, device.spec, wanted))
        for same in regrets(cases, measure):
            done += same
            print(f"{len(done)}/{len(cases)}  {same[0].record.problem.key}", file=sys.stderr)
    except KeyboardInterrupt:
        return done, f"{len(cases) - len(done)} of {len(cases)} cases"
    return done, ""


def _random_sizes(
    operator: Operator[Any, Any], device: Device, known: Sequence[Record], count: int, measure: Measure
) -> tuple[list[RandomSize], str]:
    """All that were drawn, the first `count` with their losses, and which were not measured because of Ctrl-C."""
    from autotune.bench.dispatch.held_out import compiled, programs_of
    from autotune.bench.dispatch.random_sizes import losses, random_sizes, to_measure, with_rivals

    drawn = random_sizes(operator, known, device.spec, _DRAWN if count else 0)
    done: list[RandomSize] = []
    try:
        tried = [with_rivals(operator, case, known, device.spec) for case in drawn[:count]]
        wanted = ((case.problem, to_measure(case)) for case in tried)
        compiled(device.spec, programs_of(operator, device.spec, wanted))
        for case in losses(tried, measure):
            done.append(case)
            print(f"{len(done)}/{count} random sizes  {case.problem.key}", file=sys.stderr)
    except KeyboardInterrupt:
        return [*done, *drawn[len(done) :]], f"{count - len(done)} of {count} random sizes"
    return [*done, *drawn[count:]], ""
