"""``autotune explain``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from autotune.cli.operator_commands import problem_of
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, spec_of
from autotune.cli.rendering.output import print_json, print_table
from autotune.search_spaces.machine.rates import duration

if TYPE_CHECKING:
    from autotune.dispatcher.choice.choose import Choice
    from autotune.dispatcher.choice.explanation import Explanation


def explain(
    operator: Any,
    fields: Mapping[str, Any],
    device: DeviceOption = "auto",
    db: DatabaseOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which schedule the dispatcher chooses for a problem, by which rule, and what else it considers."""
    from autotune.db import TuningDB
    from autotune.dispatcher.choice.explanation import explained
    from autotune.dispatcher.choice.records import read_records

    problem, spec = problem_of(operator, fields), spec_of(device)
    with TuningDB(db, create=False) as database:
        found = explained(operator, problem, spec, lambda one: read_records(one, spec, database))
    if as_json:
        print_json(_explained(found))
        return
    _print(found)
    if found.served_by:
        _print(found.served_by, f"served by {found.served_by.operator}, which promises to be faster: ")


def _print(found: Explanation, ahead: str = "") -> None:
    title = f"{ahead}{found.operator} {found.problem.key} on {found.spec.name}, first choice first"
    columns = ("", "rule", "record", "distance", "predicted", "loss", "schedule or reason")
    serves = found.served_by is None
    print_table(title, columns, [_row(choice, serves and choice is found.chosen) for choice in found.considered])


def _explained(found: Explanation) -> dict[str, Any]:
    return {
        "operator": found.operator,
        "problem": found.problem.key,
        "device": found.spec.name,
        "chosen": _document(found.chosen),
        "considered": [_document(choice) for choice in found.considered],
        "served_by": _explained(found.served_by) if found.served_by else None,
    }


def _row(choice: Choice, chosen: bool) -> list[Any]:
    return [
        "→" if chosen else "",
        choice.rule,
        _record(choice),
        None if choice.distance is None else f"{choice.distance:.2f}",
        None if choice.seconds is None else duration(choice.seconds),
        None if choice.loss is None else f"{choice.loss:.1%}",
        choice.reason or choice.schedule.summary,
    ]


def _record(choice: Choice) -> str | None:
    where = f" on {choice.device}" if choice.device else ""
    return f"{choice.record}{where}{' (unconfirmed)' * choice.unconfirmed}" if choice.record else None


def _document(choice: Choice) -> dict[str, Any]:
    return vars(choice) | {"schedule": choice.schedule.to_dict(), "faster_baselines": sorted(choice.faster_baselines)}
