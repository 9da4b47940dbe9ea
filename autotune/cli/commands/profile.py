"""``autotune profile``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from autotune.base.files import write_text
from autotune.cli.operator_commands import problem_of
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, gpu_of, output_option
from autotune.cli.rendering.output import json_text, print_json, print_table, tell

if TYPE_CHECKING:
    from autotune.devices.profiler import Counted


def profile(
    operator: Any,
    fields: Mapping[str, Any],
    device: DeviceOption = "auto",
    output: Annotated[
        Path | None, output_option("Write the counters as JSON to this file, for autotune report.")
    ] = None,
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Count what the kernel that serves a problem does, by Nsight Compute's ncu. Needs a GPU."""
    from autotune.bench import find_own_schedule
    from autotune.db import TuningDB
    from autotune.devices.profiler import counted
    from autotune.devices.tools import found

    problem = problem_of(operator, fields)
    found("ncu")  # before a GPU is looked for
    target = gpu_of(device, "profile")
    with TuningDB(db, create=False) as database:
        own = find_own_schedule(operator, problem, target.spec, database)
    served = (own.restated.operator, own.restated.problem) if own.restated else (operator.name, problem)
    told = [json.dumps(one.to_dict()) for one in (served[1], own.schedule)]
    tell("launching the kernel under ncu, once for each group of counters")
    launches = counted(["-m", "autotune.bench.profiled_launch", target.selector, served[0], *told])
    document = {
        "operator": served[0],
        "problem": served[1].key,
        "device": target.spec.name,
        "taken_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "environment": dict(target.environment),
        "schedule": own.schedule.to_dict(),
        "schedule_from": own.source,
        "launches": [one._asdict() for one in launches],
    }
    if output:
        write_text(output, json_text(document) + "\n")
    if as_json:
        print_json(document)
    else:
        _print(
            f"{served[0]} {served[1].key} on {target.spec.name}, by the {own.source}: {own.schedule.summary}", launches
        )


def _print(title: str, launches: list[Counted]) -> None:
    from autotune.devices.profiler import COUNTERS

    rows = [(text, *(_number(one.counters.get(name)) for one in launches)) for name, text in COUNTERS.items()]
    print_table(title, ("counter", *(one.kernel for one in launches)), rows)


def _number(value: float | None) -> str:
    """``8,414,720`` or ``0.28``."""
    return "" if value is None else f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"
