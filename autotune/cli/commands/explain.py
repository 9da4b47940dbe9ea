"""``autotune explain``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from autotune.cli.fields import fields_of
from autotune.cli.operator_commands import problem_of
from autotune.cli.options import DatabaseOption, DeviceOption, JsonOption, WholeOption, spec_of
from autotune.cli.rendering.output import print_json, print_table
from autotune.search_spaces.machine.rates import duration

if TYPE_CHECKING:
    from autotune.dispatcher.choice.choose import Choice
    from autotune.dispatcher.choice.explanation import Explanation


def explain(
    operator: Any,
    fields: Mapping[str, Any],
    device: DeviceOption = "auto",
    whole: WholeOption = False,
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
    examples = [one.name for one in fields_of(type(problem)) if one.default is None and one.name not in fields]
    lines = _print_chosen(found, examples)
    rest = "" if whole else "--all shows them"
    for one in filter(None, (found.served_by, found)):
        title = f"Considered for {one.operator} {one.problem.key}, in this order"
        columns = ("rule", "record", "distance", "time", "loss", "schedule or reason")
        lines += print_table(title, columns, map(_row, one.considered), below=columns[-1], rest=rest, above=lines)


def _print_chosen(found: Explanation, examples: Iterable[str]) -> int:
    """Print the choice, with all fields of its schedule, and the sizes that are examples; how many lines."""
    served = found.served_by or found
    chosen = served.chosen
    by = f"{served.operator} {served.problem.key}, which promises to be faster" if found.served_by else None
    lost = f"{_loss(chosen)} of the time, by less efficiency than the record has on its own problem"
    facts = [
        ("examples", " ".join(f"{name}={getattr(found.problem, name)}" for name in examples) or None),
        ("served by", by),
        ("rule", f"{chosen.rule}: {chosen.rule.meaning}"),
        ("record", _record(chosen)),
        ("this GPU", f"{chosen.differs} of that one" if chosen.differs else None),
        ("distance", _distance(chosen) if chosen.record else None),
        ("time", _time(chosen)),
        ("loss", lost if _loss(chosen) else None),
        ("schedule", chosen.schedule),
    ]
    title = f"{found.operator} {found.problem.key} on {found.spec.name}"
    return print_table(title, ("chosen", ""), [fact for fact in facts if fact[1] is not None])


def _explained(found: Explanation) -> dict[str, Any]:
    return {
        "operator": found.operator,
        "problem": found.problem.key,
        "device": found.spec.name,
        "chosen": _document(found.chosen),
        "considered": [_document(choice) for choice in found.considered],
        "served_by": _explained(found.served_by) if found.served_by else None,
    }


def _row(choice: Choice) -> list[Any]:
    reason = choice.reason or choice.schedule.summary
    return [choice.rule, _record(choice), _distance(choice), _time(choice), _loss(choice), reason]


def _time(choice: Choice) -> str | None:
    """``2.67 ms predicted``; of an exact record its own, ``2.6 ms measured``."""
    if choice.seconds is None:
        return None
    return f"{duration(choice.seconds)} {choice.time_source if _exact(choice) else 'predicted'}"


def _record(choice: Choice) -> str | None:
    where = f" on {choice.device}" if choice.device else ""
    return f"{choice.record}{where}{' (unconfirmed)' * choice.unconfirmed}" if choice.record else None


def _exact(choice: Choice) -> bool:
    """Whether it is the problem's own record, whose time is none that is predicted."""
    return choice.rule == "exact"


def _distance(choice: Choice) -> str | None:
    return None if choice.distance is None or _exact(choice) else f"{choice.distance:.2f}"


def _loss(choice: Choice) -> str | None:
    return None if choice.loss is None or _exact(choice) else f"{choice.loss:.1%}"


def _document(choice: Choice) -> dict[str, Any]:
    return vars(choice) | {"schedule": choice.schedule.to_dict(), "faster_baselines": sorted(choice.faster_baselines)}
