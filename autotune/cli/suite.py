"""Files with many problems."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import BadInputError, user_input

if TYPE_CHECKING:
    from ..codegen.problem import Problem

_LABEL = "group"


class Entry(NamedTuple):
    """A problem, and the label for people of the group that it belongs to; empty if it has none."""

    problem: Problem
    group: str = ""


def read_suite(path: Path, problem_type: type[Problem], fields: Mapping[str, Any]) -> list[Entry]:
    """The problems of a JSON list of objects, each with the fields that differ from `fields`.

    A member ``group`` is the label.
    """
    from ..db.exchange import read_document

    with user_input():
        try:
            entries = read_document(path)
        except OSError as error:
            raise BadInputError(f"{path}: {error.strerror}; expected a file with a JSON list of problems") from error
        if not (isinstance(entries, list) and entries and all(isinstance(entry, dict) for entry in entries)):
            raise BadInputError(f'{path}: expected a JSON list of problems such as [{{"m": 1024, "n": 1024}}]')
        return [
            _entry(problem_type, {**fields, **entry}, f"{path}, problem {number}")
            for number, entry in enumerate(entries, 1)
        ]


def _entry(problem_type: type[Problem], values: dict[str, Any], place: str) -> Entry:
    group = str(values.pop(_LABEL, ""))
    try:
        return Entry(problem_type.from_dict(values), group)
    except ValueError as error:
        raise BadInputError(f"{place}: {error}") from error
