"""``autotune export``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from autotune.cli.errors import BadInputError, user_input
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, MaxSlowdownOption, spec_of
from autotune.cli.printable import printable
from autotune.cli.rendering.output import print_json
from autotune.cli.suite import SuiteOption, entries_of


def export(
    operator: Any,
    fields: Mapping[str, Any],
    output: Annotated[Path, typer.Option("--output", "-o", help="The folder to create; it must not exist.")],
    suite: SuiteOption = None,
    device: DeviceOption = "auto",
    max_slowdown_pct: MaxSlowdownOption = 5.0,
    sizes: Annotated[
        int,
        typer.Option(
            min=1, help="For how many sizes Python is asked; with more, C++ lacks fewer of its kernels and formulas."
        ),
    ] = 8000,
    check: Annotated[
        int,
        typer.Option(min=0, help="For how many other sizes C++ are compared with what the dispatcher chooses."),
    ] = 0,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write few kernels for these problems, and what chooses among them, for programs in C and C++."""
    from autotune.codegen.model.fields import field_specs
    from autotune.db import TuningDB
    from autotune.dispatcher.choice.records import few_records
    from autotune.export import agreement, bundle_of, kernels_of, write_bundle

    if output.exists():
        raise BadInputError(f"{output} exists: name a folder to make")
    if not output.parent.is_dir():
        raise BadInputError(f"{output}: there is no folder {output.parent}")
    problems: list[Any] = [entry.problem for entry in entries_of(operator, fields, suite)]
    for problem in problems:
        specs = field_specs(type(problem))
        for name in (name for name, size in problem.sizes.items() if not size and specs[name].implied != 0):
            raise BadInputError(f"{name}=0: an export serves sizes of at least 1")
    spec = spec_of(device)
    with TuningDB(db, create=False) as database:
        known = few_records(operator, spec, database, {problem.key for problem in problems}, max_slowdown_pct / 100)
    with user_input():
        bundle = bundle_of(operator, problems, spec, known)
    recorded = list(dict.fromkeys(record.problem.key for record in bundle.records))
    missing = [problem.key for problem in problems if problem.key not in recorded]
    if missing:
        print(
            f"without a record, served by the nearest one or by the time model: {', '.join(missing)}", file=sys.stderr
        )
    exported = kernels_of(bundle, sizes)
    write_bundle(exported, output)
    same, slower = agreement(exported, check) if check else (None, None)
    if as_json:
        counts = {"kernels": len(exported.sources), "agreement": same, "regret": slower}
        print_json({"path": output, "records": recorded, "missing": missing, **counts})
        return
    print(f"wrote {len(bundle.records)} records and {len(exported.sources)} kernels to {printable(str(output))}")
    if check:
        print(
            f"of {check} other sizes, {same:.1%} are served as Python chooses; they take {slower:.2%} longer "
            "in the mean (modelled)"
        )
