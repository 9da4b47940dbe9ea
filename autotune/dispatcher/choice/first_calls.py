"""What was fastest at the first call of a problem, in a file of the cache, for later processes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from autotune.base.cache import cache_folder
from autotune.base.kept import change, read
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
    result = {
        "schedule": choice.schedule.to_dict(),
        "baseline": choice.baseline,
        "seconds": choice.seconds,
        "program": program,
    }
    name = _name(operator, problem, spec, against)

    def with_result(before: Any) -> dict[str, Any]:
        others = [one for one in _results(before).items() if one[0] != name]
        return dict([*others, (name, result)][-_MOST:])

    with suppress(OSError):
        change(_file(), with_result)


def kept(operator: Operator[Any, Any], problem: Problem, spec: DeviceSpec, against: str) -> Choice | None:
    """What `keep` was told of a problem on a device model; None if that is not known, or has changed."""
    result = _results(read(_file())).get(_name(operator.name, problem, spec, against), {})
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


def _results(document: Any) -> dict[str, Mapping[str, Any]]:
    """The results in a document; none if there is no document, or if it is damaged."""
    whole = isinstance(document, dict) and all(isinstance(result, dict) for result in document.values())
    return document if whole else {}


def _file() -> Path:
    return cache_folder("first-calls") / "first-calls.json"
