"""``autotune replay``."""

from __future__ import annotations

from pathlib import Path
from reprlib import repr as short
from typing import TYPE_CHECKING, Annotated

import typer

from autotune.cli.errors import BadInputError, CommandError, user_input
from autotune.cli.options import JsonOption, spec_of, worker_device_of
from autotune.cli.rendering.output import print_json, print_table
from autotune.cli.rendering.trials import trial_document
from autotune.search_spaces.machine.rates import duration

if TYPE_CHECKING:
    from autotune.db import Trial
    from autotune.runs.failure_report import FailureReport


def replay(
    report: Annotated[Path, typer.Argument(help="A failure report that autotune tune wrote.", show_default=False)],
    device: Annotated[
        str | None,
        typer.Option(
            help="The device to run it on. Default: the one where it failed.", metavar="DEVICE", show_default=False
        ),
    ] = None,
    sanitize: Annotated[
        str | None,
        typer.Option(
            help="Launch it once under this compute-sanitizer tool, on a GPU.", metavar="TOOL", show_default=False
        ),
    ] = None,
    kernel: Annotated[
        Path | None,
        typer.Option(
            help="The file that declares the kernel, if it is one of your own.", metavar="FILE", show_default=False
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a failed candidate again, and show both outcomes. Nothing is stored."""
    read = _read(report)
    _declare(read, report, kernel)
    selector = device or _selector(read)
    if sanitize is None:
        _evaluate(read, selector, as_json)
    else:
        _sanitize(read, report, kernel, selector, sanitize, as_json)


def _declare(report: FailureReport, path: Path, kernel: Path | None) -> None:
    """Have the report's operator registered. Only what the user types names a file, for it is run."""
    from autotune.own_kernels.load import declared_in
    from autotune.search_spaces.contract.registry import OPERATORS

    name = report.trial.problem.operator
    if kernel is not None:
        with user_input():
            declared_in(str(kernel), name)
    elif name not in OPERATORS:
        raise BadInputError(f"{path}: unknown operator {short(name)}: name the file that declares it by --kernel")


def _read(path: Path) -> FailureReport:
    from autotune.runs.failure_report import FailureReport

    with user_input():
        try:
            return FailureReport.read(path)
        except OSError as error:
            raise BadInputError(f"{path}: {error.strerror}; expected a failure report of autotune tune") from error


def _selector(report: FailureReport) -> str:
    """The device where it failed. A recording is not opened: its path comes from the report."""
    from autotune.devices.replay import PREFIX

    if report.device.startswith(PREFIX):
        raise BadInputError(f"it failed on {short(report.device)}: name that recording by --device")
    return report.device


def _evaluate(report: FailureReport, selector: str, as_json: bool) -> None:
    from autotune.tuner.failed_candidate import replay as run

    with worker_device_of(selector) as target, user_input():
        trial = run(report, target)
    same = trial.program_digest == report.trial.program_digest
    if as_json:
        recorded = trial_document(report.trial)
        print_json({"recorded": recorded, "replayed": trial_document(trial), "same_program": same})
    else:
        print_table(
            f"{trial.problem.operator} {trial.problem.key}  {trial.summary}",
            ("", "device", "status", "time", "error"),
            [_row("then", report.trial), _row("now", trial)],
        )
        if not same:
            print("the schedule emits another program today: what ran now is not the source in the report")
    if trial.error:
        raise CommandError(f"{trial.status}: {trial.error}")


def _row(when: str, trial: Trial) -> tuple[str | None, ...]:
    time = None if trial.seconds is None else duration(trial.seconds)
    return when, trial.device.model, trial.status, time, trial.error


def _sanitize(report: FailureReport, path: Path, kernel: Path | None, selector: str, tool: str, as_json: bool) -> None:
    from autotune.devices.sanitizer import TOOLS, watched
    from autotune.devices.select import resolved
    from autotune.tuner.failed_candidate import FailedCandidate

    if tool not in TOOLS:
        raise BadInputError(f"unknown tool {tool!r}; expected one of {', '.join(TOOLS)}")
    spec = spec_of(selector)
    ordinal = resolved(selector)
    if not ordinal.isdecimal():
        raise BadInputError(f"--sanitize needs a GPU, not {ordinal}: there the emulator has checked every access")
    with user_input():
        FailedCandidate.of(report, spec)
    program: list[str | Path] = ["-m", "autotune.tuner.failed_candidate", path.absolute(), ordinal]
    if kernel is not None:
        program[1:2] = ["autotune.own_kernels.failed_candidate", kernel.absolute()]
    clean, output = watched(tool, program)
    if as_json:
        print_json({"tool": tool, "clean": clean, "report": output})
    else:
        print(output, end="")
    if not clean:
        raise CommandError(f"{tool} found an error")
