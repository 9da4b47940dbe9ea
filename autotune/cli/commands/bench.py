"""``autotune bench``."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from autotune.base.files import checked_target, write_text
from autotune.cli.errors import BadInputError, CommandError, InterruptedRunError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, device_of, gpu_of, output_option, spec_of
from autotune.cli.printable import printable
from autotune.cli.rendering.bench_document import document
from autotune.cli.rendering.bench_tables import print_markdown, tables
from autotune.cli.rendering.modelled_ladder import ladder_document, print_ladder
from autotune.cli.rendering.output import json_text, print_json, print_table, tell
from autotune.cli.suite import Entry, SuiteOption, entries_of
from autotune.db.states import TimeSource
from autotune.search_spaces.machine.rates import duration

if TYPE_CHECKING:
    from autotune.bench import Baseline, OwnSchedule, Run, Setting
    from autotune.codegen.model.problem import Problem
    from autotune.devices.cuda import CudaDevice
    from autotune.search_spaces.machine.device_spec import DeviceSpec
    from autotune.search_spaces.machine.roofline import Peaks


def bench(
    operator: Any,
    fields: Mapping[str, Any],
    against: Annotated[
        str | None,
        typer.Option(
            help="Baselines, separated by commas. Default: all that are installed; copy only if device memory bounds "
            "all problems.",
            metavar="NAMES",
        ),
    ] = None,
    suite: SuiteOption = None,
    ladder: Annotated[
        bool, typer.Option("--ladder", help="Measure the operator's presets, too; without a GPU, model them.")
    ] = False,
    device: DeviceOption = "auto",
    rounds: Annotated[int, typer.Option(min=4, help="How many samples to take of each contender.")] = 100,
    energy: Annotated[
        bool, typer.Option("--energy", help="Measure the energy of a launch, too: a second for each contender.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Store in each record which baselines are faster, for the dispatcher.")
    ] = False,
    output: Annotated[Path | None, output_option("Write the result as JSON to this file.")] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the ratios, or the times of a ladder, to this .svg or .png file. Needs Matplotlib."),
    ] = None,
    db: DatabaseOption = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown tables.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare the best record of a problem with other libraries, measured alternately. Needs a GPU."""
    from autotune import bench as benchmarks

    if ladder and suite:
        raise BadInputError("--ladder and --suite exclude each other: the presets are measured for one problem")
    if plot:
        _check_plot(plot)
    entries = entries_of(operator, fields, suite)
    known = known_baselines(operator, against)
    measured = against or plot or energy or record
    if ladder and not measured and device_of(device).time_source is TimeSource.MODELLED:
        _model_ladder(operator, entries[0].problem, spec_of(device), db, output, as_json)
        return
    target = gpu_of(device, "bench")
    if against is None and not _moves_bytes(entries, target):
        known = {name: baseline for name, baseline in known.items() if name != benchmarks.COPY_NAME}
    schedules, peaks = _known(operator, entries, target, db)
    _tell_untuned(operator, schedules, target.spec.name)
    baselines, skipped = installed(known, named=against is not None)
    setting = benchmarks.Setting(operator, target, baselines, rounds, peaks, ladder, energy)
    if plot and not setting.baselines and not ladder:
        raise BadInputError("--plot needs a baseline, and none is installed")
    runs, interrupted = _runs(setting, entries, schedules)
    if record:
        _remember(setting, runs, db)
    if energy and not any(run.comparison and run.comparison.energy for run in runs):
        print("energy: NVML does not tell it here", file=sys.stderr)
    result = document(setting, skipped, runs)
    if output:
        write_text(output, json_text(result) + "\n")
    if plot:
        _draw(setting, runs, plot)
    if as_json:
        print_json(result)
    else:
        for table in tables(setting, runs, suite=suite is not None):
            if as_markdown:
                print_markdown(table)
            else:
                print_table(*table)
    _tell_untaken(runs)
    if interrupted:
        raise InterruptedRunError(f"interrupted; {len(runs)} of {len(entries)} problems were measured")
    failed = [f"{run.problem.key}: {run.error}" for run in runs if run.error]
    if failed:
        raise CommandError(f"failed: {'; '.join(failed)}")


def _model_ladder(
    operator: Any, problem: Problem, spec: DeviceSpec, db: str | None, output: Path | None, as_json: bool
) -> None:
    """Show the times of the presets by the time model, where no GPU measures them."""
    from autotune.bench.ladder import modelled_ladder
    from autotune.bench.own_schedule import find_own_schedule
    from autotune.db import TuningDB

    with TuningDB(db, create=False) as database:
        own = find_own_schedule(operator, problem, spec, database)
    tell("compiling the ladder's kernels, for the time model")
    with user_input():
        seconds = modelled_ladder(operator, problem, spec, own)
    result = ladder_document(operator.name, problem, spec, seconds)
    if output:
        write_text(output, json_text(result) + "\n")
    if as_json:
        print_json(result)
    else:
        print_ladder(operator.name, problem, spec, seconds)


def _draw(setting: Setting, runs: Sequence[Run], path: Path) -> None:
    """The times of all contenders of a ladder; else the ratios to each baseline."""
    from autotune.bench.plot import draw, draw_ladder

    compared = [(run.problem.key, run.comparison) for run in runs if run.comparison]
    title = f"{setting.operator.name} on {setting.device.spec.name}"
    if setting.ladder:
        for key, comparison in compared:
            draw_ladder(path, f"{title}: {key}", {name: comparison.seconds(name) for name in comparison.samples})
    else:
        ratios = [(key, comparison.ratios(setting.baselines)) for key, comparison in compared]
        draw(path, title, ratios, list(setting.baselines))


def _check_plot(path: Path) -> None:
    """Refuse a plot that cannot be drawn before anything is measured."""
    from autotune.bench.plot import FORMATS

    if path.suffix not in FORMATS:
        raise BadInputError(f"--plot {path}: expected a name that ends in {' or '.join(FORMATS)}")
    if find_spec("matplotlib") is None:
        raise BadInputError("--plot needs Matplotlib: pip install matplotlib")
    with user_input():
        checked_target(path)


def known_baselines(operator: Any, against: str | None) -> dict[str, Baseline]:
    """The baselines that the user named, all without a name; `BadInputError` if there is none of that name."""
    from autotune import bench as benchmarks

    known = benchmarks.baselines_of(operator)
    names = list(known) if against is None else against.split(",")
    unknown = [name for name in names if name not in known]
    if unknown:
        raise BadInputError(f"unknown baseline {unknown[0]!r} of {operator.name}; known: {', '.join(known)}")
    return {name: known[name] for name in names}


def _moves_bytes(entries: Sequence[Entry], device: CudaDevice) -> bool:
    """Whether device memory bounds all problems, so that a copy of as many bytes says how good they are."""
    from autotune.search_spaces.machine.roofline import bounding_unit

    return all(bounding_unit(entry.problem, device.spec) is None for entry in entries)


def _known(
    operator: Any, entries: Sequence[Entry], device: CudaDevice, db: str | None
) -> tuple[list[OwnSchedule], Peaks]:
    """What the database knows: the schedule for each problem, and the peaks of the device."""
    from autotune.bench import find_own_schedule
    from autotune.db import TuningDB
    from autotune.dispatcher.choice.records import read_records

    with TuningDB(db, create=False) as database:
        known = cache(lambda one: read_records(one, device.spec, database))
        schedules = [find_own_schedule(operator, entry.problem, device.spec, database, known) for entry in entries]
        return schedules, database.peaks(device.spec)


def _tell_untuned(operator: Any, schedules: Sequence[OwnSchedule], model: str) -> None:
    """Say on stderr how many problems have no record, and what is measured in its place."""
    if untuned := sum(not own.recorded for own in schedules):
        print(
            f"{untuned} of {len(schedules)} problems of {operator.name} have no measured record on {model}: what the "
            "dispatcher chooses is measured; autotune tune finds better",
            file=sys.stderr,
        )


def installed(baselines: Mapping[str, Baseline], *, named: bool) -> tuple[dict[str, Baseline], dict[str, str]]:
    """The baselines that this machine has, and why it lacks others, which is an error if the user named them."""
    skipped = {name: reason for name, baseline in baselines.items() if (reason := baseline.missing())}
    for reason in skipped.values():
        if named:
            raise BadInputError(reason)
        print(f"skipped: {reason}", file=sys.stderr)
    return {name: baseline for name, baseline in baselines.items() if name not in skipped}, skipped


def _runs(setting: Setting, entries: Sequence[Entry], schedules: Sequence[OwnSchedule]) -> tuple[list[Run], bool]:
    """The result for each problem until an interruption, and whether there was one."""
    runs: list[Run] = []
    for number, (entry, own) in enumerate(zip(entries, schedules, strict=True), 1):
        print(f"{number}/{len(entries)}  {entry.problem.key}  ", end="", file=sys.stderr, flush=True)
        try:
            runs.append(setting.run(entry.problem, own, entry.group))
        except KeyboardInterrupt:
            print(file=sys.stderr)
            if runs:
                return runs, True
            raise
        print(progress(runs[-1], setting), file=sys.stderr)
    return runs, False


def _tell_untaken(runs: Sequence[Run]) -> None:
    """Say on stderr which baselines have no such problem, and why."""
    reasons = Counter(reason for run in runs if run.comparison for reason in run.comparison.untaken.items())
    for (name, reason), count in reasons.items():
        print(printable(f"{name} does not take {count} of {len(runs)} problems: {reason}"), file=sys.stderr)


def _remember(setting: Setting, runs: Sequence[Run], db: str | None) -> None:
    """Store with each record the times of the baselines that were verified."""
    from autotune.bench import OWN
    from autotune.db import TuningDB
    from autotune.db.comparison import BaselineTimes

    rivals = {name: baseline for name, baseline in setting.baselines.items() if baseline.verified}
    libraries = {name: version for baseline in rivals.values() for name, version in baseline.versions().items()}
    with TuningDB(db, create=False) as database:
        for comparison, trial in ((run.comparison, run.own.record) for run in runs if not run.own.restated):
            if comparison and trial:
                seconds = {name: comparison.seconds(name) for name in rivals if name in comparison.samples}
                database.record(trial.compared(BaselineTimes(comparison.seconds(OWN), seconds, libraries)))


def progress(run: Run, setting: Setting) -> str:
    """What came of a problem, as a line says it while the next ones are measured."""
    from autotune.bench import OWN

    if run.comparison is None:
        return "failed"
    ratios = [f"{ratio:.3f}× {name}" for name, ratio in run.comparison.ratios(setting.baselines).items()]
    return "  ".join(
        [duration(run.comparison.seconds(OWN)), *ratios, *(f"{name} failed" for name in run.comparison.failed)]
    )
