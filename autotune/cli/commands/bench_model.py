"""``autotune bench model``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.options import DatabaseOption, JsonOption, output_option
from autotune.cli.rendering.output import print_json, print_table


def bench_model(
    paths: Annotated[
        list[Path] | None,
        typer.Option("--recording", help="A file of autotune record; repeat the option for more files."),
    ] = None,
    section: Annotated[
        str,
        typer.Option(
            "--fit",
            metavar="SECTION",
            help="Fit a section of coefficients, such as softmax or gemm.wgmma, to the measured trials of the database "
            "and of the recordings.",
        ),
    ] = "",
    output: Annotated[
        Path | None,
        output_option(
            "The file of coefficients to write the section to, if problems that are held out are modelled better."
        ),
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Compare the times that the time model predicts with recorded ones, or fit its coefficients."""
    if section:
        _fit(section, paths or [], output, db, as_json)
    elif paths and output is None:
        _compare(paths, as_json)
    else:
        raise BadInputError("expected --recording FILE, or --fit SECTION with -o FILE to write what was fitted")


def _compare(paths: list[Path], as_json: bool) -> None:
    from autotune.bench.time_model import FIRST, quality
    from autotune.devices.recording import load

    with user_input():
        recordings = {path: load(path) for path in paths}
    results = [
        {"recording": str(path), "schedules": len(recording.seconds), **asdict(quality(recording))}
        for path, recording in recordings.items()
    ]
    if as_json:
        print_json({"results": results})
        return
    columns = ("recording", "schedules", "rank correlation", f"regret of the first {FIRST}", "level", "spread")
    print_table("The time model, before compiling", columns, map(_row, results))


def _row(result: dict[str, Any]) -> tuple[Any, ...]:
    return (
        Path(result["recording"]).name,
        result["schedules"],
        f"{result['rank_correlation']:.3f}",
        f"{result['regret']:.1%}",
        f"{result['level']:.2f}",
        f"{result['spread']:.3f}",
    )


def _fit(section: str, paths: list[Path], output: Path | None, db: str | None, as_json: bool) -> None:
    from autotune.bench.fit import fitted
    from autotune.bench.timed_schedules import operators_of, timed, with_candidates
    from autotune.db import TuningDB
    from autotune.db.recording import read_recording
    from autotune.search_spaces.machine.coefficients import write_section

    with user_input():
        names = operators_of(section)
        trials = [trial for path in paths for trial in read_recording(path)]
    with TuningDB(db) as database:
        trials += [trial for name in names for trial in database.trials(name)]
    known, left_out = timed(trials)
    with user_input():
        found = fitted(section, with_candidates(known, section), left_out)
        if output and found.better:
            write_section(output, section, found.fitted_to, found.values)
    if as_json:
        print_json(asdict(found) | {"better": found.better})
        return
    columns = ("", "problems", "schedules", "time off by", "choice longer by", "overtaken by")
    rows = [
        (f"{part} {when}", one.problems, one.trials, *map(_percent, (one.error, one.choice, one.overtaken)))
        for part, both in (("fitted", found.fitted), ("held out", found.held_out))
        for when, one in zip(("before", "after"), both, strict=True)
    ]
    print_table(f"{section}, fitted to {found.fitted_to}", columns, rows)
    changes = [(name, f"{found.before[name]:g}", f"{value:g}") for name, value in found.values.items()]
    print_table("Coefficients", ("name", "before", "after"), changes)
    if found.left_out:
        typer.echo(f"Left out: {', '.join(f'{count} {reason}' for reason, count in found.left_out.items())}.")
    if not found.better:
        typer.echo("Held-out problems are not modelled better in one respect and worse in none, so nothing is written.")
    elif output:
        typer.echo(f"Written to {output}.")


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio - 1:.1%}"
