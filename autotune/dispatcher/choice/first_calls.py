"""What was fastest at the first call of a problem, in a file of the cache, for later processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from autotune.base.cache import cache_folder, own_content, own_place
from autotune.base.locks import lock
from autotune.codegen.model.problem import Problem
from autotune.search_spaces.contract.operator import IllegalScheduleError, Operator
from autotune.search_spaces.machine.device_spec import DeviceSpec

from .choose import Choice
from .rule import Rule

_MOST = 1000  # results in the file, the newest ones


def keep(operator: str, problem: Problem, spec: DeviceSpec, choice: Choice, program: str, against: str) -> None:
    """Keep what was fastest, of the library `against`, too, if one is named.

    A cache that cannot be written costs another measurement, and nothing else.
    """
    from autotune.db.exchange import write_document

    result = {
        "schedule": choice.schedule.to_dict(),
        "baseline": choice.baseline,
        "seconds": choice.seconds,
        "program": program,
    }
    with suppress(OSError):
        path = _file()
        with lock(path.with_suffix(".lock")):
            results = _read(path)
            results.pop(name := _name(operator, problem, spec, against), None)
            newest = dict([*results.items(), (name, result)][-_MOST:])
            write_document(own_place(path), newest)


def kept(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, against: str) -> Choice | None:
    """What `keep` was told of a problem on a device model; None if that is not known, or has changed."""
    result = _read(_file()).get(_name(operator.name, problem, spec, against), {})
    try:
        choice = Choice(
            Rule.FIRST_CALL,
            operator.schedule(result["schedule"]),
            seconds=float(result["seconds"]),
            baseline=str(result["baseline"]),
        )
        program = operator.program(problem, choice.schedule, spec)
    except (KeyError, TypeError, ValueError, IllegalScheduleError):  # another version kept it
        return None
    same = choice.baseline == against if choice.baseline else program.digest == result["program"]
    return choice if same else None


def _name(operator: str, problem: Problem, spec: DeviceSpec, against: str) -> str:
    return json.dumps([operator, spec.name, problem.to_dict(), against], sort_keys=True)


def _read(path: Path) -> dict[str, Mapping[str, Any]]:
    """The results in a file; none if there is no file, or if it is damaged."""
    try:
        found = json.loads(own_content(path))
    except (OSError, ValueError):
        return {}
    whole = isinstance(found, dict) and all(isinstance(result, dict) for result in found.values())
    return found if whole else {}


def _file() -> Path:
    return cache_folder("first-calls") / "first-calls.json"
